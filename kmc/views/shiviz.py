r"""A log for ShiViz (https://bestchai.bitbucket.io/shiviz/), which draws the knowledge of each process, with vector
clocks.

Line 1 is the regular expression with which ShiViz reads the log (its default one), line 2 the empty delimiter between
executions. Then two lines per event: its text, and `host {"host": n, "other": m}`. Each host's own clock begins at 1
and counts its events; a delivery merges the clock of the sending.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator

from kmc.story.parts.story import Story, StoryStep
from kmc.views.sentences import happenings, loop_text

PARSER = r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})"
"""The default regular expression of ShiViz."""

_SYSTEM = "system"
_Clock = dict[str, int]


def shiviz_text(story: Story) -> str:
    """The trace as a log for ShiViz: one event for each process that a step concerns."""
    clocks = _Clocks(story)
    lines = [PARSER, ""]
    for step in story.steps[1:]:
        lines += clocks.events(step)
    if story.loop is not None and story.loop.closing is not None:
        lines += clocks.events(story.loop.closing, f" ({loop_text(story)})")
    return "\n".join(lines) + "\n"


class _Clocks:
    """The vector clocks of the hosts, and of the messages when they were sent."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._of_host: dict[str, _Clock] = {}
        self._of_message: dict[int, _Clock] = {}
        self._hosts = _hosts(story.lanes)
        self._system = next(name for name in _candidates(_SYSTEM) if name not in self._hosts.values())

    def events(self, step: StoryStep, remark: str = "") -> Iterator[str]:
        """The lines of a step: an event of the process that acts, and one of each other process that it changes."""
        changed = [change.lane for change in step.changes]
        others = [lane for lane in self._story.lanes if lane in changed and lane != step.actor]
        first, *rest = [step.actor, *others] if step.actor is not None else others or [self._system]
        known = [self._of_message[step.received]] if step.received in self._of_message else []
        clock = self._tick(first, known)
        event = "; ".join([f"{step.number} {step.label}", *happenings(self._story, step)])
        yield from self._event(first, clock, event + remark)
        for lane in rest:
            clock = self._tick(lane, [clock])
            yield from self._event(lane, clock, f"{step.number} {step.label} of {first}")
        for number in step.sent:
            source = self._story.message(number).source
            self._of_message[number] = dict(self._of_host[source if source in (first, *rest) else first])

    def _tick(self, host: str, known: Iterable[_Clock]) -> _Clock:
        clock = self._of_host.setdefault(host, {})
        for other in known:
            for name, count in other.items():
                clock[name] = max(clock.get(name, 0), count)
        clock[host] = clock.get(host, 0) + 1
        return dict(clock)

    def _event(self, process: str, clock: _Clock, text: str) -> Iterator[str]:
        yield re.sub(r"\s+", " ", text)
        named = {self._hosts.get(name, name): count for name, count in sorted(clock.items())}
        yield f"{self._hosts.get(process, process)} {json.dumps(named)}"


def _hosts(lanes: Iterable[str]) -> dict[str, str]:
    """The names of hosts by process, each another one, without blanks, which would end it."""
    names: dict[str, str] = {}
    for lane in lanes:
        bare = re.sub(r"\s", "_", lane) or "_"
        names[lane] = next(name for name in _candidates(bare) if name not in names.values())
    return names


def _candidates(name: str) -> Iterator[str]:
    """The name, then the name with ever more underscores."""
    return (name + "_" * count for count in itertools.count())
