"""`the`, `max` and `min` with a key, and `**`: compiled code gives, and refuses, what the interpreter does."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.oracles.both_engines import compiled, interpreted
from support.oracles.results import told
from support.oracles.steps import differences, kernels_of, level_states
from support.specs.small import model_of

from kmc.errors import InternalError
from kmc.result import Limits, Verdict

WORLD = """
from kmc.lang import the

Server = constant("Server", IdentSet(), "servers")


class Mark(Record):
    at: Int(0, 3)
    up: Bool


class Role(Enum):
    LOW, MIDDLE, HIGH = range(3)


class State(Record):
    n: Int(-3, 6)
    marks: Set[Mark]
    log: Seq[Int(0, 3), 3]
    role: Map[Server, Role]
    nothing: Opt[Server]


@spec.init
def init():
    yield State(n=0, marks=set(), log=[], role={s: Role.LOW for s in Server}, nothing=None)


@spec.action
def grow(st, s: Server):
    require(len(st.log) < 3)
    for k in range(0, 4):
        mark = Mark(at=k, up=k > len(st.log))
        role = Role.HIGH if k > 2 else Role.MIDDLE
        yield st.set(log=st.log.append(k), n=k - 3, marks=st.marks | {mark}, role=st.role.set(s, role), nothing=s)


def height(role):
    return 2 if role == Role.HIGH else 1 if role == Role.MIDDLE else 0
"""
SETS = {
    "Server": "height(st.role[{x}])",
    "{s for s in Server if s != st.nothing}": "height(st.role[{x}])",
    "st.marks": "{x}.at",
    "{m for m in st.marks if m.up}": "{x}.at * 2 - 1",
    "range(0, len(st.log))": "st.log.at({x} + 1)",
    "{k % 2 for k in st.log}": "{x}",
    "subsets({k for k in st.log})": "len({x}) + len(st.log)",
    "{Role.LOW, Role.HIGH}": "height({x})",
}
"""Collections, and the number that an element `x` of each has."""


def conditions(chance: random.Random) -> list[str]:
    """Conditions about the one element of a collection, all true or guarded where there is none."""
    drawn = []
    for whole, number in SETS.items():
        rank = number.format(x="e")
        wanted = f"{rank} == {chance.randint(0, 3)}"
        word = chance.choice(("max", "min"))
        drawn += [
            f"the(e for e in {whole} if {wanted}) in {whole}",
            f"len({{e for e in {whole} if {wanted}}}) != 1 or the(e for e in {whole} if {wanted}) in {whole}",
            f"len(set({whole})) != 1 or the({whole}) in {whole}",
            f"{word}({whole}, key=lambda e: {rank}) in {whole}",
            f"{word}({whole}, key=lambda e: {rank} * {chance.choice((1, -1))}, default=None) is not None",
            f"the({rank} for e in {whole} if {wanted}) > 0",
        ]
    bases = ("st.n", "len(st.log)", "-1", "2", "(st.n - 1)", "1")
    for _ in range(8):
        base, exponent = chance.choice(bases), chance.choice(("len(st.log)", "st.n", "3", "0", "abs(st.n)"))
        drawn.append(f"{base} ** {exponent} > {chance.randint(-9, 40)}")
    return drawn


@pytest.mark.parametrize("seed", range(3))
def test_one_element_is_what_a_search_for_it_finds(tmp_path: Path, seed: int) -> None:
    drawn = conditions(random.Random(seed))
    goals = [f"\n\n@spec.reachable\ndef goal_{n}(st):\n    return {text}\n" for n, text in enumerate(drawn)]
    model = model_of(tmp_path, WORLD + "".join(goals), "CONSTANT Server = {s1, s2}")
    states = level_states(model, Limits(), at_most=40, seed=seed)
    assert list(differences(kernels_of(model), states))[:2] == []


SYMMETRIC = """
from kmc.lang import the

