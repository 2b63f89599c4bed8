"""`kmc eval`: an expression has its value in a state, and a mistake in it is shown at its place."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.commands.cli_runner import COUNTER, kmc
from support.specs.small import model_of

from kmc.errors import CommandLineError
from kmc.frontend.typed_expression import expression

TRACE = str(Path(__file__).parents[2] / "data" / "views" / "own_vote_elects.itf.json")
"""A trace of kip_996."""


def value(*words: str) -> str:
    """What `kmc eval` prints of an expression that has a value."""
    ran = kmc("eval", *words)
    assert (ran.exit_code, ran.stderr) == (0, "")
    return ran.stdout.rstrip("\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "text", "shown"),
    [
        ("#1", "len(net_messages)", "0"),
        ("#1", "{s for s in servers.keys()}", "{s1, s2, s3}"),
        ("#1", "servers[s1].state", "Leader"),
        ("#1", "st.servers[s2].voted_for", "none"),
        ("#1", "{s for s in ServerId if s in servers}", "{s1, s2, s3}"),
        ("#2", "ElectionSafety", "true"),
        ("", "ElectionSafety", "false"),
        ("#1", "count(me.leader == s1 for me in servers.values())", "3"),
        ("#1", "nxt != st", "true"),
    ],
)
def test_an_expression_has_its_value_in_a_state_of_a_trace(where: str, text: str, shown: str) -> None:
    assert value(TRACE + where, text) == shown


@pytest.mark.slow
def test_a_value_that_is_long_is_shown_an_entry_a_line() -> None:
    lines = value(TRACE + "#1", "servers[s1]").splitlines()
    assert lines[0] == "{"
    assert "  config: {id: 1, members: {s1, s2, s3}, committed: true}," in lines
    assert lines[-3:] == ["  flwr_end_offset: {s1: 1, s2: 1, s3: 1},", "  versions_behind: 0", "}"]
    assert max(map(len, lines)) <= 100


def test_the_object_says_what_was_evaluated_where() -> None:
    ran = json.loads(kmc("eval", TRACE + "#2", "len(servers)", "--json").stdout)
    assert ran == {
        "expression": "len(servers)",
        "value": {"#bigint": "3"},
        "spec": "kip_996",
        "model": ran["model"],
        "trace_file": TRACE,
        "state": 2,
        "initial": None,
    }


def test_the_initial_state_of_a_model_is_asked() -> None:
    assert value("die_hard", "solution", "big + small") == "0"
    assert value("die_hard", "BigJug", "--set", "BigJug=4") == "4"
    assert value("die_hard", "OneJugFullOrEmpty") == "true"


def test_the_first_of_several_initial_states_is_named(tmp_path: Path) -> None:
    source = (
        "class State(Record):\n    n: Int(0, 9)\n\n\n"
        "@spec.init\ndef init():\n    for n in {3, 2, 5}:\n        yield State(n=n)\n\n\n"
        "@spec.action\ndef stay(st):\n    yield st\n"
    )
    model_of(tmp_path, source)
    ran = kmc("eval", str(tmp_path / "spec.py"), "n")
    assert (ran.stdout, ran.stderr) == ("2\n", "Evaluated in the first of 3 initial states.\n")


MISTAKES = [
    ("len(servers", 2, "KMC640", "expression:1:4", "'(' was never closed"),
    ("", 2, "KMC640", "expression:1:1", "not an expression"),
    ("len(servers) +", 2, "KMC640", "expression:1:15", "invalid syntax"),
    ("(servers ==\n  )", 2, "KMC640", "expression:2:3", "invalid syntax"),
    ("{(s, s in servers) for s in ServerId}", 2, "KMC643", "expression:1:2", "this is a tuple"),
    ("lambda: 1", 2, "KMC640", "expression:1:1", "lambda"),
    ("servers[s9].state", 2, "KMC641", "expression:1:9", "no name 's9'"),
    ("netMessages", 2, "KMC641", "expression:1:1", "no name 'netMessages'"),
    ("connected", 2, "KMC643", "expression:1:1", "the function connected"),
    ("ServerId", 2, "KMC643", "expression:1:1", "the type ServerId"),
    ("servers[s1].stat", 75, "KMC212", "expression:1:1", "no field 'stat'"),
    ("servers[s1].log.at(7)", 75, "KMC221", "expression:1:1", "no offset 7"),
    ("(servers[s1] ==\n servers[s9])", 2, "KMC641", "expression:2:10", "no name 's9'"),
    ("servers.values()", 2, "KMC643", "expression:1:1", "the values of a map"),
    ("{é for é in ServerId} == ö", 2, "KMC641", "expression:1:26", "no name 'ö'"),
    ("nxt.servers", 2, "KMC644", "expression:1:1", "no state follows state"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "status", "code", "place", "message"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_a_mistake_is_shown_at_its_place(text: str, status: int, code: str, place: str, message: str) -> None:
    ran = kmc("eval", TRACE, text)
    assert (ran.exit_code, ran.stdout) == (status, "")
    lines = ran.stderr.splitlines()
    assert lines[0].startswith(f"error[{code}]: ")
    assert message in lines[0]
    assert lines[1].strip() == f"--> {place}"


def test_a_tla_variable_is_told_from_the_field() -> None:
    ran = kmc("eval", "kraft", "restarts", "currentEpoch[n1]")
    assert "the TLA+ variable 'currentEpoch' is st.servers[...].current_epoch here" in ran.stderr


def test_a_mistake_in_a_helper_is_shown_at_its_line(tmp_path: Path) -> None:
    source = (
        "class State(Record):\n    n: Int(0, 9)\n\n\ndef last(xs):\n    return xs.at(len(xs))\n\n\n"
        "@spec.init\ndef init():\n    yield State(n=0)\n\n\n@spec.action\ndef stay(st):\n    yield st\n"
    )
    model_of(tmp_path, source)
    ran = kmc("eval", str(tmp_path / "spec.py"), "last([])")
    assert ran.exit_code == 75
    assert "spec.py:" in ran.stderr
    assert "return xs.at(len(xs))" in ran.stderr


def test_a_name_of_two_files_is_refused(tmp_path: Path) -> None:
    model = model_of(tmp_path, "class State(Record):\n    n: Int(0, 9)\n\n\n@spec.init\ndef init():\n"
                     "    yield State(n=0)\n\n\n@spec.action\ndef stay(st):\n    yield st\n")  # fmt: skip
    modules = {**model.spec.modules, "other": {**model.spec.modules["spec"], "init": None}}
    with pytest.raises(CommandLineError) as caught:
        expression(replace(model.spec, modules=modules), "init == None")
    assert caught.value.code == "KMC642"


@pytest.mark.parametrize(
    "words",
    [
        ("last",),
        ("die_hard", "solution"),
        (TRACE, "a", "b", "c"),
        (TRACE, "1", "--set", "N=1"),
        ("die_hard", "1", "--spec", "die_hard"),
        ("die_hard", "smoke", "1", "--model", "smoke"),
    ],
)
def test_a_command_line_that_means_nothing_is_refused(words: tuple[str, ...]) -> None:
    assert kmc("eval", *words).exit_code == 2


def test_a_counterexample_of_a_spec_of_ones_own_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert kmc("check", COUNTER, "overflow", "--engine", "python").exit_code == 75
    assert (value("last", "st.count"), value("last#1", "st.count")) == ("3", "0")
    assert "the field of the state is st.count" in kmc("eval", "last", "count").stderr


@pytest.mark.slow
@pytest.mark.parametrize("expression", ["{}", "0 - {}", "{{{}}}", "{} > 0"])
@pytest.mark.parametrize("power", [2_000, 14_284, 14_285, 20_000, 60_000])
def test_an_integer_of_any_length_is_written_in_full(expression: str, power: int) -> None:
    text = expression.format(f"product(2 for x in range({power}))")
    ran, asked = (kmc("eval", "die_hard", "smoke", text, *words) for words in ((), ("--json",)))
    assert (ran.exit_code, asked.exit_code) == (0, 0), ran.stderr + asked.stderr
    sys.set_int_max_str_digits(0)
    try:
        wanted = str(2**power)
    finally:
        sys.set_int_max_str_digits(sys.int_info.default_max_str_digits)
    if ">" not in expression:
        assert wanted in ran.stdout.replace("\n", "").replace(" ", "")
        assert wanted in asked.stdout
