"""The brute force: a breadth-first search of a drawn spec over plain values, that counts as TLC counts.

Invariant: it shares no code with kmc, and knows nothing but the meaning of the language (docs/language.md), TLC's
counting rules, and the order of failures (ARCHITECTURE.md): trace length, kind, property. Orbits are found by trying
all permutations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from attack.drawn_spec import Action, Body, DrawnSpec
from attack.expressions import MEMBERS, Env, Expr, evaluate
from attack.values import Fun, Rec, Value, renamed, renamings, shown

STATES_MAX = 1200

KINDS = ("assertion", "deadlock", "violation")
"""The failures of one trace length, in the order in which they are reported."""


class TooLarge(Exception):
    """A drawn spec has more states than a brute force should visit."""


class OutOfDomain(Exception):
    """A drawn spec stores a value outside of its type: such a spec is drawn again."""


@dataclass(frozen=True)
class Step:
    """A step of an instance of an action. `arguments` are those that fairness tells apart."""

    action: str
    arguments: tuple[Value, ...]
    target: Rec


class _Ended(Exception):
    """A `require` does not hold: the innermost choice ends."""


class AssertFailed(Exception):
    """An `assert` in an action fails."""


class Meaning:
    """The initial states and the steps of a drawn spec."""

    def __init__(self, spec: DrawnSpec) -> None:
        self.spec = spec
        self.env: Env = {MEMBERS: spec.members}
        groups = [members for _, members, symmetric in spec.idents if symmetric]
        self._renamings = renamings(groups) if spec.symmetry else [{}]
        self._keys: dict[Rec, str] = {}

    def initial(self) -> list[Rec]:
        """Return the initial states, each as often as it is generated."""
        return list(self._run(self.spec.init, self.env))

    def steps(self, state: Rec) -> list[Step]:
        """Return the steps of a state, each as often as it is generated. Raises AssertFailed."""
        return [
            Step(action.title, arguments, target)
            for action in self.spec.actions
            for env, arguments in self._instances(action, state)
            for target in self._run(action.body, env)
        ]

    def holds(self, claim: Expr, state: Rec, after: Rec | None = None) -> bool:
        """Return whether a predicate of a state or a step is true."""
        return bool(evaluate(claim, {**self.env, "st": state, "nxt": after}))

    def orbit(self, state: Rec) -> Hashable:
        """Return a key that two states share if a permutation, or what the view drops, is all they differ in."""
        if self.spec.dropped:
            state = Rec("State", tuple(each for each in state.fields if each[0] not in self.spec.dropped))
        return self.permuted(state)

    def permuted(self, state: Rec) -> Hashable:
        """Return a key that two states share if a permutation is all they differ in."""
        if len(self._renamings) == 1:
            return state
        if state not in self._keys:
            self._keys[state] = min(shown(renamed(state, names)) for names in self._renamings)
        return self._keys[state]

    def arguments(self, action: Action) -> list[tuple[Value, ...]]:
        """Return the arguments of all instances that fairness tells apart."""
        domains = [self._members(of) for _, of in action.params] if action.message is None else []
        if action.message is not None:
            fields = dict(self.spec.record(action.message).fields)
            domains = [self._members(fields[end]) for _, end in action.ends]
        return list(product(*domains))

    def _instances(self, action: Action, state: Rec) -> Iterator[tuple[Env, tuple[Value, ...]]]:
        env = {**self.env, "st": state}
        if action.message is not None:
            network = state.get(str(action.network))
            for message in network:
                if message.cls == action.message and (not isinstance(network, Fun) or network[message] > 0):
                    ends = {name: message.get(end) for name, end in action.ends}
                    yield {**env, "m": message, **ends}, tuple(ends.values())
            return
        envs: list[tuple[Env, tuple[Value, ...]]] = [(env, ())]
        for name, of in action.params:
            envs = [({**e, name: v}, (*args, v)) for e, args in envs for v in self._members(of)]
        yield from envs

    def _members(self, of: Any) -> Any:
        match of:
            case ("id", name):
                return self.spec.members[name]
            case ("int", low, high):
                return range(low, high + 1)
            case ("bool",):
                return (False, True)
            case ("enum", name):
                return dict(self.spec.enums)[name]
        raise AssertionError(of)

    def _run(self, body: Body, env: Env) -> Iterator[Rec]:
        try:
            yield from self._statements(body, env)
        except _Ended:
            return

    def _statements(self, body: Body, env: Env) -> Iterator[Rec]:
        for statement in body:
            match statement:
                case ("yield", changes):
                    yield env["st"].with_({name: evaluate(value, env) for name, value in changes})
                case ("start", fields):
                    yield Rec("State", tuple((name, evaluate(value, env)) for name, value in fields))
                case ("require", condition):
                    if not evaluate(condition, env):
                        raise _Ended
                case ("assert", condition):
                    if not evaluate(condition, env):
                        raise AssertFailed
                case ("if", condition, then, otherwise):
                    yield from self._statements(then if evaluate(condition, env) else otherwise, env)
                case ("for", variable, domain, inner):
                    for item in evaluate(domain, env):
                        yield from self._run(inner, {**env, variable: item})
                case ("ways", conditions, inner):
                    for _ in [condition for condition in conditions if evaluate(condition, env)]:
                        yield from self._run(inner, env)
                case ("times", number, inner):
                    for _ in range(evaluate(number, env)):
                        yield from self._run(inner, env)


@dataclass(frozen=True, order=True)
class Failure:
    """A failure, ordered as it is reported: the least length, then the kind, then the place in the model."""

    length: int
    kind: int
    order: int
    name: str = field(default="", compare=False)


@dataclass
class Graph:
    """States by number, in the order in which they were found, and the steps between those that were expanded."""

    states: list[Rec] = field(default_factory=list)
    level_of: list[int] = field(default_factory=list)
    steps: list[list[tuple[Step, int | None]]] = field(default_factory=list)
    """Of each expanded state: its steps, with the number of the target, or None where it is not stored."""


@dataclass
class Answer:
    """What a search of the spec must say."""

    graph: Graph
    generated: int = 0
    initial: int = 0
    cut: int = 0
    by_action: Counter[str] = field(default_factory=Counter)
    levels: list[int] = field(default_factory=list)
    violations: Counter[str] = field(default_factory=Counter)
    unreached: list[str] = field(default_factory=list)
    failure: Failure | None = None
    bounded: bool = False
    left: int = 0
    early: bool = False
    refuted: dict[str, bool] = field(default_factory=dict)
    """Of each temporal property: whether some behaviour of the expanded states refutes it."""
    temporal: str | None = None
    """The temporal property that is reported."""
    prefix: bool = False
    """Whether a finite prefix refutes it."""

    @property
    def distinct(self) -> int:
        """The number of stored states."""
        return len(self.graph.states)


class Search:
    """The search. `is_refuted` says, after each level, whether a temporal property is refuted for certain."""

    def __init__(self, meaning: Meaning, *, keep_going: bool, is_refuted: Any = None, depth: int | None = None) -> None:
        self._meaning = meaning
        self._keep_going = keep_going
        self._is_refuted = is_refuted
        self._depth = meaning.spec.levels if depth is None else depth
        self._numbers: dict[Hashable, int] = {}
        self._beyond: set[Rec] = set()
        self._counted: set[tuple[str, Hashable]] = set()
        self._failures: list[Failure] = []
        self._closed = False
        self._goals = {goal.name for goal in meaning.spec.goals}
        self._wanted = set(self._goals)
        self.answer = Answer(Graph())

    def run(self) -> Answer:
        """Explore level by level, and end with the level that fails."""
        answer, graph = self.answer, self.answer.graph
        for state in self._meaning.initial():
            answer.generated += 1
            answer.initial += 1
            self._take(state, None, level=1, storing=True)
        level = self._close(0)
        while level and (self._keep_going or not self._failures):
            storing = self._depth is None or len(answer.levels) < self._depth
            for number in level:
                self._expand(number, storing)
            level = self._close(level.stop)
            if level and not self._failures and self._is_refuted is not None and self._is_refuted(answer):
                answer.early = True
                break
        answer.left = len(level)
        answer.unreached = sorted(self._goals)
        answer.failure = min(self._failures, default=None)
        assert len(graph.steps) + answer.left == len(graph.states)
        return answer

    def _close(self, begin: int) -> range:
        end = len(self.answer.graph.states)
        if end > begin:
            self.answer.levels.append(end - begin)
        self._closed = bool(self._failures)
        return range(begin, end)

    def _expand(self, number: int, storing: bool) -> None:
        graph, spec = self.answer.graph, self._meaning.spec
        source, level = graph.states[number], graph.level_of[number]
        taken: list[tuple[Step, int | None]] = []
        graph.steps.append(taken)
        try:
            steps = self._meaning.steps(source)
        except AssertFailed:
            self._fail(Failure(level, 0, 0))
            return
        if not steps and spec.deadlock:
            self._fail(Failure(level, 1, 0))
        for step in steps:
            self.answer.generated += 1
            self.answer.by_action[step.action] += 1
            taken.append((step, self._take(step.target, source, level + 1, storing)))
            for order, claim in enumerate(spec.steps if step.target != source else ()):
                if not self._meaning.holds(claim.holds, source, step.target):
                    self.answer.violations[claim.name] += 1
                    self._fail(Failure(level + 1, 2, len(spec.invariants) + order, claim.name))

    def _take(self, state: Rec, source: Rec | None, level: int, storing: bool) -> int | None:
        graph, meaning = self.answer.graph, self._meaning
        in_model = all(meaning.holds(claim.holds, state) for claim in meaning.spec.constraints) and (
            source is None or all(meaning.holds(c.holds, source, state) for c in meaning.spec.step_constraints)
        )
        self.answer.cut += not in_model
        orbit = meaning.orbit(state)
        if in_model and orbit in self._numbers:
            return self._numbers[orbit]
        if in_model and storing:
            self._numbers[orbit] = len(graph.states)
            graph.states.append(state)
            graph.level_of.append(level)
            if len(graph.states) > STATES_MAX:
                raise TooLarge
            self._check(state, level)
            return self._numbers[orbit]
        self.answer.bounded |= in_model
        if state not in self._beyond:
            self._beyond.add(state)
            self._check(state, level)
        return None

    def _check(self, state: Rec, level: int) -> None:
        spec = self._meaning.spec
        self._goals -= {goal.name for goal in spec.goals if self._meaning.holds(goal.holds, state)}
        for order, claim in enumerate(spec.invariants):
            if not self._meaning.holds(claim.holds, state):
                failing = claim.name, self._meaning.permuted(state)
                if failing not in self._counted:
                    self._counted.add(failing)
                    self.answer.violations[claim.name] += 1
                self._fail(Failure(level, 2, order, claim.name))

    def _fail(self, failure: Failure) -> None:
        if not self._closed:
            self._failures.append(failure)
