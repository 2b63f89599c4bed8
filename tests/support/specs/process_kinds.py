"""Specs whose processes are of one kind, such as numbers, pairs or records; each has a model for each kind of failure.

Three messages travel: the first is received, the second is lost, the third goes from a process to itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from support.specs.small import model_of

from kmc.frontend.model import Model
from kmc.reference.search import Search
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Violation


@dataclass(frozen=True, slots=True)
class ProcessKind:
    """A type of processes: its declarations, what the model gives, the types of both ends, and three messages' ends.

    `lanes` are the names of the processes in the order of display.
    """

    declarations: str
    cfg: str
    types: tuple[str, str]
    ends: tuple[tuple[str, str], tuple[str, str], tuple[str, str]]
    lanes: tuple[str, ...]


def _one_type(declarations: str, cfg: str, kind: str, members: tuple[str, str], lanes: tuple[str, ...]) -> ProcessKind:
    a, b = members
    return ProcessKind(declarations, cfg, (kind, kind), ((a, b), (b, a), (b, b)), lanes)


_SERVERS = 'Server = constant("Server", IdentSet(), "Who talks")'
_SIDES = "class Side(Enum):\n    LEFT_SIDE, ÄUSSEN, end = range(3)"
_ADDRESS = f"{_SERVERS}\n\n\nclass Address(Record):\n    host: Server\n    port: Int(0, 1)"
_AT = ("Address(host=Server.at(2), port=1)", "Address(host=Server.at(1), port=1)")
_TWO = "CONSTANT Server = {n1, n2}"
_CLASHING = f'{_SERVERS}\nClient = constant("Client", IdentSet(), "Who asks")'
_CLASHING_CFG = "CONSTANTS Server = {a, b} Client = {a, c}"
_CLASHING_ENDS = (("Client.at(1)", "Server.at(1)"), ("Client.at(2)", "Server.at(2)"), ("Client.at(1)", "Server.at(2)"))

KINDS = {
    "numbers": _one_type("Process = Int(1, 12)", "", "Process", ("10", "9"), ("9", "10")),
    "negative numbers": _one_type("Process = Int(-2, 0)", "", "Process", ("-2", "0"), ("-2", "0")),
    "truth values": _one_type("", "", "Bool", ("True", "False"), ("false", "true")),
    "an enumeration": _one_type(_SIDES, "", "Side", ("Side.end", "Side.LEFT_SIDE"), ("LeftSide", "End")),
    "letters of other languages": _one_type(_SIDES, "", "Side", ("Side.ÄUSSEN", "Side.end"), ("Äussen", "End")),
    "identifiers": _one_type(_SERVERS, _TWO, "Server", ("Server.at(2)", "Server.at(1)"), ("n1", "n2")),
    "words of the views": _one_type(
        _SERVERS, "CONSTANT Server = {end, system}", "Server", ("Server.at(1)", "Server.at(2)"), ("end", "system")
    ),
    "words of JavaScript": _one_type(
        _SERVERS,
        "CONSTANT Server = {__proto__, constructor}",
        "Server",
        ("Server.at(1)", "Server.at(2)"),
        ("__proto__", "constructor"),
    ),
    "spawned identifiers": _one_type(
        'Id = spawned("Id", 3)', "", "Id", ("Id.fresh([])", "Id.fresh([Id.fresh([])])"), ("i1", "i2")
    ),
    "pairs": _one_type(
        _SERVERS,
        "CONSTANT Server = {n1, n2, n3}",
        "Pair[Server]",
        ("pair(Server.at(1), Server.at(2))", "pair(Server.at(3), Server.at(2))"),
        ("{n1, n2}", "{n2, n3}"),
    ),
    "records": _one_type(_ADDRESS, _TWO, "Address", _AT, ("{host: n1, port: 1}", "{host: n2, port: 1}")),
    "sets": _one_type(_SERVERS, _TWO, "Set[Server]", ("set()", "{Server.at(1), Server.at(2)}"), ("{}", "{n1, n2}")),
    "sequences": _one_type(_SERVERS, _TWO, "Seq[Server, 2]", ("[]", "[Server.at(2), Server.at(1)]"),
                           ("[]", "[n2, n1]")),
    "numbers or names": _one_type(_SERVERS, _TWO, "Server | Int(1, 3)", ("Server.at(1)", "3"), ("3", "n1")),
    "records or names": _one_type(_ADDRESS, _TWO, "Address | Server", (_AT[0], "Server.at(1)"),
                                  ("n1", "{host: n2, port: 1}")),
    "one end only": ProcessKind(
        _SERVERS, _TWO, ("Opt[Server]", "Opt[Server]"),
        (("None", "Server.at(1)"), ("Server.at(2)", "None"), ("None", "None")), ("n1", "n2"),
    ),
    "no ends": ProcessKind(
        _SERVERS, _TWO, ("Opt[Server]", "Opt[Server]"), (("None", "None"), ("None", "None"), ("None", "None")), ()
    ),
    "two types": ProcessKind(
        f"{_SERVERS}\n{_SIDES}", _TWO, ("Server", "Side | Int(0, 9)"),
        (("Server.at(2)", "0"), ("Server.at(1)", "Side.end"), ("Server.at(2)", "0")), ("0", "n1", "n2", "End"),
    ),
    "two types with one name": ProcessKind(
        _CLASHING, _CLASHING_CFG, ("Client", "Server"), _CLASHING_ENDS, ("Client.a", "c", "Server.a", "b")
    ),
    "truth values and numbers": ProcessKind(
        "", "", ("Bool", "Int(0, 1)"), (("True", "1"), ("False", "0"), ("True", "0")), ("false", "true", "0", "1")
    ),
}  # fmt: skip
"""Kinds of processes by what they are."""

_SPEC = """
from kmc.lang import Pair, pair, spawned
from kmc.spec import WEAK, eventually

