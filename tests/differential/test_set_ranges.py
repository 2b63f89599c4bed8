"""All functions, sequences and permutations of drawn sets: compiled code goes through them as the interpreter does.

The interpreter's ranges are compared with lists that are made another way; compiled code with the interpreter.
"""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from support.oracles.steps import differences, kernels_of, level_states
from support.specs.small import model_of

from kmc.lang.maps import MapValue
from kmc.lang.seqs import seq_literal
from kmc.lang.set_ranges import functions, permutations, sequences, subsets
from kmc.result import Limits

WORLD = """
from kmc.lang import functions, permutations, sequences

Seat = constant("Seat", IdentSet(), "x")


class Tone(Enum):
    LOW, HIGH = range(2)


class Slip(Record):
    n: Int(0, 1)
    by: Opt[Seat]


SLIPS = {Slip(n=1, by=None), Slip(n=0, by=None)}


class State(Record):
    n: Int(0, 3)
    at: Set[Seat]
    f: Map[Seat, Int(0, 3)]
    p: PartialMap[Seat, Slip]
    o: Map[Seat, Opt[Seat]]
    s: Seq[Slip, 2]
    g: Map[Int(1, 2), Set[Seat]]
    t: Seq[Seat | Tone, 2]


@spec.init
def init():
    for f in functions(Seat, {0, 3}):
        none = {i: None for i in Seat}
        yield State(n=0, at={i for i in Seat if f[i] > 0}, f=f, p={}, o=none, s=[], g={1: set(), 2: set()}, t=[])


@spec.action
def step(st):
    if st.n < 3:
        yield st.set(n=st.n + 1)
        yield st.set(at={i for i in Seat if i not in st.at})
"""
# A range, the field that its values are stored in, and whether its values are few.
RANGES = (
    ("functions(Seat, range(st.n, 3))", "f"),
    ("functions(Seat, {st.n, 2})", "f"),
    ("functions(st.at, {Slip(n=k, by=i) for k in range(0, 2) for i in st.at})", "p"),
    ("functions(st.at, st.s)", "p"),
    ("functions({i for i in Seat if st.f[i] == st.n}, {Slip(n=0, by=None)})", "p"),
    ("functions(Seat, st.at | {None})", "o"),
    ("functions(Seat, set(st.o.values()))", "o"),
    ("permutations(Seat)", "o"),
    ("functions({1, 2}, subsets(st.at))", "g"),
    ("functions({1, 2}, {st.at, set()})", "g"),
    ("sequences({Slip(n=st.n % 2, by=i) for i in st.at}, 2)", "s"),
    ("sequences({Slip(n=k, by=None) for k in range(0, 2) if k <= st.n}, 1)", "s"),
    ("sequences(set(st.p.values()), 2)", "s"),
    ("sequences(st.at, 0)", ""),
)
# Elements of several kinds, in orders in which a kind follows another one and comes again.
MIXED = (
    "st.at | {Tone.LOW}",
    "{Tone.HIGH} | st.at",
    "{st.t.at(1) if len(st.t) > 0 else Tone.HIGH, Tone.LOW, Tone.HIGH}",
)
TESTS = (
    "st.f in functions(Seat, range(0, {k}))",
    "st.p in functions(st.at, {{Slip(n=0, by=i) for i in st.at}} | set(st.s))",
    "st.o in permutations(Seat)",
    "st.o in functions(Seat, Seat)",
    "st.p.keys() in subsets(st.at)",
    "st.s in sequences({{Slip(n={k} % 2, by=i) for i in Seat}}, {k})",
    "st.g in functions({{1, 2}}, subsets(st.at))",
    "any(f[i] == {k} for f in functions(st.at, {{0, {k}}}) for i in f.keys())",
    "count(st.f[i] >= {k} for q in permutations(st.at) for i in q.values() if q[i] == i) > {k}",
    "sum({{len(s) for s in sequences(st.at, {few})}}) > 1",
    "len(set(st.f.values())) + sum({{v % 2 for v in st.f.values()}}) > {k}",
    "len({{e for e in st.s}}) + len({{v for v in st.o.values()}}) > {k}",
)
# Sequences of two ranges are equal, though the loops behind their ends go through other elements.
EQUAL = "count(s == t for s in sequences(SLIPS, 2) for t in sequences({{Slip(n=1, by=None)}}, 2)) > 2"
# A sequence may have an element twice, the set of its elements may not.
ONCE = "any(len({{e for e in s}}) < len(s) for s in sequences(SLIPS, 2))"


