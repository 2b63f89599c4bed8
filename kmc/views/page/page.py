"""A story as one HTML file that needs nothing else: style, scripts and data stand in it, and it may ask for nothing.

Its Content-Security-Policy lets run only the style and the script whose hashes it names. What a trace says reaches the
document as text: escaped here, or set as text by the scripts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files

from kmc.story.story import Story
from kmc.views.page.data import page_data

STYLES = ("tokens.css", "panels.css")
"""The style sheets that the explorer shares, in this order."""
SCRIPTS = ("values.js", "steps.js", "diagram.js", "state.js")
"""The scripts that the explorer shares, in this order."""

_SAID = {
    "deadlock": "The system can get stuck",
    "error": "A step fails",
}
_PLACE = re.compile(r"\{\{(\w+)\}\}")


@cache
def asset(name: str) -> str:
    """The text of a file of this package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def page(story: Story) -> str:
    """The page, whole."""
    style = "\n".join(map(asset, (*STYLES, "page.css")))
    script = "\n".join(map(asset, (*SCRIPTS, "page.js")))
    parts = {
        "policy": _policy(style, script),
        "title": escape(_title(story)),
        "style": style,
        "verdict": "\n".join(_verdict(story)),
        "help": asset("help.html"),
        "data": script_safe_json(page_data(story)),
        "script": script,
    }
    # In one pass: a part that holds the name of another, as a value of a trace may, is left as it is.
    text = _PLACE.sub(lambda found: parts[found[1]], asset("page.html"))
    # A trace file can hold half of a surrogate pair, which no encoding has.
    return text.encode("utf-8", "backslashreplace").decode()


def script_safe_json(data: object) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _title(story: Story) -> str:
    """`NeverTwoLeaders is violated in 7 steps`."""
    name, status = story.about.get("property", ""), story.about.get("status", "")
    if story.why is not None and story.why.property:
        name = story.why.property
    said = f"{name} does not hold" if name else _SAID.get(status, "A trace")
    return f"{said}: {story.about['spec']}" if "spec" in story.about else said


def _verdict(story: Story) -> Iterator[str]:
    """What stands above everything: which property fails, what it says, why it fails, and of which model."""
    why, about = story.why, story.about
    yield f"<h1>{escape(_title(story).split(': ')[0])}</h1>"
    if why is not None:
        if why.doc:
            yield f'<p class="means">{_prose(why.doc)}</p>'
        if why.sentence:
            yield f'<p class="because">{_prose(why.sentence)}</p>'
        yield _pairs([(compared.expression, compared.value) for compared in why.beside_the_sentence()] or why.instance)
    yield from (f'<p class="means note">{escape(note)}</p>' for note in story.notes)
    named = ", ".join(f"{key} {about[key]}" for key in ("spec", "model") if about.get(key))
    yield f"<details><summary>{escape(named or 'About this trace')}, {len(story.steps)} steps</summary>"
    yield from _about(story)
    yield "</details>"


def _pairs(pairs: Sequence[tuple[str, str]]) -> str:
    named = ((f"{name} =" if name else "for", value) for name, value in pairs)
    rows = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in named)
    return f'<dl class="compared">{rows}</dl>' if rows else ""


def _prose(text: str) -> str:
    """Prose, with code where it is between backticks."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _about(story: Story) -> Iterator[str]:
    about = story.about
    if why := story.why:
        # A bound variable that is called like a process has no name here.
        instance = ", ".join(f"{name} is {value}" if name else value for name, value in why.instance)
        yield f"<p>{escape(why.property or '')} stands at {escape(why.place)}.</p>" if why.place else ""
        yield f"<p>It fails for {escape(instance)}.</p>" if instance else ""
    if story.loop is not None and story.loop.fairness:
        yield f"<pre>{escape(chr(10).join(story.loop.fairness))}</pre>"
    if story.commands:
        yield "<p>Find it again, or walk through the states around it, in the folder where it was found:</p>"
        yield f"<pre>{escape(chr(10).join(story.commands))}</pre>"
    if about.get("constants"):
        yield f"<pre>{escape(about['constants'])}</pre>"
    if about.get("kmc_version"):
        yield f"<p>Made by kmc {escape(about['kmc_version'])}.</p>"
