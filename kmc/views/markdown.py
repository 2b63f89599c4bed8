"""A report of a counterexample in Markdown, for an issue: the failure and its reason, the steps to it, and the command
that shows it again.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator

from kmc.lang.tla import Tla
from kmc.story.parts.in_words import in_words
from kmc.story.parts.lanes import in_column
from kmc.story.parts.story import LaneColumn, Story, StoryStep
from kmc.trace.trees import entries
from kmc.trace.untyped_trace import GIVEN
from kmc.views.mermaid import mermaid_text
from kmc.views.sentences import doc_text, happenings, heading, loop_text

_ABSENT = "-"


def markdown_text(story: Story) -> str:
    """The report."""
    blocks = [
        [f"# {_plain(heading(story))}"],
        _why(story),
        ["## What happens", *_steps(story)],
        ["## Messages and steps", _fenced(mermaid_text(story), "mermaid")],
        ["## The last state", *_last_state(story)],
        ["## See it again", *_commands(story)],
    ]
    return "\n\n".join("\n\n".join(block) for block in blocks if block) + "\n"


def _why(story: Story) -> list[str]:
    why = story.why
    notes = [_plain(note) for note in story.notes]
    if why is None:
        return notes
    blocks = [f"**{_plain(why.sentence)}**", *([_plain(why.step)] if why.step else [])]
    blocks += [f"> {_plain(line)}" for line in [" ".join(why.doc.split())] if line]
    compared = why.beside_the_sentence()
    if compared:
        blocks.append("\n".join(f"- `{_code(v.expression)}` is `{_code(v.value)}`" for v in compared))
    return [*blocks, *notes]


def _steps(story: Story) -> Iterator[str]:
    listed = [_step(story, step) for step in story.steps[1:]]
    if story.loop is not None and story.loop.closing is not None:
        listed.append(_step(story, story.loop.closing, f" (back to state {story.loop.back_to})"))
    kind = "the given state" if story.about.get("start") == GIVEN else "an initial state"
    yield f"State 1 is {kind}." + ("" if listed else " The trace ends there.")
    if listed:
        yield "\n".join(listed)
    if story.loop is not None:
        text = loop_text(story)
        yield f"{text[:1].upper()}{text[1:]}."
        lines = [line for line in story.loop.fairness if not line.endswith(":")]
        if lines:
            yield _folded("Why this behaviour is fair", "\n".join(lines))


def _step(story: Story, step: StoryStep, where: str = "") -> str:
    doc = f": {_plain(doc_text(step))}" if step.doc else ""
    remark = "" if step.matters else f" _(does not matter{': ' + _plain(step.note) if step.note else ''})_"
    lines = [f"{step.number}. **{_plain(step.label)}**{where}{doc}{remark}"]
    indent = " " * len(f"{step.number}. ")
    lines += [f"{indent}- {_plain(text)}" for text in happenings(story, step)]
    return "\n".join(lines)


def _last_state(story: Story) -> Iterator[str]:
    state = story.steps[-1].variables
    shown: set[str] = set()
    if story.lanes and story.columns:
        shown = {column.variable for column in story.columns if not column.fields}
        yield _table(
            ("", *(column.title for column in story.columns)),
            (
                (lane, *(_cell(column, in_column(state, column, lane)) for column in story.columns))
                for lane in story.lanes
            ),
        )
    hidden = {*shown, *story.networks, *story.archives}
    others = [name for name in story.variables if name not in hidden]
    if others:
        yield _folded("The other variables", "\n".join(f"{name} = {in_words(state[name])}" for name in others))
    under_way = [message for message in story.messages if not message.received_at and message.lost_at is None]
    if under_way:
        sent = (f"{message.name} {message.brief} (sent in state {message.sent_at})" for message in under_way)
        yield _folded("Messages that were sent and have not arrived", "\n".join(sent))


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{_fenced(text, 'text')}\n\n</details>"


def _cell(column: LaneColumn, tree: Tla | None) -> str:
    if tree is None:
        return _ABSENT
    if not column.length:
        return in_words(tree)
    elements = entries(tree) or ()
    return f"{len(elements)}, last: {in_words(elements[-1][1])}" if elements else "0"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    # A bar ends a cell in a code span, too, so a cell has none.
    return "\n".join("| " + " | ".join(_plain(_code(cell)) for cell in line) + " |" for line in lines)


def _commands(story: Story) -> Iterator[str]:
    about = story.about
    spec = story.spec_word or about.get("spec", "SPEC")
    if "constants" in about:
        yield "Save this model as `model.cfg`:"
        yield _fenced(about["constants"], "")
    model = "model.cfg" if "constants" in about else about.get("model", "")
    yield _fenced(shlex.join(filter(None, ["kmc", "check", spec, model])), "sh")
    yield "Or replay the saved trace by the spec as it is now:"
    yield _fenced("kmc replay trace.itf.json", "sh")
    if "kmc_version" in about:
        yield f"Found with kmc {about['kmc_version']}."


def _fenced(text: str, language: str) -> str:
    """A block of code, fenced by more backquotes than it has in a row."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _plain(text: str) -> str:
    """Text without markup, but for code between backquotes. An underscore inside a word is not markup."""
    line = re.sub(r"\s+", " ", text)
    if line.count("`") % 2:
        line = line.replace("`", "'")
    pieces = line.split("`")
    pieces[::2] = [re.sub(r"([\\*\[\]<|#]|(?<!\w)_|_(?!\w))", r"\\\1", piece) for piece in pieces[::2]]
    return "`".join(pieces)


def _code(text: str) -> str:
    return text.replace("`", "'")
