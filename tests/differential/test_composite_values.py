"""Stored sets of records, sets, unions and sequences, maps with such keys, unions with collections: on both engines.

Drawn actions and goals of one world are compared on every state that the interpreter finds: rows, fingerprints,
successors and goals. Two encodings of one value would be two states.
"""

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
from kmc.lang import Pair, functions, pair, pairs

Seat = constant("Seat", IdentSet(symmetric=True), "x")


class Role(Enum):
    IDLE, BUSY = range(2)


class Slip(Record):
    n: Int(1, 3)
    by: Opt[Seat]


class Card(Record):
    role: Role
    at: Pair[Seat]


class Base(Record, abstract=True):
    who: Seat


class Ask(Base):
    n: Int(0, 1)


class Tell(Base):
    ok: Bool
    seen: Set[Seat]


class State(Record):
    n: Int(0, 2)
    at: Set[Seat]
    slips: Set[Slip]
    mixed: Set[Base]
    groups: Set[Set[Seat]]
    any: Set[Opt[Seat | Int(0, 2)]]
    lists: Set[Seq[Seat, 2]]
    by_slip: PartialMap[Slip, Int(0, 2)]
    by_group: Map[Set[Seat], Bool]
    by_card: PartialMap[Card, Set[Slip]]
    by_list: PartialMap[Seq[Bool, 2], Role]
    by_maybe: Map[Opt[Seat], Int(0, 2)]
    some: Opt[Set[Seat]]
    loose: Role | Set[Slip] | Seq[Int(0, 2), 2] | None
    rounds: Seq[Set[Slip], 2]


def slip(n, i):
    return Slip(n=n, by=i)


@spec.init
def init():
    first = {i for i in Seat}
    yield State(
        n=0, at=set(), slips=set(), mixed=set(), groups=set(), any=set(), lists=set(), by_slip={},
        by_group={g: False for g in subsets(Seat)}, by_card={}, by_list={}, by_maybe={k: 0 for k in first | {None}},
        some=None, loose=None, rounds=[],
    )
    yield State(
        n=1, at=first, slips={slip(k, i) for i in Seat for k in {1, 3}} | {slip(2, None)},
        mixed={Ask(who=i, n=1) for i in Seat} | {Tell(who=i, ok=True, seen={i}) for i in Seat},
        groups={first, set()}, any={None, 1} | first, lists={[], [i for i in range(0, 0)]},
        by_slip={slip(1, i): 1 for i in Seat}, by_group={g: len(g) == 1 for g in subsets(Seat)},
        by_card={Card(role=Role.BUSY, at=p): {slip(1, None)} for p in pairs(Seat)},
        by_list={[True]: Role.BUSY, []: Role.IDLE}, by_maybe={k: 2 for k in first | {None}},
        some=set(), loose=[1, 2], rounds=[set(), {slip(1, i) for i in Seat}],
    )


@spec.action
def turn(st, i: Seat):
    at = st.at - {i} if i in st.at else st.at | {i}
    yield st.set(at=at, n=(st.n + 1) % 3)


