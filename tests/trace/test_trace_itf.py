"""Traces in ITF: what is written, what is read back, and that other readers and writers of the format agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import itf_py
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.views.trace_samples import from_itf_py, in_python, kinds, kraft, trees

from kmc.cli.saved.traced_model import model_of_trace
from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.trace.files import FileStep, TraceFile, read_trace, to_trace, trace_file
from kmc.trace.itf import itf_text, parse_itf

PRINTABLE = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=5)
# Python, and so itf-py, takes TRUE for 1.
INTEGERS_THAT_ARE_NOT_BOOLEANS = st.integers().filter(lambda number: number not in (0, 1))


def file_with(*values: Tla) -> TraceFile:
    """A trace with one variable, `x`."""
    return TraceFile(("x",), tuple(FileStep({"x": value}, "Next" if i else None) for i, value in enumerate(values)))


def written(value: Tla) -> Any:
    """How a value stands in a file."""
    return json.loads(itf_text(file_with(value)))["states"][0]["x"]


def read(value: object) -> Tla:
    """The value that stands in a file as `value`."""
    return parse_itf(json.dumps({"vars": ["x"], "states": [{"x": value}]})).steps[0].variables["x"]


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (True, True),
        (-7, {"#bigint": "-7"}),
        (10**30, {"#bigint": "1" + "0" * 30}),
        ("n1", "n1"),
        (TlaSeq((1, "a")), [{"#bigint": "1"}, "a"]),
        (TlaSet(("a",)), {"#set": ["a"]}),
        (TlaMap((("n1", False),)), {"#map": [["n1", False]]}),
        (TlaMap(()), {"#map": []}),
        (TlaRecord((("epoch", 2), ("to", "n1"))), {"epoch": {"#bigint": "2"}, "to": "n1"}),
    ],
)
def test_a_value_is_written_as_the_format_says(value: Tla, form: object) -> None:
    assert written(value) == form


@pytest.mark.parametrize(
    ("form", "value"),
    [
        (3, 3),
        ({"#tup": [1, "a"]}, TlaSeq((1, "a"))),
        ({"#set": [1, {"#bigint": "1"}]}, TlaSet((1,))),
        ({"#map": [[{"#tup": [1]}, []]]}, TlaMap(((TlaSeq((1,)), TlaSeq(())),))),
        ({"tag": "a"}, TlaRecord((("tag", "a"),))),
    ],
)
def test_what_other_checkers_write_is_read(form: object, value: Tla) -> None:
    assert read(form) == value


@pytest.mark.slow
@given(st.lists(trees(st.integers(), PRINTABLE), min_size=1, max_size=3))
def test_any_values_are_read_back(values: list[Tla]) -> None:
    file = file_with(*values)
    assert repr(parse_itf(itf_text(file)).steps) == repr(file.steps)  # repr, since True == 1


@pytest.mark.slow
@given(trees(INTEGERS_THAT_ARE_NOT_BOOLEANS, PRINTABLE))
def test_itf_py_reads_the_same_value(value: Tla) -> None:
    trace = itf_py.trace_from_json(json.loads(itf_text(file_with(value))))
    assert from_itf_py(trace.states[0].values["x"]) == in_python(value)


@pytest.mark.slow
@given(trees(INTEGERS_THAT_ARE_NOT_BOOLEANS, PRINTABLE))
def test_what_itf_py_writes_is_read_as_the_same_value(value: Tla) -> None:
    trace = itf_py.trace_from_json(json.loads(itf_text(file_with(value))))
    document = json.dumps(itf_py.trace_to_json(trace))
    assert in_python(parse_itf(document).steps[0].variables["x"]) == in_python(value)


def test_itf_py_reads_the_states_of_a_counterexample() -> None:
    file = kraft().file
    trace = itf_py.trace_from_json(json.loads(itf_text(file)))
    seen = [{name: from_itf_py(value) for name, value in state.values.items()} for state in trace.states]
    assert [{name: state[name] for name in file.variables} for state in seen] == [
        {name: in_python(value) for name, value in step.variables.items()} for step in file.steps
    ]


def test_itf_py_reads_the_actions_of_a_counterexample() -> None:
    trace = itf_py.trace_from_json(json.loads(itf_text(kraft().file)))
    assert [state.values["mbt::actionTaken"] for state in trace.states] == [
        "init",
        "RequestVote",
        "HandleRequestVoteRequest",
        "HandleRequestVoteResponse",
        "Restart",
        "BecomeLeader",
        "HandleBeginQuorumRequest",
    ]


def test_the_arguments_are_written_as_picks() -> None:
    states = json.loads(itf_text(kraft().file))["states"]
    assert states[4]["mbt::nondetPicks"] == {"i": "n2"}


def test_the_variables_for_drivers_are_named_with_the_others() -> None:
    file = file_with(1, 2)
    assert json.loads(itf_text(file))["vars"] == ["x", "mbt::actionTaken", "mbt::nondetPicks"]


def test_the_variables_for_drivers_are_not_variables_of_the_state() -> None:
    assert parse_itf(itf_text(file_with(1, 2))).variables == ("x",)


def test_an_empty_function_stays_a_function() -> None:
    states = json.loads(itf_text(kraft().file))["states"]
    assert states[0]["messages"] == {"#map": []}


def test_the_meta_data_name_spec_verdict_and_property() -> None:
    meta = json.loads(itf_text(kraft().file))["#meta"]
    shown = {"format": "ITF", "source": "kraft", "status": "violation"}
    assert shown.items() <= meta.items()
    assert meta["kmc"]["property"] == "NoIllegalState"


def test_what_is_known_about_a_check_is_read_back() -> None:
    file = kraft().file
    assert parse_itf(itf_text(file)).about == file.about


def test_the_same_trace_is_always_written_as_the_same_text() -> None:
    sample = kraft()
    again = trace_file(sample.trace, sample.model, "violation", violated="NoIllegalState")
    assert itf_text(again) == itf_text(sample.file)


def test_a_counterexample_is_read_back_to_the_same_trace() -> None:
    sample = kraft()
    assert to_trace(parse_itf(itf_text(sample.file)), sample.spec) == sample.trace


@pytest.mark.slow
def test_every_state_of_every_kind_is_read_back() -> None:
    sample = kinds()
    document = itf_text(trace_file(sample.all_states, sample.model, "ok"))
    assert [step.state for step in to_trace(parse_itf(document), sample.spec).steps] == sample.states


def test_a_sequence_written_as_a_function_is_a_sequence_of_the_spec() -> None:
    sample = kraft()
    document = json.loads(itf_text(sample.file))
    state = document["states"][0]
    state["log"]["#map"] = [[server, {"#map": []}] for server, _ in state["log"]["#map"]]
    assert to_trace(parse_itf(json.dumps(document)), sample.spec) == sample.trace


def test_a_lasso_is_read_back_with_its_closing_step() -> None:
    steps = tuple(FileStep({"x": x}, "Up" if x else None) for x in range(3))
    closing = FileStep({"x": 1}, "Down", (("by", 1),))
    file = TraceFile(("x",), steps, loop=1, closing=closing)
    assert parse_itf(itf_text(file)) == file


def test_the_picks_of_a_quint_trace_are_the_arguments() -> None:
    state = {
        "x": 1,
        "mbt::actionTaken": "Deposit",
        "mbt::nondetPicks": {
            "who": {"tag": "Some", "value": "alice"},
            "amount": {"tag": "None", "value": {"#tup": []}},
        },
    }
    names = ["x", "mbt::actionTaken", "mbt::nondetPicks", "mbt::actionTaken"]
    first = {**state, "mbt::actionTaken": "init"}
    step = parse_itf(json.dumps({"vars": names, "states": [first, state]})).steps[1]
    assert (step.action, step.arguments) == ("Deposit", (("who", "alice"),))


def test_picks_without_variants_are_the_arguments() -> None:
    state = {"x": 1, "mbt::actionTaken": "Up", "mbt::nondetPicks": {"n": {"#bigint": "3"}}}
    file = parse_itf(json.dumps({"vars": list(state), "states": [state, state]}))
    assert file.steps[1].arguments == (("n", 3),)


def test_the_parameters_of_an_apalache_trace_are_not_variables() -> None:
    document = {"params": ["N"], "vars": ["x"], "states": [{"N": 3, "x": 1}, {"x": 2}]}
    assert parse_itf(json.dumps(document)).variables == ("x",)


REQUEST = TlaRecord((("mtype", "Ping"), ("msource", "n1")))


def test_a_received_message_is_a_pick_and_not_an_argument() -> None:
    step = FileStep({"x": 1}, "Answer", (("i", "n2"),), message=REQUEST)
    text = itf_text(TraceFile(("x",), (FileStep({"x": 0}), step)))
    assert json.loads(text)["states"][1]["mbt::nondetPicks"] == {
        "i": "n2",
        "message": {"mtype": "Ping", "msource": "n1"},
    }
    read = parse_itf(text).steps[1]
    assert (read.arguments, read.message) == ((("i", "n2"),), REQUEST)


def test_a_pick_called_message_that_holds_a_plain_value_is_an_argument() -> None:
    step = FileStep({"x": 1}, "Say", (("message", "hello"),))
    read = parse_itf(itf_text(TraceFile(("x",), (FileStep({"x": 0}), step)))).steps[1]
    assert (read.arguments, read.message) == ((("message", "hello"),), None)


def test_a_check_of_kraft_names_the_message_of_each_reception() -> None:
    file = read_trace(Path(__file__).parents[1] / "data" / "views" / "no_fetches.itf.json")
    model = model_of_trace(file)
    found = trace_file(to_trace(file, model.spec), model, "liveness")
    messages = [step.message for step in found.steps]
    kinds_received = [dict(m.fields)["mtype"] if isinstance(m, TlaRecord) else None for m in messages]
    assert kinds_received == [
        None,
        None,
        "RequestVoteRequest",
        "RequestVoteResponse",
        None,
        None,
        "BeginQuorumRequest",
    ]
    assert [step.message for step in parse_itf(itf_text(found)).steps] == messages
