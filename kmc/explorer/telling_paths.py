"""Stories of paths through a tree, each state told once: a branch continues the story of its path so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kmc.explorer.explored_model import ExploredModel, Move, StoryTeller
from kmc.explorer.state_tree import VisitedState
from kmc.story.parts.story import SentMessage, Story, StoryStep

_REMEMBERED_MAX = 20_000


@dataclass(frozen=True, slots=True)
class ToldState:
    """A visited state as a step of a story, and the teller that can go on after it."""

    visited: VisitedState
    step: StoryStep
    teller: StoryTeller


@dataclass(frozen=True, slots=True)
class PreviewedMove:
    """The preview of a move: the step, and the messages of the story after it, by number."""

    move: Move
    step: StoryStep
    messages: Sequence[SentMessage]


class PathTeller:
    """Tells paths of one model and remembers them."""

    def __init__(self, explored: ExploredModel) -> None:
        self._explored = explored
        self._told: dict[int, ToldState] = {}
        """Compare by identity: a tree keeps the objects of its states, and another may number other states alike."""

    def known(self, visited: VisitedState) -> StoryStep | None:
        """The last step of the story at a visited state, None if it has none."""
        told = self._told.get(id(visited))
        return None if told is None else told.step

    def explained(self, path: Sequence[VisitedState]) -> list[ToldState]:
        """The story of each state of a path from an initial state; the path is not empty."""
        told_states: list[ToldState] = []
        for visited in path:
            known = self._told.get(id(visited))
            if known is None:
                known = self._tell(told_states[-1] if told_states else None, visited)
                if known is None:
                    return self._retell(path)
                self._remember(known)
            told_states.append(known)
        return told_states

    def story(self, path: Sequence[VisitedState], about: Mapping[str, str]) -> Story:
        """The story of a path."""
        states = self.explained(path)
        return states[-1].teller.story([state.step for state in states], about)

    def preview(self, last: ToldState, move: Move) -> PreviewedMove:
        """The preview of a move from a told state."""
        teller = last.teller.fork()
        step = teller.step(last.visited.state, move.step, last.step.number + 1, move.message)
        return PreviewedMove(move, step, teller.messages)

    def _tell(self, before: ToldState | None, visited: VisitedState) -> ToldState | None:
        """None where a process occurs in the state that the teller of the path does not know."""
        if before is None:
            teller = self._explored.teller([visited.state])
            return ToldState(visited, teller.step(None, visited.step, 1), teller)
        if not before.teller.knows_lanes_of(visited.state):
            return None
        teller = before.teller.fork()
        step = teller.step(before.visited.state, visited.step, before.step.number + 1, visited.message)
        return ToldState(visited, step, teller)

    def _retell(self, path: Sequence[VisitedState]) -> list[ToldState]:
        """The story of the path from its beginning, by a teller that knows the processes of all its states."""
        teller = self._explored.teller([visited.state for visited in path])
        told_states: list[ToldState] = []
        for position, visited in enumerate(path, start=1):
            teller = teller.fork()
            before = told_states[-1].visited.state if told_states else None
            told_states.append(ToldState(visited, teller.step(before, visited.step, position, visited.message), teller))
            self._remember(told_states[-1])
        return told_states

    def _remember(self, told: ToldState) -> None:
        if len(self._told) >= _REMEMBERED_MAX:
            self._told.clear()
        self._told[id(told.visited)] = told
