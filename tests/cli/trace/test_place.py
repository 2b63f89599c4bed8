"""A trace is named by its file, by the folder of its run, or by `last`, each with a step behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands.cli_runner import COUNTER, kmc

from kmc.cli.saved.trace_place import TracePlace, settle_start, trace_place
from kmc.errors import TraceError

NEWEST = "counter-two-20261101-120001-2"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs of which the newest has no trace, in the folder where commands look for them."""
    folder = tmp_path / ".kmc" / "runs"
    for name in ("counter-two-20261101-120001", NEWEST, "counter-aaa-20261101-115959", "zzz"):
        (folder / name).mkdir(parents=True)
        (folder / name / "trace.itf.json").write_text("{}")
    (folder / "counter-smoke-20261102-000000").mkdir()
    monkeypatch.chdir(tmp_path)
    return Path(".kmc/runs")


@pytest.mark.parametrize("step", [None, "11", "x"])
def test_a_file_a_folder_and_last_take_a_step(runs: Path, step: str | None) -> None:
    path = runs / NEWEST / "trace.itf.json"
    behind = "" if step is None else f"#{step}"
    for where in (path, path.parent, "last"):
        assert trace_place(f"{where}{behind}") == TracePlace(path, step)
    assert trace_place(f"last{behind}").where == f"{path}{behind}"


def test_a_file_whose_name_has_a_mark_is_itself(runs: Path) -> None:
    Path("a#1").write_text("{}")
    assert trace_place("a#1") == TracePlace(Path("a#1"))
    assert trace_place("a#1#2") == TracePlace(Path("a#1"), "2")


def test_last_without_a_trace_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError) as refused:
        trace_place("last", str(tmp_path))
    assert refused.value.code == "KMC436"


def test_a_folder_without_a_trace_is_refused(runs: Path) -> None:
    with pytest.raises(TraceError) as refused:
        trace_place(f"{runs}/counter-smoke-20261102-000000#2")
    assert refused.value.code == "KMC437"


def test_a_folder_of_runs_lists_those_with_a_trace_and_takes_the_only_one(runs: Path, tmp_path: Path) -> None:
    for where in (".", ".kmc/runs", str(tmp_path)):
        with pytest.raises(TraceError) as refused:
            trace_place(where)
        assert "has 3 runs with a trace: counter-aaa-20261101-115959, " in refused.value.message
        assert refused.value.help is not None
        assert NEWEST in refused.value.help
    for name in ("counter-two-20261101-120001", NEWEST):
        (runs / name / "trace.itf.json").unlink()
    only = runs / "counter-aaa-20261101-115959" / "trace.itf.json"
    assert trace_place(".kmc/runs#2") == TracePlace(only, "2")
    assert trace_place(".") == TracePlace(only)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("lsat", "last"),
        ("laast#3", "last"),
        ("counter-two-20261101-12001-2", f".kmc/runs/{NEWEST}"),
        ("tarce.itf.json", "trace.itf.json"),
        (".kmc/runs/zzzz", ".kmc/runs/zzz"),
    ],
)
def test_a_name_that_is_nearly_that_of_a_trace_is_refused_with_it(runs: Path, typed: str, meant: str) -> None:
    Path("trace.itf.json").write_text("{}")
    with pytest.raises(TraceError) as refused:
        trace_place(typed)
    assert (refused.value.code, refused.value.help) == ("KMC420", f"did you mean '{meant}'?")


@pytest.mark.parametrize("typed", ["elsewhere.json", ".kmc/last", "lost/lsat"])
def test_a_name_that_is_near_to_none_is_refused_when_it_is_read(runs: Path, typed: str) -> None:
    assert trace_place(typed) == TracePlace(Path(typed))


def test_a_start_is_settled_for_the_commands_that_repeat_it(runs: Path) -> None:
    path = f"{runs}/{NEWEST}/trace.itf.json"
    words = ("check", "last", "--from", "last#2", "--from=last#2")
    assert settle_start("last#2", words) == (
        f"{path}#2",
        ("check", "last", "--from", f"{path}#2", f"--from={path}#2"),
    )
    assert settle_start(f"./{path}#2", words) == (f"./{path}#2", words)
    assert settle_start(None, words) == (None, words)


def test_check_and_simulate_start_at_the_last_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert kmc("check", COUNTER, "two", "--engine", "python").exit_code == 12
    run = next(Path(".kmc/runs").iterdir())
    checked = kmc("check", COUNTER, "two", "--engine", "python", "--from", "last#2", "--no-run-dir")
    assert checked.exit_code == 12
    assert f"--from '{run}/trace.itf.json#2'" in checked.stdout
    words = ("simulate", COUNTER, "two", "--seed", "1", "--from", str(run), "--no-run-dir")
    assert f"--from {run}/trace.itf.json" in kmc(*words).stdout
