"""`kmc report`: models run in processes of their own, and what the report says of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import kmc

from kmc.checking.collision_odds import WIDE_BYTES_PER_STATE
from kmc.cli.running.report_runs import RunOptions
from kmc.cli.text.report_text import report_text
from kmc.model_files.model_file import ModelFile

pytestmark = pytest.mark.usefixtures("forked_checks")

SPEC = '''"""A light that goes on."""

from kmc.lang import Bool, Int, Record, constant
from kmc.spec import spec

Stuck = constant("Stuck", Bool, "Mutant: it goes past its end", False)


class State(Record):
    """How bright it is."""

    brightness: Int(0, 3)


@spec.init
def init():
    """Dark."""
    yield State(brightness=0)


@spec.action
def brighten(st):
    """A step."""
    if st.brightness < 2 or (Stuck and st.brightness < 3):
        yield st.set(brightness=st.brightness + 1)


@spec.action
def darken(st):
    """Never: it is not dark enough."""
    if st.brightness > 3:
        yield st.set(brightness=0)


@spec.invariant
def NotTooBright(st):
    """At most two."""
    return st.brightness < 3


@spec.reachable
def bright(st):
    """Two is reached."""
    return st.brightness == 2
'''
MANIFEST = """
[models.smoke]
description = "All of it"
invariants = ["NotTooBright"]
deadlock = false
expect = {{ origin = "TLC", result = "ok", distinct = {distinct} }}

