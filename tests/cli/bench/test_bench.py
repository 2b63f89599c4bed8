"""`kmc bench` from end to end on a tiny model, TLC replaced by a script, and what it says of wrong words."""

from __future__ import annotations

import json
import os
import stat
import sys
from math import isclose, log
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import COUNTER, kmc
from support.commands.fake_java import fake_java

from kmc.bench import measured_runs
from kmc.bench.declared import benchmarks_of, find_benchmarks
from kmc.bench.figures import figures, scaling
from kmc.bench.job import average_bytes_per_state
from kmc.bench.measured_runs import memory_needed, states_that_fit
from kmc.bench.tlc import declared_constants, read_counts, tlc_model
from kmc.errors import ExitStatus, SystemFault
from kmc.frontend.binding import bind
from kmc.frontend.shipped import shipped_specs
from kmc.model_files.model_file import render_cfg

# A measured run in fresh processes stands behind most of these tests.
pytestmark = pytest.mark.slow

FINISHED = """Model checking completed. No error has been found.
23,167 states generated, 10,468 distinct states found, 0 states left on queue."""
STOPPED = "2,000 states generated, 1,000 distinct states found, 30 states left on queue."
TOLD_TO_STOP = f"Model checking completed. No error has been found.\n{STOPPED}"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The file that a small benchmark writes."""
    out = tmp_path_factory.mktemp("out")
    words = ["two_phase_commit", "four", "--states", "300", "--runs", "2", "--threads", "1,2", "--python"]
    ran = kmc("bench", *words, "--out", str(out), "--json")
    assert ran.exit_code == ExitStatus.OK, ran.output
    (path,) = out.iterdir()
    assert path.name == "two_phase_commit-four.json"
    written: dict[str, Any] = json.loads(path.read_text())
    (printed,) = json.loads(ran.stdout)["benchmarks"]
    assert printed == {**written, "path": str(path)}
    return written


@pytest.mark.slow
def test_a_file_tells_machine_commit_command_and_load(measured: dict[str, Any]) -> None:
    assert measured["command"][:4] == ["kmc", "bench", "two_phase_commit", "four"]
    assert {"cpu", "cores", "memory_bytes", "system", "python", "llvmlite"} <= set(measured["machine"])
    assert {"date", "commit", "load_before", "load_after", "digest", "states_asked"} <= set(measured)


@pytest.mark.slow
def test_a_file_has_every_run_with_its_load(measured: dict[str, Any]) -> None:
    kinds = [(run["engine"], run["threads"]) for run in measured["runs"]]
    assert kinds == [("native", 1), ("native", 2), ("native", 1), ("native", 2), ("python", 1)]
    assert all({"load_before", "load_after", "user_seconds", "system_seconds"} <= set(run) for run in measured["runs"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "published"),
    [
        ("/home/someone/tla2tools.jar", "tla2tools.jar"),
        ("/a/tla2tools.jar:/b/lib/mail.jar", "tla2tools.jar:mail.jar"),
        ("modules/kraft", "modules/kraft"),
        ("--runs", "--runs"),
    ],
)
def test_a_published_command_names_no_folder_of_this_machine(word: str, published: str) -> None:
    assert measured_runs.without_folders(word) == published


def test_a_run_names_no_place_of_this_machine(measured: dict[str, Any]) -> None:
    assert [value for run in measured["runs"] for value in run.values() if os.sep in str(value)] == []


@pytest.mark.slow
def test_a_run_ends_with_the_first_level_beyond_the_states_asked_for(measured: dict[str, Any]) -> None:
    for run in measured["runs"]:
        assert sum(run["levels"]) == run["distinct"] >= 300 > sum(run["levels"][:-1])
        assert run["stopped"] == "states"


@pytest.mark.slow
def test_figures_are_of_the_run_with_least_cpu_time(measured: dict[str, Any]) -> None:
    found = measured["figures"]["2"]
    cpu = [run["cpu_seconds"] for run in measured["runs"] if run["threads"] == 2]
    assert (found["cpu_seconds"], found["cpu_seconds_most"], found["runs"]) == (min(cpu), max(cpu), 2)
    assert isclose(found["cpu_ns_per_generated"], min(cpu) / found["generated"] * 1e9)
    assert found["peak_memory_bytes_per_distinct"] > found["frontier_row_bytes"] > 8


@pytest.mark.slow
def test_a_cold_start_compiles_kernels_and_loops(measured: dict[str, Any]) -> None:
    starts = measured["starts"]
    assert starts["cold_files_compiled"] == 2
    assert starts["cold_seconds"] == min(starts["cold_seconds_all"])
    assert starts["cached_seconds"] == min(starts["cached_seconds_all"])


def test_the_table_has_a_line_for_each_number_of_threads(tmp_path: Path) -> None:
    ran = kmc("bench", COUNTER, "smoke", "--states", "2", "--runs", "1", "--no-starts", "--out", str(tmp_path))
    lines = ran.stdout.splitlines()
    assert ran.exit_code == ExitStatus.OK, ran.output
    assert [line.split("  ")[1] for line in lines if " thread" in line and "times one" not in line] == [
        "1 thread",
        "2 threads",
    ]
    assert lines[1].endswith(", unoptimised kernels")
    assert lines[-2] == f"  Saved: {tmp_path}/counter-smoke.json"


def run_of(**changes: Any) -> dict[str, Any]:
    """A run as figures read it."""
    base = {"generated": 40, "distinct": 10, "levels": [1, 9], "stopped": "states", "seconds": 2.0, "cpu_seconds": 3.0}
    memory = {"peak_memory_bytes": 500, "table_bytes": 160, "rows_bytes": 600}
    grown = {
        "growths": [(4, 64), (8, 160)],
        "table_bytes_per_state_average": 12.0,
        "load_before": 1.0,
        "load_after": 2.0,
    }
    return {**base, **memory, **grown, **changes}


def test_bytes_per_state_are_told_on_average_and_after_growth() -> None:
    found = figures([run_of()])
    assert found["table_bytes_per_state_average"] == 12
    assert found["table_bytes_per_state_after_growth"] == 160 / 8
    assert found["table_bytes_per_state_at_end"] == 16
    assert found["frontier_row_bytes"] == 60


def test_a_table_is_averaged_over_the_states_as_they_came() -> None:
    mean = sum(64 / n for n in range(40_000, 80_000)) + sum(160 / n for n in range(80_000, 100_000))
    found = average_bytes_per_state([(40_000, 64), (80_000, 160)], 100_000, 160)
    assert isclose(found, mean / 60_000, rel_tol=1e-4)
    assert isclose(found, (64 * log(2) + 160 * log(1.25)) / 60_000)


def test_scaling_is_by_the_fastest_run_of_each() -> None:
    one, two = figures([run_of(seconds=4.0), run_of(seconds=3.0)]), figures([run_of(seconds=2.0)])
    assert scaling({"1": one, "2": two}) == {"2": 1.5}
    assert scaling({"2": two}) == {}


def tlc_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str) -> list[str]:
    """A `java` that prints this, a jar and a module; the words that name them."""
    words = fake_java(tmp_path, monkeypatch, output, "KRaft")
    (tmp_path / "KRaft.tla").write_text("CONSTANTS Server, \\* who\n  Value\nCONSTANT (* no, Foo *) Leader\n")
    return [*words, "--spec-dir", str(tmp_path)]


def bench_with_tlc(tmp_path: Path, words: list[str], states: int) -> Any:
    """The one result of a benchmark with TLC beside it."""
    own = ["--states", str(states), "--runs", "1", "--threads", "1", "--no-starts", "--out", str(tmp_path), "--json"]
    ran = kmc("bench", "kraft", *words, *own)
    assert ran.exit_code == ExitStatus.OK, ran.output
    return json.loads(ran.stdout)["benchmarks"][0]


@pytest.mark.parametrize(
    ("output", "states", "agree"), [(FINISHED, 20_000, True), (STOPPED, 100, None), (TOLD_TO_STOP, 20_000, None)]
)
def test_tlc_beside_kmc(
    output: str, states: int, agree: bool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tlc_words(tmp_path, monkeypatch, output)
    found = bench_with_tlc(tmp_path, ["smoke", "--tlc-module", "KRaft", *java], states)
    (run,) = found["tlc"]["runs"]
    ratio = found["ratios"]["1"]
    assert (run["workers"], run["generated"] > run["distinct"] > 900) == (1, True)
    assert ratio["counts_agree"] is agree
    mine = found["figures"]["1"]["generated_per_second"]
    assert isclose(ratio["generated_per_second"], mine / run["generated_per_second"])


def test_tlc_that_counts_nothing_is_an_error_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = tlc_words(tmp_path, monkeypatch, "Parsing or semantic analysis failed.")
    own = ["--states", "9", "--runs", "1", "--no-starts", "--out", str(tmp_path / "out")]
    ran = kmc("bench", "kraft", "plain", *own, *words)
    assert ran.exit_code == ExitStatus.SYSTEM
    assert "KMC543" in ran.stderr
    assert "Parsing or semantic analysis failed." in ran.stderr
    assert not (tmp_path / "out").exists()


def not_measured(*_: Any) -> dict[str, Any]:
    """In the place of a measured run: there must be none."""
    raise AssertionError("measured before TLC was tried")


@pytest.mark.parametrize(
    ("java", "code", "said"),
    [
        ("#!/bin/sh\necho 'Error: Could not find or load main class tlc2.TLC' >&2\nexit 1\n", "KMC543", "main class"),
        ("#!/bin/sh\necho 'Fatal errors while parsing TLA+ spec in file KRaft'\nexit 150\n", "KMC543", "status 150"),
        (
            "#!/bin/sh\necho '0 states generated, 0 distinct states found, 0 states left on queue.'\nexit 75\n",
            "KMC543",
            "status 75",
        ),
        (
            f"#!/bin/sh\necho 'Error: Invariant NoTwoLeaders is violated.'\necho '{STOPPED}'\nexit 12\n",
            "KMC544",
            "status 12",
        ),
        (f"#!/bin/sh\necho 'Progress: {STOPPED}'\necho '{STOPPED}'\nexit 153\n", "KMC544", "status 153"),
        (f"#!/bin/sh\necho '{STOPPED}'\nkill -9 $$\n", "KMC544", "status -9"),
        ("#!/no/such/shell\n", "KMC542", "java does not start"),
    ],
)
def test_tlc_is_tried_before_anything_is_measured(
    java: str, code: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = tlc_words(tmp_path, monkeypatch, "")
    (tmp_path / "bin" / "java").write_text(java)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for name in ("run_job", "run_timed"):
        monkeypatch.setattr(measured_runs, name, not_measured)
    ran = kmc("bench", "kraft", "plain", *words, "--out", str(tmp_path / "out"))
    assert (ran.exit_code, ran.stderr.count(f"error[{code}]"), said in ran.stderr) == (ExitStatus.SYSTEM, 1, True)
    assert not (tmp_path / "out").exists()


def test_tlc_is_tried_for_a_second_and_then_measured_for_the_time_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = tlc_words(tmp_path, monkeypatch, STOPPED)
    bench_with_tlc(tmp_path, ["plain", *words, "--tlc-seconds", "7"], 100)
    calls = (tmp_path / "bin" / "calls").read_text().splitlines()
    stops = [word.partition("=")[2] for call in calls for word in call.split() if word.startswith("-Dtlc2.TLC.stop")]
    assert stops == ["1", "7"]


def test_counts_are_those_of_the_last_line() -> None:
    text = f"1 states generated, 1 distinct states found, 1 states left on queue.\n{FINISHED}"
    assert read_counts(text) == {
        "generated": 23_167,
        "distinct": 10_468,
        "left": 0,
        "complete": True,
        "version": None,
    }


def test_tlc_gets_the_constants_that_its_modules_declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tlc_words(tmp_path, monkeypatch, "")
    (benchmark,) = find_benchmarks("kraft", "plain")
    declared = declared_constants(tmp_path)
    assert declared == ["Server", "Value", "Leader"]
    text = render_cfg(tlc_model(benchmark.file, declared))
    assert (
        "INIT Init\nNEXT Next\nCONSTANTS\n    Server = { n1, n2, n3 }\n    Value = { v1 }\n    Leader = Leader\n"
        in text
    )


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["kraft", "plian"], "KMC612", "did you mean 'plain'?"),
        (["die_hard"], "KMC612", "declares no benchmarks"),
        (["kraft", "plain", "--tlc", "x.jar"], "KMC603", "--spec-dir"),
        (["kraft", "plain", "--tlc", "no/such.jar", "--spec-dir", "."], "KMC613", "no/such.jar"),
        (["kraft", "plain", "--tlc", COUNTER, "--spec-dir", COUNTER], "KMC613", "KRaft.tla"),
        (["kraft", "smoke", "--tlc", COUNTER, "--spec-dir", COUNTER], "KMC613", "--tlc-module"),
        (["kraft", "plain", "--threads", "two"], "KMC603", "'two'"),
        (["kraft", "plain", "--states", "0"], "KMC603", "0"),
        (["kraft", "plain", "--states", "900000000000"], "KMC540", "--states"),
        (["kraft", "restarts", "--states", "9999", "--runs", "1", "--no-starts"], "KMC545", "fails after"),
    ],
)
def test_what_cannot_be_measured_is_said(
    words: list[str], code: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = kmc("bench", *words)
    assert ran.exit_code not in (ExitStatus.OK, ExitStatus.INTERNAL)
    assert code in ran.stderr
    assert said in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_without_java_tlc_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = tlc_words(tmp_path, monkeypatch, FINISHED)
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = kmc("bench", "kraft", "plain", *words)
    assert "KMC542" in ran.stderr
    assert ran.exit_code == ExitStatus.SYSTEM


def test_a_run_that_runs_out_of_memory_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured_runs, "available_bytes", lambda: memory_needed(200))
    monkeypatch.setattr(measured_runs, "run_job", lambda *_: {"interrupted": False, "stopped": "memory", "distinct": 5})
    ran = kmc("bench", "kraft", "plain", "--states", "200", "--no-starts", "--out", str(tmp_path))
    assert "KMC540" in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_writes_nothing_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured_runs, "run_job", lambda *_: {"interrupted": True})
    ran = kmc("bench", "kraft", "plain", "--states", "200", "--no-starts", "--out", str(tmp_path))
    assert ran.exit_code == ExitStatus.INTERRUPTED
    assert "is not written" in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_states_that_are_advised_do_fit() -> None:
    for free in (1 << 30, 3 << 30, 23 << 30):
        assert memory_needed(states_that_fit(free)) <= free < memory_needed(3 * states_that_fit(free))


def test_a_run_that_dies_tells_its_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (benchmark,) = find_benchmarks("kraft", "plain")
    monkeypatch.setattr("kmc.bench.processes.sys.executable", "false")
    with pytest.raises(SystemFault, match="ended with status 1") as caught:
        measured_runs.measure(
            benchmark, measured_runs.Plan(states=5, runs=1, threads=(1,), starts=False), lambda text: None
        )
    assert caught.value.code == "KMC546"


def test_a_model_that_does_not_start_is_told_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'no room for a cache' >&2\nexit 153\n")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(python))
    ran = kmc("bench", "kraft", "plain", "--states", "5", "--runs", "1", "--out", str(tmp_path / "out"))
    assert ran.exit_code == ExitStatus.SYSTEM
    assert "error[KMC547]: the model does not start" in ran.stderr
    assert "no room for a cache" in ran.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("spec", [name for name in shipped_specs() if benchmarks_of(name)])
def test_a_declared_benchmark_is_a_model_without_bound(spec: str) -> None:
    for benchmark in benchmarks_of(spec).values():
        model = bind(benchmark.root, benchmark.file)
        assert (model.max_depth, model.deadlock) == (None, False)
        assert model.invariants or model.temporal, "it checks something"


def test_a_model_with_temporal_properties_is_measured_with_and_without_them(tmp_path: Path) -> None:
    words = ["two_phase_commit", "fair", "--runs", "2", "--threads", "1", "--no-starts", "--out", str(tmp_path)]
    ran = kmc("bench", *words, "--states", "500")
    assert ran.exit_code == ExitStatus.OK, ran.output
    found = json.loads((tmp_path / "two_phase_commit-fair.json").read_text())
    assert [run["kind"] for run in found["runs"]] == ["", "", *["without temporal properties"] * 2]
    figures, plain, ratio = (found[name]["1"] for name in ("figures", "without_temporal", "temporal"))
    costs = figures["temporal"]
    assert (costs["verdicts"], costs["checks"]) == ({"Decides": "holds"}, 1)
    assert costs["fairness"] > 0
    assert ratio["counts_agree"]
    assert isclose(ratio["whole_times_search"], figures["cpu_seconds"] / plain["cpu_seconds"])
    assert isclose(ratio["graph_times_search"], costs["graph_cpu_seconds"] / plain["cpu_seconds"])
    assert costs["graph_cpu_seconds"] > 0
    assert "temporal" not in plain
    assert "1 thread: Decides holds under" in ran.stdout


BROKEN = {
    "KMC326": "[a",
    "KMC327 is not a table": "a = 1",
    "KMC327 did you mean 'model'": '[a]\nmodle = "smoke"',
    "KMC327 needs 'model'": '[a]\ndescription = "x"',
    "KMC327 is not a text": "[a]\nmodel = 1",
    "KMC327 is not a list": '[a]\nmodel = "smoke"\ndescription = "x"\nsymmetry = "x"',
    "KMC349": '[a]\nmodel = "smok"\ndescription = "x"',
}


@pytest.mark.parametrize("wanted", BROKEN)
def test_a_wrong_declaration_is_refused(wanted: str, tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text('[models.smoke]\ndescription = "One"\n')
    (tmp_path / "benchmarks.toml").write_text(BROKEN[wanted])
    ran = kmc("bench", str(tmp_path))
    code, _, words = wanted.partition(" ")
    assert code in ran.stderr
    assert words in ran.stderr
    assert ran.exit_code == ExitStatus.MODEL_FILE
