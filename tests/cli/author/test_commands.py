"""`kmc specs`, `trace`, `runs`, `conform` and `simulate`: what the literate tests do not show."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import COUNTER, kmc
from support.faults.corpus_files import EDGES, change_a_successor, corpus_with, one_source

from kmc.frontend.shipped import shipped_specs

LISTED = """
import sys
from kmc.cli.program import cli
try:
    cli.main(["specs"])
finally:
    print("IMPORTED", *sys.modules)
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_specs_lists_every_shipped_spec_with_a_line() -> None:
    shown = kmc("specs").stdout.splitlines()
    assert [name for name in shipped_specs() if not any(line.startswith(f"{name} ") for line in shown)] == []


def test_a_spec_is_listed_with_the_first_line_of_its_description(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in {"actions": "1 / 0", "spec": '"""What it is.\n\nMore."""\n1 / 0', "types": "x = 1"}.items():
        (tmp_path / "one").mkdir(exist_ok=True)
        (tmp_path / "one" / f"{name}.py").write_text(text, encoding="utf-8")
    (tmp_path / "two.py").write_text("def (", encoding="utf-8")
    found = {"one": tmp_path / "one", "two": tmp_path / "two.py"}
    monkeypatch.setattr("kmc.cli.commands.specs.shipped_specs", lambda: found)
    shown = kmc("specs").stdout.splitlines()
    assert shown[:2] == ["one  What it is.", "two  does not load: Python cannot read this: invalid syntax"]


@pytest.mark.slow
def test_the_list_of_specs_needs_no_compiler() -> None:
    ran = subprocess.run([sys.executable, "-c", LISTED], capture_output=True, text=True, check=True)
    imported = set(ran.stdout.partition("IMPORTED")[2].split())
    assert "kmc.cli.commands.specs" in imported
    assert [name for name in imported if name.startswith(("kmc.compiler", "kmc_loaded", "numpy"))] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(shipped_specs()))
def test_specs_describes_every_shipped_spec(name: str) -> None:
    assert kmc("specs", name).exit_code == 0


def test_specs_names_every_action_of_kraft() -> None:
    shown = kmc("specs", "kraft").stdout
    assert "RequestVote(i in Server)" in shown
    assert "receives RequestVoteRequest" in shown


CHOICE = '''
from kmc.lang import IdentSet, Int, Map, Record, constant
from kmc.spec import spec

Server = constant("Server", IdentSet(symmetric=True), "Who there is")
Least = constant("Least", Int(0, 9), "A bound")
{assumption}

class State(Record):
    """One number for each."""

    at: Map[Server, Int(0, 9)]

@spec.init
def init():
    """No server has moved."""
    yield State(at={{s: 0 for s in Server}})

@spec.action
def move(st, s: Server):
    """Once."""
    if st.at[s] == 0:
        yield st.set(at=st.at.set(s, 1))
'''


def test_specs_describes_a_spec_without_values_for_its_constants() -> None:
    Path("choice.py").write_text(CHOICE.format(assumption=""), encoding="utf-8")
    assert "Move(s in Server)  Once." in kmc("specs", "choice.py").stdout


def test_specs_describes_a_spec_whose_assumption_is_about_a_constant_without_a_value() -> None:
    Path("choice.py").write_text(CHOICE.format(assumption="spec.assume(Least > 3)"), encoding="utf-8")
    ran = kmc("specs", "choice.py")
    assert (ran.exit_code, "Move(s in Server)  Once." in ran.stdout) == (0, True)


def test_specs_takes_constants_from_the_command_line() -> None:
    Path("choice.py").write_text(CHOICE.format(assumption="spec.assume(Least > 3)"), encoding="utf-8")
    assert kmc("specs", "choice.py", "--set", "Least=4").exit_code == 0


