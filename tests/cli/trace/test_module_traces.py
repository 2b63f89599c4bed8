"""Traces of TLA+ modules: expressions of TLA+ in their states, checks that start in one, strings that stay strings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc

LEASE = Path(__file__).parents[3] / "docs" / "tla" / "Lease.tla"
QUIET = ("--quiet", "--no-run-dir")
PAIR = """---- MODULE Pair ----
EXTENDS Naturals
CONSTANT Name
VARIABLES who, text, step
Init == who = Name /\\ text = "a" /\\ step = 0
Next == step < 2 /\\ step' = step + 1 /\\ UNCHANGED who /\\ text' = IF step = 0 THEN "m" ELSE text
Short == step < 2
Where == [at |-> step]
====
"""


@pytest.fixture(autouse=True)
def _beside_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("Pair.tla").write_text(PAIR)
    Path("Pair.cfg").write_text("INIT Init\nNEXT Next\nCONSTANT Name = m\nINVARIANT Short\n")


@pytest.fixture
def _of_lease() -> None:
    assert kmc("check", str(LEASE), str(LEASE.with_name("LeaseUnchecked.cfg")), "--quiet").exit_code == 13


@pytest.mark.usefixtures("_of_lease")
def test_an_expression_is_evaluated_in_a_state_of_the_trace() -> None:
    assert kmc("eval", "last", "<<term, held[CHOOSE w \\in Worker : held[w] = 1]>>").stdout == "<<2, 1>>\n"
    assert kmc("eval", "last#2", "term' - term").stdout == "1\n"
    found = json.loads(kmc("eval", "last#3", "held", "--json").stdout)
    assert (found["spec"], found["state"], found["initial"]) == ("Lease", 3, None)
    assert found["value"] == {"#map": [["w1", {"#bigint": "1"}], ["w2", {"#bigint": "2"}]]}


@pytest.mark.usefixtures("_of_lease")
def test_what_an_expression_cannot_be_is_said() -> None:
    assert "error[KMC644]: no state follows state 5" in kmc("eval", "last", "term'").stderr
    assert "error[KMC" in kmc("eval", "last", "termm").stderr
    assert kmc("eval", "last", "term", "--set", "MaxTerm=2").exit_code == 2


@pytest.mark.usefixtures("_of_lease")
def test_the_values_of_expressions_are_shown_along_the_trace() -> None:
    shown = kmc("trace", "last", "--show", "term + last")
    assert "4  Write(w2): term + last 2 -> 4" in shown.stdout
    assert kmc("trace", "last", "--show", "held[3]").exit_code == 75
    assert kmc("trace", "last", "--property", "TypeOK").exit_code == 2


@pytest.mark.usefixtures("_of_lease")
def test_a_check_starts_in_a_state_of_the_trace() -> None:
    found = kmc("check", "--from", "last#3", *QUIET)
    assert found.exit_code == 13
    assert "1  Given state" in found.stdout
    assert "3  Write(w1): last 2 -> 1" in found.stdout
    whole = json.loads(kmc("check", str(LEASE), "--from", "last#3", "--json", *QUIET).stdout)
    assert (whole["result"], whole["bound"], whole["initial"]) == ("bound reached", "from a given state", 1)
    assert "LeaseUnchecked" in " ".join(whole["warnings"])


@pytest.mark.usefixtures("_of_lease")
def test_a_simulation_starts_there_too() -> None:
    found = json.loads(kmc("simulate", "--from", "last#4", "--seed", "1", "--json", *QUIET).stdout)
    assert (found["result"], found["invariant"]) == ("violation", "WritesInOrder")


def test_the_constants_of_the_command_line_are_those_of_the_trace() -> None:
    assert kmc("check", "Pair.tla", "--set", "Name=x", "--quiet").exit_code == 12
    assert kmc("eval", "last", "Name = who").stdout == "TRUE\n"
    found = kmc("check", "--from", "last#2", *QUIET)
    assert "a trace of 2 states" in found.stdout


def test_a_string_that_is_written_like_a_model_value_stays_a_string() -> None:
    assert kmc("check", "Pair.tla", "--quiet").exit_code == 12
    shown = kmc("trace", "last", "--trace", "tlc").stdout
    assert shown.count('/\\ text = "m"') == 2
    assert shown.count("/\\ who = m\n") == 3
    assert kmc("eval", "last", '<<who = Name, text = "m", who = text>>').stdout == "<<TRUE, TRUE, FALSE>>\n"
    (run,) = Path(".kmc/runs").iterdir()
    state = json.loads((run / "trace.itf.json").read_text())["states"][-1]
    assert state["text"] == "m"
    assert state["who"] != "m"


def test_a_trace_of_an_alias_has_no_state() -> None:
    Path("Pair.cfg").write_text(Path("Pair.cfg").read_text() + "ALIAS Where\n")
    assert kmc("check", "Pair.tla", "--quiet").exit_code == 12
    refused = kmc("eval", "last", "step")
    assert (refused.exit_code, "error[KMC441]" in refused.stderr) == (151, True)
    assert "the fields of ALIAS Where" in refused.stderr


def test_a_trace_whose_module_is_not_known_asks_for_it(tmp_path: Path) -> None:
    kmc("check", "Pair.tla", "--quiet")
    (run,) = Path(".kmc/runs").iterdir()
    Path("alone.json").write_text((run / "trace.itf.json").read_text())
    refused = kmc("eval", "alone.json", "step")
    assert (refused.exit_code, "error[KMC699]" in refused.stderr) == (2, True)
    assert kmc("eval", "alone.json#2", "step", "--spec", "Pair.tla").stdout == "1\n"
    dump = kmc("eval", str(run / "trace.tlc.json"), "step", "--spec", "Pair.tla")
    assert (dump.exit_code, "error[KMC442]" in dump.stderr) == (151, True)
