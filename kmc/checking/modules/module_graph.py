"""The behaviour graph of a module: the steps that a search recorded, and the truth of all predicates, as arrays.

Invariant: each predicate is evaluated once per state or step. Whether a state enables an action is such a predicate, so
the graph needs no steps but those of behaviours; stuttering is always allowed and has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmc.liveness.behaviour_graph import BehaviourGraph
from kmc.liveness.problem import StateAtom, StepAtom, TemporalProblem
from kmc.reference.states.state_graph import StateGraph
from kmc.tla.run.program import State
from kmc.tla.temporal.predicates import ModuleStepPredicate

_WORD_BITS = 64
_POLL_EVERY = 256


@dataclass(slots=True)
class RecordedSteps:
    """The different successors of each expanded state, in the order in which states were expanded."""

    successors: list[tuple[State, ...]] = field(default_factory=list)

    def add(self, successors: Iterable[State]) -> None:
        """Record the steps of the next state."""
        self.successors.append(tuple(dict.fromkeys(successors)))


@dataclass(frozen=True, slots=True)
class ModuleGraph:
    """The states of a search by number, and for the expanded ones, which are the first, the numbers of successors.

    `levels` are the numbers of states of each level. `dropped` are the steps that a constraint or a bound lets no
    behaviour take.
    """

    states: Sequence[State]
    levels: Sequence[int]
    successors: Sequence[Sequence[int]]
    dropped: Sequence[tuple[int, State]]

    @classmethod
    def of(
        cls, explored: StateGraph, expanded: int, recorded: RecordedSteps, is_taken: Callable[[State, State], bool]
    ) -> ModuleGraph:
        """The graph of the states of a search and of the steps of those that were `expanded`.

        `is_taken` says whether action constraints allow a step.
        """
        successors: list[list[int]] = []
        dropped: list[tuple[int, State]] = []
        for source, found in enumerate(recorded.successors[:expanded]):
            targets = []
            for state in found:
                target = explored.known.find(state)
                if target is None or not is_taken(explored.states[source], state):
                    dropped.append((source, state))
                elif target != source:
                    targets.append(target)
            successors.append(sorted(targets))
        # The states of a level that a limit ended are a level, too.
        unfinished = len(explored.states) - sum(explored.levels)
        levels = [*explored.levels, unfinished] if unfinished else explored.levels
        return cls(explored.states, levels, successors, dropped)

    def arrays(self, problem: TemporalProblem, poll: Callable[[], None]) -> BehaviourGraph:
        """The graph with the truth of the problem's predicates; KmcError where one cannot be evaluated.

        `poll` is called now and then.
        """
        degrees = [len(targets) for targets in self.successors]
        degrees += [0] * (len(self.states) - len(degrees))
        targets = np.array([target for of_source in self.successors for target in of_source], np.uint32)
        of_states = [self._of_states(atom, poll) for atom in problem.atoms]
        known = dict(zip(problem.atoms, of_states, strict=True))
        of_steps = [self._of_steps(atom, known, poll) for atom in problem.step_atoms]
        return BehaviourGraph(
            level_starts=np.array([0, *accumulate(self.levels)], np.int64),
            expanded=len(self.successors),
            offsets=np.array([0, *accumulate(degrees)], np.int64),
            targets=targets,
            labels=np.zeros(len(targets), np.uint16),
            state_bits=_words(of_states, len(self.states)),
            step_bits=_words(of_steps, len(targets)),
        )

    def _of_states(self, atom: StateAtom, poll: Callable[[], None]) -> NDArray[np.bool_]:
        return np.fromiter((atom(state) for state in _polling(self.states, poll)), np.bool_, len(self.states))

    def _of_steps(
        self, atom: StepAtom, known: dict[StateAtom, NDArray[np.bool_]], poll: Callable[[], None]
    ) -> NDArray[np.bool_]:
        """The truth of a predicate in each step; it is not evaluated in the steps of states that do not enable it."""
        is_possible = atom.enabled if isinstance(atom, ModuleStepPredicate) else None
        enabled = None if is_possible is None else known.get(is_possible)
        return np.fromiter(
            (
                (enabled is None or bool(enabled[source])) and atom(self.states[source], self.states[target])
                for source, targets in enumerate(_polling(self.successors, poll))
                for target in targets
            ),
            np.bool_,
        )


def _polling(values: Sequence[Any], poll: Callable[[], None]) -> Iterator[Any]:
    """The values; `poll` is called between some of them."""
    for number, value in enumerate(values):
        if number % _POLL_EVERY == 0:
            poll()
        yield value


def _words(columns: Sequence[NDArray[np.bool_]], count: int) -> NDArray[np.uint64]:
    """Rows of bits: bit n of row r is columns[n][r]."""
    rows = np.zeros((count, -(-len(columns) // _WORD_BITS)), np.uint64)
    for number, column in enumerate(columns):
        word, shift = divmod(number, _WORD_BITS)
        rows[:, word] |= column.astype(np.uint64) << np.uint64(shift)
    return rows
