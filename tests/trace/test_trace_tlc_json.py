"""Traces in TLC's JSON: what is written, and how a spec's types settle what the format leaves open.

tests/data/traces holds files that TLC wrote, cut to a few states or variables.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.views.trace_samples import DATA, NAMES, kinds, kraft, trees

from kmc.actions.relation import NextStateRelation
from kmc.errors import Span, TraceError
from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.reference.states.initial import initial_states
from kmc.trace.files import FileStep, TraceFile, resolved, to_trace, trace_file
from kmc.trace.tla_text import parse_value
from kmc.trace.tlc_json import parse_tlc_json, tlc_json_text
from kmc.trace.trees import identity, one_line

THREE_STATES = (DATA / "tlc-three-states.json").read_text(encoding="utf-8")
LASSO = (DATA / "tlc-lasso.json").read_text(encoding="utf-8")


def written(value: Tla) -> Any:
    """How a value stands in a file."""
    file = TraceFile(("x",), (FileStep({"x": value}),))
    return json.loads(tlc_json_text(file))["counterexample"]["state"][0][1]["x"]


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (True, True),
        (-7, -7),
        ("n1", "n1"),
        (TlaSet((1, 2)), [1, 2]),
        (TlaSeq((1, "a")), [1, "a"]),
        (TlaMap(()), []),
        (TlaMap(((2, "b"), (1, "a"))), ["a", "b"]),
        (TlaMap((("n1", 0), ("n2", 1))), {"n1": 0, "n2": 1}),
        (TlaMap(((1, 0), (3, 0))), {"1": 0, "3": 0}),
        (TlaMap(((TlaSet(("a", "b")), True),)), {"{a, b}": True}),
        (TlaMap(((TlaRecord((("f", TlaSeq(())), ("g", "a"))), 1),)), {"[f |-> <<>>, g |-> a]": 1}),
        (TlaMap(((TlaMap(((1, "a"),)), 1), ("n", 2))), {"<<a>>": 1, "n": 2}),
        (TlaRecord((("epoch", 2), ("to", "n1"))), {"epoch": 2, "to": "n1"}),
    ],
)
def test_a_value_is_written_as_tlc_writes_it(value: Tla, form: object) -> None:
    assert written(value) == form


@pytest.mark.slow
@given(trees(st.integers(), NAMES))
def test_a_value_in_one_line_is_read_back(value: Tla) -> None:
    assert identity(parse_value(one_line(value))) == identity(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('[n |-> "t", p |-> <<1, "x y">>]', TlaRecord((("n", "t"), ("p", TlaSeq((1, "x y")))))),
        (r'{"a\"q"}', TlaSet(('a"q',))),
        ("(a :> 1 @@ b :> (c :> -2))", TlaMap((("a", 1), ("b", TlaMap((("c", -2),)))))),
        ("<<<<>>, {}>>", TlaSeq((TlaSeq(()), TlaSet(())))),
        ("TRUE", True),
        ("TRUEISH", "TRUEISH"),
        ("2a", "2a"),
    ],
)
def test_a_key_is_read_as_tlc_writes_it(text: str, value: Tla) -> None:
    assert parse_value(text) == value


@pytest.mark.parametrize(
    "text",
    ["", "{", "{a", "{a,}", "<<a}", "[a]", "[a |-> 1, a |-> 2]", "(a)", "()", "(a :> 1 @@ a :> 2)", "a b", "a ^"],
)
def test_what_is_not_a_value_is_refused(text: str) -> None:
    with pytest.raises(TraceError) as caught:
        parse_value(text)
    assert caught.value.code == "KMC423"


LONG = "{" + "a" * 59


@pytest.mark.parametrize(
    ("text", "shown", "found"),
    [
        ("{a", "{a", "the end"),
        ("a b", "a b", "'b'"),
        ("a  ^ c", "a  ^ c", "'^'"),
        ("", "", "the end"),
        (", a :> 1)", ", a :> 1)", "','"),
        ("{a :> b}", "{a :> b}", "':>'"),
        ("{a b}", "{a b}", "'b'"),
        ("[a, 1]", "[a, 1]", "','"),
        ("(a |-> 1)", "(a |-> 1)", "'|->'"),
        ("[a := 1]", "[a := 1]", "':'"),
        ("[a |-> 1, a |-> 2]", "[a |-> 1, a |-> 2]", "'a'"),
        ("[1 |-> 1]", "[1 |-> 1]", "'1'"),
        ("(a :> 1 @@ a :> 2)", "(a :> 1 @@ a :> 2)", "')'"),
        (LONG, LONG, "the end"),
        (LONG + "b", LONG[:57] + "...", "the end"),
    ],
)
def test_the_part_that_is_unexpected_is_named(text: str, shown: str, found: str) -> None:
    with pytest.raises(TraceError) as caught:
        parse_value(text)
    assert caught.value.message == f'"{shown}" is not a TLA+ value: {found} is unexpected'


@pytest.mark.parametrize(("opening", "closing"), [("<<", ">>"), ("{", "}"), ("[f |-> ", "]"), ("(k :> ", ")")])
def test_values_are_nested_a_hundred_levels_and_not_deeper(opening: str, closing: str) -> None:
    assert one_line(parse_value(opening * 100 + "n" + closing * 100)).count("n") == 1
    with pytest.raises(TraceError):
        parse_value(opening * 101 + "n" + closing * 101)


def test_keys_are_nested_a_hundred_levels_and_not_deeper() -> None:
    assert parse_value("(" * 100 + "n" + " :> 1)" * 100)
    with pytest.raises(TraceError):
        parse_value("(" * 101 + "n" + " :> 1)" * 101)


def test_a_place_without_an_end_is_one_character() -> None:
    step = FileStep({"x": 1}, "Act", location=Span("Spec", 3, 5))
    document = json.loads(tlc_json_text(TraceFile(("x",), (FileStep({"x": 0}), step))))
    assert document["counterexample"]["action"][0][1]["location"] == {
        "beginLine": 3,
        "beginColumn": 5,
        "endLine": 3,
        "endColumn": 5,
        "module": "Spec",
    }


def test_a_value_nested_without_end_is_refused() -> None:
    with pytest.raises(TraceError) as caught:
        parse_value("<<" * 5000)
    assert caught.value.code == "KMC423"


@pytest.mark.parametrize("document", [THREE_STATES, LASSO], ids=["finite", "lasso"])
def test_what_tlc_wrote_is_written_again_as_it_was(document: str) -> None:
    ours, theirs = (json.loads(text) for text in (tlc_json_text(parse_tlc_json(document)), document))
    assert json.dumps(ours["counterexample"]) == json.dumps(theirs["counterexample"])
    assert sorted(ours["vars"]) == sorted(theirs["vars"])


def test_a_trace_of_tlc_is_a_run_of_the_spec() -> None:
    sample = kraft()
    trace = to_trace(parse_tlc_json(THREE_STATES), sample.spec)
    relation = NextStateRelation(sample.spec.actions, sample.spec.state_class, sample.spec.files)
    assert [step.label for step in trace.steps] == ["Initial predicate", "RequestVote(n1)", "HandleRequestVoteRequest"]
    assert trace.steps[0].state in initial_states(sample.model)
    for before, step in zip(trace.steps, trace.steps[1:], strict=False):
        labels = [action.label(given) for action, given, after in relation.steps(before.state) if after == step.state]
        assert step.label in labels


def test_the_types_of_a_spec_settle_what_tlc_leaves_open() -> None:
    step = resolved(parse_tlc_json(THREE_STATES), kraft().spec).steps[1]
    assert step.variables["votesGranted"] == TlaMap((("n1", TlaSet(("n1",))), ("n2", TlaSet(())), ("n3", TlaSet(()))))
    assert step.variables["log"] == TlaMap((("n1", TlaSeq(())), ("n2", TlaSeq(())), ("n3", TlaSeq(()))))
    request: dict[str, Tla] = {"mtype": "RequestVoteRequest", "mepoch": 2, "mdest": "n2"}
    request |= {"mlastLogEpoch": 0, "mlastLogOffset": 0}
    messages = step.variables["messages"]
    assert isinstance(messages, TlaMap)
    assert messages.pairs[0] == (TlaRecord((*request.items(), ("msource", "n1"))), 1)


def test_a_trace_is_ambiguous_until_it_is_resolved() -> None:
    file = parse_tlc_json(THREE_STATES)
    assert (file.ambiguous, resolved(file, kraft().spec).ambiguous) == (True, False)


def test_without_a_spec_objects_with_other_keys_than_names_are_functions() -> None:
    variables = parse_tlc_json(LASSO).steps[0].variables
    assert variables["f"] == TlaRecord((("a", 1), ("b", "Nil")))
    assert variables["h"] == TlaMap(((1, TlaSeq(())), (3, TlaSeq(()))))


def test_a_counterexample_is_read_back_to_the_same_trace() -> None:
    sample = kraft()
    assert to_trace(parse_tlc_json(tlc_json_text(sample.file)), sample.spec) == sample.trace


@pytest.mark.slow
def test_every_state_of_every_kind_is_read_back() -> None:
    sample = kinds()
    document = tlc_json_text(trace_file(sample.all_states, sample.model, "ok"))
    assert [step.state for step in to_trace(parse_tlc_json(document), sample.spec).steps] == sample.states


@pytest.mark.slow
def test_hundreds_of_states_of_a_real_spec_are_read_back() -> None:
    sample = kraft()
    document = tlc_json_text(trace_file(sample.all_states, sample.model, "ok"))
    assert [step.state for step in to_trace(parse_tlc_json(document), sample.spec).steps] == sample.states


@pytest.mark.slow
def test_resolving_gives_the_values_that_were_written() -> None:
    sample = kinds()
    file = trace_file(sample.all_states, sample.model, "ok")
    found = resolved(parse_tlc_json(tlc_json_text(file)), sample.spec)
    assert [step.variables for step in found.steps] == [step.variables for step in file.steps]


def test_the_back_edge_of_a_lasso_is_its_loop() -> None:
    file = parse_tlc_json(LASSO)
    assert (file.loop, file.closing and file.closing.action) == (1, "Down")


def test_a_stuttering_trace_repeats_the_last_action_as_tlc_does() -> None:
    steps = (FileStep({"x": 0}), FileStep({"x": 1}, "Up", (("by", 1),)))
    document = tlc_json_text(TraceFile(("x",), steps, loop=1))
    source, action, target = json.loads(document)["counterexample"]["action"][-1]
    assert (source[0], action, target[0]) == (2, {"name": "Up", "context": {"by": 1}, "parameters": ["by"]}, 2)


def test_a_stuttering_trace_is_read_back() -> None:
    file = TraceFile(("x",), (FileStep({"x": 0}), FileStep({"x": 1}, "Up")), loop=1, ambiguous=True)
    assert parse_tlc_json(tlc_json_text(file)) == file


def test_an_action_is_written_with_its_place_in_the_spec() -> None:
    action = json.loads(tlc_json_text(kraft().file))["counterexample"]["action"][0][1]
    place = action["location"]
    source = (kraft().spec.root / f"{place['module']}.py").read_text(encoding="utf-8").splitlines()
    assert source[place["beginLine"] - 1][place["beginColumn"] - 1 : place["endColumn"]] == "request_vote"


def test_no_path_of_this_machine_is_kept_in_a_trace() -> None:
    assert {step.location.path for step in kraft().file.steps if step.location} == {"actions"}


def test_arguments_are_taken_by_position_where_names_differ() -> None:
    document = THREE_STATES.replace(
        '"context":{"i":"n1"},"parameters":["i"]', '"context":{"s":"n1"},"parameters":["s"]'
    )
    assert document != THREE_STATES
    assert to_trace(parse_tlc_json(document), kraft().spec).steps[1].label == "RequestVote(n1)"
