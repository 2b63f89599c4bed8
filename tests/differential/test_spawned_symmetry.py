"""Spawned identifiers are permuted as far as they are in use, in both engines, and the next one stays the next one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.oracles.orbits import orbit_faults
from support.oracles.steps import kernels_in_python, kernels_of, level_states
from support.specs.small import model_of

from kmc.compiler.ir import build as x
from kmc.compiler.symmetry.canonical import CanonicalPermutation
from kmc.engine.check_model import check_native
from kmc.errors import KmcError, SpecError
from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.model_files.model_file import Word
from kmc.model_files.raw_values import ModelValue, RawSet
from kmc.reference.search import Search
from kmc.reference.states.identity import StateSet
from kmc.result import Limits

TEAM = """
from kmc.lang import Pair, pairs, spawned

Most = constant("Most", Int(1, 6), "How many workers may ever start")
Host = constant("Host", IdentSet(symmetric=True), "Where they run")
Id = spawned("Id", Most, started="workers")


class Worker(Record):
    host: Host
    chief: Opt[Id]
    busy: Bool


class State(Record):
    workers: PartialMap[Id, Worker]
    linked: Map[Pair[Id], Bool]
    cuts: Int(0, 1)


@spec.init
def init():
    first = Id.at(1)
    yield State(
        workers={Id.at(n): Worker(host=Host.at(n), chief=first, busy=False) for n in {1, 2}},
        linked={p: True for p in pairs(Id)}, cuts=0,
    )


@spec.action
def start(st):
    if len(st.workers) < Most:
        new = Id.fresh(st.workers.keys())
        for h in Host:
            yield st.set(workers=st.workers.add(new, Worker(host=h, chief=None, busy=False)))


@spec.action
def toil(st, i: Id):
    if i in st.workers and not st.workers[i].busy:
        yield st.set(workers=st.workers.set(i, st.workers[i].set(busy=True)))


@spec.action
def follow(st, i: Id, j: Id):
    if i in st.workers and j in st.workers and i != j and st.workers[i].chief is None:
        yield st.set(workers=st.workers.set(i, st.workers[i].set(chief=j)))


@spec.action
def cut(st):
    for p in pairs(Id):
        if st.cuts < 1 and st.linked[p]:
            yield st.set(linked={q: st.linked[q] and q != p for q in pairs(Id)}, cuts=1)


spec.symmetry("workers", Id)
spec.symmetry("both", Id, Host)
"""
"""Workers that start one after another; a link can be cut that belongs to workers that have not started."""


def team(folder: Path, symmetry: str, most: int = 4) -> Model:
    text = f"CONSTANTS Most = {most} Host = {{g, h}} {symmetry} CHECK_DEADLOCK FALSE"
    return model_of(folder, TEAM, text)


@pytest.mark.slow
@pytest.mark.parametrize("symmetry", ["SYMMETRY workers", "SYMMETRY both"])
def test_both_engines_find_the_orbits(tmp_path: Path, symmetry: str) -> None:
    model = team(tmp_path / "four", symmetry)
    limits = Limits(depth=4)
    wanted, found = Search(model, limits).run(), check_native(model, limits)
    assert (found.levels, found.generated_by_action) == (wanted.levels, wanted.generated_by_action)
    assert sum(found.levels) < sum(check_native(replace(model, symmetry=()), limits).levels)
    states = level_states(replace(model, symmetry=()), Limits(depth=3), at_most=60)
    assert list(orbit_faults(kernels_of(model), states))[:2] == []


def test_levels_hold_the_orbits_of_the_levels_without_symmetry(tmp_path: Path) -> None:
    model = team(tmp_path, "SYMMETRY both", most=3)
    assert_levels_are_orbits(model, depth=5)


def assert_levels_are_orbits(model: Model, depth: int) -> None:
    """Each level has one state for every set of permutations of states of that level without symmetry."""
    plain = Search(replace(model, symmetry=()), Limits(depth=depth))
    plain.run()
    permuted = StateSet(model.spec.state_class, model.symmetry, None)
    counts: list[int] = []
    known: set[Any] = set()
    begin = 0
    for size in plain.graph.levels:
        counts.append(0)
        for state in plain.graph.states[begin : begin + size]:
            if state not in known:
                counts[-1] += 1
                known.update(permuted.images(state))
        begin += size
    assert check_native(model, Limits(depth=depth)).levels == tuple(counts)
    assert sum(counts) < sum(plain.graph.levels)


BESIDE_A_LEADER = [
    ("kip_996", "smoke", "symmServers", 4),
    ("kip_996", "reconfiguration", "symmServers", 3),
    ("kip_996", "durability", "symmServersAndValues", 3),
    ("kip_996_draft", "smoke", "symmServers", 3),
    ("kip_996_draft", "reconfiguration", "symmServers", 3),
    ("kip_996_draft", "acked_value_lost", "symmServersAndValues", 3),
]
"""Models that begin with a leader, which tells server 1 from the others; two voters are alike in their values only."""


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "name", "symmetry", "depth"), BESIDE_A_LEADER)
def test_beside_a_fixed_first_leader_servers_are_permuted_with_their_hosts(
    spec: str, name: str, symmetry: str, depth: int
) -> None:
    assert_levels_are_orbits(symmetric(spec, name, symmetry), depth)


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["kip_996", "kip_996_draft"])
def test_hosts_that_no_server_has_yet_are_alike(spec: str) -> None:
    """The first servers stand on the first hosts: of five hosts the last two are left over."""
    hosts = RawSet(tuple(ModelValue(f"h{n}") for n in range(1, 6)))
    assert_levels_are_orbits(symmetric(spec, "reconfiguration", "symmHosts", hosts), depth=3)


def symmetric(spec: str, name: str, symmetry: str, hosts: RawSet | None = None) -> Model:
    """A model of a shipped spec with that symmetry set, and perhaps other hosts."""
    root = find_spec_root(spec)
    file = find_model(root, name)
    assert file is not None
    given = [replace(c, value=hosts) if hosts is not None and c.name == "Hosts" else c for c in file.constants]
    words = (Word(symmetry, file.constants[0].span),)
    return bind(root, replace(file, constants=tuple(given), symmetry=words))


def test_permuting_what_is_not_in_use_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_used(self: Any, code: Any, number: int) -> Any:
        return [x.ONE] * len(self._subject.classes[number].members)

    model = team(tmp_path, "SYMMETRY workers")
    states = level_states(replace(model, symmetry=()), Limits(depth=3), at_most=120)
    monkeypatch.setattr(CanonicalPermutation, "_used_flags", all_used)
    assert any(orbit_faults(kernels_in_python(model), states))


def test_only_the_map_that_started_names_gives_the_next(tmp_path: Path) -> None:
    source = TEAM.replace("Id.fresh(st.workers.keys())", "Id.fresh({Id.at(1)})")
    with pytest.raises(SpecError, match="only initial states may name") as caught:
        model_of(tmp_path, source, "CONSTANTS Most = 3 Host = {h, g}")
    assert caught.value.code == "KMC156"


@pytest.mark.parametrize("field", ["linked", "cuts", "nothing"])
def test_started_names_a_map_of_the_state(tmp_path: Path, field: str) -> None:
    source = TEAM.replace('started="workers"', f'started="{field}"').replace(
        "Id.fresh(st.workers", f"Id.fresh(st.{field}"
    )
    with pytest.raises(KmcError) as caught:
        model_of(tmp_path, source, "CONSTANTS Most = 3 Host = {h, g} SYMMETRY workers")
    assert caught.value.code in ("KMC159", "KMC126")
