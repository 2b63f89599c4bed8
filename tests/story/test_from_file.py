"""A trace file without its spec has a story: processes and messages by their shape, and never an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.story.from_file import story_of_file
from kmc.story.parts.story import Change
from kmc.trace.untyped_trace import FileStep, TraceFile


def vote(source: str, dest: str, term: int) -> TlaRecord:
    """A request of another author's Raft."""
    return TlaRecord((("mtype", "Vote"), ("mterm", term), ("msource", source), ("mdest", dest)))


def by_server(one: Tla, other: Tla) -> TlaMap:
    """A function of two servers."""
    return TlaMap((("r1", one), ("r2", other)))


RAFT = TraceFile(
    variables=("term", "log", "msgs"),
    steps=(
        FileStep({"term": by_server(1, 1), "log": by_server(TlaSeq(()), TlaSeq(())), "msgs": TlaSet(())}),
        FileStep(
            {"term": by_server(2, 1), "log": by_server(TlaSeq(()), TlaSeq(())), "msgs": TlaSet((vote("r1", "r2", 2),))},
            "Timeout",
            (("i", "r1"),),
        ),
        FileStep({"term": by_server(2, 2), "log": by_server(TlaSeq(()), TlaSeq(())), "msgs": TlaSet(())}, "Receive"),
    ),
    loop=1,
    about={"property": "OneLeader", "status": "violation"},
)


def test_processes_messages_and_changes_are_recognized() -> None:
    story = story_of_file(RAFT)
    assert story.lanes == ("r1", "r2")
    assert story.of_lane == ("term", "log")
    assert [(column.title, column.length) for column in story.columns] == [("term", False), ("log", True)]
    assert story.networks == ("msgs",)
    assert [(m.brief, m.sent_at, m.gone_at, m.received_at) for m in story.messages] == [
        ("Vote r1 -> r2, term 2", 2, 3, ())
    ]
    assert [(step.label, step.actor) for step in story.steps] == [
        ("Initial state", None),
        ("Timeout(r1)", "r1"),
        ("Receive", "r2"),
    ]
    assert story.steps[2].changes == (Change(("term", "r2"), "r2", "1", "2"),)
    assert story.loop is not None
    assert story.loop.back_to == 2
    assert story.why is not None
    assert story.why.sentence == "OneLeader fails (violation)."


def test_records_of_an_ambiguous_format_can_be_functions_of_processes() -> None:
    state = {"term": TlaRecord((("r1", 1), ("r2", 1))), "role": TlaRecord((("r1", "F"), ("r2", "F")))}
    after = {**state, "term": TlaRecord((("r1", 2), ("r2", 1)))}
    story = story_of_file(TraceFile(("term", "role"), (FileStep(state), FileStep(after, "Next")), ambiguous=True))
    assert story.lanes == ("r1", "r2")
    assert story.steps[1].changes == (Change(("term", "r1"), "r1", "1", "2"),)


VALUES = st.recursive(
    st.booleans() | st.integers(0, 3) | st.sampled_from(["r1", "r2", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: TlaSet(tuple(items)))
        | st.lists(inner, max_size=3).map(lambda items: TlaSeq(tuple(items)))
        | st.lists(st.tuples(inner, inner), max_size=3).map(lambda pairs: TlaMap(tuple(pairs)))
        | st.dictionaries(st.sampled_from(["source", "dest", "type", "r1"]), inner, max_size=4).map(
            lambda fields: TlaRecord(tuple(fields.items()))
        )
    ),
    max_leaves=6,
)


@pytest.mark.slow
@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=4), st.booleans())
def test_any_trace_has_a_story(states: list[tuple[Tla, Tla]], loops: bool) -> None:
    steps = tuple(FileStep({"a": a, "b": b}, None if n == 0 else "Next") for n, (a, b) in enumerate(states))
    story = story_of_file(TraceFile(("a", "b"), steps, loop=0 if loops else None))
    assert len(story.steps) == len(states)
