"""`kmc runs`: the list of saved runs, and which of them `--prune` removes."""

from __future__ import annotations

import fcntl
import io
import json
import os
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from support.commands.cli_runner import COUNTER, kmc
from support.faults.full_memory import LIMIT, use_up_memory

from kmc.amounts import age_in_words, size_in_words
from kmc.cli.saved.pruning import Selection
from kmc.cli.saved.saved_runs import SavedRun
from kmc.engine.files.durable_folder import DurableFolder

RUNS = Path(".kmc/runs")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_runs_lists_the_oldest_first() -> None:
    for stamp in ("20261120-120001", "20261119-120000", "20261120-120000-2", "20261120-120000"):
        Path(f"saved/s-{stamp}").mkdir(parents=True)
    shown = [line.split()[-1] for line in kmc("runs", "--run-dir", "saved").stdout.splitlines()[1:]]
    assert shown == [
        "saved/s-20261119-120000",
        "saved/s-20261120-120000",
        "saved/s-20261120-120000-2",
        "saved/s-20261120-120001",
    ]


def test_runs_shows_result_and_counts() -> None:
    kmc("check", COUNTER, "two")
    row = kmc("runs").stdout.splitlines()[1].split()
    row = kmc("runs").stdout.splitlines()[1].split()
    assert row[4:9] == ["violation", "BelowTwo", "3", "3", "3"]


@pytest.mark.parametrize("text", ["", "[1]", '{"result": '])
def test_runs_lists_a_run_that_did_not_end(text: str) -> None:
    folder = Path(".kmc/runs/s-20261119-120000")
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(text, encoding="utf-8")
    assert "did not end" in kmc("runs").stdout


def test_runs_passes_over_what_is_not_a_run() -> None:
    Path(".kmc/runs/notes").mkdir(parents=True)
    assert json.loads(kmc("runs", "--json").stdout) == {"runs": []}


def test_runs_gives_results_as_json() -> None:
    kmc("check", COUNTER, "two")
    (run,) = json.loads(kmc("runs", "--json").stdout)["runs"]
    assert run["result"]["invariant"] == "BelowTwo"


@pytest.mark.parametrize(
    ("seconds", "text"), [(-5, "0 s"), (59, "59 s"), (60, "1 min"), (7200, "2 h"), (86400 * 12.5, "12 d")]
)
def test_ages_have_one_unit(seconds: float, text: str) -> None:
    assert age_in_words(seconds) == text


@pytest.mark.parametrize(("size", "text"), [(0, "0 KB"), (1, "1 KB"), (5 * 1024**2, "5 MB"), (3 * 1024**3, "3.0 GB")])
def test_sizes_of_files_are_never_none(size: int, text: str) -> None:
    assert size_in_words(size) == text


