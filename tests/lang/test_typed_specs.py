"""mypy and specs: what kmc ships and teaches is clean under the settings of docs/typing.md, and mistakes are found.

mypy runs once, over everything. A line of a spec with planted mistakes ends with the codes that mypy must give there.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc
from support.pages.language import RUN, examples, source_of
from support.source_tree import ROOT

DOCS = ROOT / "docs"
REPORTED = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+): error: (?P<text>.*)  \[(?P<code>[\w-]+)\]$", re.MULTILINE)

MISTAKEN = '''
"""Voters, with a mistake in each line that names a code."""

from kmc.lang import Bool, Enum, IdentSet, Int, Map, Message, MessageBag, MessageSet, Opt, Record, Seq, Set, constant
from kmc.lang import Map as Function, count, require, spawned
from kmc.spec import WEAK, and_, eventually, for_all, leads_to, spec, weak_fairness

Server = constant("Server", IdentSet(symmetric=True), "The voters")
Value = constant("Value", IdentSet(), "What clients send")
Longest = constant("Longest", Int(1, 9), "The longest log", "three")  # call-overload
Safe = constant("Safe", Bool, "Whether it is", False)
Id = spawned("Id", 3)
Epoch = Int(0, Longest)
spec.assume(len(Server) > 1)


class Role(Enum):
    FOLLOWER, LEADER = range(2)


class Vote(Message):
    epoch: Epoch
    source: Server
    dest: Server


class Node(Record):
    role: Role
    epoch: Int(0, Longest)
    log: Seq[Value, Longest + 1]
    leader: Opt[Server]
    shared: Opt[Srver]  # name-defined
    both: Function[Server]  # misc


class State(Record):
    nodes: Map[Server, Node]
    leaders: Set[Server]
    votes: MessageSet[Vote]
    kept: MessageBag[Vote, 9, 2]
    ctr: Int(0, 3)
    safe: Bool


@spec.init
def init():
    nothing = []
    node = Node(role=Role.FOLLOWER, epoch=0, log=nothing, leader=None)  # call-arg
    yield State(nodes={s: node for s in Server}, leaders=set(), votes=set(), kept={}, ctr=0, safe=Safe)
    yield State(nodes={s: 1 for s in Server}, leaders=set(), votes=set(), kept={}, ctr=0, safe=True)  # misc
    yield State(nodes={s: node for s in Server}, leaders=[], votes={}, kept=set(), ctr=0, safe=0)  # arg-type


@spec.action
def stand(st, s: Server, v: Value):
    me = st.nodes[s]
    if me.rolle == Role.LEADER:  # attr-defined
        return
    if me.role == Role.LEDER or me.leader == v:  # attr-defined comparison-overlap
        return
    yield st.set(nodes=st.nodes.set(s, me.set(role=Role.LEADER, log=me.log.append(v))))
    yield st.set(node=st.nodes)  # call-arg
    yield st.set(ctr=Role.LEADER)  # arg-type
    yield st.set(nodes=st.nodes.set(v, me))  # arg-type
    yield st.set(nodes=st.nodes.set(s, me.set(log=me.log.append(s))))  # arg-type
    yield st.set(nodes=st.nodes.set(me.leader, me))  # arg-type
    yield st.set(leaders=st.leaders | {v})  # arg-type
    yield st.set(leaders=[s])  # arg-type
    yield st.set(votes=st.votes.send(me))  # arg-type
    yield st.set(votes={Vote(epoch=1, source=s)})  # call-arg
    yield st.set(kept=st.kept.add(Vote(epoch="1", source=s, dest=s)))  # arg-type
    yield me  # misc


@spec.receive(Vote, s="dest")
def handle(st, m, s):
    require(m.epok > 1)  # attr-defined
    require(m.epoch)  # arg-type
    yield st.set(ctr=st.cntr)  # attr-defined
    either: Vote | Node = m
    if m.epoch > 1:
        either = st.nodes[s]
    yield st.set(nodes=st.nodes.set(s, st.nodes[s]), leaders={s}, ctr=either.epoch)
    yield st.set(ctr=s)  # arg-type


@spec.action(fair=WEAK, tittle="Again")  # call-overload untyped-decorator
def again(st):
    yield st


def behind(st, me: Node, peer: Node) -> Bool:
    return me.epoch < peer.epok and st.safe  # attr-defined


def first(log: Seq[Value, 3]):
    return log[Value]  # call-overload


@spec.invariant
def OneLeader(st):
    return len(st.leaders)  # arg-type


@spec.invariant
def Behind(st):
    return all(behind(st, me, s) for s, me in st.nodes.items())  # arg-type


@spec.action_property
def Grows(st, new):
    return count(new.nodes[s].epoch >= st.nodes[s].epooch for s in Server) == 1  # attr-defined


@spec.reachable  # type-var
def leads(st, new):
    return st.ctr > 0


@spec.liveness
def Led():
    return for_all(Server, lambda s: leads_to(lambda st: s in st.leeders, lambda st: s.foo))  # attr-defined


@spec.liveness
def Fair():
    return and_(weak_fairness(stand), eventually(leads), 3)  # arg-type
'''

TYPES = """
from kmc.lang import Int, Record


