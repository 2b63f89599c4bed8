"""The conditions on a cycle that a walk has met, as bits of an integer, for the few states of a counterexample.

Invariant: progress only grows, and does not depend on the order in which conditions are met; so the progress of a
closed walk is that of the cycle. It has five fields of bits by sets: weak fairness that is met; steps with strong
fairness that are taken; those that are enabled, or taken; other steps that are taken; states that are visited.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kmc.engine.lassos.condition_masks import NONE, ConditionMasks, strong_steps, weak_steps
from kmc.liveness.behaviour_graph import BehaviourGraph
from kmc.liveness.lasso_queries import Recurrence

Step = tuple[int, int]
"""A target, and the progress that the step makes."""

_STRONG, _ENABLED, _OTHERS, _STATES = 1, 2, 3, 4


class CycleProgress:
    """Progress in the components of one query."""

    def __init__(
        self,
        graph: BehaviourGraph,
        masks: ConditionMasks,
        components: NDArray[np.uint32],
        allowed: NDArray[np.bool_] | None,
    ) -> None:
        self.graph, self.masks = graph, masks
        self._components, self._allowed = components, allowed
        self._steps: dict[int, tuple[Step, ...]] = {}
        self._states: dict[int, int] = {}
        self._made: dict[int, int] = {}
        self._width = 64 * masks.words
        self._weak = self._strong = self._others = 0
        # Of each other condition the bits, in their fields: those that trigger it, or 0; those that meet it.
        self._pairs: list[tuple[int, int]] = []
        for condition in masks.conditions:
            if isinstance(condition, Recurrence):
                if (steps := weak_steps(condition)) is not None:
                    self._weak |= 1 << masks.step_bit(steps)
                else:
                    self._pairs.append((0, self._answer(condition)))
            elif (steps := strong_steps(condition)) is not None:
                self._strong |= 1 << masks.step_bit(steps)
            elif trigger := self._states_field(masks.state_bit(condition.trigger)):
                self._pairs.append((trigger, self._answer(condition.answer)))

    @property
    def states_seen(self) -> int:
        """The number of states visited."""
        return len(self._states)

    def steps(self, state: int) -> tuple[Step, ...]:
        """The steps to other states of the component, each pair once."""
        if state not in self._steps:
            self._look_at(state)
        return self._steps[state]

    def at(self, state: int) -> int:
        """The progress that a visit of a state makes."""
        if state not in self._states:
            self._look_at(state)
        return self._states[state]

    def is_complete(self, progress: int) -> bool:
        """Whether a closed walk with this progress is a fair cycle."""
        if progress & self._weak != self._weak or self._unanswered(progress):
            return False
        return all(progress & met or (trigger and not progress & trigger) for trigger, met in self._pairs)

    def of_cycle(self, cycle: Sequence[int]) -> int | None:
        """The progress of a closed walk; None if a step of it is not there."""
        progress = 0
        for state, target in pairwise([*cycle, cycle[0]]):
            made = next((step for to, step in self.steps(state) if to == target), None)
            if made is None:
                return None
            progress |= made | self.at(state)
        return progress

    def wanted(self, progress: int) -> tuple[int, int, int]:
        """Bits of sets: of steps to take, of steps that a state should lack, of states to visit."""
        lacks = self._weak & ~progress
        steps = lacks | self._unanswered(progress)
        states = 0
        for trigger, met in self._pairs:
            if not progress & met and (progress & trigger or not trigger):
                steps |= (met >> (_OTHERS * self._width)) & self._others
                states |= met >> (_STATES * self._width)
        return steps, lacks, states

    def _unanswered(self, progress: int) -> int:
        """The sets with strong fairness that are enabled and not taken."""
        enabled, taken = progress >> (_ENABLED * self._width), progress >> (_STRONG * self._width)
        return enabled & ~taken & self._strong

    def _states_field(self, bit: int) -> int:
        return 0 if bit == NONE else 1 << (bit + _STATES * self._width)

    def _answer(self, condition: Recurrence) -> int:
        progress = self._states_field(self.masks.state_bit(condition.states))
        if (bit := self.masks.step_bit(condition.steps)) != NONE:
            self._others |= 1 << bit
            progress |= 1 << (bit + _OTHERS * self._width)
        return progress

    def _made_by(self, taken: int) -> int:
        """The progress of a step by the sets that it is in."""
        if taken not in self._made:
            strong, width = taken & self._strong, self._width
            made = taken & self._weak | strong << (_STRONG * width) | strong << (_ENABLED * width)
            self._made[taken] = made | (taken & self._others) << (_OTHERS * width)
        return self._made[taken]

    def _look_at(self, state: int) -> None:
        graph, masks = self.graph, self.masks
        first, end = map(int, graph.offsets[state : state + 2])
        targets = graph.targets[first:end]
        inside = (targets < graph.expanded) & (targets != state)
        inside[inside] = self._components[targets[inside]] == self._components[state]
        if self._allowed is not None:
            inside &= self._allowed[first:end]
        sets_by_target: dict[int, int] = {}
        enabled = 0
        for step, (target, stays) in enumerate(zip(targets.tolist(), inside.tolist(), strict=True), first):
            sets = masks.sets_of_step(step, changes=target != state)
            enabled |= sets
            if stays:
                sets_by_target[target] = sets_by_target.get(target, 0) | sets
        self._steps[state] = tuple((target, self._made_by(taken)) for target, taken in sets_by_target.items())
        here = self._weak & ~enabled | (enabled & self._strong) << (_ENABLED * self._width)
        self._states[state] = here | masks.sets_of_state(state) << (_STATES * self._width)