def test_a_run_has_an_age_and_its_size_on_the_disk() -> None:
    folder = RUNS / f"s-{datetime.now() - timedelta(hours=30):%Y%m%d-%H%M%S}"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file").write_bytes(bytes(100_000))
    header, row = kmc("runs").stdout.splitlines()
    assert header.split() == ["began", "age", "result", "property", "generated", "distinct", "depth", "size", "folder"]
    assert "  1 d  " in row
    (run,) = json.loads(kmc("runs", "--json").stdout)["runs"]
    assert 100_000 <= run["size_bytes"] <= 120_000
    assert size_in_words(run["size_bytes"]) in row


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (50, ["age", "size", "folder"]),
        (80, ["age", "result", "distinct", "depth", "size", "folder"]),
        (110, ["began", "age", "result", "property", "distinct", "depth", "size", "folder"]),
    ],
)
def test_a_terminal_gets_the_columns_that_it_has_room_for(
    width: int, columns: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kmc("check", COUNTER, "two")
    console = Console(file=io.StringIO(), force_terminal=True, width=width)
    monkeypatch.setattr("kmc.cli.commands.runs.stdout", lambda: console)
    header, row = kmc("runs").stdout.splitlines()
    assert header.split() == columns
    assert max(len(header), len(row)) <= width


def runs_of(*days: int, **changes: Any) -> list[SavedRun]:
    """Runs that began so many days ago, the oldest first, with a result."""
    kept: dict[str, Any] = {"result": {}, "levels": None, "is_running": False, **changes}
    return [SavedRun(str(day), NOW - timedelta(days=day), 1, **kept) for day in sorted(days, reverse=True)]


NOW = datetime(2026, 11, 23, 12)
DAY = 86400.0


@pytest.mark.parametrize(
    ("selection", "removed"),
    [
        (Selection(older_than=2 * DAY), ["9", "3", "2"]),
        (Selection(keep=1), ["9", "3", "2"]),
        (Selection(keep=0), ["9", "3", "2", "1"]),
        (Selection(keep=9), []),
        (Selection(older_than=3 * DAY, keep=3), ["9"]),
        (Selection(finished=True, older_than=2.5 * DAY), ["9", "3"]),
    ],
)
def test_a_run_goes_if_all_options_allow_it(selection: Selection, removed: list[str]) -> None:
    assert [run.path for run in selection.of(runs_of(1, 2, 3, 9), NOW)] == removed


def test_what_runs_never_goes_and_what_can_be_resumed_is_not_finished() -> None:
    assert Selection(keep=0).of(runs_of(5, is_running=True), NOW) == []
    assert Selection(finished=True).of(runs_of(5, levels=3), NOW) == []
    assert Selection(finished=True).of(runs_of(5, result=None), NOW) == []
    assert len(Selection(keep=0).of(runs_of(5, levels=3), NOW)) == 1


def three_runs() -> list[Path]:
    """The folders of a run that failed, one that can be resumed, and one that holds."""
    kmc("check", COUNTER, "two", "--quiet")
    kmc("check", "die_hard", "--max-depth", "3", "--quiet")
    kmc("check", "die_hard", "--quiet")
    return sorted(RUNS.iterdir(), key=lambda path: path.stat().st_mtime_ns)


def test_a_dry_run_lists_and_removes_nothing() -> None:
    folders = three_runs()
    ran = kmc("runs", "--prune", "--finished", "--dry-run")
    assert ran.exit_code == 0
    assert "Would remove 2 runs of 3, " in ran.stdout
    assert sorted(RUNS.iterdir()) == sorted(folders)


def test_finished_runs_go_and_the_one_that_can_be_resumed_stays() -> None:
    three_runs()
    ran = kmc("runs", "--prune", "--finished", "--yes", "--json")
    found = json.loads(ran.stdout)
    (left,) = RUNS.iterdir()
    assert (len(found["removed"]), found["kept"], found["dry_run"]) == (2, [], False)
    assert found["freed_bytes"] > 0
    assert kmc("check", "--resume", str(left), "--max-depth", "20").exit_code == 0


def test_all_of_a_run_that_can_be_resumed_goes() -> None:
    three_runs()
    ran = kmc("runs", "--prune", "--keep", "0", "--yes")
    assert (ran.exit_code, list(RUNS.iterdir())) == (0, [])
    assert "Removed 3 runs of 3, " in ran.stdout


def test_kept_states_go_too() -> None:
    kmc("check", "die_hard", "--max-depth", "3", "--quiet")
    (folder,) = RUNS.iterdir()
    # As --keep-states leaves them.
    (folder / "checkpoint").rename(folder / "states")
    assert kmc("runs", "--prune", "--keep", "0", "--yes").exit_code == 0
    assert list(RUNS.iterdir()) == []


def test_a_damaged_run_goes() -> None:
    kmc("check", "die_hard", "--max-depth", "3", "--quiet")
    (folder,) = RUNS.iterdir()
    (folder / "checkpoint" / "run.json").write_text("{")
    assert kmc("runs", "--prune", "--keep", "0", "--yes").exit_code == 0
    assert not folder.exists()


def test_files_of_others_stay() -> None:
    kmc("check", COUNTER, "two", "--quiet")
    (folder,) = RUNS.iterdir()
    (folder / "notes.txt").write_text("mine")
    ran = kmc("runs", "--prune", "--keep", "0", "--yes")
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    assert f"{folder} stays, since not all in it is kmc check's: notes.txt" in ran.stdout
    assert "Removed 0 runs of 1" in ran.stdout


@pytest.mark.parametrize("of", ["run", "checkpoint"])
def test_a_run_that_a_process_works_on_stays(of: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kmc("check", "die_hard", "--max-depth", "3", "--quiet")
    (folder,) = RUNS.iterdir()
    files = sorted(folder.rglob("*"))
    place = folder if of == "run" else folder / "checkpoint" / "lock"
    descriptor = os.open(place, os.O_RDONLY)
    # As a check holds them.
    fcntl.flock(descriptor, fcntl.LOCK_SH if of == "run" else fcntl.LOCK_EX)
    assert "running" in kmc("runs").stdout
    assert "Removed 0 runs of 1" in kmc("runs", "--prune", "--keep", "0", "--yes").stdout
    # It began between the list and the removal.
    monkeypatch.setattr("kmc.cli.saved.pruning.Selection.of", lambda _, runs, now: list(runs))
    assert f"Kept: {folder}: a process works on it." in kmc("runs", "--prune", "--keep", "0", "--yes").stdout
    assert sorted(folder.rglob("*")) == files
    os.close(descriptor)


def test_a_check_holds_its_folder_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    def looked(*_: object) -> None:
        (folder,) = RUNS.iterdir()
        with DurableFolder(folder) as held:
            seen.append(held.hold(alone=True))

    monkeypatch.setattr("kmc.cli.commands.check._show", looked)
    for engine in ("python", "native"):
        kmc("check", "die_hard", "--engine", engine)
        (folder,) = RUNS.iterdir()
        with DurableFolder(folder) as free:
            assert free.hold(alone=True)
        shutil.rmtree(folder)
    assert seen == [False, False]


def test_a_link_to_a_run_is_not_followed() -> None:
    kmc("check", COUNTER, "two", "--quiet")
    (folder,) = RUNS.iterdir()
    elsewhere = Path("elsewhere")
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere.resolve())
    ran = kmc("runs", "--prune", "--keep", "0", "--yes")
    assert (ran.exit_code, "KMC556" in ran.stderr) == (153, True)
    assert (elsewhere / "result.json").exists()


def test_no_terminal_to_ask_on_is_an_error() -> None:
    kmc("check", COUNTER, "two", "--quiet")
    ran = kmc("runs", "--prune", "--keep", "0")
    assert (ran.exit_code, "KMC628" in ran.stderr, len(list(RUNS.iterdir()))) == (2, True, 1)
    assert "Removed 0 runs of 1" in kmc("runs", "--prune", "--keep", "1").stdout


@pytest.mark.parametrize(("answer", "left"), [(True, 0), (False, 1)])
def test_a_person_is_asked(answer: bool, left: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kmc("check", COUNTER, "two", "--quiet")
    asked: list[str] = []
    monkeypatch.setattr("kmc.cli.commands.runs._can_answer", lambda: True)

    def confirm(text: str, **_: Any) -> bool:
        asked.append(text)
        return answer

    monkeypatch.setattr("click.confirm", confirm)
    assert kmc("runs", "--prune", "--keep", "0").exit_code == 0
    assert len(list(RUNS.iterdir())) == left
    assert asked[0].startswith("Remove 1 run, ")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--prune",), "say which runs"),
        (("--keep", "3"), "belong to --prune"),
        (("--dry-run",), "belong to --prune"),
        (("file:///tmp", "--prune", "--keep", "0"), "remove those of a storage with its own tools"),
    ],
)
def test_options_that_say_too_little_are_refused(words: tuple[str, ...], text: str) -> None:
    ran = kmc("runs", *words)
    assert (ran.exit_code, text in ran.stderr) == (2, True)


