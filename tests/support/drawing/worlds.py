"""Worlds of random specs: types, state and initial states, with some of the language's less common types in each.

A world has the fields of `BASE` and those of a few `FEATURES`. Domains are narrow, and every field that can be full,
empty or absent is so in one of the three initial states.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from string import Template


@dataclass(frozen=True, slots=True)
class World:
    """What a random spec is about. `safe`: nothing in it fails, so that searches go on; `bag`: how `net` counts.

    In a symmetric world that is not safe, numbers may leave their domain and sequences pass their capacity, no more:
    whether a quantifier over members fails can depend on their order, and so on which state of an orbit is looked at.
    """

    low: int = 0
    high: int = 2
    capacity: int = 2
    bag: bool = False
    symmetric: bool = False
    safe: bool = False
    features: tuple[str, ...] = ()

    @property
    def network(self) -> str:
        """The annotation of `net`."""
        chosen = [FEATURES[name] for name in self.features]
        messages = " | ".join(["Ping", "Pong", *(name for feature in chosen for name in feature.messages)])
        room = 30 if self.safe else 3 + sum(len(feature.third) for feature in chosen)
        return (
            f"MessageBag[{messages}, {room}, {9 if self.safe else 2}]"
            if self.bag
            else f"MessageSet[{messages}, {room}]"
        )


@dataclass(frozen=True, slots=True)
class Field:
    """A field of State: its annotation, and its values in the initial states; "" is that in the first."""

    declared: str
    first: str
    second: str = ""
    third: str = ""


@dataclass(frozen=True, slots=True)
class Feature:
    """Types and fields that a world may have, and messages: those of `net`, and those in two initial states."""

    fields: dict[str, Field] = field(default_factory=dict)
    classes: str = ""
    messages: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    third: tuple[str, ...] = ()


CLASSES = """
from kmc.lang import Pair, pair, pairs, spawned

Server = constant("Server", IdentSet(symmetric=$symmetric), "Who")
Value = constant("Value", IdentSet(symmetric=$symmetric), "What")


class Role(Enum):
    LOW, HIGH, TOP = range(3)


class Pos(Record):
    n: Int($low, $high)
    who: Opt[Server]


class Ping(Message):
    source: Server
    dest: Server
    n: Int($low, $high)


class Pong(Message):
    source: Server
    dest: Server
    role: Role
"""

HELPERS = """

def clipped(a, b):
    if a < b:
        return a
    if a == b and b > $low:
        return b - 1
    return $high


def bounded(a):
    return min(max(a, $low), $high)


def first_of(st, i):
    require(i in st.part)
    return st.part[i]
"""

BASE = {
    "n": Field("Int($low, $high)", "$low", "$high"),
    "role": Field("Role", "Role.LOW", "", "Role.HIGH"),
    "who": Field("Opt[Server]", "None", "one", "two"),
    "maybe": Field("Opt[Int($low, $high)]", "None", "$low", "$high"),
    "some": Field("Set[Server]", "set()", "{one}", "{one, two}"),
    "xs": Field("Seq[Int($low, $high), $capacity]", "[]", "[$low]"),
    "ps": Field("Seq[Pos, 2]", "[]", "[Pos(n=$low, who=two)]", "[Pos(n=$low, who=None), Pos(n=$high, who=one)]"),
    "mapped": Field(
        "Map[Server, Int($low, $high)]",
        "{s: $low for s in Server}",
        "",
        "{s: $high if s == one else $low for s in Server}",
    ),
    "part": Field(
        "PartialMap[Server, Pos]",
        "{}",
        "{s: Pos(n=$high, who=s) for s in Server if s != one}",
        "{s: Pos(n=$low, who=None) for s in Server}",
    ),
}
"""Without the network, which comes last."""

SENT = (
    ("Ping(source=one, dest=two, n=$low)",),
    ("Pong(source=two, dest=two, role=Role.TOP)", "Ping(source=two, dest=one, n=$high)"),
)
"""The messages on their way in the second and third initial state."""

HUGE = 2**40
LOAD = 2**60

FEATURES = {
    "set of enums": Feature({"roles": Field("Set[Role]", "set()", "{Role.LOW}", "{Role.LOW, Role.TOP}")}),
    "pairs": Feature(
        {
            "linked": Field("Map[Pair[Server], Bool]", "{p: True for p in pairs(Server)}"),
            "cut": Field("Set[Pair[Server]]", "set()", "{p for p in pairs(Server)}"),
        }
    ),
    "union": Feature({"what": Field("Server | Role | Pos | None", "None", "one", "Pos(n=$low, who=two)")}),
    "wide sequence": Feature(
        {
            "log": Field(
                "Seq[Stamp, 3]", "[]", "[Stamp(at=1, who=one)]", f"[Stamp(at={HUGE}, who=None), Stamp(at=0, who=two)]"
            ),
            "long": Field(
                "Seq[Int($low, $high), 70]", "[]", "[$low for _ in range(0, 69)]", "[$high for _ in range(0, 70)]"
            ),
        },
        classes=f"""

