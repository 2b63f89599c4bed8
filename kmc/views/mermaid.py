"""A sequence diagram for Mermaid, which GitHub, GitLab and many wikis draw.

An arrow is drawn where its message is delivered or lost, and its text says in which state it was sent. A note over a
process names its action and the changes there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kmc.story.parts.story import Story, StoryStep
from kmc.views.sentences import change_texts, loop_text

_CHANGES_MAX = 6
_SYSTEM = "p0"


def mermaid_text(story: Story) -> str:
    """The trace as a `sequenceDiagram`."""
    return "\n".join(["sequenceDiagram", *(f"    {line}" for line in _lines(story))]) + "\n"


def _lines(story: Story) -> Iterator[str]:
    drawn = _Drawn(story)
    yield from drawn.participants()
    back_to = story.loop.back_to if story.loop is not None else None
    for step in story.steps:
        if step.number == back_to and step.number > 1:
            yield f"loop {_escaped(loop_text(story))}"
        if step.number > 1:
            yield from drawn.step(step)
        if step.number == back_to == 1:
            yield f"loop {_escaped(loop_text(story))}"
    if story.loop is not None:
        if story.loop.closing is not None:
            yield from drawn.step(story.loop.closing, f"{story.loop.closing.label}: back to state {back_to}")
        else:
            yield drawn.note_over_all("nothing more happens")
        yield "end"
    elif story.why is not None:
        yield drawn.note_over_all(story.why.sentence)


class _Drawn:
    """Draws the steps of one story."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._names = {lane: f"p{index}" for index, lane in enumerate(story.lanes, start=1)}

    def participants(self) -> Iterator[str]:
        """The declarations, in the order of the processes; the system itself comes first where it does something."""
        story = self._story
        steps = [*story.steps[1:], *([story.loop.closing] if story.loop and story.loop.closing else [])]
        if not self._names or any(step.actor is None for step in steps):
            yield f"participant {_SYSTEM} as system"
        for lane, name in self._names.items():
            yield f"participant {name} as {_escaped(lane)}"

    def step(self, step: StoryStep, title: str = "") -> Iterator[str]:
        """The message that a step receives, what happens, and the messages that it loses."""
        if step.received is not None:
            yield from self._arrow(step.received, "->>", step)
        remark = "" if step.matters else " (does not matter)"
        lines = [title or f"{step.number} {step.label}{remark}", *change_texts(self._story, step)[:_CHANGES_MAX]]
        more = len(step.changes) - _CHANGES_MAX
        lines += [f"... and {more} more"] if more > 0 else []
        lines += [f"sends {self._brief(number)}" for number in step.sent]
        over = self._names.get(step.actor or "", _SYSTEM)
        yield f"Note over {over}: {'<br/>'.join(map(_escaped, lines))}"
        for number in step.lost:
            yield from self._arrow(number, "-x", step)

    def _arrow(self, number: int, arrow: str, step: StoryStep) -> Iterator[str]:
        message = self._story.message(number)
        source, dest = (self._names.get(end or "") for end in self._story.arrow(message, step))
        if source is not None and dest is not None:
            lost = ", lost" if arrow == "-x" else ""
            yield f"{source}{arrow}{dest}: {_escaped(f'{self._brief(number)} (sent in state {message.sent_at}{lost})')}"

    def _brief(self, number: int) -> str:
        message = self._story.message(number)
        return f"{message.name} {message.brief}"

    def note_over_all(self, text: str) -> str:
        """A note across the diagram."""
        names = list(self._names.values()) or [_SYSTEM]
        over = names[0] if len(names) == 1 else f"{names[0]},{names[-1]}"
        return f"Note over {over}: {_escaped(text)}"


def _escaped(text: str) -> str:
    """Text without characters that Mermaid interprets: an entity of Mermaid is `#35;`. Arrows of changes are drawn
    characters.
    """
    drawn = re.sub(r"\s+", " ", text).replace(" -> ", " → ")
    return re.sub(r"[#;<>&%\\`$]", lambda match: f"#{ord(match[0])};", drawn)
