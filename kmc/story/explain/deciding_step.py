"""The last step of a counterexample, as the reason why an invariant fails: its changes to the values that the property
reads.

`state of n2 is IllegalState` alone only repeats the property. The step that made it so, and the values before, show
which transition was not allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kmc.story.parts.in_words import in_words
from kmc.story.parts.lanes import in_column
from kmc.story.parts.story import Change, Story, Why

_CHANGES_MAX = 3
_BEFORE_MAX = 4
_SHORT = 40
"""A longer value is not repeated here; the states show it."""


def deciding_step(story: Story, why: Why) -> str:
    """Sentences about the last step: the changes of places that `why` compares, and its process before.

    The process before is left out where the property compares other places as well: those explain the change. Empty
    for a lasso, for a trace of one state, and where the last step changes nothing that is compared.
    """
    if story.loop is not None or len(story.steps) < 2:
        return ""
    last, before = story.steps[-1], story.steps[-2]
    compared = [_words(value.expression) for value in why.compared]
    decisive = [change for change in last.changes if _is_compared(change, compared)]
    texts = [text for change in decisive if (text := _changed(change))][:_CHANGES_MAX]
    if not texts:
        return ""
    sentence = f"Step {last.number}, {last.label}, {'; '.join(texts)}."
    lanes = {change.lane for change in decisive}
    if len(decisive) < len(compared) or len(lanes) != 1:
        return sentence
    lane = lanes.pop()
    standing = ", ".join(_standing(story, lane, decisive)) if lane is not None else ""
    return f"{sentence} In state {before.number}, {lane} has {standing}." if standing else sentence


def _is_compared(change: Change, compared: list[list[str]]) -> bool:
    """Whether an expression is this place; a field of a record may be called by its name alone: `state of n2`."""
    path = _words(change.place)
    return any(words and path[-len(words) :] == words for words in compared)


def _words(text: str) -> list[str]:
    return re.findall(r"[\w-]+", text)


def _changed(change: Change) -> str:
    """`changes state of n2 from Follower to IllegalState`; empty where a value is too long."""
    if any(len(value or "") > _SHORT for value in (change.old, change.new)):
        return ""
    if change.old is None:
        return f"adds {change.new} to {change.place}" if change.of_set else f"sets {change.place} to {change.new}"
    if change.new is None:
        return f"removes {change.old} from {change.place}" if change.of_set else f"removes {change.place}"
    return f"changes {change.place} from {change.old} to {change.new}"


def _standing(story: Story, lane: str, decisive: list[Change]) -> Iterator[str]:
    """The columns of a process before the last step, without those that the sentence has already: `epoch 2`."""
    lines = 0
    for column in story.columns:
        if column.length or any(column.shows(change.path) for change in decisive) or lines == _BEFORE_MAX:
            continue
        value = in_column(story.steps[-2].variables, column, lane)
        text = in_words(value) if value is not None else ""
        if text and len(text) <= _SHORT:
            lines += 1
            yield f"{column.title} {text}"
