"""A world of stored sets, and actions and goals that are drawn for it: for tests that compare engines on them."""

from __future__ import annotations

import random

WORLD = f"""
from kmc.lang import functions, product, sequences

Seat = constant("Seat", IdentSet(symmetric=True), "x")


class Kind(Enum):
    ASK, TELL, ACK = range(3)


class Step(Enum):
    {", ".join(f"S{number}" for number in range(70))} = range(70)


class Item(Record):
    src: Seat
    dst: Seat
    n: Int(0, 10)
    kind: Kind


class Base(Record, abstract=True):
    who: Seat


class Near(Base):
    n: Int(0, 40)


class Far(Base):
    seen: Set[Seat]
    last: Opt[Int(0, 9)]


class Box(Record):
    full: Bool
    held: Set[Item]


class News(Message):
    source: Seat
    dest: Seat
    told: Set[Item]


class State(Record):
    n: Int(0, 2)
    at: Set[Seat]
    numbers: Set[Int(-20, 109)]
    edge: Set[Int(0, 64)]
    word: Set[Int(0, 63)]
    steps: Set[Step]
    cargo: Set[Item]
    mixed: Set[Base | None]
    groups: Set[Set[Int(0, 6)]]
    lists: Set[Seq[Int(0, 4), 3]]
    boxes: Map[Seat, Box]
    some: Opt[Set[Item]]
    loose: Kind | Set[Int(0, 99)] | Seq[Int(0, 2), 2] | None
    rounds: Seq[Set[Int(0, 99)], 2]
    net: MessageSet[News, 8]


def item(i, n):
    return Item(src=i, dst=i, n=n, kind=Kind.ACK)


@spec.init
def init():
    yield State(
        n=0, at=set(), numbers=set(), edge=set(), word=set(), steps=set(), cargo=set(), mixed=set(), groups=set(),
        lists=set(), boxes={{i: Box(full=False, held=set()) for i in Seat}}, some=None, loose=None, rounds=[],
        net=set(),
    )
    some = {{item(i, n) for i in Seat for n in {{0, 7, 10}}}}
    yield State(
        n=1, at=set(Seat), numbers={{-20, 0, 43, 44, 63, 64, 107, 109}}, edge={{0, 63, 64}}, word={{0, 63}},
        steps={{Step.S0, Step.S63, Step.S64, Step.S69}}, cargo=some,
        mixed={{None}} | {{Near(who=i, n=40) for i in Seat}} | {{Far(who=i, seen={{i}}, last=9) for i in Seat}},
        groups={{set(), {{0, 6}}, {{1}}}}, lists={{[], [4, 4, 4], [0]}},
        boxes={{i: Box(full=True, held={{item(i, 10)}}) for i in Seat}}, some=some, loose={{0, 64, 99}},
        rounds=[{{63, 64}}, set()], net={{News(source=i, dest=i, told={{item(i, 10)}}) for i in Seat}},
    )


@spec.action
def turn(st, i: Seat):
    at = st.at - {{i}} if i in st.at else st.at | {{i}}
    yield st.set(at=at, n=(st.n + 1) % 3)


spec.symmetry("seats", Seat)
"""
CHANGES = (
    "numbers=st.numbers | {{k}, 40 + 3 * {k}, 63, 108}",
    "numbers=st.numbers - {{k}, 63, 64}",
    "numbers=st.numbers & {x for x in range(-20, 110) if x % 3 == {k} % 3}",
    "numbers={x for x in st.numbers if x > {k}} | {-x for x in st.numbers if x > 0 and x < 21}",
    "numbers=st.numbers | st.edge | st.word",
    "numbers=(st.edge | st.word) - st.numbers",
    "numbers={x + 1 for x in st.numbers if x < 109}",
    "numbers=set()",
    "numbers=st.numbers | {x + 41 for x in st.word}",
    "edge=st.word",
    "edge={x for x in st.numbers if x in range(0, 65)}",
    "edge=st.edge - {64} if 64 in st.edge else st.edge | {64}",
    "edge=st.edge & st.word",
    "word=st.edge - {64}",
    "word=st.edge & st.word | {{k}}",
    "word={x for x in st.edge if x < 64}",
    "steps=st.steps | {Step.S64, Step.S1}",
    "steps=set(Step) - st.steps",
    "steps={s for s in Step if s not in st.steps and s != Step.S5}",
    "steps=st.steps - {Step.S69}",
    "cargo=st.cargo | {item(i, {k})}",
    "cargo=st.cargo | {Item(src=i, dst=j, n=n, kind=k) for j in st.at for n in {0, {k}} for k in Kind}",
    "cargo=st.cargo - {item(i, 10), item(i, {k})}",
    "cargo=st.cargo & {item(j, n) for j in Seat for n in range(0, 7 + {k})}",
    "cargo={x.set(n=10 - x.n) for x in st.cargo}",
    "cargo={x.set(dst=i) for x in st.cargo if x.kind != Kind.ASK} | st.boxes[i].held",
    "cargo={item(i, len(st.cargo))} if len(st.cargo) < 11 else set()",
    "cargo=st.cargo | {item(i, x) for x in st.numbers if x >= 0 and x < 11}",
    "mixed=st.mixed | {Near(who=i, n=13 * {k}), None}",
    "mixed=(st.mixed - {None}) | {Far(who=i, seen=st.at, last={k})}",
    "mixed={x for x in st.mixed if x is None or x.who == i}",
    "mixed={x for x in st.mixed if isinstance(x, Far) and i in x.seen} | {Far(who=i, seen=set(), last=None)}",
    "groups=st.groups | {{{k}, 6}}",
    "groups={g - {6} for g in st.groups} | {set()}",
    "groups={g | h for g in st.groups for h in st.groups}",
    "groups=set(subsets({{k}, 5, 6})) - st.groups",
    "lists=st.lists | {[{k}], [0, {k}]}",
    "lists={l.append({k}) for l in st.lists if len(l) < 3}",
    "lists={l for l in sequences({0, 4}, 3) if l not in st.lists}",
    "boxes=st.boxes.set(i, st.boxes[i].set(held=st.cargo))",
    "boxes=st.boxes.set(i, st.boxes[i].set(held=st.boxes[i].held | {item(i, {k})}, full=st.n == {k}))",
    "boxes={j: Box(full=j == i, held=st.boxes[j].held - {item(j, 10)}) for j in Seat}",
    "some=st.cargo if st.n > 0 else None",
    "some=st.cargo | st.some if st.some is not None else {item(i, {k})}",
    "some={x for x in st.some if x.n > {k}} if st.some is not None else set()",
    "loose=st.edge if st.n == {k} else Kind.ACK",
    "loose={x for x in st.numbers if x in range(0, 100)} | {99}",
    "loose=[st.n] if len(st.edge) > 1 else None",
    "rounds=st.rounds.append({99, {k}}) if len(st.rounds) < 2 else st.rounds[1:]",
    "rounds=st.rounds[1:].append(st.rounds[0] | st.edge) if st.rounds != [] else [st.edge]",
    "n=len(st.numbers) % 3",
    "n=(len(st.cargo) + len(st.edge) + len(st.mixed)) % 3",
    "numbers={max(st.numbers), min(st.numbers)} if len(st.numbers) > 0 else {109}",
    "numbers=st.numbers if st.n == {k} else st.edge",
    "cargo=st.cargo if st.n == {k} else set()",
    "net=st.net.send(News(source=i, dest=i, told=st.cargo)) if len(st.net) < 3 else st.net",
    "net=st.net.discard(News(source=i, dest=i, told={item(i, 10)}))",
    "net=st.net.keep(lambda m: len(m.told) < {k} or m.dest != i)",
    "cargo={x for m in st.net if m.dest == i for x in m.told} | {item(i, {k})}",
    "cargo=st.cargo if st.n == {k} else {item(i, 0)}",
)
TESTS = (
    "len(st.numbers) > {k}",
    "len(st.cargo) > 3 * {k}",
    "{k} in st.numbers or 64 in st.numbers",
    "43 + {k} in st.numbers",
    "109 in st.numbers and -20 not in st.numbers",
    "any(x in st.edge and x in st.word for x in st.numbers)",
    "64 in st.edge or 200 in st.edge",
    "st.edge == st.word",
    "st.word <= st.edge",
    "st.edge < st.numbers",
    "st.numbers >= st.edge",
    "st.numbers == {-20, 0, 43, 44, 63, 64, 107, 109}",
    "st.numbers <= {x for x in range(-20, 110) if x != 44}",
    "st.numbers == {x for x in st.numbers}",
    "st.numbers & st.edge == set()",
    "st.numbers != set() and max(st.numbers) > 63",
    "st.numbers != set() and min(st.numbers) < {k}",
    "sum(x for x in st.numbers) > {k}",
    "len({x % 7 for x in st.numbers}) > {k}",
    "count(x > 63 for x in st.numbers) == {k}",
    "len(st.numbers | st.edge) - len(st.numbers & st.edge) > {k}",
    "st.steps == set(Step)",
    "len(st.steps) > 4",
    "Step.S64 in st.steps or Step.S69 in st.steps",
    "st.steps <= set(Step) - {Step.S64}",
    "any(s in st.steps for s in {Step.S1, Step.S63})",
    "item_in({k})",
    "st.cargo == {item(i, n) for i in Seat for n in {0, 7, 10}}",
    "st.cargo <= {item(i, n) for i in Seat for n in range(0, 11)}",
    "any(x.n == {k} and x.src != x.dst for x in st.cargo)",
    "all(x in st.cargo for i in st.at for x in st.boxes[i].held)",
    "len({x.src for x in st.cargo}) > {k} - 1",
    "len({x.n for x in st.cargo}) > {k}",
    "None in st.mixed",
    "count(isinstance(x, Near) for x in st.mixed) == {k}",
    "any(x is not None and isinstance(x, Far) and x.last == {k} for x in st.mixed)",
    "{{k}, 6} in st.groups or set() in st.groups",
    "any(len(g) > {k} for g in st.groups)",
    "st.groups == set(subsets({0, 6}))",
    "[4, 4, 4] in st.lists and [] not in st.lists",
    "any(len(l) > 1 and l.at(2) == {k} for l in st.lists)",
    "any(b.held == st.cargo for b in st.boxes.values())",
    "all(b.full for b in st.boxes.values() if len(b.held) > {k})",
    "st.some == st.cargo",
    "st.some is not None and st.some < st.cargo",
    "st.some is None or len(st.some) > {k}",
    "st.loose == st.edge",
    "st.loose == {0, 64, 99}",
    "st.loose == [{k}] or st.loose == Kind.ACK",
    "st.rounds != [] and st.rounds[0] == {63, 64}",
    "any(64 in r for r in st.rounds)",
    "len(st.edge) < 6 and any(len(s) > 1 and sum(x for x in s) == 64 for s in subsets(st.edge))",
    "any(f[63] == {k} for f in functions({63, 64}, st.edge))",
    "any(len(l) == 2 and l.at(1) == l.at(2) for l in sequences(st.edge, 2))",
    "st.at == set() or len({(x.src, x.n) for x in st.cargo}) > {k}",
    "st.numbers in {st.edge, st.word, {{k}}}",
    "any(m.told == st.cargo for m in st.net)",
    "any(News(source=i, dest=i, told={item(i, 10)}) in st.net for i in st.at)",
)


def drawn(chance: random.Random) -> str:
    """Actions with some changes, and goals with some tests."""
    parts = []
    for number, text in enumerate(chance.sample(CHANGES, 10)):
        change = text.replace("{k}", str(chance.randint(1, 3)))
        parts.append(f"\n\n@spec.action\ndef change_{number}(st, i: Seat):\n    yield st.set({change})\n")
    for number, text in enumerate(chance.sample(TESTS, 14)):
        condition = text.replace("item_in({k})", "any(item(i, {k}) in st.cargo for i in Seat)")
        condition = condition.replace("{k}", str(chance.randint(0, 3)))
        parts.append(f"\n\n@spec.reachable\ndef goal_{number}(st):\n    return {condition}\n")
    return "".join(parts)
