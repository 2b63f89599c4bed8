"""Traces as text: TLC's style, what is marked as changed, and what is left out when only changes are shown."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.views.trace_samples import DATA, NAMES, kinds, kraft, trees

from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.trace.files import FileStep, TraceFile, trace_file
from kmc.trace.text import WIDTH, Line, render
from kmc.trace.trees import identity, one_line


def file_with(*values: Tla) -> TraceFile:
    """A trace with the variables `x`, which takes these values, and `same`, which stays."""
    steps = [FileStep({"x": value, "same": 0}, "Move" if index else None) for index, value in enumerate(values)]
    return TraceFile(("x", "same"), tuple(steps))


def last_state(*values: Tla, changed_only: bool = False, width: int = WIDTH) -> list[str]:
    """The lines of the last state, without its heading."""
    lines = [line.text for line in render(file_with(*values), changed_only=changed_only, width=width)]
    return lines[lines.index(f"State {len(values)}: <{'Move' if len(values) > 1 else 'Initial predicate'}>") + 1 :]


def function(**pairs: Tla) -> TlaMap:
    """The function with these pairs."""
    return TlaMap(tuple(pairs.items()))


def message(number: int, dest: str = "n1") -> TlaRecord:
    """A message that takes half a line."""
    return TlaRecord((("mtype", "RequestVoteRequest"), ("mepoch", number), ("mdest", dest)))


def test_the_seven_states_of_the_restart_counterexample() -> None:
    lines = [line.text for line in render(kraft().file, changed_only=True)]
    assert lines == (DATA / "restart-changed.txt").read_text(encoding="utf-8").splitlines()


def test_the_whole_states_of_the_restart_counterexample() -> None:
    lines = [line.text for line in render(kraft().file, changed_only=False)]
    shown = lines[
        lines.index("State 3: <HandleRequestVoteRequest>") : lines.index("State 4: <HandleRequestVoteResponse>")
    ]
    assert shown[:-1] == (DATA / "restart-third-state.txt").read_text(encoding="utf-8").splitlines()


def test_the_first_state_is_the_initial_predicate_and_unmarked() -> None:
    assert render(file_with(1), changed_only=False) == [
        Line("State 1: <Initial predicate>"),
        Line(r"  /\ x = 1"),
        Line(r"  /\ same = 0"),
    ]


def test_only_changed_variables_are_marked() -> None:
    assert render(file_with(1, 2), changed_only=False)[4:] == [
        Line("State 2: <Move>"),
        Line(r"* /\ x = 2", changed=True),
        Line(r"  /\ same = 0"),
    ]


def test_unchanged_variables_are_left_out_when_only_changes_are_shown() -> None:
    assert last_state(1, 2, changed_only=True) == [r"* /\ x = 2"]


def test_a_step_that_changes_nothing_says_so() -> None:
    assert last_state(1, 1, changed_only=True) == [r"  /\ UNCHANGED vars"]


def test_a_step_that_changes_no_chosen_variable_names_those() -> None:
    file = replace(file_with(1, 2), variables=("same",))
    assert render(file, changed_only=True)[-1] == Line(r"  /\ UNCHANGED <<same>>")


def test_true_is_not_one() -> None:
    assert last_state(1, True, changed_only=True) == [r"* /\ x = TRUE"]


def test_true_inside_a_function_is_not_one() -> None:
    assert last_state(function(a=1, b=0), function(a=True, b=0), changed_only=True) == [r"* /\ x = (... @@ a :> TRUE)"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TlaSet((1, 2)), TlaSet((2, 1))),
        (TlaMap(()), TlaSeq(())),
        (TlaMap(((2, "b"), (1, "a"))), TlaSeq(("a", "b"))),
        (TlaRecord((("f", 1), ("g", 2))), TlaRecord((("g", 2), ("f", 1)))),
    ],
)
def test_a_value_written_otherwise_has_not_changed(before: Tla, after: Tla) -> None:
    assert last_state(before, after, changed_only=True) == [r"  /\ UNCHANGED vars"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (TlaMap(()), "<<>>"),
        (TlaMap(((1, "a"), (2, "b"))), "<<a, b>>"),
        (TlaMap(((2, "b"), (1, "a"))), "<<a, b>>"),
        (TlaMap(((2, "b"),)), "(2 :> b)"),
        (TlaMap(((True, "b"),)), "(TRUE :> b)"),
        (function(n1=TlaSet(()), n2=TlaSet(("n1",))), "(n1 :> {} @@ n2 :> {n1})"),
        (message(2), "[mtype |-> RequestVoteRequest, mepoch |-> 2, mdest |-> n1]"),
        (TlaSeq((False, TlaSeq(()))), "<<FALSE, <<>>>>"),
    ],
)
def test_a_value_is_shown_as_tlc_shows_it(value: Tla, shown: str) -> None:
    assert last_state(value)[0] == rf"  /\ x = {shown}"


def test_a_long_function_has_one_entry_per_line_and_marks_the_changed_ones() -> None:
    before = TlaMap(((message(1), 1), (message(2), 1)))
    after = TlaMap(((message(1), 0), (message(2), 1), (message(3), 1)))
    assert last_state(before, after)[:4] == [
        r"* /\ x = (",
        "*     [mtype |-> RequestVoteRequest, mepoch |-> 1, mdest |-> n1] :> 0 @@",
        "      [mtype |-> RequestVoteRequest, mepoch |-> 2, mdest |-> n1] :> 1 @@",
        "*     [mtype |-> RequestVoteRequest, mepoch |-> 3, mdest |-> n1] :> 1 )",
    ]


def test_a_long_sequence_marks_the_changed_elements() -> None:
    before, after = (TlaSeq((message(1), message(last))) for last in (2, 3))
    assert last_state(before, after, width=80)[:3] == [
        r"* /\ x = <<",
        "      [mtype |-> RequestVoteRequest, mepoch |-> 1, mdest |-> n1],",
        "*     [mtype |-> RequestVoteRequest, mepoch |-> 3, mdest |-> n1] >>",
    ]


def test_of_a_function_only_the_changed_entries_are_shown() -> None:
    assert last_state(function(a=1, b=1, c=1), function(a=1, b=2, c=1), changed_only=True) == [
        r"* /\ x = (... @@ b :> 2)"
    ]


def test_of_a_function_of_functions_only_the_changed_entries_are_shown() -> None:
    before = function(a=function(a=1, b=1), b=function(a=1, b=1))
    after = function(a=function(a=1, b=1), b=function(a=1, b=2))
    assert last_state(before, after, changed_only=True) == [r"* /\ x = (... @@ b :> (... @@ b :> 2))"]


def test_of_a_function_on_numbers_the_changed_entries_have_their_number() -> None:
    before, after = (TlaMap(((1, "a"), (2, value))) for value in ("b", "c"))
    assert last_state(before, after, changed_only=True) == [r"* /\ x = (... @@ 2 :> c)"]


def test_a_sequence_that_became_another_function_is_compared_offset_by_offset() -> None:
    before, after = TlaSeq(("a", "b", "c")), TlaMap(((1, "a"), (2, "d"), (4, "e")))
    assert last_state(before, after, changed_only=True) == [r"* /\ x = (... @@ 2 :> d @@ 4 :> e)", "-     3 :> c"]


def test_of_a_record_only_the_changed_fields_are_shown() -> None:
    assert last_state(message(1), message(2), changed_only=True) == [r"* /\ x = [..., mepoch |-> 2]"]


def test_a_record_with_other_fields_is_shown_whole() -> None:
    after = TlaRecord((("mtype", "Vote"), ("mdest", "n1")))
    assert last_state(message(1), after, changed_only=True) == [r"* /\ x = [mtype |-> Vote, mdest |-> n1]"]


def test_a_function_that_was_empty_is_shown_whole() -> None:
    assert last_state(TlaSeq(()), function(a=1), changed_only=True) == [r"* /\ x = (a :> 1)"]


def test_a_short_set_is_shown_whole() -> None:
    assert last_state(TlaSet(("a",)), TlaSet(("a", "b")), changed_only=True) == [r"* /\ x = {a, b}"]


def test_of_a_long_set_only_the_new_elements_are_shown() -> None:
    before = TlaSet((message(1), message(2)))
    after = TlaSet((message(1), message(2), message(3)))
    assert last_state(before, after, changed_only=True) == [
        r"* /\ x = {...,",
        "*     [mtype |-> RequestVoteRequest, mepoch |-> 3, mdest |-> n1] }",
    ]


def test_removed_elements_of_a_set_are_listed() -> None:
    before = TlaSet((message(1), message(2), message(3)))
    after = TlaSet((message(2), message(3)))
    assert last_state(before, after, changed_only=True, width=80) == [
        r"* /\ x = {...}",
        "-     [mtype |-> RequestVoteRequest, mepoch |-> 1, mdest |-> n1]",
    ]


def test_removed_entries_of_a_function_are_listed() -> None:
    assert last_state(function(a=1, b=2), function(b=3), changed_only=True) == [r"* /\ x = (b :> 3)", "-     a :> 1"]


def test_removed_entries_of_an_inner_function_are_listed_there() -> None:
    before = function(a=function(c=1, d=2), b=0)
    after = function(a=function(d=2), b=0)
    assert last_state(before, after, changed_only=True) == [
        r"* /\ x = (... @@",
        "*     a :> (...) )",
        "-         c :> 1",
    ]


def test_a_record_that_holds_what_was_removed_shows_it_whole() -> None:
    before, after = (TlaRecord((("f", inner), ("g", 1))) for inner in (function(a=1, b=2), function(b=2)))
    assert last_state(before, after, changed_only=True) == [r"* /\ x = [..., f |-> (b :> 2)]"]


def test_what_was_removed_is_not_listed_among_whole_states() -> None:
    assert last_state(function(a=1, b=2), function(b=2))[:2] == [r"* /\ x = (b :> 2)", r"  /\ same = 0"]


def test_a_long_record_is_cut_behind_commas() -> None:
    assert last_state(message(1), width=40)[:2] == [
        r"  /\ x = [mtype |-> RequestVoteRequest,",
        "      mepoch |-> 1, mdest |-> n1]",
    ]


def test_a_long_record_of_records_has_one_field_per_line() -> None:
    assert last_state(TlaRecord((("n1", message(1)), ("n2", message(2)))), width=80)[:3] == [
        r"  /\ x = [",
        "      n1 |-> [mtype |-> RequestVoteRequest, mepoch |-> 1, mdest |-> n1],",
        "      n2 |-> [mtype |-> RequestVoteRequest, mepoch |-> 2, mdest |-> n1] ]",
    ]


@pytest.mark.slow
@given(st.lists(trees(st.integers(), NAMES), min_size=1, max_size=3), st.booleans())
def test_a_line_is_marked_as_changed_when_its_first_column_is(values: list[Tla], changed_only: bool) -> None:
    for line in render(file_with(*values), changed_only=changed_only, width=30):
        assert line.changed == (line.text[:1] in ("*", "-"))


@pytest.mark.slow
@given(trees(st.integers(), NAMES))
def test_a_value_cut_into_lines_is_the_value(value: Tla) -> None:
    cut = last_state(value, width=20)[:-1]
    assert "".join(" ".join(cut).split()) == "".join(rf"/\ x = {one_line(value)}".split())


@pytest.mark.slow
@given(trees(st.integers(), NAMES), trees(st.integers(), NAMES))
def test_a_change_is_never_left_out(before: Tla, after: Tla) -> None:
    unchanged = last_state(before, after, changed_only=True) == [r"  /\ UNCHANGED vars"]
    assert unchanged == (identity(before) == identity(after))


def test_a_real_trace_keeps_to_the_width() -> None:
    sample = kinds()
    lines = render(trace_file(sample.trace, sample.model, "deadlock"), changed_only=False, width=60)
    assert max(len(line.text) for line in lines) <= 60


def test_an_action_is_shown_with_its_arguments() -> None:
    steps = (FileStep({"x": 1}), FileStep({"x": 1}, "SendFetchRequest", (("i", "n2"), ("j", "n1"))))
    assert Line("State 2: <SendFetchRequest(n2, n1)>") in render(TraceFile(("x",), steps), changed_only=False)


def test_a_lasso_names_the_state_it_goes_back_to() -> None:
    file = replace(file_with(1, 2, 3), loop=1, closing=FileStep({}, "Down", (("by", 1),)))
    assert render(file, changed_only=True)[-2:] == [Line(""), Line("Back to state 2: <Down(1)>")]


def test_a_lasso_of_unknown_action_names_the_state_it_goes_back_to() -> None:
    assert render(replace(file_with(1, 2), loop=0), changed_only=True)[-1] == Line("Back to state 1")


def test_a_trace_that_stutters_says_so() -> None:
    assert render(replace(file_with(1, 2), loop=1), changed_only=True)[-1] == Line("State 3: Stuttering")