def test_a_run_that_memory_stopped_is_listed_with_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    use_up_memory(monkeypatch)
    kmc("check", "die_hard", "--memory", LIMIT, "--quiet")
    (folder,) = RUNS.iterdir()
    assert f"  kmc check --resume {folder} --memory " in kmc("runs").stdout


@pytest.mark.slow
def test_a_run_is_listed_with_the_limits_that_did_not_end_it() -> None:
    kmc("check", "kraft", "smoke", "--quiet", "--max-states", "2000", "--max-depth", "40", "--memory", "2G")
    assert kmc("runs").stdout.splitlines()[-1].endswith(" --max-depth 40 --memory 2G")
    shutil.rmtree(RUNS)
    kmc("check", "kraft", "smoke", "--quiet", "--max-depth", "3", "--max-states", "9000")
    assert kmc("runs").stdout.splitlines()[-1].endswith(" --max-depth 4 --max-states 9000")


def test_a_run_in_a_storage_goes_with_its_copies_and_its_files_in_the_storage_are_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    address = f"file://{tmp_path}/store"
    Path("store").mkdir()
    kmc("check", "die_hard", "--shards", "2", "--threads", "1", "--max-depth", "3", "--storage", address, "--quiet")
    (folder,) = RUNS.iterdir()
    assert list((folder / "cache").iterdir())
    (folder / "cache" / ".part-rows-1-0").touch()
    there = f"{address}/{folder.name}"
    ran = kmc("runs", "--prune", "--keep", "0", "--yes")
    assert ran.stdout.splitlines()[0] == f"Its files in {there} stay; remove them with the tools of that storage."
    assert ran.stdout.splitlines()[1].startswith("Removed 1 run of 1, ")
    assert list(RUNS.iterdir()) == []
    assert f"kmc check --resume {there}" in kmc("runs", address).stdout