class State(Record):
    number: Int(0, 3)
"""

ACTIONS = """
from kmc.spec import spec

from .types import State


@spec.init
def init():
    yield State(number=0)


def larger(st):
    return st.number + 1


@spec.action
def count(st):
    if st.number < 3:
        yield st.set(number=larger(st))
"""


def written(folder: Path) -> None:
    """The examples of both pages, new specs and the spec with mistakes, below `folder`."""
    tutorial = re.findall(r"^```python\n(\"\"\".*?)^```$", (DOCS / "writing_a_spec.md").read_text(), re.M | re.S)
    specs = {f"tutorial_{number}": text for number, text in enumerate(tutorial)} | {"mistaken": MISTAKEN}
    assert "tutorial_0" in specs
    specs |= {f"taught/example_{number}": source_of(example) for number, example in enumerate(RUN)}
    for name, text in specs.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "spec.py").write_text(text, encoding="utf-8")
    (folder / "split").mkdir()
    for example in examples():
        if example.file:
            (folder / "taught" / f"{example.file}.py").write_text(example.text, encoding="utf-8")
    (folder / "split" / "types.py").write_text(TYPES, encoding="utf-8")
    (folder / "split" / "actions.py").write_text(ACTIONS, encoding="utf-8")
    for template in ("counter", "messages"):
        assert kmc("new", str(folder / f"new_{template}"), "--template", template).exit_code == 0


def settings() -> str:
    """The settings of mypy that the page gives."""
    block: str
    (block,) = re.findall(r"^```toml\n(\[tool\.mypy\]\n.*?)^```$", (DOCS / "typing.md").read_text(), re.M | re.S)
    assert tomllib.loads(block)["tool"]["mypy"]["strict"]
    return block


Reported = Mapping[str, list[tuple[int, str, str]]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all specs, the shipped ones included: a base of modules is where mypy runs."""
    folder = tmp_path_factory.mktemp("typed")
    written(folder)
    (folder / "pyproject.toml").write_text(settings(), encoding="utf-8")
    (folder / "specs").symlink_to(ROOT / "specs", target_is_directory=True)
    return folder


@pytest.fixture(scope="module")
def reported(folder: Path) -> Reported:
    """What mypy says about each file: line, code and text."""
    return checked(folder, ".")


def checked(folder: Path, *paths: str) -> Reported:
    """What mypy says about the files at these paths."""
    command = [sys.executable, "-m", "mypy", "--no-pretty", "--no-color-output", "--no-error-summary"]
    ran = subprocess.run([*command, *paths], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    found: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for match in REPORTED.finditer(ran.stdout):
        found[match["file"]].append((int(match["line"]), match["code"], match["text"]))
    unread = [line for line in ran.stdout.splitlines() if ": note: " not in line and not REPORTED.match(line)]
    assert unread == []
    return found


@pytest.mark.slow
def test_what_is_shipped_and_taught_is_clean(reported: Reported) -> None:
    assert [file for file in reported if not file.startswith("mistaken")] == []


@pytest.mark.slow
def test_each_mistake_is_found_at_its_line(reported: Reported) -> None:
    lines = enumerate(MISTAKEN.splitlines(), start=1)
    expected = {(number, code) for number, line in lines for code in line.partition("  # ")[2].split()}
    found = {(line, code) for line, code, _ in reported["mistaken/spec.py"]}
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        'Unexpected keyword argument "node" for "set" of "State"; did you mean "nodes"?',
        '"Node" has no attribute "rolle"; maybe "role"?',
        'Argument "ctr" to "set" of "State" has incompatible type "Role"; expected "int"',
        'Missing named argument "dest" for "Vote"',
    ],
)
def test_a_mistake_is_told_in_the_words_of_the_spec(text: str, reported: Reported) -> None:
    assert [found for _, _, found in reported["mistaken/spec.py"] if found == text]


@pytest.mark.slow
def test_a_change_of_one_file_is_seen_in_another(folder: Path, reported: Reported) -> None:
    """mypy has the unchanged file in its cache, and reads it as a spec all the same."""
    assert "split/actions.py" not in reported
    (folder / "split" / "types.py").write_text(TYPES.replace("number", "amount"), encoding="utf-8")
    found = checked(folder, "split")["split/actions.py"]
    assert {line for line, _, _ in found} == {9, 13, 18, 19}
    assert {code for _, code, _ in found} == {"call-arg", "attr-defined"}
