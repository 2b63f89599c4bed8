"""A premise that no state satisfies is reported with symmetry, a view, an abstraction, and in shards, as without."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from support.specs.small import model_of

from kmc.checking.check import check
from kmc.checking.model_choice import ChosenModel
from kmc.checking.request import CheckRequest, Engine
from kmc.checking.search_place import InShards
from kmc.checking.surroundings import Surroundings
from kmc.engine.files.run_directory import RunDirectory
from kmc.frontend.model import Model
from kmc.reference import open_premises
from kmc.result import Result

ROLES = """
Server = constant("Server", IdentSet(symmetric=True), "The voters")
spec.symmetry("Sym", Server)
spec.view("Known", drop=["ticks"])


class Role(Enum):
    FOLLOWER, LEADER, RETIRED = range(3)


class State(Record):
    roles: Map[Server, Role]
    ticks: Int(0, 1)


@spec.init
def init():
    yield State(roles={s: Role.FOLLOWER for s in Server}, ticks=0)


@spec.action
def lead(st, s: Server):
    if all(role == Role.FOLLOWER for role in st.roles.values()):
        yield st.set(roles=st.roles.set(s, Role.LEADER), ticks=1 - st.ticks)


@spec.action
def fall(st, s: Server):
    if st.roles[s] == Role.LEADER:
        yield st.set(roles=st.roles.set(s, Role.FOLLOWER), ticks=1 - st.ticks)


@spec.abstraction
def Unticked(st):
    \"\"\"Nothing reads the ticks.\"\"\"
    return st.set(ticks=0)


@spec.invariant
def LeadersAreAlone(st):
    return all(st.roles[t] != Role.LEADER for s in Server if st.roles[s] == Role.LEADER for t in Server if t != s)


@spec.invariant
def RetiredAreAlone(st):
    return all(st.roles[t] != Role.LEADER for s in Server if st.roles[s] == Role.RETIRED for t in Server)
"""
CFG = "CONSTANT Server = {a, b, c}\nINVARIANT LeadersAreAlone RetiredAreAlone\nCHECK_DEADLOCK FALSE\n"
ABSTRACTED = "an abstraction"
REDUCTIONS = {
    "nothing": "",
    "symmetry": "SYMMETRY Sym\n",
    "a view": "VIEW Known\n",
    "symmetry and a view": "SYMMETRY Sym\nVIEW Known\n",
    ABSTRACTED: "",
}
COMPILED = ("symmetry", "a view", ABSTRACTED)
"""The reductions that are tried in compiled code, too."""


def reduced(folder: Path, reduction: str) -> Model:
    """The model of three servers with a reduction."""
    model = model_of(folder, ROLES, CFG + REDUCTIONS[reduction])
    chosen = model.spec.properties["Unticked"]
    return replace(model, abstractions=(chosen,)) if reduction == ABSTRACTED else model  # type: ignore[arg-type]  # it is one


def in_memory(engine: Engine) -> Callable[[Model], Result]:
    """A check on an engine."""
    return lambda model: check(CheckRequest(ChosenModel(model, None), engine=engine, threads=1)).result


def in_shards(model: Model) -> Result:
    """A check of a search in shards."""
    with TemporaryDirectory() as folder:
        directory = RunDirectory.created(Path(folder), {})
        around = Surroundings(lambda: directory)
        return check(CheckRequest(ChosenModel(model, None), place=InShards(2), threads=1), around).result


@pytest.mark.parametrize(
    ("reduction", "search"),
    [
        *((reduction, in_memory(Engine.PYTHON)) for reduction in REDUCTIONS),
        *((reduction, in_memory(Engine.NATIVE)) for reduction in COMPILED),
        ("symmetry", in_shards),
    ],
)
def test_the_premise_that_no_state_satisfies_is_reported(
    reduction: str, search: Callable[[Model], Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_premises, "STEPS_MAX", 0)
    result = search(reduced(tmp_path, reduction))
    assert result.violation is None
    assert [vacuity.name for vacuity in result.vacuous] == ["RetiredAreAlone"]
