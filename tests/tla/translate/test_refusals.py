"""Constructs that kmc's language cannot say are refused at their place in the module, before anything is checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.agreement import pair_of

from kmc.errors import SpecError

HEAD = """---- MODULE Refused ----
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Proc
VARIABLES x, s
RECURSIVE Sum(_)
Sum(t) == IF t = {} THEN 0 ELSE LET e == CHOOSE e \\in t : TRUE IN e + Sum(t \\ {e})
Init == x = 0 /\\ s = {1}
"""
CONFIGURATION = "CONSTANTS Proc = {a, b}\nINIT Init\nNEXT Next\n"


@pytest.mark.parametrize(
    ("line", "construct", "text"),
    [
        (
            "Next == UNCHANGED s /\\ x' = Cardinality(CHOOSE t \\in {s, {x}} : x < 2)",
            "CHOOSE t",
            "a CHOOSE from a set whose elements are not known before",
        ),
        (
            "Next == s' = s /\\ x' = [<<p, q>> \\in {<<1, 2>>}, r \\in {3} |-> p + x][<<1, 2>>, 3]",
            "[<<p",
            "a function with a tuple pattern beside another range",
        ),
        ("Next == x' = 0 /\\ UNCHANGED (s \\union {1}) /\\ s' = s", "s \\union", "UNCHANGED of anything but variables"),
        ("Next == x' = 1 /\\ s' = s /\\ ENABLED (\\A y \\in s : x' = y)", "\\A y", "ENABLED of this formula"),
        ("Next == UNCHANGED s /\\ x' = Cardinality([s' -> s])", "[s' ->", "the set of functions"),
    ],
)
def test_a_construct_is_refused_at_its_place(line: str, construct: str, text: str, tmp_path: Path) -> None:
    module = f"{HEAD}{line}\n====\n"
    with pytest.raises(SpecError) as refused:
        pair_of(tmp_path, module, CONFIGURATION)
    assert refused.value.code == "KMC812"
    assert text in refused.value.message
    span = refused.value.span
    assert span is not None
    written = module.splitlines()[span.line - 1][span.column - 1 :]
    assert written.startswith(construct)


def test_a_symmetry_set_of_single_functions_is_refused(tmp_path: Path) -> None:
    module = (
        HEAD.replace("Sequences", "Sequences, TLC")
        + "Next == UNCHANGED <<x, s>>\nPerms == {[p \\in Proc |-> p]}\n====\n"
    )
    with pytest.raises(SpecError, match="a symmetry set that is not Permutations"):
        pair_of(tmp_path, module, CONFIGURATION + "SYMMETRY Perms\n")


def test_a_temporal_property_is_left_out_by_name(tmp_path: Path) -> None:
    module = HEAD + "Next == UNCHANGED <<x, s>>\nLive == <>(x = 1)\n====\n"
    pair = pair_of(tmp_path, module, CONFIGURATION + "PROPERTY Live\n")
    assert [one.title for one in pair.translated.parts.left_out] == ["Live"]
    assert pair.bound.invariants == ()


@pytest.mark.parametrize(("last", "text"), [(3, "as those of the variable x may be"), (60, "more than 10 deep")])
def test_a_variable_that_keeps_its_old_value_is_refused_at_once(last: int, text: str, tmp_path: Path) -> None:
    step = f"Next == Cardinality(s) < {last} /\\ x' = <<x, s>> /\\ s' = s \\union {{Cardinality(s) + 1}}"
    with pytest.raises(SpecError, match=text) as refused:
        pair_of(tmp_path, f"{HEAD}{step}\n====\n".replace("x = 0", "x = <<>>"), CONFIGURATION)
    assert refused.value.code == "KMC812"


@pytest.mark.parametrize(
    ("initial", "step", "text"),
    [
        (
            "x = {}",
            "x' = x \\union {<<<<<<1, 2>>, 0>>, 0>>}",
            "tuples of 2 items of several kinds that hold others of that kind",
        ),
        (
            "x = [head |-> 1, tail |-> [head |-> 2, tail |-> 0]]",
            "x' = IF x.head = 1 THEN x.tail ELSE x",
            "records with the fields head, tail that hold others of that kind",
        ),
        (
            "x = [left |-> {}, right |-> {[left |-> {}, at |-> {[left |-> {}, right |-> {}]}]}]",
            "x' = IF x.right = {} THEN x ELSE [x EXCEPT !.right = {}]",
            "records with the fields at, left that hold others of that kind",
        ),
    ],
)
def test_values_that_hold_others_of_their_kind_are_refused(initial: str, step: str, text: str, tmp_path: Path) -> None:
    module = f"{HEAD}Next == s' = s /\\ {step}\n====\n".replace("x = 0", initial)
    with pytest.raises(SpecError, match=text) as refused:
        pair_of(tmp_path, module, CONFIGURATION)
    assert refused.value.code == "KMC812"


def test_an_empty_set_takes_no_elements_that_would_hold_it(tmp_path: Path) -> None:
    module = f"{HEAD}Next == s' = s /\\ x' = IF x.all = {{}} THEN x ELSE CHOOSE r \\in x.all : TRUE\n====\n"
    first = "x = [id |-> 0, all |-> {[all |-> {}]}]"
    assert pair_of(tmp_path, module.replace("x = 0", first), CONFIGURATION).differences(9) == []


@pytest.mark.parametrize(
    ("first", "line", "holder"),
    [
        ("1", "Next == x' = 0 /\\ s' = {1} \\union {{y} : y \\in {z \\in s : x = 1}}", "the variable s"),
        (
            '<<1, CHOOSE p \\in Proc : TRUE, "a">>',
            "Next == /\\ x' = (x + 1) % 2\n"
            "        /\\ s" + "' = {y \\in s : x = 1} \\union {<<2, {y[2]}, y[3]>> : y \\in {z \\in s : z[1] = 1}}",
            "item2 in tuples of 3 items of several kinds",
        ),
    ],
)
def test_sets_that_may_nest_without_an_end_are_refused(first: str, line: str, holder: str, tmp_path: Path) -> None:
    module = f"{HEAD}{line}\n====\n".replace("s = {1}", f"s = {{{first}}}")
    with pytest.raises(SpecError, match=f"sets that are nested more than 6 deep, as those of {holder} may be"):
        pair_of(tmp_path, module, CONFIGURATION)
