"""Random bound formulas, random behaviours, and a query asked of one behaviour by following all its phases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from kmc.liveness.formulas import (
    ActionSteps,
    Always,
    And,
    Enabled,
    Eventually,
    Fair,
    ForAll,
    Formula,
    Iff,
    Implies,
    LeadsTo,
    Not,
    Or,
    StatePredicate,
    StepPredicate,
    ThereExists,
    Truth,
)
from kmc.liveness.lasso_queries import (
    AllStates,
    AllSteps,
    AndStates,
    AndSteps,
    AtomHolds,
    Changing,
    From,
    HasStep,
    Into,
    Labelled,
    LassoQuery,
    NotStates,
    NotSteps,
    OrStates,
    OrSteps,
    Recurrence,
    Response,
    StateSet,
    StepAtomHolds,
    StepSet,
)

LABELS = 3


@dataclass(frozen=True)
class World:
    """Numbered states, the steps of each with their labels, and the predicates that the sets of a problem number."""

    steps: Sequence[Sequence[tuple[int, int]]]
    state_atoms: Sequence[Callable[[int], bool]] = ()
    step_atoms: Sequence[Callable[[int, int], bool]] = ()

    def generated(self, state: int) -> dict[int, set[int]]:
        """The successors of a state, with the labels of the steps there."""
        found: dict[int, set[int]] = {}
        for label, target in self.steps[state]:
            found.setdefault(target, set()).add(label)
        return found

    def has(self, states: StateSet, state: int) -> bool:
        """Whether a state is in a set."""
        match states:
            case AtomHolds(number):
                return self.state_atoms[number](state)
            case HasStep(steps):
                return any(self.takes(steps, state, target) for _, target in self.steps[state])
            case AllStates():
                return True
            case NotStates(inside):
                return not self.has(inside, state)
            case AndStates(parts):
                return all(self.has(part, state) for part in parts)
            case OrStates(parts):
                return any(self.has(part, state) for part in parts)

    def takes(self, steps: StepSet, source: int, target: int) -> bool:
        """Whether a step is in a set."""
        match steps:
            case Labelled(labels):
                return any(label in labels and found == target for label, found in self.steps[source])
            case StepAtomHolds(number):
                return self.step_atoms[number](source, target)
            case Changing():
                return source != target
            case From(states):
                return self.has(states, source)
            case Into(states):
                return self.has(states, target)
            case AllSteps():
                return True
            case NotSteps(inside):
                return not self.takes(inside, source, target)
            case AndSteps(parts):
                return all(self.takes(part, source, target) for part in parts)
            case OrSteps(parts):
                return any(self.takes(part, source, target) for part in parts)

    def answers(self, query: LassoQuery, states: Sequence[int], loop: int) -> bool:
        """Whether a behaviour answers a query, fairness apart."""
        cycle = [*states[loop:]]
        pairs = list(pairwise([*cycle, cycle[0]])) if len(cycle) > 1 else []
        conditions: tuple[Recurrence | Response, ...] = (*query.recurrences, *query.responses)
        if not all(self.meets(condition, cycle, pairs) for condition in conditions):
            return False
        last = query.phases[-1]
        if not all(self.has(last.states, state) for state in cycle):
            return False
        if not all(self.takes(last.steps, *pair) for pair in pairs):
            return False
        word = [*states, *cycle * (len(query.phases) + 1)]
        first = query.phases[0]
        at = {0} if self.has(first.enters_at, word[0]) and self.has(first.states, word[0]) else set()
        for source, target in pairwise(word):
            at = {phase for now in at for phase in (now, now + 1) if self._goes(query, now, phase, source, target)}
        return len(query.phases) - 1 in at

    def _goes(self, query: LassoQuery, now: int, later: int, source: int, target: int) -> bool:
        """Whether a step, or stuttering, leads from one phase to another."""
        if later == len(query.phases) or not self.has(query.phases[later].states, target):
            return False
        if source == target:
            return now == later
        phase = query.phases[later]
        if now == later:
            return self.takes(phase.steps, source, target)
        return self.takes(phase.entered_by, source, target) and self.has(phase.enters_at, target)

    def meets(self, condition: Recurrence | Response, cycle: Sequence[int], pairs: Sequence[tuple[int, int]]) -> bool:
        """Whether a cycle meets a condition."""
        match condition:
            case Recurrence(states, steps):
                return any(self.has(states, state) for state in cycle) or any(self.takes(steps, *p) for p in pairs)
            case Response(trigger, answer):
                return not any(self.has(trigger, state) for state in cycle) or self.meets(answer, cycle, pairs)


def random_world(random: Random, size: int) -> World:
    """Steps at random, self-steps and pairs with two labels included."""
    chosen = [
        sorted({(random.randrange(LABELS), random.randrange(size)) for _ in range(random.randrange(2 * size))})
        for _ in range(size)
    ]
    return World(chosen)


def random_behaviour(random: Random, size: int) -> tuple[list[int], int]:
    """States, neighbours being different, and where the cycle begins: one state alone stutters.

    Its pairs need not be steps of a world: what a formula says of a pair does not depend on that.
    """
    states = [random.randrange(size)]
    for _ in range(random.randrange(7)):
        states.append(random.choice([state for state in range(size) if state != states[-1]]))
    loops = [at for at, state in enumerate(states) if state != states[-1] or at == len(states) - 1]
    return states, random.choice(loops)


def _is_in(chosen: frozenset[int]) -> Callable[[int], bool]:
    return lambda state: state in chosen


def _joins_one_of(chosen: frozenset[tuple[int, int]]) -> Callable[[int, int], bool]:
    return lambda state, new: (state, new) in chosen


class RandomFormulas:
    """Formulas of a level and a depth, over few predicates of `size` states, so that they often meet again."""

    def __init__(self, random: Random, size: int) -> None:
        self._random = random
        subsets = [frozenset(random.sample(range(size), random.randrange(size + 1))) for _ in range(3)]
        self._states = [StatePredicate(_is_in(chosen)) for chosen in subsets]
        pairs = [frozenset((random.randrange(size), random.randrange(size)) for _ in range(size)) for _ in range(2)]
        self._steps = [StepPredicate(_joins_one_of(chosen)) for chosen in pairs]

    def state(self, depth: int) -> Formula:
        """A predicate of a state."""
        kind = self._random.randrange(8) if depth else 0
        if kind == 1:
            return Enabled(self.action(depth - 1))
        if kind == 2 and self._random.random() < 0.2:
            return Truth(self._random.random() < 0.5)
        return self._connected(self.state, depth) if kind > 5 else self._random.choice(self._states)

    def action(self, depth: int) -> Formula:
        """Steps of an action, with a condition or without."""
        labels = frozenset(self._random.sample(range(LABELS), self._random.randrange(1, LABELS)))
        steps = ActionSteps(labels, "A", "A")
        if depth and self._random.random() < 0.4:
            others: list[Formula] = [*self._states, *self._steps]
            other = self._random.choice(others)
            return And((steps, other)) if self._random.random() < 0.7 else Or((steps, self.action(0)))
        return steps

    def step(self, depth: int) -> Formula:
        """A predicate of a step."""
        kind = self._random.randrange(4) if depth else 0
        if kind == 1:
            return self._random.choice(self._steps)
        if kind == 2:
            return And((self.action(depth - 1), self.state(depth - 1)))
        return Not(self.step(depth - 1)) if kind == 3 else self.action(depth)

    def temporal(self, depth: int) -> Formula:
        """A temporal formula, or a predicate of a state."""
        if not depth or self._random.random() < 0.1:
            return self.state(1)
        match self._random.randrange(9):
            case 0 | 1:
                return Always(self._inside(depth - 1))
            case 2 | 3:
                return Eventually(self._inside(depth - 1))
            case 4:
                return LeadsTo(self.temporal(depth - 1), self.temporal(depth - 1))
            case 5:
                strong, steps = self._random.random() < 0.5, self.action(1)
                return Fair(strong, steps, enabled=self.state(0) if self._random.random() < 0.3 else None)
            case _:
                return self._connected(self.temporal, depth)

    def hard(self) -> Formula:
        """A disjunction of all kinds under [], or a conjunction under <>, where the rules are less than obvious."""
        if self._random.random() < 0.3:
            mixed = And((self.state(0), Or((self.state(0), Always(self.temporal(1))))))
            return Not(Always(Eventually(mixed)))
        body = Or((self.state(0), Eventually(self._both(2)), Always(self._both(1))))
        return Not(Always(body)) if self._random.random() < 0.7 else Always(body)

    def _both(self, depth: int) -> Formula:
        """Two of states, of <> and of []; under <> and [] the same again."""
        parts: list[Formula] = [self.state(0), Eventually(self.state(0)), Always(self.state(0))]
        if depth > 1:
            parts += [Eventually(self._both(depth - 1)), Always(Or((self.state(0), Always(self.state(0)))))]
        return And(tuple(self._random.sample(parts, 2)))

    def _inside(self, depth: int) -> Formula:
        return self.step(1) if self._random.random() < 0.2 else self.temporal(depth)

    def _connected(self, part: Callable[[int], Formula], depth: int) -> Formula:
        first, second = part(depth - 1), part(depth - 1)
        match self._random.randrange(8):
            case 0 | 1:
                return And((first, second))
            case 2 | 3:
                return Or((first, second))
            case 4:
                return Not(first)
            case 5:
                return Implies(first, second)
            case 6:
                return Iff(first, second)
            case _:
                kind = ForAll if self._random.random() < 0.5 else ThereExists
                return kind("n", ((0, first), (1, second)))
