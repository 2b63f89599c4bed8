"""The tables of a run hold its states, and the steps between them: those of the interpreter."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.oracles.leaps import edges_of_leaps
from support.oracles.results import CASES
from support.oracles.steps import expected_steps
from support.oracles.table_values import by_text, row_of_state
from support.runs.kept import SMALL, checked, kept, listed, written_by_threads
from support.specs.shipped import shipped_model
from support.specs.small import model_of

from kmc.actions.relation import NextStateRelation
from kmc.errors import CommandLineError, SystemFault
from kmc.frontend.model import Model
from kmc.lang.types import NetworkType
from kmc.result import Limits
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.shards.level.sharding import Sharding
from kmc.tables.new_tables import new_tables
from kmc.tables.parts import parts_of
from kmc.tables.state_tables import StateReader
from kmc.tables.table_tasks import STATES, AttemptFile, PartTask, write_part
from kmc.tables.write_tables import PART_ROWS, Wanted, Written, part_rows

pytestmark = pytest.mark.usefixtures("compiled_once_in_module")

ALL = Wanted(parents=True, edges=True)

CHOSEN = (
    "constraint",
    "an action constraint fails",
    "a state outside of a constraint is generated in two ways",
    "reachable properties reached",
    "depth",
    "both symmetric, going on",
    *(name for name in CASES if "view" in name),
)


def written(
    model: Model, folder: Path, wanted: Wanted = ALL, *, bits: int = 64, rows: int = 5, name: str = "t"
) -> Written:
    """Write the tables of a model whose states are kept in `folder`."""
    with kept(model, folder, bits) as (compiled, states):
        return written_by_threads(compiled.spec, states, folder / name, wanted, threads=2, part_rows=rows)


def rows_of(folder: Path, table: str, name: str = "t") -> list[dict[str, Any]]:
    """The rows of a table, file by file."""
    files = sorted((folder / name / table).glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


def _state(row: dict[str, Any], model: Model) -> dict[str, Any]:
    """The variables of a row of the table of states."""
    fields = model.spec.state_class.fields
    return {name: by_text(row[name]) if isinstance(kind, NetworkType) else row[name] for name, kind in fields.items()}


def _check_states(model: Model, folder: Path, bits: int = 64) -> None:
    """The rows are the states of all levels, in their order."""
    wanted: list[tuple[Any, ...]] = []
    with kept(model, folder, bits) as (compiled, states):
        for level in range(1, len(states.levels) + 1):
            for fingerprint, state in listed(compiled, states, level, 1 << 17):
                wanted.append((level, len(wanted), fingerprint, row_of_state(state, model.spec.state_class)))
        levels = list(states.levels)
    found = [(row["level"], row["id"], row["fingerprint"], _state(row, model)) for row in rows_of(folder, "states")]
    assert found == wanted
    first = [sum(levels[:number]) for number in range(len(levels))]
    told = [(row["level"], row["states"], row["first_id"]) for row in rows_of(folder, "levels")]
    assert told == list(zip(range(1, len(levels) + 1), levels, first, strict=True))


def _key(row: dict[str, Any], name: str) -> tuple[int, ...]:
    return tuple(row[f"{name}{more}"] for more in ("", "_2") if f"{name}{more}" in row)


def _check_parents(folder: Path) -> None:
    """The parent of a state is the first one of the level before that has a step to it."""
    states, edges = rows_of(folder, "states"), rows_of(folder, "edges")
    numbers = {_key(row, "fingerprint"): row["id"] for row in states}
    level = {row["id"]: row["level"] for row in states}
    best: dict[int, int] = {}
    actions: dict[tuple[int, int], set[str]] = {}
    for edge in edges:
        assert numbers[_key(edge, "source_fingerprint")] == edge["source"]
        target = numbers.get(_key(edge, "target_fingerprint"))
        if target is not None and level[target] == level[edge["source"]] + 1:
            best[target] = min(best.get(target, edge["source"]), edge["source"])
            actions.setdefault((edge["source"], target), set()).add(edge["action"])
    parents = rows_of(folder, "parents")
    assert {row["id"]: row["parent"] for row in parents} == best
    assert all(row["action"] in actions[row["parent"], row["id"]] for row in parents)
    assert sorted(best) == [number for number in sorted(level) if level[number] > 1]


@pytest.mark.slow
@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("name", CHOSEN)
def test_the_tables_of_a_small_spec_are_whole(name: str, bits: int, tmp_path: Path) -> None:
    case = CASES[name]
    model = model_of(tmp_path, case.source, case.cfg)
    checked(model, tmp_path, SMALL, bits=bits, limits=case.limits, keep_going=case.keep_going)
    counts = written(model, tmp_path, bits=bits)
    _check_states(model, tmp_path, bits)
    _check_parents(tmp_path)
    assert counts.states == len(rows_of(tmp_path, "states"))
    assert counts.edges == len(rows_of(tmp_path, "edges"))


@pytest.mark.slow
def test_a_shipped_model_has_the_steps_that_the_check_counted(tmp_path: Path) -> None:
    model = shipped_model("kip_996", "shrink_crash")
    result = checked(model, tmp_path, Sharding(2))
    written(model, tmp_path, rows=200)
    edges: Counter[str] = Counter()
    for row in rows_of(tmp_path, "edges"):
        edges[row["action"]] += row["times"]
    assert {title: edges[title] for title in result.generated_by_action} == result.generated_by_action
    _check_states(model, tmp_path)
    _check_parents(tmp_path)


@pytest.mark.slow
def test_the_edges_are_the_steps_of_the_interpreter(tmp_path: Path) -> None:
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, limits=Limits(depth=7))
    written(model, tmp_path)
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    wanted: set[tuple[int, str, int]] = set()
    with kept(model, tmp_path) as (compiled, states):
        for level in range(1, len(states.levels) + 1):
            for fingerprint, state in listed(compiled, states, level, 1 << 17):
                for action, _, target in expected_steps(relation, state) or ():
                    wanted.add((fingerprint, action.title, compiled.record(target).fingerprint))
    edges = rows_of(tmp_path, "edges")
    assert {(edge["source_fingerprint"], edge["action"], edge["target_fingerprint"]) for edge in edges} == wanted


@pytest.mark.parametrize(
    "cfg", ["", "CONSTRAINT Small", "ACTION_CONSTRAINT Slow", "CONSTRAINT Small ACTION_CONSTRAINT Slow"]
)
def test_the_edges_are_the_steps_that_no_constraint_refuses(cfg: str, tmp_path: Path) -> None:
    found, wanted = edges_of_leaps(tmp_path, cfg)
    assert found == wanted


@pytest.mark.slow
def test_a_reader_needs_the_bytes_of_a_compiled_spec_and_no_more(tmp_path: Path) -> None:
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, SMALL, limits=Limits(depth=6))
    written(model, tmp_path, name="here")
    with kept(model, tmp_path) as (compiled, states):
        spec = CompiledSpec.from_bytes(compiled.spec.to_bytes())
        written_by_threads(spec, states, tmp_path / "there", ALL, threads=1, part_rows=100)
    for table in ("states", "levels", "parents", "edges"):
        assert rows_of(tmp_path, table, "here") == rows_of(tmp_path, table, "there")


@pytest.mark.slow
def test_rows_do_not_depend_on_parts_and_threads(tmp_path: Path) -> None:
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, SMALL, limits=Limits(depth=9))
    for name, rows in (("small", 3), ("large", 1 << 20)):
        written(model, tmp_path, rows=rows, name=name)
    assert len(list((tmp_path / "small" / "states").iterdir())) > 5
    assert len(list((tmp_path / "large" / "states").iterdir())) == 1
    for table in ("states", "levels", "parents", "edges"):
        assert rows_of(tmp_path, table, "small") == rows_of(tmp_path, table, "large")


@pytest.mark.slow
def test_a_file_of_several_groups_has_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kmc.tables.state_tables.GROUP_ROWS", 4)
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, SMALL, limits=Limits(depth=6))
    written(model, tmp_path, rows=1 << 20)
    _check_states(model, tmp_path)


def test_only_the_chosen_columns_are_written(tmp_path: Path) -> None:
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, limits=Limits(depth=3))
    written(model, tmp_path, Wanted(columns=("acked", "servers")))
    assert list(rows_of(tmp_path, "states")[0]) == ["level", "id", "fingerprint", "servers", "acked"]
    assert not (tmp_path / "t" / "edges").exists()


def test_a_column_that_does_not_exist_is_named(tmp_path: Path) -> None:
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, limits=Limits(depth=3))
    with pytest.raises(CommandLineError, match="no column 'server'") as caught:
        written(model, tmp_path, Wanted(columns=("server",)))
    assert (caught.value.code, caught.value.help) == ("KMC631", "did you mean 'servers'?")
    assert not (tmp_path / "t").exists()


def test_tables_that_are_there_are_not_overwritten(tmp_path: Path) -> None:
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, limits=Limits(depth=3))
    written(model, tmp_path)
    before = rows_of(tmp_path, "states")
    with pytest.raises(CommandLineError) as caught:
        written(model, tmp_path)
    assert caught.value.code == "KMC630"
    assert rows_of(tmp_path, "states") == before


def test_a_damaged_file_of_a_run_is_an_error_and_no_table(tmp_path: Path) -> None:
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, limits=Limits(depth=5))
    file = sorted((tmp_path / "checkpoint").glob("rows-4-*"))[0]
    data = bytearray(file.read_bytes())
    data[8] ^= 1
    file.write_bytes(data)
    with pytest.raises(SystemFault) as caught:
        written(model, tmp_path)
    assert caught.value.code == "KMC551"
    assert not (tmp_path / "t").exists()


def test_tables_that_cannot_be_written_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, limits=Limits(depth=3))
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr("kmc.tables.table_tasks.write_states", full)
    with pytest.raises(SystemFault, match="No space left") as caught:
        written(model, tmp_path)
    assert caught.value.code == "KMC503"
    assert sorted(tmp_path.iterdir()) == before


def test_an_attempt_that_comes_late_changes_no_table(tmp_path: Path) -> None:
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, limits=Limits(depth=3))
    with kept(model, tmp_path) as (compiled, states):
        reader = StateReader(compiled.spec, states.store, states.state.shards)
        (part,) = parts_of(states, 100)
        with new_tables(tmp_path / "t") as new:
            task = PartTask(STATES, part, str(new.attempts))
            lost = write_part(reader, task)
            assert new.take(STATES, [write_part(reader, task)]) == lost.rows
            assert (new.attempts / lost.name).is_file()
            assert not (tmp_path / "t").exists()
        with pytest.raises(FileNotFoundError):
            write_part(reader, task)
    assert len(rows_of(tmp_path, "states")) == lost.rows
    assert [path.name for path in (tmp_path / "t" / "states").iterdir()] == ["part-00000.parquet"]
    assert not list(tmp_path.glob(".*"))


def test_a_file_that_is_not_whole_does_not_get_into_a_table(tmp_path: Path) -> None:
    with pytest.raises(SystemFault, match="has 3 bytes, and 4 were written") as caught:
        _take_one_of_three_bytes(tmp_path / "t", 4)
    assert caught.value.code == "KMC503"
    assert not list(tmp_path.iterdir())
    _take_one_of_three_bytes(tmp_path / "t", 3)


def _take_one_of_three_bytes(out: Path, told: int) -> None:
    with new_tables(out) as new:
        (new.attempts / "states-0-a").write_bytes(b"abc")
        new.take(STATES, [AttemptFile(0, "states-0-a", told, 1)])


@pytest.mark.parametrize(("states", "slots", "rows"), [(10, 2, 1 << 14), (800_000, 2, 100_000), (10**9, 2, PART_ROWS)])
def test_parts_are_smaller_where_there_would_be_too_few(states: int, slots: int, rows: int) -> None:
    assert part_rows(states, slots) == rows


def test_a_variable_called_like_a_column_of_every_table_is_kept_apart(tmp_path: Path) -> None:
    source = """
class State(Record):
    level: Int(0, 2)

@spec.init
def init():
    yield State(level=0)

@spec.action
def up(st):
    if st.level < 2:
        yield st.set(level=st.level + 1)
"""
    model = model_of(tmp_path, source, "CHECK_DEADLOCK FALSE")
    checked(model, tmp_path)
    written(model, tmp_path)
    assert [(row["level"], row["level_"]) for row in rows_of(tmp_path, "states")] == [(1, 0), (2, 1), (3, 2)]