{declarations}


class Ping(Message{options}):
    n: Int(0, 3)
    {source}: {source_type}
    {dest}: {dest_type}


class State(Record):
    net: {network}
    sent: Int(0, 3)
    came: Int(0, 3)
    turn: Bool
    last: Opt[Ping]


@spec.init
def init():
    yield State(net={empty}, sent=0, came=0, turn=False, last=None)


@spec.action(fair=WEAK)
def send(st):
    "The next message goes out."
    if st.sent == 0:
        yield st.set(sent=1, net=st.net.{send}(Ping(n=0, {source}={a0}, {dest}={b0})))
    if st.sent == 1:
        yield st.set(sent=2, net=st.net.{send}(Ping(n=1, {source}={a1}, {dest}={b1})))
    if st.sent == 2:
        yield st.set(sent=3, net=st.net.{send}(Ping(n=2, {source}={a2}, {dest}={b2})))


@spec.receive(Ping, fair=WEAK)
def arrive(st, m):
    if st.came + 1 < st.sent:
        yield st.set(net=st.net.{take}(m), came=st.came + 1, last=m)


@spec.action
def lose(st):
    for m in st.net.of(Ping):
        if st.sent == 3 and st.came == 1 and m.n == 1{guard}:
            yield st.set(net=st.net.{take}(m), last=m)


@spec.action(fair=WEAK)
def flip(st):
    if st.came == 2 and st.last.n == 0:
        yield st.set(turn=not st.turn)


@spec.invariant
def FewArrive(st):
    "Never does a second message arrive."
    return not (st.came == 2 and st.sent == 3)


@spec.invariant
def NotLost(st):
    "Once one has arrived, two are under way."
    return not (st.sent == 3 and st.came == 1 and st.last.n == 1)


@spec.action_property
def ComesLate(st, nxt):
    return st.came == nxt.came or nxt.came < 2


@spec.liveness
def Loses():
    return eventually(lambda st: st.last is not None and st.last.n == 2)
"""

FAILURES = {
    "invariant": "INVARIANT FewArrive",
    "loss": "INVARIANT NotLost",
    "step": "PROPERTY ComesLate",
    "deadlock": "",
    "lasso": "PROPERTY Loses",
}
"""What fails, and the sections of the model that say so."""

_NETWORKS = {
    "set": {"network": "MessageSet[Ping]", "empty": "set()", "send": "send", "take": "discard", "guard": ""},
    "bag": {
        "network": "MessageBag[Ping]",
        "empty": "{}",
        "send": "add",
        "take": "take",
        "guard": " and st.net.count(m) > 0",
    },
}


def process_model(folder: Path, kind: str, failure: str, network: str = "set") -> Model:
    """A model that fails in one way, with processes of one kind."""
    found = KINDS[kind]
    (a0, b0), (a1, b1), (a2, b2) = found.ends
    source = _SPEC.format(
        declarations=found.declarations, source_type=found.types[0], dest_type=found.types[1],
        a0=a0, b0=b0, a1=a1, b1=b1, a2=a2, b2=b2,
        options="", source="source", dest="dest", **_NETWORKS[network],
    )  # fmt: skip
    deadlock = "" if failure == "deadlock" else "CHECK_DEADLOCK FALSE"
    return model_of(folder, source, f"{found.cfg} {FAILURES[failure]} {deadlock}")


def violation_of(model: Model) -> Violation:
    """What the interpreter finds in a model that fails."""
    violation = Search(model, problem=accepted_problem(model)).run().violation
    assert violation is not None
    return violation
