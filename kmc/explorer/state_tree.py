"""The states that a person has visited: a tree whose root has no state and whose first branches are initial states.

Invariant: a tree is a value. Every command of a person makes a new one that shares the unchanged parts (pyrsistent), so
undo is the previous tree with the states visited since, and a search can read one while the person goes on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from pyrsistent import PMap, PVector, pmap, pvector

from kmc.errors import CommandLineError
from kmc.result import Trace, TraceStep

VISITED_MAX = 5_000
"""The most states that one tree holds: a page with more is not readable."""


@dataclass(frozen=True, slots=True)
class VisitedState:
    """A state, and the step that led to it; `message` is the one that the step received, if that is known.

    `number` is its place among the visited states, from 0; `parent` is None for an initial state.
    """

    number: int
    parent: int | None
    step: TraceStep
    message: Any = None

    @property
    def state(self) -> Any:
        """The state itself."""
        return self.step.state


@dataclass(frozen=True, slots=True)
class StateTree:
    """The visited states, the current one (`at`; None before an initial state was chosen), and the bookmarks."""

    visited: PVector[VisitedState] = field(default_factory=pvector)
    at: int | None = None
    bookmarks: PMap[int, str] = field(default_factory=pmap)
    branches: PMap[int | None, PVector[int]] = field(default_factory=pmap)
    """The numbers of the states that were visited from each, the initial ones under None."""
    onward: PMap[int | None, int] = field(default_factory=pmap)
    """The state that the person went to last from each state."""

    @property
    def here(self) -> VisitedState | None:
        """The state in which the person is."""
        return None if self.at is None else self.visited[self.at]

    def path(self, number: int | None) -> tuple[VisitedState, ...]:
        """The states from an initial one to `number`."""
        states: list[VisitedState] = []
        while number is not None:
            states.append(self.visited[number])
            number = states[-1].parent
        return tuple(reversed(states))

    def line(self) -> tuple[VisitedState, ...]:
        """The path to where the person is, and on from there as he went last."""
        states = list(self.path(self.at))
        number = self.at
        while number is not None and (number := self.onward.get(number)) is not None:
            states.append(self.visited[number])
        return tuple(states)

    def trace(self) -> Trace:
        """The path to the state in which the person is; there must be one."""
        return Trace(tuple(visited.step for visited in self.path(self.at)))

    def moved(self, number: int) -> StateTree:
        """The person goes to a visited state."""
        onward = self.onward
        for visited in self.path(number):
            onward = onward.set(visited.parent, visited.number)
        return replace(self, at=number, onward=onward)

    def after_steps(self, steps: Iterable[tuple[TraceStep, Any]]) -> StateTree:
        """The tree after the person follows these steps from the current state, each with the message that it receives;
        the first may begin.

        A step that was followed before leads to the state that it made then.
        """
        tree = self
        for step, message in steps:
            known = tree.known(step, message)
            tree = (
                tree._grown(VisitedState(len(tree.visited), tree.at, step, message))
                if known is None
                else tree.moved(known)
            )
        return tree

    def known(self, step: TraceStep, message: Any) -> int | None:
        """The number of the state that this step led to before from the current state; None if it was not followed."""
        for number in self.branches.get(self.at, ()):
            known = self.visited[number]
            if known.step.label == step.label and known.message == message and known.state == step.state:
                return number
        return None

    def _grown(self, new: VisitedState) -> StateTree:
        if new.number >= VISITED_MAX:
            raise CommandLineError(
                "KMC672",
                f"the tree has {VISITED_MAX:,} visited states, which is the most it can have",
                help="save the path as a trace, and open it with --trace in a new page",
            )
        siblings = self.branches.get(new.parent, pvector())
        branches = self.branches.set(new.parent, siblings.append(new.number))
        onward = self.onward.set(new.parent, new.number)
        return replace(self, visited=self.visited.append(new), at=new.number, branches=branches, onward=onward)

    def restarted(self) -> StateTree:
        """The person goes back to the choice of an initial state."""
        return replace(self, at=None)

    def named(self, number: int, name: str) -> StateTree:
        """A visited state gets a bookmark; an empty name removes it."""
        marks = self.bookmarks.set(number, name) if name else self.bookmarks.discard(number)
        return replace(self, bookmarks=marks)


@dataclass(frozen=True, slots=True)
class TreeHistory:
    """A tree with those before it, which undo brings back, and those that were undone, the last one last.

    Undo brings back where the person was, and bookmarks; states that were visited since then stay in the tree.
    Invariant: of any two trees of a history, the visited states of one are the first of the other.
    """

    past: PVector[StateTree] = field(default_factory=pvector)
    present: StateTree = field(default_factory=StateTree)
    future: PVector[StateTree] = field(default_factory=pvector)

    def then(self, tree: StateTree) -> TreeHistory:
        """The history after a command that made `tree`; nothing that was undone can be redone after it."""
        return self if tree == self.present else TreeHistory(self.past.append(self.present), tree)

    def undone(self) -> TreeHistory:
        """The history before the last command; itself at the beginning."""
        if not self.past:
            return self
        return TreeHistory(self.past[:-1], self._keeping(self.past[-1]), self.future.append(self.present))

    def redone(self) -> TreeHistory:
        """The history after the command that was undone last; itself where there is none."""
        if not self.future:
            return self
        return TreeHistory(self.past.append(self.present), self._keeping(self.future[-1]), self.future[:-1])

    def _keeping(self, tree: StateTree) -> StateTree:
        """Another tree of this history, with the states that only the present one has."""
        present = self.present
        if len(tree.visited) == len(present.visited):
            return tree
        return replace(tree, visited=present.visited, branches=present.branches)
