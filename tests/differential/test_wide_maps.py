"""Partial maps of more possible keys than a word has bits, up to 1,024: the same on both engines."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.drawing.states import random_state
from support.oracles.orbits import orbit_faults
from support.oracles.steps import differences, kernels_in_python, kernels_of, level_states
from support.specs.small import model_of

from kmc.result import Limits

WORLD = """
Seat = constant("Seat", IdentSet(symmetric=True), "x")


class Kind(Enum):
    ASK, TELL, ACK = range(3)


class Slip(Record):
    by: Seat
    n: Int(0, 40)


class Box(Record):
    full: Bool
    owner: Opt[Seat]
    seen: Set[Int(0, 69)]


class State(Record):
    n: Int(0, 2)
    at: Set[Seat]
    numbers: PartialMap[Int(-3, 69), Int(0, 2)]
    edge: PartialMap[Int(0, 64), Kind]
    slips: PartialMap[Slip, Int(0, 2)]
    owners: PartialMap[Slip, Opt[Seat]]
    boxes: PartialMap[Int(0, 65), Box]
    lists: PartialMap[Seq[Int(0, 2), 4], Bool]
    inner: Map[Seat, PartialMap[Slip, Bool]]
    whole: Map[Int(0, 69), Int(0, 2)]


def slip(i, n):
    return Slip(by=i, n=n)


@spec.init
def init():
    yield State(
        n=0, at=set(), numbers={}, edge={}, slips={}, owners={}, boxes={}, lists={}, inner={i: {} for i in Seat},
        whole={x: 0 for x in range(0, 70)},
    )
    yield State(
        n=1, at=set(Seat), numbers={-3: 1, 0: 0, 60: 2, 61: 1, 69: 2}, edge={0: Kind.ACK, 63: Kind.ASK, 64: Kind.TELL},
        slips={slip(i, n): n % 3 for i in Seat for n in {0, 22, 40}}, owners={slip(i, n): i for i in Seat for n in {7}},
        boxes={0: Box(full=True, owner=None, seen={1, 69}), 65: Box(full=False, owner=None, seen=set())},
        lists={[]: True, [2, 2, 2, 2]: False}, inner={i: {slip(i, 40): True} for i in Seat},
        whole={x: 1 if x > 60 else 2 for x in range(0, 70)},
    )


@spec.action
def turn(st, i: Seat):
    at = st.at - {i} if i in st.at else st.at | {i}
    yield st.set(at=at, n=(st.n + 1) % 3)


