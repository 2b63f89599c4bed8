"""`kmc check X.tla`: verdicts and counts are TLC's, traces are in TLA+, and bad input is one clear error.

The counts were printed by TLC with one worker on the modules of tests/data/tla/checked.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import itf_py
import pytest
from support.commands.cli_runner import check_json, kmc

import kmc as api
from kmc.errors import KmcError

DATA = Path(__file__).parents[2] / "data" / "tla" / "checked"
LEASE = Path(__file__).parents[3] / "docs" / "tla" / "Lease.tla"


def checked(module: str, *more: str) -> dict[str, Any]:
    """Return the object of a check of one of the modules."""
    return check_json(str(DATA / f"{module}.tla"), *more)


def with_model(module: str, model: str, *more: str) -> dict[str, Any]:
    """Return the object of a check with another `.cfg` file."""
    return checked(module, str(DATA / f"{model}.cfg"), *more)


@pytest.mark.parametrize(
    ("module", "model", "generated", "distinct", "depth"),
    [
        ("Grid", "GridHolds", 19, 19, 5),
        ("Pool", "Pool", 85, 28, 9),
        ("Pool", "PoolSymmetry", 43, 14, 9),
        ("Pool", "PoolView", 25, 8, 4),
        ("Tower", "TowerHolds", 7, 5, 3),
    ],
)
def test_counts_are_those_of_tlc(module: str, model: str, generated: int, distinct: int, depth: int) -> None:
    result = with_model(module, model)
    assert (result["generated"], result["distinct"], result["depth"]) == (generated, distinct, depth)
    assert (result["result"], result["exit_status"], result["left"]) == ("ok", 0, 0)


def test_the_shipped_example_has_the_counts_of_tlc() -> None:
    result = check_json(str(LEASE))
    assert (result["generated"], result["distinct"], result["depth"]) == (209, 72, 6)
    assert result["generated_by_action"].keys() == {"Grant", "Write", "GiveUp"}
    assert {prop["name"]: prop["verdict"] for prop in result["properties"]} == {
        "TypeOK": "holds",
        "WritesInOrder": "holds",
    }


@pytest.mark.parametrize(
    ("module", "model", "result", "status", "length"),
    [
        ("Grid", "Grid", "violation", 12, 5),
        ("Grid", "GridDeadlock", "deadlock", 11, 5),
        ("Tower", "Tower", "violation", 12, 3),
        ("Broken", "Broken", "error", 75, 3),
        ("Broken", "BrokenAssert", "assertion", 14, 2),
        ("Broken", "BrokenInvariant", "assertion", 14, 2),
    ],
)
def test_what_fails_ends_with_its_status(module: str, model: str, result: str, status: int, length: int) -> None:
    found = with_model(module, model)
    assert (found["result"], found["exit_status"], found["trace_length"]) == (result, status, length)


def test_an_action_property_fails_at_its_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = kmc("check", str(LEASE), str(LEASE.with_name("LeaseUnchecked.cfg")), "--trace", "tlc")
    assert found.exit_code == 13
    assert "Error: Action property WritesInOrder is violated." in found.stdout
    states = [line for line in found.stdout.splitlines() if line.startswith("State ")]
    assert states[1:] == [
        "State 2: <Grant(w1)>",
        "State 3: <Grant(w2)>",
        "State 4: <Write(w2)>",
        "State 5: <Write(w1)>",
    ]
    (run,) = Path(".kmc/runs").iterdir()
    trace = itf_py.trace_from_json(json.loads((run / "trace.itf.json").read_text()))
    assert [state.values["last"] for state in trace.states] == [0, 0, 0, 2, 1]
    assert (run / "model.cfg").read_text() == LEASE.with_name("LeaseUnchecked.cfg").read_text()
    shown = kmc("trace", "last", "--changes")
    assert shown.exit_code == 0
    assert "last  2 -> 1" in shown.stdout
    assert kmc("trace", "last", "--html", "page.html").exit_code == 0


def test_a_step_of_pluscal_has_its_label_and_process() -> None:
    found = with_model("Tower", "Tower")
    assert [step["label"] for step in found["trace"]] == ["Initial state", "try(0)", "work(0)"]
    assert found["why"]["sentence"] == "NoneInside is false in state 3."


def test_a_trace_has_the_fields_of_the_alias(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = kmc("check", str(DATA / "Grid.tla"), "--trace", "tlc").stdout
    assert "position = <<2, 1>>" in found
    assert "reached = 2" in found
    assert "seen" not in found.partition("states generated")[0]


def test_strings_are_quoted_and_model_values_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = kmc("check", str(DATA / "Tower.tla"), "--trace", "tlc").stdout
    assert '/\\ pc = (0 :> "leave" @@ 1 :> "try")' in found


def test_a_temporal_property_fails_with_a_lasso(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = (DATA / "Tower.tla").read_text().replace("NoneInside ==", "Often == []<>(inside # {})\nNoneInside ==")
    Path("Tower.tla").write_text(module)
    Path("Tower.cfg").write_text("SPECIFICATION Spec\nPROPERTY Often\n")
    found = kmc("check", "Tower.tla", "--trace", "tlc")
    assert found.exit_code == 13
    assert "Error: Temporal property Often is violated." in found.stdout
    assert "Stuttering" in found.stdout
    (run,) = Path(".kmc/runs").iterdir()
    assert json.loads((run / "trace.itf.json").read_text())["loop"] == 0


def test_a_refinement_that_takes_other_steps_fails(tmp_path: Path) -> None:
    for name in ("Pool.tla", "Count.tla", "Pool.cfg"):
        shutil.copy(DATA / name, tmp_path)
    count = (tmp_path / "Count.tla").read_text()
    (tmp_path / "Count.tla").write_text(count.replace("n < Top", "n < 2"))
    found = check_json(str(tmp_path / "Pool.tla"))
    assert (found["invariant"], found["exit_status"], found["trace_length"]) == ("Refines", 13, 4)
    (tmp_path / "Count.tla").write_text(count.replace("n = 0", "n = 1"))
    found = check_json(str(tmp_path / "Pool.tla"))
    assert (found["invariant"], found["trace_length"]) == ("Refines", 1)


def test_limits_and_constants_of_the_command_line_count() -> None:
    assert checked("Pool", "--max-depth", "3")["exit_status"] == 20
    assert checked("Pool", "--max-depth", "3", "--bounded-ok")["exit_status"] == 0
    assert checked("Pool", "--set", "Item={i1}")["distinct"] < 28
    assert with_model("Grid", "GridDeadlock", "--no-deadlock")["exit_status"] == 0
    assert with_model("Grid", "Grid", "--continue")["distinct"] == 19


def test_a_postcondition_reads_the_figures_of_the_search(tmp_path: Path) -> None:
    shutil.copy(DATA / "Pool.tla", tmp_path)
    shutil.copy(DATA / "Count.tla", tmp_path)
    model = (DATA / "Pool.cfg").read_text()
    for figure, status in (
        ('TLCGet("stats").diameter = 9 /\\ TLCSet(1, TLCGet("queue"))', 0),
        ('TLCGet("distinct") > 28', 10),
    ):  # Enough, which the file names too, is TRUE
        module = (DATA / "Pool.tla").read_text().replace("Enough ==", f"Figure == {figure}\nEnough ==")
        (tmp_path / "Pool.tla").write_text(module)
        (tmp_path / "Pool.cfg").write_text(
            model.replace("POSTCONDITION Enough", "_RL_REWARD Figure\nPOSTCONDITIONS Enough Figure")
        )
        found = check_json(str(tmp_path / "Pool.tla"))
        assert (found["exit_status"], found["distinct"]) == (status, 28)
    assert found["differences"] == ["the postcondition Figure is FALSE"]


def test_a_false_assumption_ends_the_check(tmp_path: Path) -> None:
    found = kmc("check", str(DATA / "Pool.tla"), "--set", "Item={}", "--no-run-dir")
    assert found.exit_code == 10
    assert "KMC351" in found.stderr


@pytest.mark.parametrize(
    "option", [("--keep-states",), ("--threads", "2", "--engine", "python"), ("--storage", "s3://a/b")]
)
def test_what_does_not_apply_to_a_module_is_refused(option: tuple[str, ...]) -> None:
    found = kmc("check", str(DATA / "Pool.tla"), *option)
    assert (found.exit_code, found.stdout) == (2, "")
    assert f"error[KMC697]: {option[0]} cannot be used with a TLA+ module" in found.stderr


def test_a_command_for_specs_refuses_a_module() -> None:
    found = kmc("report", str(DATA / "Pool.tla"))
    assert found.exit_code == 2
    assert "error[KMC698]" in found.stderr
    assert "is a TLA+ module, and this needs a spec in Python" in found.stderr


def test_a_module_with_variables_needs_a_behaviour(tmp_path: Path) -> None:
    (tmp_path / "Still.tla").write_text("---- MODULE Still ----\nVARIABLE x\nInit == x = 1\n====")
    (tmp_path / "Still.cfg").write_text("")
    found = kmc("check", str(tmp_path / "Still.tla"), "--no-run-dir")
    assert found.exit_code == 151
    assert "error[KMC357]" in found.stderr


def test_a_module_that_only_assumes_is_checked_without_a_behaviour(tmp_path: Path) -> None:
    (tmp_path / "Facts.tla").write_text("---- MODULE Facts ----\nEXTENDS Naturals\nASSUME 1 + 1 = 2\n====")
    (tmp_path / "Facts.cfg").write_text("")
    assert kmc("check", str(tmp_path / "Facts.tla"), "--no-run-dir").exit_code == 0


def test_a_module_without_variables_has_no_states(tmp_path: Path) -> None:
    facts = "---- MODULE Facts ----\nSpec == TRUE /\\ [][TRUE]_<<>>\nNever == FALSE\n====\n"
    (tmp_path / "Facts.tla").write_text(facts)
    for checked, status in (("", 0), ("INVARIANT Never", 151)):
        (tmp_path / "Facts.cfg").write_text(f"SPECIFICATION Spec\n{checked}\n")
        found = kmc("check", str(tmp_path / "Facts.tla"), "--no-run-dir", "--json")
        assert found.exit_code == status
        result = json.loads(found.stdout)
        assert (result["generated"], result["distinct"]) == ((0, 0) if status == 0 else (None, None))


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", 150),
        ("---- MODULE Bad ----\nInit == x = 1\n====", 150),
        ("---- MODULE Bad ----\nVARIABLE x\nInit == x = \n====", 150),
        ("---- MODULE Other ----\n====", 150),
        ("---- MODULE Bad ----\nEXTENDS Nowhere\n====", 150),
        ("---- MODULE Bad ----\nVARIABLE x\nInit == x = 1 /\\ FALSE\nNext == x' = 1\n====", 75),
        ("---- MODULE Bad ----\nVARIABLE x\nInit == x = 1\nNext == x = 1\n====", 75),
        ("---- MODULE Bad ----\nVARIABLE x\nInit == x = 1\nNext == TRUE\n====", 151),
    ],
)
def test_a_wrong_module_is_one_clear_error(text: str, status: int, tmp_path: Path) -> None:
    (tmp_path / "Bad.tla").write_text(text)
    (tmp_path / "Bad.cfg").write_text("INIT Init\nNEXT Next\n")
    found = kmc("check", str(tmp_path / "Bad.tla"), "--no-run-dir")
    assert found.exit_code == status
    assert "error[KMC" in found.stderr + found.stdout
    assert "Traceback" not in found.output


@pytest.mark.parametrize("cfg", ["", "NONSENSE", "INIT Nowhere\nNEXT Next", "INIT Init\nNEXT Next\nINVARIANT Missing"])
def test_a_wrong_model_file_is_one_clear_error(cfg: str, tmp_path: Path) -> None:
    shutil.copy(DATA / "Tower.tla", tmp_path)
    (tmp_path / "Tower.cfg").write_text(cfg)
    found = kmc("check", str(tmp_path / "Tower.tla"), "--no-run-dir")
    assert found.exit_code in (150, 151)
    assert "error[KMC" in found.stderr
    assert "Traceback" not in found.output


def test_a_module_or_a_model_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    assert kmc("check", str(tmp_path / "No.tla")).exit_code in (2, 150)
    found = kmc("check", str(DATA / "Pool.tla"), str(tmp_path / "no.cfg"))
    assert (found.exit_code, "KMC696" in found.stderr) == (2, True)


def test_a_name_without_its_ending_leads_to_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(LEASE, tmp_path)
    assert "= help: give the TLA+ module: kmc check Lease.tla\n" in kmc("check", "Lease").stderr
    assert "= help: give the TLA+ module: kmc check Lease.tla Lease.cfg\n" in kmc("check", "Lease.cfg").stderr
    assert "give the TLA+ module" not in kmc("check", "Leas").stderr


def test_an_algorithm_that_is_not_translated_is_said(tmp_path: Path) -> None:
    text = (DATA / "Tower.tla").read_text()
    before = text.partition("\\* BEGIN TRANSLATION")[0]
    (tmp_path / "Tower.tla").write_text(f"{before}====\n")
    shutil.copy(DATA / "Tower.cfg", tmp_path)
    refused = kmc("check", str(tmp_path / "Tower.tla"), "--no-run-dir")
    assert (refused.exit_code, "error[KMC366]" in refused.stderr) == (151, True)
    assert "a PlusCal algorithm without its translation" in refused.stderr
    (tmp_path / "Tower.tla").write_text(text)
    (tmp_path / "Tower.cfg").write_text("SPECIFICATION Spek\n")
    assert "did you mean 'Spec'?" in kmc("check", str(tmp_path / "Tower.tla"), "--no-run-dir").stderr


def test_simulate_finds_the_violation_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("simulate", str(DATA / "Tower.tla"), "--seed", "1")
    found = kmc(*words)
    assert found.exit_code == 12
    assert "NoneInside is false in state" in found.stdout
    objects = [json.loads(kmc(*words, "--json", "--no-run-dir").stdout) for _ in range(2)]
    assert [{**found, "seconds": 0} for found in objects[1:]] == [{**objects[0], "seconds": 0}]
    holds = kmc("simulate", str(DATA / "Grid.tla"), str(DATA / "GridHolds.cfg"), "--number", "5", "--json")
    assert json.loads(holds.stdout)["result"] == "no violation found"


def test_eval_gives_the_value_of_an_expression_of_tla(tmp_path: Path) -> None:
    assert kmc("eval", str(LEASE), "[w \\in Worker |-> term + 1]").stdout == "(w1 :> 1 @@ w2 :> 1)\n"
    found = json.loads(kmc("eval", str(DATA / "Grid.tla"), "at", "--json").stdout)
    assert found["value"] == [{"#bigint": "1"}, {"#bigint": "1"}]
    wrong = kmc("eval", str(LEASE), "termm")
    assert wrong.exit_code != 0
    assert "error[KMC" in wrong.stderr


class TestPython:
    def test_a_check_has_the_figures_of_the_command_line(self) -> None:
        result = api.check_module(LEASE, constants={"MaxTerm": 2})
        assert (result.ok, result.counterexample) == (True, ())
        assert result.distinct < api.check_module(LEASE).distinct == 72

    def test_a_violation_has_a_counterexample(self) -> None:
        result = api.check_module(LEASE, LEASE.with_name("LeaseUnchecked.cfg"))
        assert (result.ok, result.violated, result.exit_status) == (False, "WritesInOrder", 13)
        assert [state["last"] for state in result.counterexample] == [0, 0, 0, 2, 1]
        with pytest.raises(AssertionError, match="WritesInOrder is false of the step to state 5"):
            result.assert_ok()

    def test_mistakes_are_errors_of_kmc(self, tmp_path: Path) -> None:
        with pytest.raises(KmcError):
            api.check_module(tmp_path / "No.tla")
        with pytest.raises(KmcError, match="max_depth"):
            api.check_module(LEASE, max_depth=0)


def test_the_native_engine_has_the_figures_of_the_interpreter() -> None:
    words = (str(LEASE), str(LEASE.with_name("LeaseUnchecked.cfg")))
    ours, theirs = check_json(*words, "--engine", "native", "--threads", "2"), check_json(*words)
    assert (ours["engine"], theirs["engine"]) == ("native", "python")
    same = ("generated", "distinct", "depth", "levels", "generated_by_action", "properties", "exit_status", "trace")
    assert {key: ours[key] for key in same} == {key: theirs[key] for key in same}


def test_a_module_in_shards_is_resumed(tmp_path: Path) -> None:
    words = ("--shards", "2", "--max-depth", "4", "--run-dir", str(tmp_path), "--json")
    part = json.loads(kmc("check", str(LEASE), *words).stdout)
    assert (part["engine"], part["exit_status"], part["depth"]) == ("native", 20, 4)
    (run,) = tmp_path.iterdir()
    command = shlex.split(part["resume"])
    assert command[:4] == ["kmc", "check", "--resume", str(run)]
    whole = json.loads(kmc(*command[1:4], "--json").stdout)
    assert (whole["exit_status"], whole["distinct"], whole["depth"]) == (0, 72, check_json(str(LEASE))["depth"])
    assert not (run / "checkpoint").exists()


def test_states_of_a_module_are_not_kept() -> None:
    found = kmc("check", str(LEASE), "--shards", "2", "--keep-states")
    assert (found.exit_code, found.stdout) == (2, "")
    assert "error[KMC697]: --keep-states cannot be used with a TLA+ module" in found.stderr
    assert "kmc translate X.tla DIR" in found.stderr


def test_the_interpreter_has_no_shards() -> None:
    found = kmc("check", str(LEASE), "--shards", "2", "--engine", "python")
    assert (found.exit_code, found.stdout) == (2, "")
    assert "error[KMC616]: the interpreter has no shards" in found.stderr


@pytest.mark.slow
def test_commands_load_the_layer_of_tla_only_for_a_module() -> None:
    # Its import is some 4 MB and a tenth of a second, which a check of a spec in Python would pay.
    code = "import sys; from kmc.cli.commands import check, eval, simulate, trace; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = ran.stdout.split()
    assert "kmc.cli.commands.check" in imported
    assert [name for name in imported if name.startswith("kmc.tla.")] == []
