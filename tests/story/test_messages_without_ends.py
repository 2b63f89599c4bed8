"""Messages without sender or receiver, and networks of plain records: every view shows them, none invents an end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc
from support.specs.small import IMPORTS

ALARM = """
Server = constant("Server", IdentSet(), "The servers")


class Alarm(Message):
    n: Int(0, 3)
    source: Opt[Server]
    dest: Opt[Server]


class Note(Record):
    n: Int(0, 3)


class Hearing(Record):
    heard: Bool


class State(Record):
    alarms: MessageSet[Alarm]
    notes: MessageSet[Note]
    servers: Map[Server, Hearing]


@spec.init
def init():
    yield State(alarms=set(), notes=set(), servers={s: Hearing(heard=False) for s in Server})


@spec.action
def ring(st):
    yield st.set(alarms=st.alarms.send(Alarm(n=2, source=None, dest=DEST)))


@spec.receive(Alarm)
def hear(st, m):
    for s in Server:
        servers = st.servers.set(s, Hearing(heard=True))
        yield st.set(alarms=st.alarms.discard(m), notes=st.notes.send(Note(n=m.n)), servers=servers)


@spec.invariant
def Silence(st):
    return not any(note.n == 2 for note in st.notes)
"""


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> str:
    """The trace file of a check in which an alarm is heard; the parameter is who it is for."""
    folder = tmp_path_factory.mktemp("alarms")
    spec = folder / "spec.py"
    spec.write_text(IMPORTS + ALARM.replace("DEST", request.param), encoding="utf-8")
    words = ("--set", "Server={a,b}", "--engine", "python", "--run-dir", str(folder / "runs"))
    ran = kmc("check", str(spec), *words)
    assert ran.exit_code == 12, ran.output
    (path,) = folder.glob("runs/*/trace.itf.json")
    return str(path)


@pytest.mark.parametrize("checked", ["None"], indirect=True)
@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ((), ["2  Ring: sends Alarm", "3  Hear, n 2: "]),
        (("--chart",), ["m1 Alarm: n 2"]),
        (("--full",), ["m1 Alarm: n 2", "notes  {{n: 2}}"]),
        (("--table",), []),
        (("--format", "mermaid"), []),
        (("--format", "shiviz"), []),
        (("--format", "dot"), []),
    ],
)
def test_a_message_without_ends_is_told_without_them(checked: str, options: tuple[str, ...], lines: list[str]) -> None:
    ran = kmc("trace", checked, *options)
    assert ran.exit_code == 0, ran.output
    assert "None" not in ran.stdout
    assert [line for line in lines if line not in ran.stdout] == []


@pytest.mark.parametrize("checked", ["Server.at(1)"], indirect=True)
def test_a_message_without_a_sender_has_a_receiver(checked: str) -> None:
    assert "3  Hear ? -> a, n 2" in kmc("trace", checked).stdout
    assert "m1 Alarm ? -> a: n 2" in kmc("trace", checked, "--chart").stdout


@pytest.mark.parametrize("checked", ["None"], indirect=True)
def test_a_trace_without_its_spec_has_no_ends_either(checked: str, tmp_path: Path) -> None:
    text = json.loads(Path(checked).read_text(encoding="utf-8"))
    text["#meta"].pop("spec", None)
    foreign = tmp_path / "foreign.itf.json"
    foreign.write_text(json.dumps(text), encoding="utf-8")
    told = kmc("trace", str(foreign), "--chart").stdout
    assert "Alarm" in told
    assert "none -> none" not in told