spec.symmetry("seats", Seat)
"""
CHANGES = (
    "numbers=st.numbers.set(k, {k} % 3) if k in st.numbers else st.numbers.add(k, st.n)",
    "numbers=st.numbers.without(k) if k in st.numbers else st.numbers",
    "numbers={x: v for x, v in st.numbers.items() if x != k}",
    "numbers={x: {k} % 3 for x in range(-3, 70) if x % 9 == {k}}",
    "numbers={x: 1 for x in st.edge}",
    "numbers={}",
    "edge={x: Kind.ACK for x in st.numbers if x >= 0 and x < 65}",
    "edge=st.edge.set(64, Kind.ASK) if 64 in st.edge else st.edge.add(64, Kind.TELL)",
    "edge=st.edge.without(64) if 64 in st.edge else st.edge",
    "slips=st.slips.add(slip(i, {k}), st.n) if slip(i, {k}) not in st.slips else st.slips",
    "slips={s: (v + 1) % 3 for s, v in st.slips.items() if s.by == i or s.n > {k}}",
    "slips={s.set(by=i): 1 for s in st.slips}",
    "slips=st.slips.without(slip(i, 40)) if slip(i, 40) in st.slips else {slip(i, 40): 2}",
    "slips={slip(j, n): {k} % 3 for j in Seat for n in range(0, 41) if n % 7 == {k}}",
    "owners={s: (i if s.by == i else None) for s in st.slips}",
    "owners=st.owners.set(slip(i, 7), None) if slip(i, 7) in st.owners else st.owners.add(slip(i, 7), i)",
    "owners={s: j for s, j in st.owners.items() if j is not None}",
    "boxes=st.boxes.add(64, Box(full=True, owner=i, seen={63, 64})) if 64 not in st.boxes else st.boxes.without(64)",
    "boxes={x: b.set(owner=i, seen=b.seen | {{k}}) for x, b in st.boxes.items()}",
    "boxes=st.boxes.set(0, st.boxes[0].set(full=st.n == {k})) if 0 in st.boxes else st.boxes",
    "lists={l.append({k} % 3): True for l in st.lists if len(l) < 4}",
    "lists=st.lists.without([]) if [] in st.lists else st.lists.add([{k} % 3], st.n == 0)",
    "inner=st.inner.set(i, {s: True for s in st.slips})",
    "inner=st.inner.set(i, st.inner[i].without(slip(i, 40))) if slip(i, 40) in st.inner[i] else st.inner",
    "slips=st.slips if st.n == {k} else {}",
    "whole={69 - x: v for x, v in st.whole.items()}",
    "whole={x: st.numbers[x] if x in st.numbers else {k} % 3 for x in range(0, 70)}",
)
TESTS = (
    "len(st.numbers) > {k}",
    "61 in st.numbers and st.numbers[61] == {k}",
    "any(v == {k} for v in st.numbers.values())",
    "sum(x for x in st.numbers) > {k}",
    "sum(v for x, v in st.numbers.items() if x > 60) == {k}",
    "{k} in st.numbers or 100 in st.numbers",
    "st.numbers.keys() == {-3, 0, 60, 61, 69}",
    "st.numbers.keys() <= set(range(-3, 61))",
    "st.numbers == {x: 1 for x in st.edge}",
    "st.numbers == {-3: 1, 0: 0, 60: 2, 61: 1, 69: 2}",
    "st.edge == {0: Kind.ACK, 63: Kind.ASK, 64: Kind.TELL}",
    "64 in st.edge and st.edge[64] != Kind.ASK",
    "count(st.slips[s] == {k} for s in st.slips) > {k}",
    "any(slip(i, 40) in st.slips for i in st.at)",
    "len({s.by for s in st.slips}) > {k} - 1",
    "st.slips.keys() == st.owners.keys()",
    "any(s in st.owners and st.owners[s] == s.by for s in st.slips)",
    "any(j is None for j in st.owners.values())",
    "any(b.owner is not None and 63 in b.seen for b in st.boxes.values())",
    "65 in st.boxes and not st.boxes[65].full",
    "[] in st.lists or [{k} % 3] in st.lists",
    "len(st.lists) > {k} and all(len(l) < 4 for l in st.lists)",
    "any(st.inner[i] == {s: True for s in st.slips} for i in Seat)",
    "all(s.by == i for i in Seat for s in st.inner[i])",
    "st.numbers[{k}] == 0",
    "st.whole == {x: 0 for x in range(0, 70)}",
    "sum(v for v in st.whole.values()) > 60 and st.whole[69] == {k}",
)


def drawn(chance: random.Random) -> str:
    """Actions with some changes, and goals with some tests."""
    parts = []
    for number, text in enumerate(chance.sample(CHANGES, 8)):
        change = text.replace("{k}", str(chance.randint(1, 3)))
        choice = "    for k in {-3, 0, 60, 61, 69}:\n    " if "k in st.numbers" in change or "!= k" in change else ""
        parts.append(f"\n\n@spec.action\ndef change_{number}(st, i: Seat):\n{choice}    yield st.set({change})\n")
    for number, text in enumerate(chance.sample(TESTS, 8)):
        condition = text.replace("{k}", str(chance.randint(0, 3)))
        parts.append(f"\n\n@spec.reachable\ndef goal_{number}(st):\n    return {condition}\n")
    return "".join(parts)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_drawn_actions_on_wide_maps_are_those_of_the_interpreter(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    model = model_of(tmp_path, WORLD + drawn(chance), "CONSTANT Seat = {a, b}")
    states = level_states(model, Limits(states=300), at_most=12, seed=seed)
    assert list(differences(kernels_in_python(model), states))[:2] == []


@pytest.mark.slow
def test_a_state_with_wide_maps_and_its_images_have_one_fingerprint_and_no_other_state_has_it(tmp_path: Path) -> None:
    model = model_of(tmp_path, WORLD, "CONSTANT Seat = {a, b, c} SYMMETRY seats")
    chance = random.Random(1)
    found = [random_state(model, chance) for _ in range(15)]
    alike = level_states(model, Limits(states=60), at_most=6)
    assert list(orbit_faults(kernels_of(model), [*found, *alike]))[:2] == []
