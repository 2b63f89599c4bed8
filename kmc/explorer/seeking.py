"""Going on by itself: breadth first or at random, until a condition is met, or for a number of steps.

Invariant: nothing here changes a tree. A search starts at one state and returns the steps from there, so it can run
beside a person's commands, be cancelled at any time, and stop at its limits.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import Any

from kmc.actions.relation import NextStateRelation
from kmc.errors import KmcError
from kmc.explorer.conditions import WaitedFor
from kmc.explorer.moves import Move, moves_of
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role
from kmc.invariants.properties import holds
from kmc.lang.records import State
from kmc.result import TraceStep

TakenStep = tuple[TraceStep, Any]
"""A step, with the message that it receives."""


class SeekEnd(Enum):
    """The reason why a search or a walk ended; the values are shown."""

    FOUND = "found"
    ALL_SEEN = "all states that can be reached were seen"
    LIMIT = "the limit was reached"
    CANCELLED = "cancelled"
    NO_STEP = "no step leads to another state"
    WALKED = "all steps were taken"
    ERROR = "the spec has an error there"


@dataclass(frozen=True, slots=True)
class SeekLimits:
    """When to give up: states seen, or steps of a walk, and seconds."""

    states: int = 20_000
    seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class SeekResult:
    """Why it ended, the steps to where it ended (none where there is nowhere to go), and the number of states that it
    saw.
    """

    end: SeekEnd
    steps: tuple[TakenStep, ...]
    states: int
    depth: int
    error: KmcError | None = None


@dataclass(slots=True)
class SeekProgress:
    """The progress of a search, and its activity while it does not search; setting `is_cancelled` ends it."""

    states: int = 0
    depth: int = 0
    is_cancelled: bool = False
    activity: str = ""


class Seeker:
    """Searches from states of one model."""

    def __init__(self, model: Model, clock: Callable[[], float] = time.monotonic) -> None:
        spec = model.spec
        self._model = model
        self._clock = clock
        self._relation = NextStateRelation(spec.actions, spec.state_class, spec.files)

    def breadth_first(self, start: State, wanted: WaitedFor, limits: SeekLimits, progress: SeekProgress) -> SeekResult:
        """Return the shortest way from `start` to a state or step in which `wanted` is met, within the constraints.

        A state in which evaluation fails has no successors here; the error is shown once a person goes there.
        """
        until = self._clock() + limits.seconds
        came: dict[Any, tuple[Any, TakenStep] | None] = {start: None}
        queue = deque([(start, 0)])
        while queue:
            state, depth = queue.popleft()
            progress.depth = depth
            for move in moves_of(self._relation, state).enabled:
                successor = move.step.state
                if progress.is_cancelled or self._clock() > until or len(came) > limits.states:
                    end = SeekEnd.CANCELLED if progress.is_cancelled else SeekEnd.LIMIT
                    return SeekResult(end, (), len(came), depth)
                is_new, taken = successor not in came, (move.step, move.instance.message)
                if is_new:
                    came[successor] = (state, taken)
                    progress.states = len(came)
                if (wanted.is_met if is_new else wanted.is_met_by_step)(state, successor):
                    return SeekResult(SeekEnd.FOUND, (*_way(came, state), taken), len(came), depth + 1)
                if is_new and self._is_inside(state, successor):
                    queue.append((successor, depth + 1))
        return SeekResult(SeekEnd.ALL_SEEN, (), len(came), progress.depth)

    def at_random(
        self, start: State, wanted: WaitedFor | None, steps: int, seed: int, limits: SeekLimits, progress: SeekProgress
    ) -> SeekResult:
        """A walk of at most `steps` steps that change something, each as likely as the others, within the constraints.

        With `wanted`, the walk ends where that is met, and another begins at `start` where it is not, until a limit.
        """
        random, until = Random(seed), self._clock() + limits.seconds
        while True:
            way: list[TakenStep] = []
            state, end = start, SeekEnd.WALKED
            while len(way) < steps:
                if progress.is_cancelled or self._clock() > until or progress.states >= limits.states:
                    end = SeekEnd.CANCELLED if progress.is_cancelled else SeekEnd.LIMIT
                    return SeekResult(end, () if wanted else tuple(way), progress.states, progress.depth)
                move, is_met = self._chosen(state, wanted, random)
                if move is None:
                    end = SeekEnd.NO_STEP
                    break
                state = move.step.state
                way.append((move.step, move.instance.message))
                progress.states, progress.depth = progress.states + 1, max(progress.depth, len(way))
                if is_met:
                    return SeekResult(SeekEnd.FOUND, tuple(way), progress.states, len(way))
            if wanted is None or not way:
                return SeekResult(end, tuple(way), progress.states, progress.depth)

    def _chosen(self, state: State, wanted: WaitedFor | None, random: Random) -> tuple[Move | None, bool]:
        """A random move, and whether it meets the condition; only such a move leaves the constraints."""
        moves = [move for move in moves_of(self._relation, state).enabled if move.step.state != state]
        while moves:
            move = moves.pop(int(random.random() * len(moves)))
            is_met = wanted is not None and wanted.is_met(state, move.step.state)
            if is_met or self._is_inside(state, move.step.state):
                return move, is_met
        return None, False

    def _is_inside(self, before: Any, state: State) -> bool:
        """Whether a search goes on in `state`; where a constraint has no truth value it does not."""
        model = self._model
        try:
            return all(holds(c, model.spec.files, state) for c in model.predicates(Role.BOUNDING, 1)) and all(
                holds(c, model.spec.files, before, state) for c in model.predicates(Role.BOUNDING, 2)
            )
        except KmcError:
            return False


def _way(came: dict[Any, tuple[Any, TakenStep] | None], state: State) -> tuple[TakenStep, ...]:
    steps: list[TakenStep] = []
    while (before := came[state]) is not None:
        state, step = before
        steps.append(step)
    return tuple(reversed(steps))
