"""Going on by itself: breadth first or at random, until a condition is met, or for a number of steps.

Invariant: nothing here changes a tree. A search starts at one state and returns the steps from there, so it can run
beside a person's commands, be cancelled at any time, and stop at its limits.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

from kmc.explorer.explored_model import ExploredModel, Move
from kmc.explorer.search_terms import SeekEnd, SeekLimits, SeekProgress, SeekResult, TakenStep, WaitedFor

INTERPRETED_STATES_MAX = 100_000
"""The greatest number of states that an interpreter expands, each of them some kilobytes."""


class Seeker:
    """Searches from states of one model."""

    def __init__(self, explored: ExploredModel, clock: Callable[[], float] = time.monotonic) -> None:
        self._explored = explored
        self._clock = clock

    def breadth_first(self, start: Any, wanted: WaitedFor, limits: SeekLimits, progress: SeekProgress) -> SeekResult:
        """Return the shortest way from `start` to a state or step in which `wanted` is met, within the constraints.

        A state in which evaluation fails has no successors here; the error is shown once a person goes there.
        """
        until = self._clock() + limits.seconds
        came: dict[Any, tuple[Any, TakenStep] | None] = {start: None}
        queue = deque([(start, 0)])
        while queue:
            state, depth = queue.popleft()
            progress.depth = depth
            for move in self._explored.moves(state).enabled:
                successor = move.step.state
                if progress.is_cancelled or self._clock() > until or len(came) > limits.states:
                    end = SeekEnd.CANCELLED if progress.is_cancelled else SeekEnd.LIMIT
                    return SeekResult(end, (), len(came), depth)
                is_new, taken = successor not in came, (move.step, move.message)
                if is_new:
                    came[successor] = (state, taken)
                    progress.states = len(came)
                if (wanted.is_met if is_new else wanted.is_met_by_step)(state, successor):
                    return SeekResult(SeekEnd.FOUND, (*_way(came, state), taken), len(came), depth + 1)
                if is_new and self._explored.is_inside(state, successor):
                    queue.append((successor, depth + 1))
        return SeekResult(SeekEnd.ALL_SEEN, (), len(came), progress.depth)

    def at_random(
        self, start: Any, wanted: WaitedFor | None, steps: int, seed: int, limits: SeekLimits, progress: SeekProgress
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
                way.append((move.step, move.message))
                progress.states, progress.depth = progress.states + 1, max(progress.depth, len(way))
                if is_met:
                    return SeekResult(SeekEnd.FOUND, tuple(way), progress.states, len(way))
            if wanted is None or not way:
                return SeekResult(end, tuple(way), progress.states, progress.depth)

    def _chosen(self, state: Any, wanted: WaitedFor | None, random: Random) -> tuple[Move | None, bool]:
        """A random move, and whether it meets the condition; only such a move leaves the constraints."""
        moves = [move for move in self._explored.moves(state).enabled if move.step.state != state]
        while moves:
            move = moves.pop(int(random.random() * len(moves)))
            is_met = wanted is not None and wanted.is_met(state, move.step.state)
            if is_met or self._explored.is_inside(state, move.step.state):
                return move, is_met
        return None, False


def _way(came: dict[Any, tuple[Any, TakenStep] | None], state: Any) -> tuple[TakenStep, ...]:
    steps: list[TakenStep] = []
    while (before := came[state]) is not None:
        state, step = before
        steps.append(step)
    return tuple(reversed(steps))
