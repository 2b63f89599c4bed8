"""Premises of invariants that no state satisfies: both engines find those that marks in the invariants' text find."""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import kmc
from support.specs.small import model_of

from kmc.engine.check_model import check_native
from kmc.frontend.model import Model
from kmc.frontend.premises import premises_of
from kmc.reference import open_premises
from kmc.reference.open_premises import with_premises
from kmc.reference.search import Search
from kmc.result import Limits, Result, Verdict

CLOCK = """
Far = constant("Far", Int(0, 9), "Where the clock stops", 6)


class State(Record):
    x: Int(-1, 2000)
    up: Bool
    seen: Set[Int(0, 9)]


@spec.init
def init():
    yield State(x=0, up=True, seen=set())


@spec.action
def tick(st):
    require(st.x < Far)
    yield st.set(x=st.x + 1, up=not st.up)


def is_late(st, limit):
    if st.x < limit:
        return True
    return st.x <= 9


def all_are_small(numbers):
    return all(n < 9 for n in numbers)


def is_even(st):
    half = st.x // 2
    if st.x > 8:
        return half == 4
    return True
"""
NEVER = {
    "not p or q": ("not st.x == 7 or st.up", "st.x == 7"),
    "a negated comparison": ("st.x != 8 or st.up or st.x == 2", "st.x == 8"),
    "several negations": ("st.up or not st.x > 3 or st.x not in {8, 9} or st.x < 9", "st.x > 3 and st.x in {8, 9}"),
    "an empty set": ("len(st.seen) == 0 or st.up", "len(st.seen) > 0"),
    "a filter": ("all(st.x < 9 for n in range(0, 3) if st.x == n + 7)", "st.x == n + 7 for n in range(0, 3)"),
    "no element": ("all(n < 9 for n in st.seen)", "n in st.seen"),
    "a choice": ("st.up if st.x > 7 else True", "st.x > 7"),
    "the other choice": ("True if st.x < 7 else st.up", "not st.x < 7"),
    "in a conjunction": ("st.x < 9 and (not st.x == 7 or st.up)", "st.x == 7"),
    "in all": ("all(not st.x == n + 7 or st.up for n in range(0, 3))", "st.x == n + 7"),
    "in a helper": ("is_late(st, 7)", "not st.x < limit"),
    "at the end of a helper": ("is_even(st)", "st.x > 8"),
    "of an argument": ("st.x < 9 and all_are_small(st.seen)", "n in numbers"),
    "an element of an element": ("all(all(n < 9 for n in q) for q in {st.seen})", "n in q"),
    "the outer one": ("all(not n == st.x or st.up for n in st.seen if n > 3)", "n > 3 for n in st.seen"),
}
SOMETIMES = {
    "at the last state": "not st.x == 6 or st.up",
    "of one element": "all(st.x < 9 for n in range(0, 3) if st.x == n + 4)",
    "a switch of the model": "(not Far == 5 or st.x == 2) and st.x < 9",
    "an element of a constant": "st.x < 9 and all(any(all(n < 9 for n in q) for q in ({1},)) for n in range(Far, 6))",
    "no negation": "st.x == 7 or st.x < 9",
    "the last operand": "st.x < 9 or not st.x == 7",
    "no implication": "st.x < 9",
    "not in a place that matters": "(not st.x == 7) == (st.x != 7)",
}


def clock_with(folder: Path, bodies: list[str], cfg: str = "") -> Model:
    """The clock with an invariant for each body."""
    invariants = [f"\n\n@spec.invariant\ndef Held{n}(st):\n    return {body}\n" for n, body in enumerate(bodies)]
    names = " ".join(f"Held{n}" for n in range(len(bodies)))
    return model_of(folder, CLOCK + "".join(invariants), f"INVARIANT {names}\nCHECK_DEADLOCK FALSE\n{cfg}")


def results(model: Model, depth: int | None = None) -> list[Result]:
    """The results of both engines."""
    return [Search(model, Limits(depth=depth)).run(), check_native(model, Limits(depth=depth))]