def check_saved(*words: str) -> Path:
    """The folder that the newest check saved."""
    kmc("check", *words)
    return max(Path(".kmc/runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)


def test_trace_shows_all_variables_unless_told_otherwise() -> None:
    trace = str(check_saved("die_hard", "solution") / "trace.itf.json")
    assert kmc("trace", trace, "--trace", "tlc").stdout.count("small =") == 7
    assert kmc("trace", trace, "--full").stdout.count("small  ") == 7


def test_trace_shows_only_what_changed_when_asked() -> None:
    trace = str(check_saved("die_hard", "solution") / "trace.itf.json")
    assert kmc("trace", trace, "--trace", "changed").stdout.count("small =") == 5


def test_trace_hides_a_variable() -> None:
    trace = str(check_saved("die_hard", "solution") / "trace.itf.json")
    assert "small" not in kmc("trace", trace, "--hide", "small").stdout


def test_a_step_that_changes_only_what_is_hidden_is_not_said_to_change_nothing() -> None:
    trace = str(check_saved("die_hard", "solution") / "trace.itf.json")
    shown = kmc("trace", trace, "--trace", "changed", "--hide", "small").stdout
    assert ("UNCHANGED vars" in shown, r"UNCHANGED <<big>>" in shown) == (False, True)


@pytest.mark.parametrize("output", ["itf", "tlc-json"])
def test_trace_writes_a_format_that_it_reads_again(output: str) -> None:
    trace = check_saved("die_hard", "solution") / "trace.itf.json"
    Path("again.json").write_text(kmc("trace", str(trace), "--format", output).stdout, encoding="utf-8")
    states = kmc("trace", str(trace), "--trace", "tlc").stdout.splitlines()[1:]
    again = kmc("trace", "again.json", "--spec", "die_hard", "--trace", "tlc")
    assert again.stdout.splitlines()[1:] == states


@pytest.mark.slow
def test_a_saved_kraft_trace_starts_a_check_at_each_of_its_states() -> None:
    trace = check_saved("kraft", "restarts") / "trace.tlc.json"
    ran = kmc("check", "kraft", "restarts", "--from", f"{trace}#6", "--no-run-dir", "--json")
    assert (ran.exit_code, json.loads(ran.stdout)["trace_length"]) == (12, 2)


@pytest.mark.slow
def test_conform_finds_no_difference_in_kraft() -> None:
    ran = kmc("conform", "kraft", str(EDGES), "--limit", "20")
    assert (ran.exit_code, "No difference: 20 of 553 source states" in ran.stdout) == (0, True)


def drop_a_successor(corpus: Any) -> None:
    """TLC has one successor less, so the spec has one too many."""
    del corpus["sources"][0]["successors"][0]


def count_a_successor_twice(corpus: Any) -> None:
    """TLC generates a successor once more."""
    corpus["sources"][0]["successors"][0][2] += 1


@pytest.mark.parametrize(
    ("change", "claims"),
    [
        (drop_a_successor, ["the spec gives a successor that TLA+ does not have"]),
        (count_a_successor_twice, ["TLA+ generates a successor 2 times, the spec 1 times"]),
        (
            change_a_successor,
            ["TLA+ has a successor that the spec does not give", "the spec gives a successor that TLA+ does not have"],
        ),
    ],
)
def test_conform_shows_a_difference(change: Callable[[Any], None], claims: list[str]) -> None:
    ran = kmc("conform", "kraft", corpus_with(change))
    assert (ran.exit_code, [claim for claim in claims if claim not in ran.stdout]) == (12, [])


def test_conform_shows_the_field_that_differs() -> None:
    rows = [line.split() for line in kmc("conform", "kraft", corpus_with(change_a_successor)).stdout.splitlines()]
    assert [row for row in rows if row[:1] == ["electionCtr"]]


def test_conform_shows_the_state_that_differs() -> None:
    assert r"  /\ electionCtr = " in kmc("conform", "kraft", corpus_with(drop_a_successor)).stdout


def test_conform_gives_differences_as_json() -> None:
    found = json.loads(kmc("conform", "kraft", corpus_with(drop_a_successor), "--json").stdout)
    assert (found["conforms"], [d["kind"] for d in found["corpora"][0]["differences"]]) == (False, ["extra"])


@pytest.mark.parametrize(
    ("spec", "corpus", "code"),
    [("krat", "one.json", "KMC605"), ("kraft", "none.json", "KMC431"), ("kraft", "empty.json", "KMC432")],
)
def test_conform_that_cannot_compare_says_so_as_json(spec: str, corpus: str, code: str) -> None:
    Path("one.json").write_text(one_source(), encoding="utf-8")
    Path("empty.json").write_text("{}", encoding="utf-8")
    ran = kmc("conform", spec, corpus, "--json")
    found = json.loads(ran.stdout)
    assert (found["conforms"], found["error"]["code"]) == (None, code)
    assert found["exit_status"] == ran.exit_code != 0


def test_conform_keeps_the_corpora_compared_before_a_failure() -> None:
    Path("one.json").write_text(one_source(), encoding="utf-8")
    found = json.loads(kmc("conform", "kraft", "one.json", "none.json", "--json").stdout)
    assert [report["conforms"] for report in found["corpora"]] == [True]


def test_conform_compares_several_corpora() -> None:
    names = ["one.json", "other.json"]
    for name in names:
        Path(name).write_text(one_source(), encoding="utf-8")
    ran = kmc("conform", "kraft", *names, "--json")
    assert [Path(found["corpus"]).name for found in json.loads(ran.stdout)["corpora"]] == names


def simulated(*words: str) -> dict[str, Any]:
    """The object that `kmc simulate ... --json` prints."""
    found: dict[str, Any] = json.loads(kmc("simulate", *words, "--json", "--no-run-dir").stdout)
    varying = ("seconds",)
    return {key: value for key, value in found.items() if key not in varying}


def test_one_seed_gives_the_same_simulation() -> None:
    assert simulated("kraft", "--seed", "5", "--number", "3") == simulated("kraft", "--seed", "5", "--number", "3")


def test_a_simulation_without_a_seed_names_the_one_it_took() -> None:
    first = simulated("kraft", "--number", "3")
    assert simulated("kraft", "--number", "3", "--seed", str(first["seed"])) == first


def test_a_simulation_without_a_seed_says_how_to_reproduce_it() -> None:
    shown = kmc("simulate", COUNTER, "--no-run-dir", "--quiet").stdout
    assert f"Reproduce: kmc simulate {COUNTER} --no-run-dir --quiet --seed " in shown


def test_a_simulation_saves_its_trace() -> None:
    kmc("simulate", COUNTER, "two", "--seed", "1")
    (folder,) = Path(".kmc/runs").iterdir()
    assert kmc("trace", str(folder / "trace.itf.json")).stdout.startswith("Trace of counter, model two, violation of")


def test_a_simulation_starts_at_a_given_state() -> None:
    trace = check_saved(COUNTER, "two") / "trace.itf.json"
    assert simulated(COUNTER, "two", "--from", f"{trace}#2", "--seed", "1")["trace_length"] == 2


def test_a_simulation_that_runs_out_of_time_exits_20() -> None:
    assert kmc("simulate", COUNTER, "--timeout", "0.000001", "--no-run-dir").exit_code == 20