[mutants.stuck]
title = "It goes on"
description = "One more step"
constants = {{ Stuck = true }}
invariants = ["NotTooBright"]
deadlock = false
expect = {{ origin = "kmc", result = "violation", trace_length = 4 }}
"""
VACUOUS = MANIFEST.format(distinct=3).replace('result = "ok"', 'result = "ok", vacuous = ["NotTooBright"]')
WITHOUT_MUTANT = MANIFEST.format(distinct=3).partition("[mutants")[0]


@pytest.fixture(autouse=True)
def light(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "light"
    folder.mkdir()
    (folder / "spec.py").write_text(SPEC)
    (folder / "models.toml").write_text(MANIFEST.format(distinct=3))
    monkeypatch.chdir(tmp_path)
    return folder


def report(*words: str) -> tuple[int, str]:
    """The exit status and the output of `kmc report` of the light, on the interpreter."""
    ran = kmc("report", "./light", *words, "--engine", "python", "--quiet")
    return ran.exit_code, ran.stdout


def lines_of(name: str) -> list[str]:
    return Path("results", name).read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
def test_a_report_has_counts_mutants_and_coverage() -> None:
    assert report() == (0, "2 run, 2 in the report: results/light.md\n")
    lines = lines_of("light.md")
    assert [line.rsplit("|", 3)[0] for line in lines if line.startswith("| `smoke`")] == [
        "| `smoke` | holds, whole graph | 0 | 3 | 3 | 3 | equal to TLC's "
    ]
    assert "| `stuck` | It goes on | NotTooBright, 4 states | 4 |" in lines
    assert "| NotTooBright | 1 | 0 | `stuck` |" in lines
    assert "| Brighten | 1 | 2 in `smoke` |" in lines
    assert "| Darken | 0 | NEVER FIRED |" in lines
    assert "| bright | `smoke` |" in lines


@pytest.mark.slow
def test_what_has_a_result_is_not_run_again(light: Path) -> None:
    (light / "models.toml").write_text(WITHOUT_MUTANT)
    assert report()[1].startswith("1 run, 1 in the report")
    assert report()[1].startswith("0 run, 1 in the report")
    assert report("--again")[1].startswith("1 run, 1 in the report")


@pytest.mark.slow
def test_a_changed_spec_is_run_again(light: Path) -> None:
    report("smoke")
    (light / "models.toml").write_text(WITHOUT_MUTANT)
    (light / "spec.py").write_text(SPEC.replace("st.brightness > 3", "st.brightness > 2"))
    assert report()[1].startswith("1 run")


@pytest.mark.slow
def test_a_named_model_keeps_the_results_of_the_others() -> None:
    report("stuck")
    before = json.loads(Path("results/light.json").read_text())["models"]["stuck"]
    assert report("smoke")[1].startswith("1 run, 2 in the report")
    assert json.loads(Path("results/light.json").read_text())["models"]["stuck"] == before


@pytest.mark.slow
def test_a_model_that_leaves_the_manifest_leaves_the_report(light: Path) -> None:
    report("stuck")
    (light / "models.toml").write_text(WITHOUT_MUTANT)
    assert report("smoke")[1].startswith("1 run, 1 in the report")


def test_a_count_that_differs_is_told_and_is_not_a_success(light: Path) -> None:
    report("smoke")
    (light / "models.toml").write_text(MANIFEST.format(distinct=4).partition("[mutants")[0])
    status, shown = report()
    assert (status, shown.splitlines()[1]) == (10, "Not as the manifest says: smoke")
    assert any("DIFFERS: distinct: expected 4, found 3" in line for line in lines_of("light.md"))


def test_a_check_that_fails_has_a_line_of_its_own(light: Path) -> None:
    (light / "spec.py").write_text(SPEC.replace("yield State(brightness=0)", "yield State(brightness=7)"))
    status, _ = report("smoke")
    assert status == 10
    assert any(line.startswith("| `smoke` | failed: ") for line in lines_of("light.md"))


def test_a_model_that_compiled_code_refuses_is_interpreted(light: Path) -> None:
    many = "{n: n for n in range(0, 100)}[st.brightness] < 3"
    (light / "spec.py").write_text(SPEC.replace("return st.brightness < 3", f"return {many}"))
    assert report("smoke")[0] == 0
    record = json.loads(Path("results/light.json").read_text())["models"]["smoke"]
    assert (record["engine"], record["command"]) == ("python", "kmc check ./light smoke --engine python")


def test_a_file_that_is_not_a_report_is_not_overwritten() -> None:
    Path("results").mkdir()
    Path("results/light.json").write_text("{}")
    ran = kmc("report", "./light", "--quiet")
    assert (ran.exit_code, "KMC548" in ran.stderr) == (153, True)
    assert Path("results/light.json").read_text() == "{}"


def test_a_model_that_is_not_there_is_an_error() -> None:
    ran = kmc("report", "./light", "smok")
    assert (ran.exit_code, "KMC615" in ran.stderr, "did you mean 'smoke'?" in ran.stderr) == (2, True, True)


def test_a_spec_without_a_manifest_is_an_error(light: Path) -> None:
    (light / "models.toml").unlink()
    ran = kmc("report", "./light")
    assert (ran.exit_code, "KMC614" in ran.stderr) == (2, True)


RECORD: dict[str, Any] = {
    "kind": "model",
    "title": "",
    "description": "d",
    "expect": None,
    "result": "ok",
    "generated": 5,
    "distinct": 3,
    "depth": 2,
    "left": 0,
    "generated_by_action": {"A": 4},
    "invariant": None,
    "trace_length": None,
    "bound": None,
    "properties": [{"name": "P", "verdict": "holds", "violations": 0}],
    "unreached_goals": ["g"],
    "asked": {"constraints": []},
    "constraints": [],
    "cut": 0,
    "collision_bound": 2.4e-18,
    "fingerprint_bits": 64,
    "cpu_seconds": 1.0,
    "peak_memory_bytes": 2**20,
    "differences": [],
    "commit": None,
    "machine": {"kmc": "0", "cpu": "c", "cores": 1, "memory_bytes": 2**30},
    "trace": None,
}
NAMES = {"properties": ["P"], "temporal": [], "witnessed": ["g"], "actions": ["A"]}


def text_of(**records: dict[str, Any]) -> list[str]:
    return report_text("s", "A spec.", {name: {**RECORD, **record} for name, record in records.items()}, NAMES).split(
        "\n"
    )


def test_what_only_a_mutant_reaches_is_not_covered() -> None:
    lines = text_of(m={"kind": "mutant", "title": "t", "unreached_goals": []}, a={"generated_by_action": {"A": 0}})
    assert "| A | 0 | NEVER FIRED |" in lines
    assert "| g | NEVER REACHED |" in lines


def test_a_mutant_that_lives_is_told() -> None:
    lines = text_of(m={"kind": "mutant", "title": "t"})
    assert "| `m` | t | NOT KILLED: holds, whole graph, odds of a missed state at most 2.4E-18 | 3 |" in lines


def test_a_run_cut_short_proves_only_the_levels_that_it_finished() -> None:
    lines = text_of(a={"result": "bound reached", "bound": "time", "left": 1, "depth": 9})
    assert any(
        line.startswith("| `a` | stopped by time; holds up to level 8 | 2.4E-18 | 5 | 3 | 9 |") for line in lines
    )


def row_of(model: str, lines: list[str]) -> list[str]:
    """The first cells of a model's line."""
    (line,) = [line for line in lines if line.startswith(f"| `{model}` |")]
    return line.split(" | ")[1:3]


