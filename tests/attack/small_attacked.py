"""Fixed specs that take seconds in shards, to be killed in the middle: counters that race, and send what they count."""

from __future__ import annotations

from pathlib import Path

SOURCE = """from kmc.lang import IdentSet, Int, Map, Message, MessageSet, Record, constant
from kmc.spec import WEAK, always_eventually, eventually, spec

N = constant("N", Int(1, 60), "The largest count")
Server = constant("Server", IdentSet(), "Who counts")


class Go(Message):
    n: Int(0, 3)
    source: Server
    dest: Server


class State(Record):
    a: Map[Server, Int(0, N)]
    turn: Int(0, 3)
    net: MessageSet[Go, 40]


@spec.init
def init():
    for t in range(0, 2):
        yield State(a={s: 0 for s in Server}, turn=t, net=set())


@spec.action(fair=WEAK)
def up(st, s: Server):
    if st.a[s] < N:
        yield st.set(a=st.a.set(s, st.a[s] + 1), turn=(st.turn + st.a[s]) % 4)


@spec.action
def send(st, s: Server, d: Server):
    if s != d and st.turn == 3 and len(st.net) < 2:
        yield st.set(net=st.net.send(Go(n=st.turn, source=s, dest=d)), turn=0)


@spec.receive(Go, s="dest")
def got(st, m, s):
    yield st.set(net=st.net.discard(m), turn=(st.turn + 1) % 4)


@spec.invariant
def NotTheEnd(st):
    return not (all(st.a[s] >= N - 1 for s in Server) and st.turn == 2 and len(st.net) == 1)


@spec.liveness
def Ends():
    return eventually(lambda st: all(st.a[s] == N for s in Server))


@spec.liveness
def Turns():
    return always_eventually(lambda st: st.turn != 2)
"""

MANIFEST = """[models.ok]
description = "All states"
constants = { N = 6, Server = ["s1", "s2", "s3"] }
deadlock = false

[models.inv]
description = "An invariant that fails at the end"
constants = { N = 6, Server = ["s1", "s2", "s3"] }
invariants = ["NotTheEnd"]
deadlock = false

[models.live]
description = "Temporal properties, one refuted before the end"
constants = { N = 5, Server = ["s1", "s2", "s3"] }
properties = ["Ends", "Turns"]
deadlock = false
"""

MODELS = ("ok", "inv", "live")


def written(folder: Path) -> Path:
    """Write the spec into a folder; the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spec.py").write_text(SOURCE, encoding="utf-8")
    (folder / "models.toml").write_text(MANIFEST, encoding="utf-8")
    return folder
