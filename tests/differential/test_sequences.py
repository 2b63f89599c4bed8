"""Positions, slices and sums of sequences: compiled code takes the interpreter's steps, and stops at its errors."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.oracles.steps import differences, kernels_in_python, level_states
from support.specs.small import model_of

from kmc.compiler.ir.emit_llvm import emit_llvm
from kmc.compiler.model_kernels import build_kernels
from kmc.lang.seqs import seq_literal
from kmc.result import Limits

WORLD = """
Seat = constant("Seat", IdentSet(), "x")


class Slip(Record):
    n: Int(-1, 2)
    by: Opt[Seat]


class Wide(Record):
    slip: Slip
    path: Seq[Int(0, 7), 30]


class Place(Record):
    queue: Seq[Slip, 3]
    wide: Seq[Wide, 2]


class State(Record):
    n: Int(0, 3)
    s: Seq[Int(1, 4), 3]
    o: Opt[Seq[Opt[Seat], 2]]
    sets: Seq[Set[Seat], 2]
    at: Map[Seat, Place]


A = [4, 4]


def turned(w, n):
    return w.set(path=w.path[n:] + w.path[:2])


@spec.init
def init():
    none = Place(queue=[], wide=[])
    for s in ([], [1], [2, 3, 4]):
        yield State(n=0, s=s, o=None, sets=[], at={i: none for i in Seat})
    for i in Seat:
        slip = Slip(n=-1, by=i)
        wide = Wide(slip=slip, path=[7, 1] + [3 for _ in range(0, 20)])
        full = Place(queue=[slip, Slip(n=2, by=None), slip], wide=[wide, wide.set(path=[5])])
        yield State(n=2, s=[4, 1], o=[i, None], sets=[{i}, set()], at={j: full if i == j else none for j in Seat})


@spec.action
def turn(st):
    yield st.set(n=(st.n + 1) % 4)
"""
CHANGES = (
    "s=st.s[1:]",
    "s=st.s[:st.n]",
    "s=st.s[st.n:]",
    "s=st.s[st.n - 1:len(st.s)]",
    "s=st.s[1:st.n] + st.s[:1]",
    "s=st.s + [st.n]",
    "s=[st.n + 1] + st.s[1:]",
    "s=st.s + st.s",
    "s=(st.s + A)[st.n:]",
    "s=[] + st.s if st.n > 1 else st.s + []",
    "s=[x for x in st.s if x > st.n]",
    "s=[st.s[k] for k in range(st.n, len(st.s))]",
    "o=st.o[1:] + [None, i]",
    "o=[i] if st.o is None else st.o[:1] + st.o[:st.n]",
    "sets=st.sets[1:] + [{i} | st.sets[0]]",
    "at=st.at.set(i, st.at[i].set(queue=st.at[i].queue[1:] + [Slip(n=0, by=i)]))",
    "at=st.at.set(i, st.at[i].set(queue=st.at[i].queue[st.n:3]))",
    "at=st.at.set(i, st.at[i].set(wide=st.at[i].wide[1:] + [turned(w, st.n) for w in st.at[i].wide[:1]]))",
    "at={j: st.at[j].set(wide=(st.at[j].wide + st.at[i].wide)[st.n:]) for j in Seat}",
    "n=st.s[st.n] - 1",
    "n=st.at[i].queue[st.n].n + 1",
    "n=st.at[i].wide[st.n - 1].path[1]",
)
TESTS = (
    "st.s[0] == {k}",
    "len(st.s[{k}:]) > 1",
    "st.s[:1] == st.s[1:2]",
    "{k} in st.s[1:]",
    "st.s + [{k}] == [1, {k}]",
    "any(st.s[k] > st.s[k + 1] for k in range(0, len(st.s) - 1))",
    "(st.s + A)[{k}] > 2",
    "all(st.at[i].queue + st.at[j].queue == st.at[j].queue + st.at[i].queue for i in Seat for j in Seat)",
    "any(Slip(n={k} - 1, by=i) in st.at[i].queue[1:] for i in Seat)",
    "any(w.path[{k}:{k} + 2] == [3, 3] for i in Seat for w in st.at[i].wide)",
    "st.o is not None and (st.o + st.o)[{k}] is None",
    "len(st.sets) > 0 and len(st.sets[0]) == {k}",
)


@pytest.mark.parametrize("seed", range(3))
def test_drawn_actions_on_sequences_are_those_of_the_interpreter(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    parts = [WORLD]
    for number, change in enumerate(chance.sample(CHANGES, 8)):
        parts.append(f"\n\n@spec.action\ndef change_{number}(st, i: Seat):\n    yield st.set({change})\n")
    for number, text in enumerate(chance.sample(TESTS, 6)):
        condition = text.replace("{k}", str(chance.randint(0, 2)))
        parts.append(f"\n\n@spec.reachable\ndef goal_{number}(st):\n    return {condition}\n")
    model = model_of(tmp_path, "".join(parts), "CONSTANT Seat = {a, b}")
    states = level_states(model, Limits(states=300), at_most=15, seed=seed)
    assert list(differences(kernels_in_python(model), states))[:2] == []


def test_positions_and_slices_are_those_of_tla() -> None:
    sequence = seq_literal((4, 5, 6))
    assert sequence[0] == 4  # Head(s), s[1] in TLA+
    assert sequence[1:] == seq_literal((5, 6))  # Tail(s)
    assert sequence[1:2] == seq_literal((5,))  # SubSeq(s, 2, 2)
    assert sequence[2:1] == seq_literal(())  # SubSeq(s, 3, 1)
    assert sequence + seq_literal((4,)) == seq_literal((4, 5, 6, 4))  # s \\o <<4>>


@pytest.mark.parametrize(("high", "capacity", "offset"), [(1 << 42, 1, 3), (1 << 28, 1, 5), (1 << 42, 2, 9), (7, 3, 0)])
def test_an_offset_behind_the_last_place_of_a_sequence_is_an_error(
    high: int, capacity: int, offset: int, tmp_path: Path
) -> None:
    source = f"""