@pytest.fixture
def unwalked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the engines find all premises themselves."""
    monkeypatch.setattr(open_premises, "STEPS_MAX", 0)


@pytest.mark.usefixtures("unwalked")
def test_an_implication_whose_premise_no_state_satisfies_is_reported(tmp_path: Path) -> None:
    model = clock_with(tmp_path, [body for body, _ in NEVER.values()])
    for result in results(model):
        assert result.violation is None
        told = {vacuity.name: vacuity.why for vacuity in result.vacuous}
        assert len(told) == len(result.vacuous) == len(NEVER)
        for number, (_, text) in enumerate(NEVER.values()):
            name = f"Held{number}"
            opening = f"In {name}, an implication asks for nothing, since its premise is never true: {text} (spec.py:"
            assert told[name].startswith(opening)


@pytest.mark.parametrize("steps", [0, 48])
def test_nothing_is_reported_of_other_invariants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    monkeypatch.setattr(open_premises, "STEPS_MAX", steps)
    model = clock_with(tmp_path, list(SOMETIMES.values()))
    assert [result.vacuous for result in results(model)] == [(), ()]


@pytest.mark.parametrize(
    ("depth", "steps", "names"), [(2, 0, ["Held0"]), (1, 0, ["Held0", "Held1"]), (1, 48, ["Held0"])]
)
def test_the_walk_and_the_states_explored_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, depth: int, steps: int, names: list[str]
) -> None:
    # The successors of the last level are checked, too.
    monkeypatch.setattr(open_premises, "STEPS_MAX", steps)
    model = clock_with(tmp_path, ["not st.x == 2 or not st.x == 7 or st.up", "not st.x == 2 or st.x < 9"])
    for result in results(model, depth):
        assert (result.verdict, [each.name for each in result.vacuous]) == (Verdict.BOUND_REACHED, names)


def test_a_run_with_other_limits_has_the_same_premises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    clock_with(tmp_path / "clock", ["not st.x == 5 or st.x < 9"])
    (tmp_path / "m.cfg").write_text("INVARIANT Held0\nCHECK_DEADLOCK FALSE\n", encoding="utf-8")
    first = kmc("check", "clock/spec.py", "m.cfg", "--max-depth", "2", "--bounded-ok", "--run-dir", "saved")
    assert first.exit_code == 0
    (run,) = Path("saved").iterdir()
    ran = kmc("check", "--resume", str(run), "--max-depth", "9")
    assert (ran.exit_code, "Warning" in ran.stdout) == (0, False), ran.output


@pytest.mark.parametrize("limit", ["CPU_SECONDS_MAX", "TRIES_MAX", "CHOICES_MAX"])
def test_a_walk_that_takes_too_long_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    model = clock_with(tmp_path, ["not st.x == 5 or st.x < 9"])
    assert with_premises(model).premises == ()
    monkeypatch.setattr(open_premises, limit, 0)
    assert len(with_premises(model).premises) == 1


@pytest.mark.usefixtures("unwalked")
def test_a_premise_never_costs_the_result(tmp_path: Path) -> None:
    # The invariant never divides by 0, since `any` ends at the first number; its premise tries all numbers.
    body = "any(st.x >= 0 or n == 1 or not 6 // (n - 2) > 9 or st.up for n in (1, 2))"
    model = clock_with(tmp_path, [body, "not 6 // (st.x + 1) > 9 or st.up"])
    assert [[v.name for v in result.vacuous] for result in results(model)] == [["Held0", "Held1"]] * 2


def test_nothing_is_reported_beside_a_violation(tmp_path: Path) -> None:
    model = clock_with(tmp_path, ["not st.x == 7 or st.up", "st.x < 4"])
    for result in results(model):
        assert (result.verdict, result.vacuous) == (Verdict.VIOLATION, ())


def test_an_invariant_that_cannot_fail_is_reported_once(tmp_path: Path) -> None:
    for result in results(clock_with(tmp_path, ["not (st.up and not st.up) or st.up"])):
        assert [vacuity.why for vacuity in result.vacuous] == ["Held0 checks nothing: it is true whatever up is"]


class Drawing:
    """Conditions of a state, with marks behind their premises for the oracle, which are comments for kmc."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._numbers = count()

    def atom(self) -> str:
        """A condition without a premise; some are never true."""
        left = self._chance.choice(["st.x", "st.x % 3", "n"])
        return f"{left} {self._chance.choice(['==', '<', '>'])} {self._chance.choice([-1, 0, 1, 2, 5, 6, 7])}"

    def condition(self, depth: int) -> tuple[str, str]:
        """A condition for the spec, and the same with a mark in each place that a premise lets through."""
        kind = self._chance.choice(["and", "or", "implies", "implies", "all", "any", "if"]) if depth else "atom"
        p, mark = self.atom(), f"mark({next(self._numbers)})"
        if kind == "atom":
            return p, p
        (q, marked), (r, marked_too) = self.condition(depth - 1), self.condition(depth - 1)
        match kind:
            case "and" | "or":
                return f"(({q}) {kind} ({r}))", f"(({marked}) {kind} ({marked_too}))"
            case "implies":
                return f"(not {p} or ({q}))", f"(not {p} or {mark} and ({marked}))"
            case "if":
                return f"(({q}) if {p} else True)", f"(({mark} and ({marked})) if {p} else True)"
            case "any":
                return f"any({q} for n in (0, 1))", f"any([{marked} for n in (0, 1)])"
            case _:
                clause = f"for n in (0, 1, 2) if {p}"
                return f"all({q} {clause})", f"all([{mark} and ({marked}) {clause}])"


