"""Initial states made by a kernel are those of the interpreter, each as often, with the same rows and fingerprints."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.engine import initial_records as made_by
from kmc.engine.check_model import check_native
from kmc.engine.compiled_model import CompiledModel, compile_model
from kmc.engine.initial_records import initial_records
from kmc.engine.layout.frontier import PackedState
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.reference.search import Search
from kmc.reference.states.initial import initial_states
from kmc.result import Limits

MANY = """
Server = constant("Server", IdentSet(symmetric=True), "The servers")


class Role(Enum):
    IDLE, BUSY = range(2)


class Ping(Message):
    epoch: Int(0, 3)
    source: Server
    dest: Server


class Node(Record):
    role: Role
    log: Seq[Int(0, 3), 2]
    known: Set[Server]
    friend: Opt[Server]


class State(Record):
    servers: Map[Server, Node]
    started: PartialMap[Server, Int(0, 3)]
    sent: MessageSet[Ping]
    counted: MessageBag[Ping]
    clock: Int(0, 50)


def started_of(up, e):
    return {s: e for s in up}


@spec.init
def init():
    for twice in range(2):
        for e in range(3):
            for up in subsets(set(Server)):
                for s in Server:
                    log = [e] if s in up else []
                    yield State(
                        servers={
                            d: Node(role=Role.BUSY if d in up else Role.IDLE, log=log if d == s else [], known=up,
                                    friend=s if d != s else None)
                            for d in Server
                        },
                        started=started_of(up, e),
                        sent={Ping(epoch=e, source=s, dest=d) for d in up if d != s},
                        counted={Ping(epoch=e, source=s, dest=d): 1 for d in Server if d != s},
                        clock=len(up) * 3 + e,
                    )


@spec.action
def tick(st):
    if st.clock < 50:
        yield st.set(clock=st.clock + 1)


@spec.invariant
def Early(st):
    return st.clock < BOUND


spec.symmetry("servers", Server)
spec.view("timeless", drop=["clock"])
"""
CFG = "CONSTANT Server = {n1, n2, n3}\nINVARIANT Early\nCHECK_DEADLOCK FALSE\n"


def model(folder: Path, further: str = "", bound: int = 13) -> Model:
    """The model of many initial states."""
    return model_of(folder, MANY.replace("BOUND", str(bound)), CFG + further)


def counted(compiled: CompiledModel, records: list[PackedState]) -> Counter[tuple[object, int]]:
    """How often each state was made, with its fingerprint."""
    return Counter((compiled.state(record.row), record.fingerprint) for record in records)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("further", ["", "SYMMETRY servers\n", "VIEW timeless\n"])
def test_a_kernel_makes_the_initial_states_of_the_interpreter(tmp_path: Path, further: str, bits: int) -> None:
    many = model(tmp_path, further)
    compiled = compile_model(many, bits)
    made = made_by._compiled_records(many, compiled, compiled.record(initial_states(many)[0]))
    assert made is not None, "init compiles"
    expected = [compiled.record(state) for state in initial_states(many)]
    assert counted(compiled, made) == counted(compiled, expected)
    assert len(made) == 144 > len(counted(compiled, made))
    assert counted(compiled, initial_records(many, compiled, few=5)) == counted(compiled, expected)


@pytest.mark.parametrize("few", [1, 2000])
def test_a_search_counts_alike(tmp_path: Path, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made_by.initial_records, "__defaults__", (few,))
    many = model(tmp_path, bound=11)
    native, slow = check_native(many, Limits()), Search(many).run()
    assert (native.initial, native.levels, native.violation) == (slow.initial, slow.levels, slow.violation)
    assert native.violation is not None


FAILS = """
class State(Record):
    n: Int(0, 9)


@spec.init
def init():
    for k in range(LAST):
        yield State(n=k)


@spec.action
def stay(st):
    yield st
"""


def test_an_error_of_a_late_state_is_the_interpreters(tmp_path: Path) -> None:
    failing = model_of(tmp_path, FAILS.replace("LAST", "11"))
    compiled = compile_model(failing)
    with pytest.raises(KmcError, match="10") as native:
        initial_records(failing, compiled, few=2)
    with pytest.raises(KmcError) as slow:
        initial_states(failing)
    assert (native.value.code, native.value.span) == (slow.value.code, slow.value.span)
    assert native.value.span is not None


def test_what_does_not_compile_is_left_to_the_interpreter(tmp_path: Path) -> None:
    source = FAILS.replace("range(LAST)", "(3, 1, len((1,)))")
    odd = model_of(tmp_path, source)
    compiled = compile_model(odd)
    assert made_by._compiled_records(odd, compiled, compiled.record(initial_states(odd)[0])) is None
    records = initial_records(odd, compiled, few=1)
    assert [compiled.state(record.row).n for record in records] == [3, 1, 1]
