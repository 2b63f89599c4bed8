r"""Small modules with ways, domains and kinds that a translation might miss: it agrees, stops too, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.errors import KmcError, SpecError
from kmc.invariants.properties import holds
from kmc.reference.states.initial import each_initial_state

HEAD = "---- MODULE Small ----\nEXTENDS Integers, Sequences, FiniteSets\nVARIABLE x\n"
STATES = "INIT Init\nNEXT Next\n"
PASSED = "RECURSIVE P(_)\nTwo == x < 3 \\/ x < 2\nP(n) == IF n = 0 THEN Two ELSE P(n - 1)\n"
PARAMETER = "RECURSIVE P(_, _)\nP(n, F) == IF n = 0 THEN F ELSE P(n - 1, F)\n"
FORMULAS = "Ok == [i \\in 1..2 |-> x < 3 \\/ x < i]\n"
FACTORIAL = "Fact[n \\in 1..3] == IF n <= 1 THEN 1 ELSE n * Fact[n - 1]\n"
STEPS = {
    "recursion": PASSED + "Next == P(x % 2) /\\ x' = x + 1",
    "recursion under all": PASSED + "Next == x' = x + 1 /\\ \\A i \\in {j \\in 0..1 : j <= x} : P(i)",
    "formula passed on": PARAMETER + "Next == P(x % 2, x < 3 \\/ x < 2) /\\ x' = x + 1",
    "function": FORMULAS + "Next == \\E i \\in 1..2 : Ok[i] /\\ x' = x + 1",
    "function after": FORMULAS + "Next == \\E i \\in 1..2 : x' = x + 1 /\\ Ok[i]",
    "function in LET": "Next == LET ok == [i \\in 1..2 |-> x < 3 \\/ x < i] IN ok[1] /\\ x' = x + 1",
    "constant function in LET": "Next == LET ok == [i \\in 1..2 |-> i > 0 \\/ i < 3] IN x < 3 /\\ ok[1] /\\ x' = x + 1",
    "constant function with a parameter": "Ok(n) == [i \\in 1..2 |-> i < n \\/ i < 3]\n"
    "Next == x < 3 /\\ Ok(2)[1] /\\ x' = x + 1",
    "function over subsets": "Ok == [s \\in SUBSET {1} |-> s = {} \\/ 1 \\in s]\n"
    "Next == x < 3 /\\ Ok[{1}] /\\ x' = x + 1",
    "function passed on": FORMULAS + "First(f) == f[1]\nNext == First(Ok) /\\ x' = x + 1",
    "implied parameter": "If(p) == x < 3 => p\nNext == x < 3 /\\ x' = x + 1 /\\ \\A i \\in {j \\in 0..1 : j <= x} :\n"
    "  If(CASE i = 0 -> x < 3 \\/ x < 2 [] OTHER -> TRUE)",
    "function under all": FORMULAS + "Next == x' = x + 1 /\\ \\A i \\in {j \\in 1..2 : j <= x} : Ok[i]",
    "function of recursion": FORMULAS + "RECURSIVE P(_)\nP(n) == IF n = 0 THEN Ok[1] ELSE P(n - 1)\n"
    "Next == P(x % 2) /\\ x' = x + 1",
    "case under all": "Next == x < 3 /\\ x' = x + 1 /\\ \\A i \\in {j \\in 0..1 : j <= x} :\n"
    "  CASE i = 0 -> x < 3 \\/ x < 2 [] OTHER -> TRUE",
}


@pytest.mark.parametrize("name", STEPS)
def test_what_has_hidden_ways_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"KMC812.*(several ways to be true|the ways in which)"):
        pair_of(tmp_path, f"{HEAD}Init == x = 0\n{STEPS[name]}\n====\n", STATES)


@pytest.mark.parametrize(
    "line",
    [
        "Ok[n \\in 0..2] == IF n = 0 THEN x < 3 \\/ x < 2 ELSE Ok[n - 1]\n"
        "Next == \\E i \\in 1..2 : Ok[i] /\\ x' = x + 1",
        "Ok[n \\in 0..2] == n = 0 \\/ n < 3 \\/ (n > 0 /\\ Ok[n - 1])\nNext == x < 3 /\\ Ok[1] /\\ x' = x + 1",
    ],
)
def test_a_recursive_function_with_several_ways_is_translated(line: str, tmp_path: Path) -> None:
    assert pair_of(tmp_path, f"{HEAD}Init == x = 0\n{line}\n====\n", STATES).differences(9) == []


@pytest.mark.parametrize(
    "line",
    [
        "RECURSIVE P(_)\n"
        "P(n) == IF n = 0 THEN x < 3 /\\ ~(x = 1 \\/ x = 2) ELSE P(n - 1)\nNext == P(x % 2) /\\ x' = x + 1",
        "Ok == [i \\in 1..2 |-> x < i]\nNext == \\E i \\in 1..2 : Ok[i] /\\ x' = x + 1",
        "Ok == [i \\in 1..2 |-> i = 1 \\/ i < 3]\nNext == x < 3 /\\ Ok[1] /\\ x' = x + 1",
        FACTORIAL + "Next == x' = IF x = 0 THEN 3 ELSE Fact[x] % 4",
        "f == [i, j \\in 1..2 |-> i + x * j]\nNext == x' = IF x = 0 THEN 2 ELSE f[2, x] % 3",
        "Next == x' = (x + 1) % 4 /\\ (x < 3 \\/ x' < 2 \\/ x = x)",
        "Next == x' = (x + 1) % 4 /\\ \\E i \\in 1..x' : i <= x",
        "Next == x' = (x + 1) % 4 /\\ [x' < 3]_x /\\ (x = 1 => (x' < 3 \\/ x < 3))",
        "Next == x' = (x + 1) % 4 /\\ \\A i \\in {j \\in 0..1 : j <= x} : i < 3 \\/ i < 2",
    ],
)
def test_what_has_one_way_is_translated(line: str, tmp_path: Path) -> None:
    assert pair_of(tmp_path, f"{HEAD}Init == x = 0\n{line}\n====\n", STATES).differences(9) == []


STOPS = {
    "ENABLED": ("<<>>", "Take == x' = Tail(x)\nInv == ENABLED Take"),
    "ENABLED of a branch": ("<<>>", "Take == x' = IF x = <<>> THEN Tail(x) ELSE x\nInv == ENABLED Take"),
    "ENABLED of a key": ("[i \\in 3..4 |-> i]", "Take == x' = [x EXCEPT ![3] = x[5]]\nInv == ENABLED Take"),
    "ENABLED of a key that varies": (
        "[i \\in 3..4 |-> i]",
        "Take == x' = [i \\in 3..4 |-> x[4 * i - x[i]]]\nInv == ENABLED Take",
    ),
    "ENABLED of a definition in a loop": (
        "[i \\in 3..4 |-> i]",
        "At(i) == x[i + 1]\nTake == x' = [x EXCEPT ![3] = Cardinality({At(i) : i \\in 3..4})]\nInv == ENABLED Take",
    ),
    "function": ("0", "f == [i \\in 1..2 |-> i + x]\nInv == f[x] < 10"),
    "function of two": ("0", "f == [i, j \\in 1..2 |-> i + x]\nInv == f[1, x] < 10"),
    "recursive function": ("0", FACTORIAL + "Inv == Fact[x] < 10"),
    "recursion out of a domain": ("1", "F[n \\in 1..3] == IF n < 1 THEN 1 ELSE F[n - 1]\nInv == F[x] < 10"),
    "domain of a state": ("3", "F[n \\in 0..x - 1] == IF n = 0 THEN 1 ELSE F[n - 1]\nInv == F[x] < 10"),
    "empty set": ("<<>>", "Inv == x # {}"),
    "empty sequence": ("{}", "Inv == x # <<>>"),
    "in a sequence": ("<<1>>", "Inv == 5 \\notin x"),
    "Cardinality": ("<<1>>", "Inv == Cardinality(x) = 1"),
    "records": ("0", "Inv == x \\notin [a : 0..1]"),
    "kind of a number": ("<<1>>", "Inv == x[2] \\in Int"),
    "not the kind of a number": ("<<1>>", "Inv == ~(x[2] \\notin Int)"),
    "kind of a Boolean": ("<<1>>", "Inv == (x[2] > 1) \\in BOOLEAN"),
    "kind of a record": ("<<1>>", "Inv == [a |-> x[2], b |-> 1] \\in [a : Int, b : 0..3]"),
    "kind of a tuple": ("<<1>>", "Inv == <<x[2], 1>> \\in Int \\X Int"),
    "kind of a function": ("<<1>>", "Inv == [i \\in 0..1 |-> x[i + 1]] \\in [0..1 -> Int]"),
    "kind of elements": ("<<1>>", "Inv == {x[2]} \\in SUBSET Int"),
    "kind of a subset": ("<<1>>", "Inv == {x[2]} \\subseteq Int"),
    "in a set of another kind": ("{0}", "Inv == x \\notin {1, 2}"),
    "in elements of another kind": ("{0}", "Inv == x \\notin {Cardinality(x), 2}"),
    "equivalence of no Booleans": ("1", "Inv == ~(x <=> TRUE)"),
    "in a filter": ("<<1>>", "Inv == 0 \\in {j \\in 0..2 : x[j + 1] > 0}"),
    "some of a filter": ("<<1>>", "Inv == \\E k \\in {j \\in 0..2 : x[j + 1] > 0} : k = 0"),
    "all of a filter": ("<<1>>", "Inv == ~\\A k \\in {j \\in 0..2 : x[j + 1] > 0} : k = 1"),
    "a field beside another": ("<<1>>", "Inv == [a |-> 1, b |-> x[2]].a = 1"),
    "a field of an argument": ("<<1>>", "A(r) == r.a\nInv == A([a |-> 1, b |-> x[2]]) = 1"),
    "an item beside another": ("<<1>>", "Inv == <<1, x[2]>>[1] = 1"),
    "items of tuples": ("<<1>>", "Inv == <<x[1], x[2]>> # <<2, 3>>"),
    "in a listed set": ("<<1>>", "Inv == 1 \\in {1, x[2]}"),
    "in a union of listed sets": ("<<1>>", "Inv == 1 \\in {1} \\union {x[2]}"),
    "not in an intersection": ("<<1>>", "Inv == 5 \\notin {1} \\intersect {x[2]}"),
    "in a UNION of listed sets": ("<<1>>", "Inv == 1 \\in UNION {{1}, {x[2]}}"),
    "in an interval": ("<<1>>", "Inv == 0 \\notin 1..x[2]"),
    "included in a listed set": ("<<1>>", "Inv == {1} \\subseteq {1, x[2]}"),
    "ENABLED of a filter": ("<<1>>", "Inv == ENABLED (x' \\in {j \\in 0..2 : x[j + 1] > 0})"),
    "ENABLED of some of a filter": ("<<1>>", "Inv == ENABLED (\\E k \\in {j \\in 0..2 : x[j + 1] > 0} : x' = k)"),
}


@pytest.mark.parametrize("name", STOPS)
def test_a_translation_stops_where_its_module_stops(name: str, tmp_path: Path) -> None:
    value, line = STOPS[name]
    module = f"{HEAD}Init == x = {value}\n{line}\nNext == UNCHANGED x\n====\n"
    pair = pair_of(tmp_path, module, STATES + "INVARIANT Inv\n")
    state = next(iter(each_initial_state(pair.bound)))
    with pytest.raises(KmcError, match="KMC2"):
        pair.program.holds(pair.program.model.invariants[0], pair.translated.decoder.state(state))
    with pytest.raises(KmcError):
        holds(pair.bound.invariants[0], (), state)


KINDS = {
    "union": "x' = x \\union {1}",
    "filter": "x' = {i \\in x : i > 0}",
    "map": "x' = {i + 1 : i \\in x}",
    "function": "x' = [i \\in x |-> i]",
    "subsets": "x' = SUBSET x",
    "in a tuple": "x' = <<x \\ {1}, 2>>",
    "in": "x' = IF 1 \\in x THEN {} ELSE {1}",
    "included": "x' = IF x \\subseteq {1} THEN {} ELSE {1}",
    "loop": "x' = IF \\E i \\in x : i = 1 THEN {} ELSE {1}",
    "IF": "x' = IF x THEN {} ELSE {1}",
    "not": "x' = IF ~x THEN {} ELSE {1}",
    "and": "x' = IF x /\\ FALSE THEN {} ELSE {1}",
    "updated": "x' = [[i \\in 0..1 |-> x] EXCEPT ![0] = @ \\union {1}]",
}


@pytest.mark.parametrize("name", KINDS)
def test_enabled_stops_at_a_value_of_another_kind(name: str, tmp_path: Path) -> None:
    other = "TRUE" if name in ("IF", "not", "and") else "{1}"
    module = f"{HEAD}CONSTANT Nil\nInit == x = Nil\nTake == {KINDS[name]}\nInv == ENABLED Take\n"
    module += f"Next == x' = IF x = Nil THEN {other} ELSE Nil\n====\n"
    pair = pair_of(tmp_path, module, f"{STATES}INVARIANT Inv\nCONSTANT Nil = Nil\n")
    state = next(iter(each_initial_state(pair.bound)))
    with pytest.raises(KmcError, match="KMC258"):
        pair.program.holds(pair.program.model.invariants[0], pair.translated.decoder.state(state))
    with pytest.raises(KmcError):
        holds(pair.bound.invariants[0], (), state)


@pytest.mark.parametrize("condition", ["x = 1", "x # 1", '"off" = x', 'x = (IF x = x THEN "off" ELSE 3)'])
def test_a_comparison_of_several_kinds_is_refused(condition: str, tmp_path: Path) -> None:
    module = f'{HEAD}Init == x = 1 \\/ x = "off"\nInv == {condition}\nNext == UNCHANGED x\n====\n'
    with pytest.raises(SpecError, match=r"KMC812.*values of several kinds"):
        pair_of(tmp_path, module, STATES + "INVARIANT Inv\n")


def test_a_number_is_compared_with_a_model_value(tmp_path: Path) -> None:
    module = f"{HEAD}CONSTANT Nil\nInit == x = Nil\nInv == x # 3\nNext == x' = IF x = Nil THEN 1 ELSE 2\n====\n"
    assert pair_of(tmp_path, module, f"{STATES}INVARIANT Inv\nCONSTANT Nil = Nil\n").differences(9) == []


@pytest.mark.parametrize(
    ("value", "condition"),
    [
        ("{1}", "Len(x) = 1"),
        ("[i \\in 0..1 |-> 5]", "Len(x) = 2"),
    ],
)
def test_a_word_of_several_kinds_is_refused(value: str, condition: str, tmp_path: Path) -> None:
    module = f"{HEAD}Init == x = {value}\nInv == {condition}\nNext == UNCHANGED x\n====\n"
    with pytest.raises(SpecError, match="KMC812"):
        pair_of(tmp_path, module, STATES + "INVARIANT Inv\n")
