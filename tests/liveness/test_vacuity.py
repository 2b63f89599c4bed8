"""What a check says of properties that ask for nothing, and of a specification that no behaviour satisfies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc
from support.specs.small import model_of

from kmc.engine.check_model import check_native
from kmc.frontend.model import Model
from kmc.invariants.tautologies import tautology
from kmc.reference.search import Search
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits, Result, Verdict

CLOCK = """
from kmc.spec import WEAK, always, and_, eventually, for_all, implies, leads_to, weak_fairness


class Hand(Enum):
    SHORT = 0
    LONG = 1


class State(Record):
    x: Int(0, 3)
    up: Bool
    hands: Set[Hand]
    at: Map[Hand, Int(0, 2)]
    far: Int(0, 2000)


@spec.init
def init():
    yield State(x=0, up=True, hands={Hand.SHORT}, at={h: 0 for h in Hand}, far=0)


@spec.action(fair=WEAK)
def tick(st):
    yield st.set(x=(st.x + 1) % 3)


@spec.action(next=False)
def leap(st):
    require(st.x < 3)
    yield st.set(x=3)


@spec.specification
def Strict():
    return and_(weak_fairness(tick), weak_fairness(leap))


@spec.action(next=False)
def leap_at_zero(st):
    require(st.x == 0)
    yield st.set(x=3)


@spec.specification
def Leaping():
    return and_(weak_fairness(tick), weak_fairness(leap_at_zero))


@spec.specification
def Fair():
    return weak_fairness(tick)