Server = constant("Server", IdentSet(symmetric=True), "servers")


class State(Record):
    held: Map[Server, Int(0, 2)]
    best: Opt[Server]


@spec.init
def init():
    yield State(held={s: 0 for s in Server}, best=None)


@spec.action
def gain(st, s: Server):
    require(st.held[s] < 2)
    yield st.set(held=st.held.set(s, st.held[s] + 1))


@spec.action
def elect(st):
    most = max(st.held[s] for s in Server)
    require(count(st.held[s] == most for s in Server) == 1)
    by_key = max(Server, key=lambda s: st.held[s])
    if by_key == the(s for s in Server if st.held[s] == most):
        yield st.set(best=by_key)


@spec.invariant
def SomebodyHas(st):
    return st.best is None or st.held[st.best] > LEAST


spec.symmetry("Symmetry", Server)
"""


@pytest.mark.parametrize("least", ["0", "1"])
def test_one_element_is_the_same_under_symmetry(tmp_path: Path, least: str) -> None:
    """The one element that is left is another one in a permuted state, as symmetry asks; both engines agree."""
    cfg = "CONSTANT Server = {s1, s2, s3}\nINVARIANT SomebodyHas\nCHECK_DEADLOCK FALSE\n"
    source = SYMMETRIC.replace("LEAST", least)
    whole = compiled(model_of(tmp_path / "whole", source, cfg))
    model = model_of(tmp_path / "orbits", source, f"{cfg}SYMMETRY Symmetry\n")
    result = compiled(model)
    assert told(result) == interpreted(model)
    assert result.verdict == whole.verdict
    assert result.counters.distinct < whole.counters.distinct


def test_a_power_beyond_the_numbers_of_compiled_code_ends_the_search_at_its_place(tmp_path: Path) -> None:
    """An exponent of unknown size is looked at when it comes: a wrapped power would be a wrong verdict."""
    source = POWERS.replace("LAST", "70")
    model = model_of(tmp_path / "beyond", source, CFG)
    assert interpreted(model)["verdict"] is Verdict.OK
    with pytest.raises(InternalError, match=r"KMC921.* at spec\.py:\d+; a number may be beyond"):
        compiled(model)
    model = model_of(tmp_path / "within", source.replace("require(st.n < 70)", "require(st.n < 50)"), CFG)
    assert told(compiled(model)) == interpreted(model)


CFG = "INVARIANT Positive CHECK_DEADLOCK FALSE"
POWERS = """
class State(Record):
    n: Int(0, LAST)


@spec.init
def init():
    yield State(n=0)


@spec.action
def grow(st):
    require(st.n < LAST)
    yield st.set(n=st.n + 1)


@spec.invariant
def Positive(st):
    return 2**st.n > 0 and (-3) ** (st.n % 31) <= 3**30 and (0 if st.n == 0 else 0**st.n) == 0
"""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("0**st.n", "KMC281"),
        ("(st.n + 1) ** (st.n - 1)", "KMC281"),
        ("7 % st.n", "KMC253"),
        ("7 % (st.n - 1)", "KMC282"),
        ("7 // st.n", "KMC253"),
    ],
)
def test_what_has_no_value_in_tla_is_an_error_in_both_engines(tmp_path: Path, text: str, code: str) -> None:
    source = POWERS.replace("LAST", "5").replace("2**st.n > 0", f"{text} > 0 - 9")
    model = model_of(tmp_path, source, CFG)
    expected = interpreted(model)
    assert code in expected["violation"][-1]
    assert told(compiled(model)) == expected


def test_elements_that_look_alike_in_an_error_are_two(tmp_path: Path) -> None:
    source = POWERS.replace("LAST", "5").replace("2**st.n > 0", "len(max({0: 1, 1: 1}.items(), key=lambda p: 1)) > 0")
    assert "KMC280" in interpreted(model_of(tmp_path, source, CFG))["violation"][-1]