class Stamp(Record):
    at: Int(0, {HUGE})
    who: Opt[Server]
""",
    ),
    "wide records": Feature(
        {"nodes": Field("Map[Server, Node]", "{s: plain(s) for s in Server}", "", "{s: plain(one) for s in Server}")},
        classes="""

class Node(Record):
    role: Role
    votes: Set[Server]
    path: Seq[Pos, 20]
    ends: Map[Server, Int($low, $high)]
    peer: Opt[Server]


def plain(s):
    return Node(role=Role.LOW, votes={s}, path=[], ends={t: $low for t in Server}, peer=s)
""",
    ),
    "wide message": Feature(
        classes=f"""

class Batch(Message):
    source: Server
    dest: Server
    load: Int(0, {LOAD})
    places: Seq[Pos, 3]
""",
        messages=("Batch",),
        second=(f"Batch(source=one, dest=two, load={LOAD}, places=[])",),
        third=("Batch(source=one, dest=two, load=0, places=[Pos(n=$low, who=two), Pos(n=$high, who=None)])",),
    ),
    "optional fields": Feature(
        classes="""

class LoudPing(Ping):
    loud: Bool


class Ask(Message, abstract=True):
    source: Server
    dest: Server
    n: Int($low, $high)


class AskPlain(Ask):
    \"\"\"No field more.\"\"\"


class AskMore(Ask):
    more: Opt[Server]
""",
        messages=("Ask",),
        second=("LoudPing(source=one, dest=two, n=$low, loud=False)",),
        third=("AskPlain(source=one, dest=two, n=$low)", "AskMore(source=one, dest=two, n=$low, more=None)"),
    ),
    "second network": Feature(
        {"other": Field("MessageSet[Ping | Pong, 20]", "set()", "{Ping(source=one, dest=one, n=$low)}")}
    ),
    "message in a field": Feature({"pending": Field("Opt[Ping]", "None", "Ping(source=one, dest=two, n=$low)")}),
    "maps of other keys": Feature(
        {
            "holders": Field("Map[Role, Set[Server]]", "{r: set() for r in Role}", "", "{r: {one} for r in Role}"),
            "counted": Field(
                "PartialMap[Int($low, $high), Role]", "{}", "{$low: Role.TOP}", "{$low: Role.LOW, $high: Role.HIGH}"
            ),
        }
    ),
    "spawned": Feature(
        {"alive": Field("PartialMap[Id, Bool]", "{Id.at(1): True}", "", "{Id.at(1): True, Id.at(2): False}")},
        classes="""

Id = spawned("Id", 3, started="alive")
""",
    ),
    "second type": Feature(
        {"owner": Field("Map[Value, Opt[Server]]", "{v: None for v in Value}", "{v: one for v in Value}")}
    ),
}
"""What some worlds have and others have not."""


def head_of(world: World, *, steps: bool = True) -> str:
    """The source of a world up to its initial states, and two actions that always go on, if `steps`."""
    chosen = [FEATURES[name] for name in world.features]
    fields = dict(BASE)
    for feature in chosen:
        fields |= feature.fields
    sent = [
        [*base, *(m for feature in chosen for m in more(feature))]
        for base, more in zip(SENT, (_second, _third), strict=True)
    ]
    counted = ": 1" if world.bag else ""
    networks = ["{}" if world.bag else "set()", *("{" + ", ".join(m + counted for m in group) + "}" for group in sent)]
    fields["net"] = Field(world.network, *networks)
    text = "".join([CLASSES, *(feature.classes for feature in chosen), _state(fields), HELPERS, _init(fields)])
    filled = Template(text + (STEPS if steps else "")).substitute(
        low=world.low, high=world.high, capacity=world.capacity, symmetric=world.symmetric
    )
    return filled


def _second(feature: Feature) -> tuple[str, ...]:
    return feature.second


def _third(feature: Feature) -> tuple[str, ...]:
    return feature.third


def _state(fields: dict[str, Field]) -> str:
    return "\n\nclass State(Record):\n" + "".join(f"    {name}: {field.declared}\n" for name, field in fields.items())


def _init(fields: dict[str, Field]) -> str:
    first = ", ".join(f"{name}={field.first}" for name, field in fields.items())
    second = ", ".join(f"{name}={field.second}" for name, field in fields.items() if field.second)
    third = ", ".join(f"{name}={field.third}" for name, field in fields.items() if field.third)
    return f"""

@spec.init
def init():
    one, two = Server.at(1), Server.at(2)
    bare = State({first})
    yield bare
    yield bare.set({second})
    yield bare.set({third})
"""


STEPS = """

@spec.action
def around(st):
    yield st.set(n=st.n + 1 if st.n < $high else $low)


@spec.action
def meet(st, i: Server):
    yield st.set(who=i, some=st.some | {i} if st.who != i else st.some - {i})
"""