"""
PROPERTIES = {
    "leads_to": "leads_to(lambda st: st.x == 3, lambda st: st.x == 0)",
    "implies": "always(implies(lambda st: st.x == 3, lambda st: st.up))",
    "of all": "for_all((3, 3), lambda k: leads_to(lambda st: st.x == k, lambda st: st.x == 0))",
    "temporal premise": "implies(eventually(always(lambda st: st.x == 1)), eventually(lambda st: not st.up))",
    "in a conjunction": "and_(leads_to(lambda st: st.x == 3, lambda st: st.up), always(lambda st: st.up))",
}
ASKING = {
    "a premise that holds": "leads_to(lambda st: st.x == 2, lambda st: st.x == 0)",
    "of the first instance": "for_all((2, 3), lambda k: leads_to(lambda st: st.x == k, lambda st: st.x == 0))",
    "of the last instance": "for_all((2, 3), lambda k: leads_to(lambda st: st.x == 5 - k, lambda st: st.x == 0))",
    "an instance without a premise": "for_all((3, 2), lambda k: leads_to(lambda st: st.x == 3, lambda st: st.x == 0)"
    " if k == 3 else always(lambda st: st.up))",
    "a premise at the end": "implies(always(eventually(lambda st: st.x == 1)), eventually(lambda st: st.x == 2))",
    "no implication": "always(lambda st: st.up)",
}


def _results(model: Model, depth: int | None = None) -> list[Result]:
    problem, limits = accepted_problem(model), Limits(depth=depth)
    return [Search(model, limits, problem=problem).run(), check_native(model, limits, problem=problem)]


def _model(folder: Path, formula: str, specification: str = "Fair") -> Model:
    source = f"{CLOCK}\n\n@spec.liveness\ndef Prop():\n    return {formula}\n"
    return model_of(folder, source, f"SPECIFICATION {specification}\nPROPERTY Prop\n")


@pytest.mark.parametrize("formula", PROPERTIES.values(), ids=PROPERTIES)
def test_a_property_whose_left_side_is_never_true_asks_for_nothing(tmp_path: Path, formula: str) -> None:
    for result in _results(_model(tmp_path, formula)):
        assert result.violation is None
        assert [vacuity.name for vacuity in result.vacuous] == ["Prop"]
        assert "its left side is never true" in result.vacuous[0].why


@pytest.mark.parametrize("formula", ASKING.values(), ids=ASKING)
def test_nothing_is_said_of_a_property_that_some_behaviour_could_violate(tmp_path: Path, formula: str) -> None:
    for result in _results(_model(tmp_path, formula)):
        assert result.violation is None
        assert result.vacuous == ()


def test_a_specification_whose_fairness_no_behaviour_meets_is_told(tmp_path: Path) -> None:
    # leap is possible for ever, and no step of Next is one.
    for result in _results(_model(tmp_path, "always(lambda st: st.up)", "Strict")):
        assert [(vacuity.name, vacuity.why) for vacuity in result.vacuous] == [
            ("Strict", "No behavior satisfies the specification: its fairness cannot be met")
        ]


def test_so_is_one_whose_fair_steps_a_constraint_drops(tmp_path: Path) -> None:
    small = "\n\n@spec.constraint\ndef Small(st):\n    return st.x < 2\n"
    source = f"{CLOCK}\n\n@spec.liveness\ndef Prop():\n    return always(lambda st: st.up)\n{small}"
    model = model_of(tmp_path, source, "SPECIFICATION Fair\nPROPERTY Prop\nCONSTRAINT Small\n")
    for result in _results(model):
        assert result.cut == 1
        assert ["among the steps that the constraints leave" in vacuity.why for vacuity in result.vacuous] == [True]


@pytest.mark.parametrize(
    ("formula", "specification"),
    [
        ("always(lambda st: st.up)", "Fair"),
        ("always(lambda st: st.up)", "Leaping"),
    ],
)
def test_nothing_is_said_where_a_fair_behaviour_may_lie_beyond_a_bound(
    tmp_path: Path, formula: str, specification: str
) -> None:
    model = _model(tmp_path, formula, specification)
    for result in _results(model, depth=2):
        assert result.verdict is Verdict.BOUND_REACHED
        assert result.vacuous == ()
    assert [result.vacuous for result in _results(model)] == [(), ()]


def test_a_left_side_that_may_be_true_beyond_a_bound_is_told_of_the_states_explored(tmp_path: Path) -> None:
    model = _model(tmp_path, "leads_to(lambda st: st.x == 2, lambda st: st.x == 0)")
    why = "Prop asks for nothing in the states explored: its left side is never true: st.x == 2"
    assert [[vacuity.why for vacuity in result.vacuous] for result in _results(model, depth=2)] == [[why], [why]]
    assert [result.vacuous for result in _results(model)] == [(), ()]


def test_nothing_is_said_beside_a_violation(tmp_path: Path) -> None:
    idle, early = (f"\n\n@spec.invariant\ndef {name}(st):\n    return {body}\n" for name, body in
                   (("Idle", "True"), ("Early", "st.x < 2")))  # fmt: skip
    model = model_of(tmp_path, CLOCK + idle + early, "INVARIANT Idle Early\n")
    for result in _results(model):
        assert result.verdict is Verdict.VIOLATION
        assert result.vacuous == ()


TAUTOLOGIES = {
    "reads nothing": ("True", "it reads no variable, and is true of every state"),
    "a number in its range": ("st.x >= 0", "it is true whatever x is"),
    "one or the other": ("st.up or not st.up or st.x == 1", "it is true whatever up is"),
    "two variables": ("(st.x < 2 and st.up) or st.x >= 2 or not st.up", "it is true whatever x and up are"),
    "a set": ("len(st.hands) <= 2", "it is true whatever hands is"),
    "a map": ("all(st.at[h] <= 2 for h in Hand)", "it is true whatever at is"),
}


@pytest.mark.parametrize(("body", "why"), TAUTOLOGIES.values(), ids=TAUTOLOGIES)
def test_an_invariant_that_no_state_makes_false_is_told(tmp_path: Path, body: str, why: str) -> None:
    source = f"{CLOCK}\n\n@spec.invariant\ndef Always(st):\n    return {body}\n"
    model = model_of(tmp_path, source, "INVARIANT Always\n")
    for result in _results(model):
        assert [vacuity.why for vacuity in result.vacuous] == [f"Always checks nothing: {why}"]


@pytest.mark.parametrize(
    "body",
    [
        "st.x < 3",
        "st.up",
        "len(st.hands) == 1",
        "st.x < 3 or not st.up",
        "st != State(x=3, up=True, hands={Hand.LONG}, at={h: 0 for h in Hand}, far=0)",
        "all(st.at[h] < 2 for h in Hand)",
        "st.far <= 1024",
    ],
)
def test_an_invariant_that_a_typed_state_makes_false_is_not(tmp_path: Path, body: str) -> None:
    source = f"{CLOCK}\n\n@spec.invariant\ndef Held(st):\n    return {body}\n"
    model = model_of(tmp_path, source, "INVARIANT Held\n")
    assert tautology(model.invariants[0], model.spec.state_class.fields) is None


def test_strict_fails_for_what_is_vacuous_and_every_report_says_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    body = PROPERTIES["leads_to"]
    model_of(tmp_path / "clock", f"{CLOCK}\n\n@spec.liveness\ndef Prop():\n    return {body}\n")
    (tmp_path / "m.cfg").write_text("SPECIFICATION Fair\nPROPERTY Prop\n", encoding="utf-8")
    words = ("check", "clock/spec.py", "m.cfg", "--no-run-dir")
    loose, strict = kmc(*words), kmc(*words, "--strict", "--junit", "r.xml")
    told = "Prop asks for nothing: its left side is never true: st.x == 3"
    assert (loose.exit_code, strict.exit_code) == (0, 10)
    assert f"Warning: {told}." in loose.stdout
    assert loose.stdout.splitlines()[-1].endswith("(1 warning)")
    assert "every fair behavior satisfies Prop (vacuously)" in loose.stdout
    assert f"Error: {told}." in strict.stdout
    assert strict.stdout.splitlines()[-1] == f"STRICT spec m: {told}"
    assert told in Path("r.xml").read_text(encoding="utf-8")
    assert json.loads(kmc(*words, "--json").stdout)["vacuous"] == ["Prop"]


def test_a_manifest_says_what_is_vacuous_and_is_told_when_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = f"{CLOCK}\n\n@spec.liveness\ndef Prop():\n    return {PROPERTIES['leads_to']}\n"
    model_of(tmp_path / "clock", source)
    manifest = """
[models.smoke]
description = "Three hours"
specification = "Fair"
properties = ["Prop"]

[models.smoke.expect]
origin = "by hand"
result = "ok"
vacuous = ["Prop"]
"""
    Path("clock/models.toml").write_text(manifest, encoding="utf-8")
    words = ("check", "clock", "--expect", "--strict", "--no-run-dir", "--quiet")
    assert kmc(*words).exit_code == 0
    Path("clock/models.toml").write_text(manifest.replace('vacuous = ["Prop"]', "vacuous = []"), encoding="utf-8")
    ran = kmc(*words)
    assert (ran.exit_code, "vacuous: expected [], found [Prop]" in ran.stdout) == (10, True)