@pytest.mark.parametrize(
    ("record", "cells"),
    [
        ({"collision_bound": 0.006754}, ["holds, whole graph", "1 in 148"]),
        ({"fingerprint_bits": 128, "collision_bound": 3.7e-22}, ["holds, whole graph", "3.7E-22, 128 bits"]),
        ({"result": "bound reached", "bound": "depth", "depth": 7}, ["holds up to level 7", "2.4E-18"]),
        (
            {"asked": {"constraints": ["Small", "Slow"]}, "cut": 1234},
            ["holds without breaking Small or Slow, 1,234 generated states outside", "2.4E-18"],
        ),
        ({"asked": {"constraints": ["Small"]}, "cut": 0}, ["holds, whole graph", "2.4E-18"]),
        (
            {"result": "bound reached", "bound": "constraint", "asked": {"constraints": ["Small"]}, "cut": 9},
            ["not refuted without breaking Small, 9 generated states outside", "2.4E-18"],
        ),
    ],
)
def test_a_model_says_how_far_it_holds_and_with_what_odds(record: dict[str, Any], cells: list[str]) -> None:
    assert row_of("a", text_of(a=record)) == cells


def test_a_record_from_before_constraints_were_counted_does_not_claim_the_whole_graph() -> None:
    old = {key: value for key, value in RECORD.items() if key != "cut"} | {"asked": {"constraints": ["Small"]}}
    lines = report_text("s", "A spec.", {"a": old}, NAMES).split("\n")
    assert row_of("a", lines) == ["holds without breaking Small", "2.4E-18"]
    assert "| P | 0 | 1 | nowhere |" in lines


def test_a_property_is_counted_by_how_far_it_holds() -> None:
    bounded = {"result": "bound reached", "bound": "depth"}
    lines = text_of(a={}, b=bounded, c=bounded, d={"result": "violation", "invariant": "Q"})
    assert "| P | 1 | 3 | nowhere |" in lines


def test_what_changed_since_it_was_measured_is_told() -> None:
    lines = report_text("s", "A spec.", {"a": RECORD, "b": RECORD}, NAMES, {"b", "never run"}).split("\n")
    assert "- Measured before the spec or the model last changed: `b`." in lines


@pytest.mark.slow
def test_the_text_is_written_anew_without_a_run(light: Path) -> None:
    report()
    measured = json.loads(Path("results/light.json").read_text())
    Path("results/light.md").unlink()
    (light / "spec.py").write_text(SPEC.replace("st.brightness > 3", "st.brightness > 2"))
    (light / "models.toml").write_text(MANIFEST.format(distinct=3).replace("All of it", "The whole"))
    assert report("--render-only") == (0, "0 run, 2 in the report: results/light.md\n")
    assert "- `smoke`: The whole." in lines_of("light.md")
    assert lines_of("light.md")[-1] == "- Measured before the spec or the model last changed: `smoke`, `stuck`."
    rendered = json.loads(Path("results/light.json").read_text())
    assert rendered["models"]["smoke"].pop("description") == "The whole"
    assert measured["models"]["smoke"].pop("description") == "All of it"
    assert rendered == measured


