"""The common ground of the sessions of one explorer: the model, and the tree with which each session begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kmc.explorer.explored_model import ExploredModel, OpenedTrace
from kmc.explorer.state_tree import VISITED_MAX, StateTree
from kmc.frontend.model import Model
from kmc.result import TraceStep


@dataclass(frozen=True, slots=True)
class OpenedCycle:
    """The infinite continuation of a trace of `length` states: with state `back_to`, counted from 1, by the step
    `closing`.
    """

    length: int
    back_to: int
    closing: TraceStep | None


@dataclass(frozen=True, slots=True)
class Ground:
    """The common data of all sessions of one explorer: the model, the tree that each begins with, and notes for the
    person.

    `cycle` is that of a lasso, whose states are the first of the tree; `watched` are the texts of expressions that each
    shows from the first.
    """

    explored: ExploredModel
    opening: StateTree = field(default_factory=StateTree)
    about: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    cycle: OpenedCycle | None = None
    watched: tuple[str, ...] = ()

    @property
    def model(self) -> Model:
        """The names and properties of the model."""
        return self.explored.model


def opened_ground(explored: ExploredModel, opened: OpenedTrace, number: int, watched: tuple[str, ...]) -> Ground:
    """Return an explorer that opens at state `number` of a trace, counted from 1."""
    notes = list(opened.notes)
    steps = opened.steps[:VISITED_MAX]
    tree = StateTree().after_steps([(step, None) for step in steps])
    if steps:
        tree = tree.moved(min(number, len(steps)) - 1)
    cycle = None
    if opened.loop is not None and len(steps) == len(opened.steps):
        cycle = OpenedCycle(len(steps), opened.loop, opened.closing)
        notes.append(f"The trace is a lasso: after state {cycle.length} comes state {cycle.back_to} again.")
    return Ground(explored, tree, opened.about, tuple(notes), cycle, watched)