def marks_of(text: str, states: list[Any]) -> dict[int, bool]:
    """The marks of a text, in the order of the premises, and whether some state reaches each."""
    reached = {int(ast.unparse(node.args[0])): False for node in _marks(ast.parse(text, mode="eval").body)}

    def mark(number: int) -> bool:
        reached[number] = True
        return True

    code = compile(text, "marked", "eval")
    for state in states:
        eval(code, {"mark": mark, "n": 0, "st": state})  # text that this test draws
    return reached


def _marks(node: ast.AST) -> Iterator[ast.Call]:
    """The marks in a text, the outer before the inner and the first before the others."""
    match node:
        case ast.Call(func=ast.Name(id="mark")):
            yield node
        case ast.ListComp(elt=element):
            yield from _marks(element)
        case ast.IfExp(body=body, orelse=otherwise):
            yield from (*_marks(body), *_marks(otherwise))
        case _:
            for inner in ast.iter_child_nodes(node):
                yield from _marks(inner)


@pytest.mark.slow
@pytest.mark.usefixtures("unwalked")
@pytest.mark.parametrize("seed", range(3))
def test_premises_are_those_that_marks_find_by_brute_force(tmp_path: Path, seed: int) -> None:
    drawing = Drawing(seed)
    drawn = [drawing.condition(3) for _ in range(8)]
    # They hold in every state, and x has too many values to find out that some always would.
    bodies = [f"any(({body}) or st.x >= 0 for n in (0,))" for body, _ in drawn]
    model = clock_with(tmp_path, bodies)
    graph = Search(model)
    graph.run()
    states = list(graph.graph.states)
    premises = premises_of(model.invariants, model.spec.root, 1000)
    known: dict[str, bool] = {}
    for index, (_, marked) in enumerate(drawn):
        mine = [premise.name for premise in premises if premise.invariant == f"Held{index}"]
        reached = list(marks_of(marked, states).values())
        assert len(mine) == min(len(reached), 16)
        known |= dict(zip(mine, reached, strict=False))
    assert {True, False} == set(known.values())
    found = {premise.name: any(premise.function(state) for state in states) for premise in premises}
    assert found == known
    untrue = [each for each in premises[:62] if not known[each.name]]
    outer = {each.invariant for each in untrue if all(known[name] for name in each.within)}
    for result in results(model):
        assert {vacuity.name for vacuity in result.vacuous} == outer


@pytest.mark.slow
def test_every_search_and_report_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    clock_with(tmp_path / "clock", ["not st.x == 7 or st.up"])
    line = (tmp_path / "clock/spec.py").read_text(encoding="utf-8").splitlines().index("def Held0(st):") + 2
    told = f"In Held0, an implication asks for nothing, since its premise is never true: st.x == 7 (spec.py:{line})"
    (tmp_path / "m.cfg").write_text("INVARIANT Held0\nCHECK_DEADLOCK FALSE\n", encoding="utf-8")
    words = ("check", "clock/spec.py", "m.cfg")
    for search in (("--no-run-dir",), ("--engine", "python"), ("--shards", "2")):
        loose, strict = kmc(*words, *search), kmc(*words, *search, "--strict")
        assert (loose.exit_code, strict.exit_code) == (0, 10)
        assert f"Warning: {told}." in loose.stdout
        assert strict.stdout.splitlines()[-1] == f"STRICT spec m: {told}"
    bounded = kmc(*words, "--max-depth", "3", "--bounded-ok", "--no-run-dir")
    assert f"Warning: {told}, as far as the search went." in bounded.stdout
    assert json.loads(kmc(*words, "--json", "--no-run-dir").stdout)["vacuous"] == ["Held0"]