@pytest.mark.slow
def test_what_a_manifest_says_of_vacuous_properties_is_compared(light: Path) -> None:
    (light / "models.toml").write_text(VACUOUS)
    report()
    record = json.loads(Path("results/light.json").read_text())["models"]["smoke"]
    assert record["differences"] == ["vacuous: expected [NotTooBright], found []"]


@pytest.mark.slow
def test_a_record_from_before_a_figure_was_counted_is_rendered_without_it(light: Path) -> None:
    report()
    path = Path("results/light.json")
    measured = json.loads(path.read_text())
    del measured["models"]["smoke"]["vacuous"]
    path.write_text(json.dumps(measured))
    (light / "models.toml").write_text(VACUOUS)
    assert report("--render-only") == (0, "0 run, 2 in the report: results/light.md\n")
    assert json.loads(path.read_text())["models"]["smoke"]["differences"] == []


def test_what_only_renders_takes_no_models() -> None:
    assert kmc("report", "./light", "smoke", "--render-only").exit_code == 2


@pytest.mark.parametrize(
    ("states", "memory", "bits"),
    [
        (None, 1 << 50, 64),
        (19_841_847, 1 << 50, 64),
        (499_181_537, 1 << 50, 128),
        (499_181_537, 499_181_537 * WIDE_BYTES_PER_STATE, 128),
        (499_181_537, 499_181_537 * WIDE_BYTES_PER_STATE - 1, 64),
    ],
)
def test_a_report_takes_wide_fingerprints_where_they_are_needed_and_fit(
    states: int | None, memory: int, bits: int
) -> None:
    file = ModelFile("m", "m.cfg", expect=None if states is None else {"origin": "kmc", "distinct": states})
    wide = ("--fingerprint-bits", "128") if bits == 128 else ()
    assert RunOptions(("--threads", "1"), "auto", memory).words_for(file) == ("--threads", "1", *wide)


def test_the_width_that_is_asked_for_is_taken(light: Path) -> None:
    (light / "models.toml").write_text(WITHOUT_MUTANT)
    kmc("report", "./light", "--fingerprint-bits", "128", "--quiet")
    record = json.loads(Path("results/light.json").read_text())["models"]["smoke"]
    assert (record["fingerprint_bits"], "--fingerprint-bits 128" in record["command"]) == (128, True)


def test_a_model_may_be_run_in_shards_where_memory_sets_no_width(light: Path) -> None:
    (light / "models.toml").write_text(WITHOUT_MUTANT)
    assert kmc("report", "./light", "smoke", "--shards", "2", "--quiet").exit_code == 0
    record = json.loads(Path("results/light.json").read_text())["models"]["smoke"]
    assert (record["shards"]["shards"], "--shards 2" in record["command"]) == (2, True)
    assert any("MB, disk " in line for line in lines_of("light.md") if line.startswith("| `smoke` |"))
    file = ModelFile("m", "m.cfg", expect={"origin": "kmc", "distinct": 1_500_000_000})
    assert RunOptions((), "auto", in_memory=False).words_for(file) == ("--fingerprint-bits", "128")


def test_shards_need_the_native_engine() -> None:
    assert kmc("report", "./light", "--engine", "python", "--shards", "2").exit_code == 2


def test_a_finding_shows_its_steps() -> None:
    found = {"kind": "finding", "title": "t", "invariant": "P", "trace_length": 2, "trace": ["A(1)"], "expect": None}
    lines = text_of(f=found)
    assert "P fails in 2 states; nothing expected." in lines
    assert "2. `A(1)`" in lines