spec.symmetry("seats", Seat)
"""
CHANGES = (
    "slips=st.slips | {slip({k}, i)}",
    "slips=st.slips - {slip({k}, i), slip(1, None)}",
    "slips=st.slips & {slip(k, i) for k in range(1, {k} + 1) for i in st.at}",
    "slips={slip(s.n, i) for s in st.slips}",
    "slips={s.set(by=i) for s in st.slips if s.n != {k}} | st.slips",
    "slips=set(st.by_slip.keys()) | st.slips",
    "mixed=st.mixed | {Ask(who=i, n={k} % 2)} | {Tell(who=i, ok=st.n == {k}, seen=st.at)}",
    "mixed={m for m in st.mixed if isinstance(m, Ask) or i in m.seen}",
    "mixed={m.set(who=i) for m in st.mixed}",
    "groups=st.groups | {st.at}",
    "groups=st.groups | {{i}, set()}",
    "groups={g - {i} for g in st.groups}",
    "groups={g | h for g in st.groups for h in st.groups}",
    "groups={g for g in subsets(st.at) if len(g) < {k}}",
    "groups=set(subsets(st.at)) - st.groups",
    "any=st.any | {i, None}",
    "any=(st.any - {None}) | {{k} % 3}",
    "any={x for x in st.any if x != i}",
    "lists=st.lists | {[i], [i, i]}",
    "lists={l.append(i) for l in st.lists if len(l) < 2}",
    "by_slip=st.by_slip.set(s, {k} % 3) if s in st.by_slip else st.by_slip.add(s, st.n)",
    "by_slip={s: s.n - 1 for s in st.slips}",
    "by_slip={s: v for s, v in st.by_slip.items() if s.by != i}",
    "by_slip=st.by_slip.without(s) if s in st.by_slip else st.by_slip",
    "by_group=st.by_group.set(st.at, not st.by_group[st.at])",
    "by_group={g: g <= st.at for g in subsets(Seat)}",
    "by_group=st.by_group.set({i} | st.at, st.by_group[{j for j in Seat if j != i}])",
    "by_list=st.by_list.without([]) if [] in st.by_list else st.by_list.add([st.n == {k}], Role.IDLE)",
    "by_card={Card(role=r, at=p): st.slips for r in Role for p in pairs(st.at)}",
    "by_list={[b]: Role.BUSY for b in {True, st.n == {k}}}",
    "by_maybe=st.by_maybe.set(i if st.n == {k} else None, {k} % 3)",
    "by_maybe={k: (2 if k == i else 0) for k in set(Seat) | {None}}",
    "some=st.at if st.n > 0 else None",
    "some=st.at | st.some if st.some is not None else {i}",
    "loose=st.slips if st.n == {k} else Role.BUSY",
    "loose=[st.n] if len(st.at) > 1 else None",
    "rounds=st.rounds.append({slip({k}, i)}) if len(st.rounds) < 2 else st.rounds[1:]",
    "rounds=st.rounds[1:].append(st.rounds[0] | {s for s in st.slips if s.by != i}) if st.rounds != [] else [st.slips]",
    "rounds=st.rounds.append(set()) if len(st.rounds) < 2 else st.rounds[:1]",
    "slips=st.loose | st.slips if st.n == {k} else set()",
)
TESTS = (
    "len(st.slips) > {k}",
    "slip({k}, None) in st.slips",
    "all(s in st.slips for s in st.by_slip)",
    "st.slips <= {slip(n, i) for n in range(1, 4) for i in Seat} | {slip({k}, None)}",
    "st.slips == {slip({k}, i) for i in Seat}",
    "st.slips == st.by_slip.keys()",
    "sum(s.n for s in st.slips) > 2 * {k}",
    "any(s.by is None and s.n == {k} for s in st.slips)",
    "len({s.by for s in st.slips}) > {k}",
    "count(isinstance(m, Tell) and m.ok for m in st.mixed) == {k}",
    "any(m == Ask(who=i, n={k} % 2) for m in st.mixed for i in st.at)",
    "st.at in st.groups",
    "set() in st.groups and {i for i in Seat} not in st.groups",
    "{i for i in Seat if i in st.at} in st.groups",
    "all(g & h != set() for g in st.groups for h in st.groups)",
    "st.groups == set(subsets(st.at))",
    "st.groups < set(subsets(Seat))",
    "len(st.groups) == {k}",
    "any(len(g) > {k} for g in st.groups | {st.at})",
    "None in st.any and {k} in st.any",
    "any(x in st.at for x in st.any)",
    "len(st.any - st.at) > {k}",
    "[] in st.lists",
    "any(len(l) > 1 and l.at(1) == l.at(2) for l in st.lists)",
    "st.by_slip == {s: s.n - 1 for s in st.slips}",
    "sum(v for v in st.by_slip.values()) > {k}",
    "len(st.by_slip) > {k}",
    "st.by_group[st.at]",
    "count(st.by_group[g] for g in subsets(Seat)) > {k}",
    "any(st.slips == v for v in st.by_card.values())",
    "[True] in st.by_list and st.by_list[[True]] == Role.BUSY",
    "st.by_maybe[None] == {k} or any(st.by_maybe[i] == {k} for i in Seat)",
    "st.some == st.at",
    "st.some == {i for i in Seat}",
    "st.some is not None and st.some < st.at",
    "st.loose == st.slips",
    "st.loose == [{k}]",
    "st.loose == Role.BUSY or st.loose == set()",
    "st.n == {k} and len(st.some) > 0",
    "st.n == {k} or any(i in st.some for i in Seat)",
    "st.n == {k} and st.loose <= {slip({k}, i) for i in st.at}",
    "any(f[s] > 0 for f in functions(st.slips & {slip(1, i) for i in Seat}, {0, 1}) for s in f.keys())",
    "len({p for p in st.by_card}) > {k}",
)


def drawn(chance: random.Random) -> str:
    """Actions with some changes, and goals with some tests."""
    parts = []
    for number, text in enumerate(chance.sample(CHANGES, 8)):
        change = text.replace("{k}", str(chance.randint(1, 3)))
        choice = "    for s in {slip(1, i), slip(3, None)}:\n    " if ".by_slip." in change else ""
        parts.append(f"\n\n@spec.action\ndef change_{number}(st, i: Seat):\n{choice}    yield st.set({change})\n")
    for number, text in enumerate(chance.sample(TESTS, 10)):
        condition = text.replace("{k}", str(chance.randint(0, 3)))
        parts.append(f"\n\n@spec.reachable\ndef goal_{number}(st):\n    return {condition}\n")
    return "".join(parts)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_drawn_actions_on_composite_values_are_those_of_the_interpreter(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    model = model_of(tmp_path, WORLD + drawn(chance), "CONSTANT Seat = {a, b}")
    states = level_states(model, Limits(states=300), at_most=12, seed=seed)
    assert list(differences(kernels_in_python(model), states))[:2] == []


@pytest.mark.slow
def test_a_state_and_its_images_have_one_fingerprint_and_no_other_state_has_it(tmp_path: Path) -> None:
    model = model_of(tmp_path, WORLD, "CONSTANT Seat = {a, b, c} SYMMETRY seats")
    chance = random.Random(1)
    found = [random_state(model, chance) for _ in range(25)]
    alike = level_states(model, Limits(states=60), at_most=6)
    assert list(orbit_faults(kernels_of(model), [*found, *alike]))[:2] == []