class State(Record):
    n: Int(0, 1)
    xs: Seq[Int(0, {high}), {capacity}]


@spec.init
def init():
    yield State(n=0, xs=[1])


@spec.action
def step(st):
    yield st.set(n=st.xs.at({offset}))
"""
    model = model_of(tmp_path, source)
    assert emit_llvm(build_kernels(model).module), "it is well-formed, with the code behind the error"
    assert list(differences(kernels_in_python(model), level_states(model, Limits(), at_most=2))) == []


@pytest.mark.parametrize(
    "change", ["n=st.s.at(st.k)", "n=st.s[st.k]", "s=st.s.upto(st.k)", "s=st.s[st.k:]", "s=st.s[:st.k]"]
)
def test_an_offset_may_be_one_alternative_of_a_union(change: str, tmp_path: Path) -> None:
    source = f"""
Seat = constant("Seat", IdentSet(), "Where an offset is not a number")


class State(Record):
    n: Int(0, 3)
    k: Seat | Int(0, 3)
    s: Seq[Int(0, 3), 3]


@spec.init
def init():
    for s in ([], [1], [2, 3]):
        for k in range(0, 4):
            yield State(n=0, k=k, s=s)
        for i in Seat:
            yield State(n=0, k=i, s=s)


@spec.action
def step(st):
    yield st.set({change})
"""
    model = model_of(tmp_path, source, "CONSTANT Seat = {a, b}")
    assert list(differences(kernels_in_python(model), level_states(model, Limits(), at_most=30))) == []


@pytest.mark.parametrize("change", ["xs=[x for x in st.xs if x != st.xs.at(st.n)]", "n=1 if st.n in {} else 0"])
def test_a_collection_without_elements_is_evaluated(change: str, tmp_path: Path) -> None:
    """No element of the first is ever equal to what has no place; the second has no type of keys."""
    source = f"""
class State(Record):
    n: Int(0, 2)
    xs: Seq[Int(1, 1), 1]


@spec.init
def init():
    for n in range(3):
        yield State(n=n, xs=[1])


@spec.action
def step(st):
    yield st.set({change})
"""
    model = model_of(tmp_path, source)
    assert list(differences(kernels_in_python(model), level_states(model, Limits(), at_most=3))) == []
