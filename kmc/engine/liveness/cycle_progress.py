"""How far a walk has met the conditions on a cycle, as bits of an integer, for the few states of a counterexample.

Invariant: progress only grows, and does not depend on the order of what was met; so the progress of a closed walk is
that of the cycle. A response has two bits: met is its answer, or open is its trigger; where it is met, both are set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from kmc.engine.liveness.condition_masks import NONE, ConditionMasks, strong_steps, weak_steps
from kmc.liveness.behaviour_graph import BehaviourGraph
from kmc.liveness.lasso_queries import Recurrence

Step = tuple[int, int]
"""A target, and the progress that the step makes."""


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
        # Each condition: what triggers it (bit of enabled steps, or of states), and what meets it.
        self._weak: list[int] = []
        self._strong: list[int] = []
        self._recurrences: list[tuple[int, int]] = []
        self._responses: list[tuple[int, int, int]] = []
        for condition in masks.conditions:
            if isinstance(condition, Recurrence):
                if (steps := weak_steps(condition)) is not None:
                    self._weak.append(masks.step_bit(steps))
                else:
                    self._recurrences.append((masks.state_bit(condition.states), masks.step_bit(condition.steps)))
            elif (steps := strong_steps(condition)) is not None:
                self._strong.append(masks.step_bit(steps))
            else:
                answer = condition.answer
                found = (masks.state_bit(answer.states), masks.step_bit(answer.steps))
                self._responses.append((masks.state_bit(condition.trigger), *found))
        self._needed = len(self._weak) + len(self._recurrences)
        self._answers = len(self._strong) + len(self._responses)
        self._need_mask = (1 << self._needed) - 1
        self._answer_mask = (1 << self._answers) - 1

    def steps(self, state: int) -> tuple[Step, ...]:
        """The steps to other states of the component, each pair once."""
        if state not in self._steps:
            self._steps[state] = tuple(self._steps_of(state))
        return self._steps[state]

    def at(self, state: int) -> int:
        """The progress that a visit of a state makes."""
        if state not in self._states:
            self._states[state] = self._progress_at(state)
        return self._states[state]

    def is_complete(self, progress: int) -> bool:
        """Whether a closed walk with this progress is a fair cycle."""
        return not self.unmet_recurrences(progress) and not self.unanswered(progress)

    def unmet_recurrences(self, progress: int) -> int:
        """The bits of recurrences that are not met."""
        return ~progress & self._need_mask

    def unanswered(self, progress: int) -> int:
        """The bits of responses that are open and not met."""
        met = (progress >> self._needed) & self._answer_mask
        return (progress >> (self._needed + self._answers)) & ~met

    def of_cycle(self, cycle: Sequence[int]) -> int | None:
        """The progress of a closed walk; None if a step of it is not there."""
        progress = 0
        for state, target in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            made = next((step for to, step in self.steps(state) if to == target), None)
            if made is None:
                return None
            progress |= made | self.at(state)
        return progress

    def wanted(self, progress: int) -> tuple[int, int, int]:
        """Bits of sets: of steps to take, of steps that a state should lack, of states to visit."""
        steps = lacks = states = 0
        unmet, unanswered = self.unmet_recurrences(progress), self.unanswered(progress)
        for number, bit in enumerate(self._weak):
            if unmet >> number & 1:
                steps, lacks = steps | 1 << bit, lacks | 1 << bit
        pairs = [pair for number, pair in enumerate(self._recurrences, len(self._weak)) if unmet >> number & 1]
        for number, bit in enumerate(self._strong):
            steps |= (unanswered >> number & 1) << bit
        for number, (_, *answer) in enumerate(self._responses, len(self._strong)):
            if unanswered >> number & 1:
                pairs.append((answer[0], answer[1]))
        for state_bit, step_bit in pairs:
            steps |= _bit(step_bit)
            states |= _bit(state_bit)
        return steps, lacks, states

    def _steps_of(self, state: int) -> Iterable[Step]:
        graph, masks = self.graph, self.masks
        first, end = int(graph.offsets[state]), int(graph.offsets[state + 1])
        found: dict[int, int] = {}
        for place, target in enumerate(graph.targets[first:end].tolist(), first):
            inside = target < graph.expanded and self._components[target] == self._components[state]
            if target != state and inside and (self._allowed is None or self._allowed[place]):
                found[target] = found.get(target, 0) | masks.sets_of_step(place, changes=True)
        return [(target, self._met_by(taken, 0)) for target, taken in found.items()]

    def _progress_at(self, state: int) -> int:
        graph, masks = self.graph, self.masks
        enabled = 0
        first, end = int(graph.offsets[state]), int(graph.offsets[state + 1])
        for place, target in enumerate(graph.targets[first:end].tolist(), first):
            enabled |= masks.sets_of_step(place, changes=target != state)
        sets = masks.sets_of_state(state)
        lacking = sum(1 << number for number, bit in enumerate(self._weak) if not enabled >> bit & 1)
        triggered = sum(1 << number for number, bit in enumerate(self._strong) if enabled >> bit & 1)
        for number, (trigger, _, _) in enumerate(self._responses, len(self._strong)):
            triggered |= (sets & _bit(trigger) != 0) << number
        return self._met_by(0, sets) | lacking | triggered << (self._needed + self._answers)

    def _met_by(self, taken: int, sets: int) -> int:
        needed = sum(1 << number for number, bit in enumerate(self._weak) if taken >> bit & 1)
        for number, (states, steps) in enumerate(self._recurrences, len(self._weak)):
            needed |= (sets & _bit(states) != 0 or taken & _bit(steps) != 0) << number
        answered = sum(1 << number for number, bit in enumerate(self._strong) if taken >> bit & 1)
        for number, (_, states, steps) in enumerate(self._responses, len(self._strong)):
            answered |= (sets & _bit(states) != 0 or taken & _bit(steps) != 0) << number
        return needed | answered << self._needed | answered << (self._needed + self._answers)


def _bit(number: int) -> int:
    return 0 if number == NONE else 1 << number
