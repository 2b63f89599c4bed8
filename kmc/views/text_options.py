"""The options of a text view: the parts of a story that it shows, and its width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kmc.story.parts.in_words import in_words
from kmc.story.parts.story import Story, StoryStep
from kmc.trace.trees import entries
from kmc.views.message_text import MessageNames

WIDTH_MIN = 38


@dataclass(frozen=True, slots=True)
class TextOptions:
    """The width in columns, the variables and processes to show (all if empty), and whether archives are shown."""

    width: int = 100
    variables: tuple[str, ...] = ()
    lanes: tuple[str, ...] = ()
    processed: bool = False


@dataclass(frozen=True, slots=True)
class ShownStory:
    """A story with the options of a view: which of its variables, processes and steps are shown.

    `valued` are the processes that some variable has a value for.
    """

    story: Story
    options: TextOptions
    names: MessageNames
    valued: frozenset[str]

    @property
    def width(self) -> int:
        """The columns of a line."""
        return self.options.width

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that are shown, in the order of the story."""
        chosen = self.options.variables
        return tuple(name for name in self.story.variables if not chosen or name in chosen)

    @property
    def lanes(self) -> tuple[str, ...]:
        """The processes that are shown."""
        chosen = self.options.lanes
        return tuple(lane for lane in self.story.lanes if not chosen or lane in chosen)

    @property
    def lanes_with_values(self) -> tuple[str, ...]:
        """The shown processes that some variable has a value for; others only send and receive."""
        return tuple(lane for lane in self.lanes if lane in self.valued)

    @property
    def steps(self) -> Sequence[StoryStep]:
        """The steps in which a chosen process takes part; without such a choice, all."""
        if not self.options.lanes:
            return self.story.steps
        return [step for step in self.story.steps if step.number == 1 or self._takes_part(step)]

    def _takes_part(self, step: StoryStep) -> bool:
        received = () if step.received is None else (step.received,)
        ends = [
            end
            for number in (*received, *step.sent, *step.lost)
            for end in (self.story.message(number).source, self.story.message(number).dest)
        ]
        return any(lane in self.options.lanes for lane in (step.actor, *ends, *(c.lane for c in step.changes)))


def under_options(story: Story, options: TextOptions) -> ShownStory:
    """The story under these options; no view is narrower than 38 columns."""
    options = replace(options, width=max(WIDTH_MIN, options.width))
    valued = frozenset(
        in_words(key)
        for step in story.steps
        for name in story.of_lane
        for key, _ in entries(step.variables[name]) or ()
    )
    return ShownStory(story, options, MessageNames(story.messages), valued)
