"""Random specs whose failures lie in orbits of several states: steps that stutter, or only exchange symmetric members.

`least_failure` answers by brute force, over single states, what a check of such a spec must report.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from kmc.actions.relation import AssertionFailure, NextStateRelation
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.invariants.properties import Predicate
from kmc.reference.states.initial import initial_states
from kmc.result import Result, Verdict

_HEAD = """
Server = constant("Server", IdentSet(symmetric=True), "Who")


class State(Record):
    holder: Opt[Server]
    marks: Map[Server, Int(0, 2)]
    seen: Set[Server]
    n: Int(0, 3)
    low: Opt[Int(0, 3)]


spec.symmetry("servers", Server)
spec.view("without_low", drop=["low"])
"""

_ACTIONS = (
    ("move", "s: Server", "st.set(holder=s)"),
    ("drop", "", "st.set(holder=None)"),
    ("mark", "s: Server", "st.set(marks=st.marks.set(s, (st.marks[s] + 1) % 3))"),
    ("swap", "s: Server, t: Server", "st.set(marks=st.marks.set(s, st.marks[t]).set(t, st.marks[s]))"),
    ("take_over", "s: Server", "st.set(holder=s if st.holder is not None else None)"),
    ("meet", "s: Server", "st.set(seen=st.seen | {s})"),
    ("replace", "s: Server, t: Server", "st.set(seen=(st.seen - {s}) | {t} if s in st.seen else st.seen)"),
    ("wait", "", "st"),
    ("tick", "", "st.set(n=(st.n + 1) % 4, low=st.n)"),
    ("forget", "", "st.set(low=None)"),
)

_RISING = (
    "nxt.n > st.n",
    "nxt.n != st.n",
    "nxt.holder != st.holder",
    "nxt.marks != st.marks",
    "len(nxt.seen) > len(st.seen)",
    "any(nxt.marks[i] > st.marks[i] for i in Server)",
    "any(nxt.holder == i and st.holder != i for i in Server)",
)
"""Predicates of a step that are false of one that changes nothing."""


@dataclass(frozen=True, slots=True)
class OrbitSpec:
    """A spec, and its model without symmetry, as text; `reduced` are its reductions, as text."""

    source: str
    cfg: str
    reduced: str

    def __str__(self) -> str:
        return f"{self.source}\n# {self.cfg}\n# {self.reduced}\n"


def orbit_spec(chance: Random) -> OrbitSpec:
    """A random spec."""
    parts = [_HEAD, _initial(chance)]
    for name, parameters, successor in chance.sample(_ACTIONS, chance.choice([2, 3, 3, 4])):
        parts.append(_action(chance, name, parameters, successor))
    stays = "nxt.holder == st.holder or nxt.n == st.n"
    for decorator, name, body in (
        ("invariant", "Inv(st)", f"not ({_truth(chance)} and {_truth(chance)} and {_truth(chance)} and st.n > 0)"),
        ("action_property", "Step(st, nxt)", _of_step(chance)),
        ("action_property", "Other(st, nxt)", _of_step(chance)),
        ("constraint", "Near(st)", f"not ({_truth(chance)} and {_truth(chance)} and {_truth(chance)})"),
        ("action_constraint", "Slow(st, nxt)", f"{stays} or {_truth(chance)}"),
        ("reachable", "goal(st)", f"{_truth(chance)} and {_truth(chance)}"),
    ):
        parts.append(f"@spec.{decorator}\ndef {name}:\n    return {body}\n")
    return OrbitSpec("\n\n".join(parts), *_model(chance))


def _initial(chance: Random) -> str:
    holder = chance.choice(["None", "s", "s"])
    marks = chance.choice(["{t: 0 for t in Server}", "{t: 1 if t == s else 0 for t in Server}"])
    first = f"State(holder={holder}, marks={marks}, seen=set(), n=0, low=None)"
    return f"@spec.init\ndef init():\n    for s in Server:\n        yield {first}\n"


def _action(chance: Random, name: str, parameters: str, successor: str) -> str:
    lines = [f"def {name}(st{', ' if parameters else ''}{parameters}):"]
    for _ in range(chance.choice([0, 1, 1, 2])):
        lines.append(f"    require({_truth(chance)})")
    if chance.random() < 0.1:
        lines.append(f"    assert not ({_truth(chance)} and {_truth(chance)} and {_truth(chance)})")
    return "\n".join(["@spec.action", *lines, f"    yield {successor}", ""])


def _truth(chance: Random, state: str = "st") -> str:
    k = chance.choice([0, 1, 1, 2])
    alone = f"{state}.n {chance.choice(['==', '<', '!='])} {k}"
    of_one = chance.choice([f"{state}.holder == i", f"{state}.marks[i] == {k}", f"i in {state}.seen"])
    negated = chance.choice(["", "not "])
    return chance.choice([alone, *[f"{chance.choice(['any', 'all'])}({negated}{of_one} for i in Server)"] * 3])


def _of_step(chance: Random) -> str:
    rising = chance.choice(_RISING)
    fails_on_stutter = "(nxt != st or st.low + 1 > 0)"
    return chance.choice(
        [
            rising,
            f"{rising} or {_truth(chance)} or {_truth(chance)}",
            f"{rising} or {chance.choice(_RISING)}",
            f"{rising} or {_truth(chance, 'nxt')} or {_truth(chance)} or {_truth(chance)}",
            f"{rising} or ({_truth(chance)} and {_truth(chance)} and {_truth(chance)})",
            f"nxt != st and ({rising} or {_truth(chance)})",
            f"{fails_on_stutter} and ({rising} or {_truth(chance)})",
        ]
    )


def _model(chance: Random) -> tuple[str, str]:
    cfg = " ".join(
        [
            f"CONSTANT Server = {{{chance.choice(['s1, s2', 's1, s2, s3'])}}}",
            chance.choice(["", "INVARIANT Inv"]),
            chance.choice(["", "PROPERTY Step", "PROPERTY Step", "PROPERTIES Other Step"]),
            chance.choice(["", "", "CONSTRAINT Near"]),
            chance.choice(["", "", "ACTION_CONSTRAINT Slow"]),
            chance.choice(["CHECK_DEADLOCK FALSE", "CHECK_DEADLOCK TRUE"]),
        ]
    )
    return cfg, "SYMMETRY servers"


Failure = tuple[Verdict, str | None, int]
"""What is reported: the verdict, the property, and how many states its trace has."""

_ORDER = (Verdict.ERROR, Verdict.ASSERTION, Verdict.DEADLOCK, Verdict.VIOLATION)


def reported(result: Result) -> Failure | None:
    """The failure of a result."""
    found = result.violation
    return None if found is None else (found.verdict, found.name, len(found.trace))


class BruteForce:
    """All states and steps of a model, one by one, up to the first level with a failure."""

    def __init__(self, model: Model) -> None:
        spec = model.spec
        self._model = replace(model, symmetry=(), view=None)
        self._relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
        self.found: list[tuple[int, Verdict, int, str | None]] = []
        self.steps: set[tuple[str, Any, Any]] = set()
        """The steps that break an action property: its name and both states."""
        self.reached: set[str] = set()
        self._explore()

    def least_failure(self) -> Failure | None:
        """The failure that a check must report."""
        if not self.found:
            return None
        length, verdict, _, name = min(self.found, key=lambda one: (one[0], _ORDER.index(one[1]), one[2]))
        return verdict, name, length

    def _explore(self) -> None:
        level, depth, known = list(dict.fromkeys(initial_states(self._model))), 1, set()
        for state in level:
            self._check(state, 1)
        level = [state for state in level if self._is_inside(None, state, 1)]
        while level and not self.found:
            known.update(level)
            found: dict[Any, None] = {}
            for state in level:
                for successor in self._successors(state, depth):
                    self._check(successor, depth + 1)
                    if self._is_inside(state, successor, depth) and successor not in known:
                        found[successor] = None
                    self._check_step(state, successor, depth)
            level, depth = list(found), depth + 1

    def _successors(self, state: Any, depth: int) -> list[Any]:
        try:
            found = [step[2] for step in self._relation.steps(state)]
        except KmcError:
            for error in self._relation.errors(state):
                self._fail(depth, error)
            return []
        if not found and self._model.deadlock:
            self.found.append((depth, Verdict.DEADLOCK, 0, None))
        return found

    def _is_inside(self, source: Any, state: Any, depth: int) -> bool:
        try:
            return all(one.function(state) for one in self._model.constraints) and (
                source is None or all(one.function(source, state) for one in self._model.action_constraints)
            )
        except Exception as error:
            self._fail(depth, error)
            return False

    def _check(self, state: Any, length: int) -> None:
        self.reached.update(goal.name for goal in self._model.reachable if goal.function(state))
        for order, one in enumerate(self._model.invariants):
            if not one.function(state):
                self.found.append((length, Verdict.VIOLATION, order, one.name))

    def _check_step(self, source: Any, successor: Any, depth: int) -> None:
        if source == successor:
            return
        for order, one in enumerate(self._model.action_properties, len(self._model.invariants)):
            try:
                fails = not one.function(source, successor)
            except Exception as error:
                self._fail(depth, error)
                return
            if fails:
                self.found.append((depth + 1, Verdict.VIOLATION, order, one.name))
                self.steps.add((one.name, source, successor))

    def _fail(self, depth: int, error: Exception) -> None:
        verdict = Verdict.ASSERTION if isinstance(error, AssertionFailure) else Verdict.ERROR
        self.found.append((depth, verdict, 0, None))


def breaks(prop: Predicate, source: Any, successor: Any) -> bool:
    """Whether a step breaks an action property, by the definition of [][A]_vars."""
    return source != successor and not prop.function(source, successor)