def drawn(chance: random.Random) -> str:
    """Actions that choose values of some ranges, and goals with some tests."""
    parts = []
    for number, (text, field) in enumerate(chance.sample(RANGES, 5)):
        change = f"{field}=x" if field else "n=len(x)"
        body = f"    for x in {text}:\n        yield st.set({change})\n"
        parts.append(f"\n\n@spec.action\ndef choose_{number}(st):\n{body}")
    for number, text in enumerate(MIXED):
        body = f"    for x in sequences({text}, 2):\n        yield st.set(t=x)\n"
        parts.append(f"\n\n@spec.action\ndef mix_{number}(st):\n{body}")
    for number, text in enumerate([*chance.sample(TESTS, 6), EQUAL, ONCE]):
        condition = text.format(k=chance.randint(0, 3), few=chance.randint(0, 2))
        parts.append(f"\n\n@spec.reachable\ndef goal_{number}(st):\n    return {condition}\n")
    return "".join(parts)


@pytest.mark.parametrize("seed", range(3))
def test_compiled_code_goes_through_a_range_as_the_interpreter_does(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    model = model_of(tmp_path, WORLD + drawn(chance), "CONSTANT Seat = {a, b}")
    states = level_states(model, Limits(states=400), at_most=12, seed=seed)
    assert list(differences(kernels_of(model), states))[:2] == []


@pytest.mark.parametrize("keys", [(), ("a",), ("a", "b")])
@pytest.mark.parametrize("values", [(), (1,), (1, 2, 3)])
def test_the_ranges_are_those_of_tla(keys: tuple[str, ...], values: tuple[int, ...]) -> None:
    maps = all_maps(keys, values)
    assert sorted_list(functions(keys, values)) == sorted_list(maps)
    onto = {one for one in all_maps(values, values) if set(one.values()) == set(values)}
    assert sorted_list(permutations(values)) == sorted_list(onto)
    lists = {seq_literal(chosen) for length in range(3) for chosen in product(values, repeat=length)}
    assert sorted_list(sequences(values, 2)) == sorted_list(lists)
    sets: set[frozenset[int]] = {frozenset(chosen) for chosen in product(values, repeat=len(values))} | {frozenset()}
    sets |= {frozenset(pair) for pair in product(values, repeat=2)}
    assert sorted_list(subsets(values)) == sorted_list(sets)
    for made in (functions(keys, values), permutations(values), sequences(values, 2), subsets(values)):
        members = set(made)
        for value in (*maps, *onto, *lists, *sets, 3, None, seq_literal((1, 1, 1)), frozenset({9}), MapValue({9: 9})):
            assert (value in made) == (value in members)


def all_maps(keys: tuple[Any, ...], values: tuple[int, ...]) -> set[MapValue]:
    """The functions from keys to values."""
    return {MapValue(dict(zip(keys, images, strict=True))) for images in product(values, repeat=len(keys))}


def sorted_list(values: Any) -> list[str]:
    """The values, each as often as it comes, in an order that does not depend on memory."""
    return sorted(shown(value) for value in values)


def shown(value: Any) -> str:
    """A value as text, its parts in order."""
    if isinstance(value, MapValue):
        return str(sorted((repr(key), repr(item)) for key, item in value.items()))
    return str(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)
