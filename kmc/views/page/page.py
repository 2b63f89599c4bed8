"""A story as one HTML file that needs nothing else: it contains style, scripts and data, and may request nothing.

Its Content-Security-Policy lets run only the style and the script whose hashes it names. The texts of a trace reach the
document as text: escaped here, or set as text by the scripts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from itertools import takewhile

from kmc.story.parts.story import Story, Why
from kmc.views.page.data import page_data

STYLES = ("tokens.css", "panels.css")
"""The style sheets that the explorer shares, in this order."""
SCRIPTS = ("values.js", "steps.js", "diagram.js", "state.js")
"""The scripts that the explorer shares, in this order."""

_SAID = {
    "deadlock": "The system can get stuck",
    "error": "A step fails",
}
_NO_FAILURE = "A trace"
_LINE = 140
"""The number of characters of compared values in the line below the sentence."""
_COMMENT = "\\*"
_PLACE = re.compile(r"\{\{(\w+)\}\}")


@cache
def asset(name: str) -> str:
    """The text of a file of this package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def page(story: Story) -> str:
    """The page, whole."""
    fillings = {
        "title": escape(title_of(story)),
        "tone": "holds" if _headline(story) == _NO_FAILURE else "fails",
        "verdict": "\n".join(_verdict(story)),
        "help": asset("help.html"),
        "data": script_safe_json(page_data(story)),
    }
    return assembled("page.html", (*STYLES, "page.css"), (*SCRIPTS, "page.js"), fillings)


def assembled(frame: str, styles: Sequence[str], scripts: Sequence[str], fillings: Mapping[str, str]) -> str:
    """A page of these files, with `fillings` where the frame names them."""
    style, script = "\n".join(map(asset, styles)), "\n".join(map(asset, scripts))
    all_parts = {**fillings, "policy": _policy(style, script), "style": style, "script": script}
    # In one pass: a part that holds the name of another, as a value of a trace may, is left as it is.
    text = _PLACE.sub(lambda match: all_parts[match[1]], asset(frame))
    # A trace file can hold half of a surrogate pair, which no encoding has.
    return text.encode("utf-8", "backslashreplace").decode()


def script_safe_json(data: object) -> str:
    """JSON that cannot end its script element."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def title_of(story: Story) -> str:
    """The failure and the spec: `NeverTwoLeaders does not hold: kraft`."""
    return ": ".join([_headline(story), *([story.about["spec"]] if "spec" in story.about else [])])


def _headline(story: Story) -> str:
    name, status = story.about.get("property", ""), story.about.get("status", "")
    if story.why is not None and story.why.property:
        name = story.why.property
    return f"{name} does not hold" if name else _SAID.get(status, _NO_FAILURE)


def _verdict(story: Story) -> Iterator[str]:
    """The heading of the page: which property fails, what it says, why it fails, and of which model."""
    why, about = story.why, story.about
    yield f"<h1>{escape(_headline(story))}</h1>"
    if purpose := purpose_of(about):
        yield f'<p class="purpose">{_prose(purpose)}</p>'
    if why is not None:
        if why.doc:
            yield f'<p class="means">{_prose(why.doc)}</p>'
        if why.sentence:
            yield f'<p class="because">{_prose(" ".join(filter(None, (why.sentence, why.step))))}</p>'
        yield _pairs(_compared(why)[0])
    yield from (f'<p class="means note">{escape(note)}</p>' for note in story.notes)
    named = ", ".join(f"{key} {about[key]}" for key in ("spec", "model") if about.get(key))
    yield f"<details><summary>{escape(named or 'About this trace')}, {len(story.steps)} steps</summary>"
    yield from _about(story)
    yield "</details>"


def purpose_of(about: Mapping[str, str]) -> str:
    """The model's title and description, which a trace keeps as comments before the constants."""
    comments = takewhile(lambda line: line.startswith(_COMMENT), about.get("constants", "").splitlines())
    texts = [line.removeprefix(_COMMENT).strip() for line in comments]
    return " ".join(text if text.endswith((".", "?", "!")) else f"{text}." for text in texts
                    if text and not text.startswith("level bound: "))  # fmt: skip


def _compared(why: Why) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The compared values for the line below the sentence, and the others, which the fold holds.

    Values that are already in the sentence are in neither.
    """
    pairs = [(c.expression, c.value) for c in why.beside_the_sentence()] or why.instance
    others = [(name, value) for name, value in pairs if f"{name} is {value}" not in why.sentence]
    room = _LINE
    shown = [(name, value) for name, value in others if (room := room - len(f"{name} = {value}  ")) >= 0]
    return shown, [pair for pair in others if pair not in shown]


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
        yield _pairs(_compared(why)[1])
    if story.loop is not None and story.loop.fairness:
        yield f"<pre>{escape(chr(10).join(story.loop.fairness))}</pre>"
    if story.commands:
        yield "<p>Find it again, or walk through the states around it, in the folder where it was found:</p>"
        yield f"<pre>{escape(chr(10).join(story.commands))}</pre>"
    if about.get("constants"):
        yield f"<pre>{escape(about['constants'])}</pre>"
    if about.get("kmc_version"):
        yield f"<p>Made by kmc {escape(about['kmc_version'])}.</p>"
