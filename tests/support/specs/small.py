"""Specs of a few lines, for tests that need one of a certain shape: written to a folder, loaded, bound to a model."""

from __future__ import annotations

import shutil
from pathlib import Path

from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_spec_root
from kmc.model_files.cfg import parse_cfg

IMPORTS = """
from kmc.lang import (
    Bool, Enum, IdentSet, Int, Map, Message, MessageBag, MessageSet, Opt, PartialMap, Record, Seq, Set, constant, count,
    require, subsets, ways,
)
from kmc.spec import spec
"""
"""What stands before each of these specs."""


def model_of(folder: Path, source: str, cfg: str = "") -> Model:
    """The model that the text `cfg` describes of the spec with this source; the folder gets one file, `spec.py`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "spec.py"
    path.write_text(IMPORTS + source, encoding="utf-8")
    return bind(path, parse_cfg(cfg, str(folder / "model.cfg")))


def copied(spec: str, folder: Path) -> Path:
    """A copy of a shipped spec in `folder`, beside what specs share or refine; an earlier copy is replaced."""
    root = find_spec_root(spec)
    for part in (root, root.parent / "consensus", root.parent / "epoch_log"):
        shutil.rmtree(folder / part.name, ignore_errors=True)
        shutil.copytree(part, folder / part.name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder / root.name


COUNTER = """
Limit = constant("Limit", Int(0, 99), "Where the counter stops", 3)


class State(Record):
    n: Int(0, 100)


@spec.init
def init():
    yield State(n=0)


@spec.action
def increase(st):
    if st.n < Limit:
        yield st.set(n=st.n + 1)


@spec.invariant
def BelowTwo(st):
    return st.n < 2


@spec.invariant
def NotNegative(st):
    return st.n >= 0


@spec.action_property
def NeverToThree(st, nxt):
    return nxt.n != 3


@spec.constraint
def AtMostTwo(st):
    return st.n <= 2
"""
"""n goes from 0 to Limit by ones; deadlock there."""

PHILOSOPHERS = """
Seats = constant("Seats", Int(1, 6), "How many sit at the table", 3)
Seat = Int(1, Seats)


class State(Record):
    left: Map[Seat, Bool]
    right: Map[Seat, Bool]


def taken(st, fork):
    return st.left[fork] or st.right[fork - 1 if fork > 1 else Seats]


@spec.init
def init():
    yield State(left={s: False for s in range(1, Seats + 1)}, right={s: False for s in range(1, Seats + 1)})


@spec.action
def take_left(st, s: Seat):
    if not st.left[s] and not taken(st, s):
        yield st.set(left=st.left.set(s, True))


@spec.action
def take_right(st, s: Seat):
    if st.left[s] and not st.right[s] and not taken(st, s + 1 if s < Seats else 1):
        yield st.set(right=st.right.set(s, True))


@spec.action
def put_down(st, s: Seat):
    if st.left[s] and st.right[s]:
        yield st.set(left=st.left.set(s, False), right=st.right.set(s, False))
"""
"""Each takes the left fork, then the right one (fork s + 1, shared with the neighbour's left); deadlock when all hold
their left forks."""

RIVER = """
class Bank(Enum):
    LEFT, RIGHT = range(2)


class State(Record):
    farmer: Bank
    wolf: Bank
    goat: Bank
    cabbage: Bank


def other(bank):
    return Bank.RIGHT if bank == Bank.LEFT else Bank.LEFT


def is_safe(st):
    return st.goat == st.farmer or (st.goat != st.wolf and st.goat != st.cabbage)


@spec.init
def init():
    yield State(farmer=Bank.LEFT, wolf=Bank.LEFT, goat=Bank.LEFT, cabbage=Bank.LEFT)


@spec.action
def cross_alone(st):
    after = st.set(farmer=other(st.farmer))
    if is_safe(after):
        yield after


@spec.action
def carry_wolf(st):
    after = st.set(farmer=other(st.farmer), wolf=other(st.wolf))
    if st.wolf == st.farmer and is_safe(after):
        yield after


@spec.action
def carry_goat(st):
    after = st.set(farmer=other(st.farmer), goat=other(st.goat))
    if st.goat == st.farmer and is_safe(after):
        yield after


@spec.action
def carry_cabbage(st):
    after = st.set(farmer=other(st.farmer), cabbage=other(st.cabbage))
    if st.cabbage == st.farmer and is_safe(after):
        yield after


@spec.invariant
def NotAcross(st):
    return not all(bank == Bank.RIGHT for bank in {st.farmer, st.wolf, st.goat, st.cabbage})


@spec.reachable
def across(st):
    return not NotAcross(st)


@spec.reachable
def wolf_with_goat_alone(st):
    return st.wolf == st.goat and st.wolf != st.farmer
"""
"""A farmer takes a wolf, a goat and a cabbage over a river, one at a time; seven crossings."""

TOKENS = """
Client = constant("Client", IdentSet(symmetric=True), "Who can hold a token")
Token = constant("Token", IdentSet(symmetric=True), "What can be held, by one client at a time")


class State(Record):
    held: Map[Client, Opt[Token]]
    last: Opt[Client]


@spec.init
def init():
    yield State(held={c: None for c in Client}, last=None)


@spec.action
def take(st, c: Client, t: Token):
    if st.held[c] is None and all(st.held[d] != t for d in Client):
        yield st.set(held=st.held.set(c, t), last=c)


@spec.action
def drop(st, c: Client):
    if st.held[c] is not None:
        yield st.set(held=st.held.set(c, None), last=c)


@spec.action
def hand_over(st, c: Client, d: Client):
    if st.held[c] is not None and st.held[d] is None:
        yield st.set(held=st.held.set(c, None).set(d, st.held[c]), last=d)


spec.symmetry("clients", Client)
spec.symmetry("tokens", Token)
spec.symmetry("both", Client, Token)


@spec.invariant
def SomeTokenIsFree(st):
    return any(all(st.held[c] != t for c in Client) for t in Token)


@spec.constraint
def KeepsOneFree(st):
    return SomeTokenIsFree(st)
"""
"""Clients take, drop and hand over tokens; both are symmetric."""

BALLOT = """
Server = constant("Server", IdentSet(symmetric=True), "Who votes")
TrustOne = constant("TrustOne", Int(0, 40), "The total from which votes of weight 1 fail an assert", 40)
TrustTwo = constant("TrustTwo", Int(0, 40), "The total from which votes of weight 2 fail an assert", 40)


class Vote(Message):
    source: Server
    dest: Server
    weight: Int(1, 3)


class State(Record):
    messages: MessageSet[Vote]
    voted: Set[Server]
    total: Int(0, 40)
    last: Opt[Server]


@spec.init
def init():
    yield State(messages=set(), voted=set(), total=0, last=None)


@spec.action
def vote(st, s: Server):
    if s not in st.voted:
        votes = {Vote(source=s, dest=d, weight=w) for d in Server for w in {1, 2} if d != s}
        yield st.set(messages=st.messages.send_all(votes), voted=st.voted | {s})


@spec.receive(Vote, s="dest", peer="source")
def count_vote(st, m, s, peer):
    assert st.total < TrustTwo or m.weight != 2
    assert st.total < TrustOne or m.weight != 1
    yield st.set(messages=st.messages.discard(m), total=st.total + m.weight, last=peer)


spec.symmetry("servers", Server)
spec.view("forgetful", drop=["last", "messages"])
spec.view("uncounted", drop=["total"])


@spec.invariant
def Below(st):
    return st.total < 4


@spec.invariant
def NoThreeFromOne(st):
    return not (st.total == 3 and len(st.voted) == 1)


@spec.action_property
def SmallSteps(st, nxt):
    return nxt.total < st.total + 2


@spec.constraint
def Small(st):
    return st.total < 4


@spec.action_constraint
def NotTwice(st, nxt):
    return st.last is None or st.last != nxt.last
"""
"""Votes of two weights, so that many states violate at one depth, each in many ways."""


# A lasso whose states are images: the spec turns the light on and off, and counts that without end.
TURNED_LIGHT = """
from kmc.spec import WEAK, always_eventually, not_


class State(Record):
    light: Bool
    turns: Int(0, 200)


@spec.init
def init():
    yield State(light=False, turns=0)


@spec.action(fair=WEAK)
def turn(st):
    yield st.set(light=not st.light, turns=st.turns + 1)


@spec.abstraction
def Uncounted(st):
    \"\"\"Nothing reads how often the light was turned.\"\"\"
    return st.set(turns=0)


@spec.liveness
def StaysAsItIs():
    return not_(always_eventually(turn))
"""
TURNED_LIGHT_CFG = "SPECIFICATION Spec PROPERTY StaysAsItIs ABSTRACTION Uncounted CHECK_DEADLOCK FALSE"
