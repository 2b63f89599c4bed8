"""Every view of a counterexample, read back: what all of them say of its processes, messages and steps.

A view is read by a parser where Python has one, else by a grammar of `diagram_readers`. What it must say is computed
here from the states, so that a story which forgets a process or a message is found too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from io import StringIO
from pathlib import Path
from runpy import run_path
from typing import Any

import itf_py
import networkx
import pytest
from support.views.diagram_readers import (
    read_dot,
    read_json,
    read_markdown_tables,
    read_mermaid,
    read_page,
    read_shiviz,
)
from support.views.trace_samples import from_itf_py, in_python

from kmc.frontend.model import Model
from kmc.lang.networks import MessageBagValue, MessageSetValue
from kmc.lang.records import Message
from kmc.lang.tla import encode
from kmc.model_files.model_file import render_cfg
from kmc.reference.recurrence import RecordedFailure
from kmc.result import Violation
from kmc.story.counterexample import story_of
from kmc.story.from_file import story_of_file
from kmc.story.parts.in_words import in_words
from kmc.story.parts.lanes import table_for_people
from kmc.story.parts.story import SentMessage, Story, StoryStep
from kmc.story.regression import RegressionTest, complaint_of, regression_test
from kmc.story.retaken import retake
from kmc.trace.files import trace_file
from kmc.trace.itf import itf_text, parse_itf
from kmc.trace.text import render
from kmc.trace.tlc_json import parse_tlc_json, tlc_json_text
from kmc.trace.trees import identity
from kmc.trace.untyped_trace import TraceFile
from kmc.views.markdown import markdown_text
from kmc.views.mermaid import mermaid_text
from kmc.views.page.page import page
from kmc.views.pytest_file import pytest_text
from kmc.views.shiviz import shiviz_text
from kmc.views.story_json import story_json_text
from kmc.views.text_options import TextOptions
from kmc.views.text_view import VIEWS, text_step, text_view
from kmc.views.trace_graph import trace_dot, trace_graphml

WIDTHS = (38, 100)


def told_in_every_view(model: Model, violation: Violation) -> Story:
    """The story of a counterexample; AssertionError unless every view of it says what the states say."""
    file = file_of(model, violation)
    story = story_of(model, violation, file.about)
    check_story(model, violation, story)
    check_views(story)
    check_files(file)
    alone = story_of_file(file)
    assert len(alone.steps) == len(story.steps)
    check_views(alone)
    return story


def file_of(model: Model, violation: Violation) -> TraceFile:
    """The trace of a violation, as a check saves it."""
    cycle = violation.refutation.cycle if violation.refutation is not None else None
    loop, closing = (cycle.back_to - 1, cycle.closing) if cycle is not None else (None, None)
    status = violation.verdict.value
    return trace_file(violation.trace, model, status, violated=violation.name, loop=loop, closing=closing)


def check_story(model: Model, violation: Violation, story: Story) -> None:
    """AssertionError unless the story names each process once, and follows each message from state to state."""
    states = [step.state for step in violation.trace.steps]
    naming = table_for_people(model.spec).naming
    assert len({*story.lanes}) == len(story.lanes), story.lanes
    assert "none" not in story.lanes
    there = [list(_messages(model, state)) for state in states]
    ends = [end for state in there for message in state for end in _ends(message)]
    names = {in_words(encode(end, naming)) for end in ends if end is not None}
    assert names <= {*story.lanes}, (names, story.lanes)
    for name in story.of_lane:
        for step in story.steps:
            keys = getattr(step.variables[name], "pairs", ())
            assert {in_words(key) for key, _ in keys} <= {*story.lanes}, name
    for step, state in zip(story.steps, states, strict=True):
        _check_messages(story, step, state, model)
        assert step.actor is None or step.actor in story.lanes, step
        for change in step.changes:
            assert change.lane is None or change.lane in story.lanes, change
            assert change.lane is None or change.lane in change.path[1:], change


def _check_messages(story: Story, step: StoryStep, state: Any, model: Model) -> None:
    """AssertionError unless the messages that can be delivered after a step are those of its state."""
    naming = table_for_people(model.spec).naming
    names = {variable.name: variable.field for variable in table_for_people(model.spec).variables}
    wanted = []
    for name in story.networks:
        for message, count in _counts(getattr(state, names[name])):
            source, dest = (None if end is None else in_words(encode(end, naming)) for end in _ends(message))
            wanted += [(identity(encode(message, naming)), source, dest)] * count
    shown = [
        (identity(m.value), m.source, m.dest)
        for m in story.messages
        if m.sent_at <= step.number and (m.gone_at is None or m.gone_at > step.number)
    ]
    assert sorted(map(repr, shown)) == sorted(map(repr, wanted)), step.number


def _messages(model: Model, state: Any) -> Iterator[Message]:
    for field in model.spec.state_class.fields:
        value = getattr(state, field)
        if isinstance(value, MessageSetValue | MessageBagValue):
            yield from (message for message in value if isinstance(message, Message))


def _counts(network: Any) -> list[tuple[Any, int]]:
    if isinstance(network, MessageBagValue):
        return list(network.counts())
    return [(message, 1) for message in network]


def _ends(message: Any) -> tuple[Any, Any]:
    if not isinstance(message, Message):
        return None, None
    cls: Any = type(message)
    source, dest = (getattr(message, end) if end else None for end in (cls.source_field, cls.dest_field))
    return source, dest


def check_views(story: Story) -> None:
    """AssertionError unless every view of a story is read by its reader and says the same."""
    _check_json(story)
    _check_page(story)
    _check_shiviz(story)
    _check_mermaid(story)
    _check_graphs(story)
    _check_markdown(story)
    _check_texts(story)


def steps_of(story: Story) -> list[StoryStep]:
    """The steps after the first state, with the one that closes a cycle."""
    closing = story.loop.closing if story.loop is not None else None
    return [*story.steps[1:], *([closing] if closing is not None else [])]


def _check_json(story: Story) -> None:
    found = read_json(story_json_text(story))
    assert found["lanes"] == [*story.lanes]
    assert [step["label"] for step in found["steps"]] == [step.label for step in story.steps]
    ends = [(m["kind"], m["source"], m["dest"]) for m in found["messages"]]
    assert ends == [(m.kind, m.source, m.dest) for m in story.messages]
    assert [[*step["variables"]] for step in found["steps"]] == [[*step.variables] for step in story.steps]


def _check_page(story: Story) -> None:
    data, text = read_page(page(story))
    assert data["lanes"] == [*story.lanes]
    assert [(m["number"], m["source"], m["dest"]) for m in data["messages"]] == [
        (m.number, m.source, m.dest) for m in story.messages
    ]
    assert [step["label"] for step in data["steps"]] == [step.label for step in story.steps]
    for step in data["steps"]:
        assert [*step["state"]] == [*story.steps[0].variables]
        assert all(0 <= index < len(data["values"]) for index in step["state"].values())
    assert story.why is None or not story.why.property or story.why.property in text


def _check_shiviz(story: Story) -> None:
    events = read_shiviz(shiviz_text(story))
    steps = steps_of(story)
    hosts = {host for _, host, _ in events}
    acting = [
        lane for lane in story.lanes if any(lane == s.actor or lane in {c.lane for c in s.changes} for s in steps)
    ]
    assert len(hosts - {"system"}) >= len(acting) - 1
    assert len(hosts) >= len(acting)
    assert len(events) >= len(steps)
    for step in steps:
        event = next(text for text, _, _ in events if text.startswith(f"{step.number} "))
        assert " ".join(step.label.split()) in event


def _check_mermaid(story: Story) -> None:
    found = read_mermaid(mermaid_text(story))
    names = [" ".join(lane.split()) for lane in story.lanes]
    assert list(found.names.values())[-len(names) or len(found.names) :] == names
    notes = "\n".join(text for _, text in found.notes)
    for step in steps_of(story):
        assert " ".join(step.label.split()) in notes, step.label
    ids = {lane: f"p{index}" for index, lane in enumerate(story.lanes, start=1)}
    received, lost = [], []
    for step in steps_of(story):
        if step.received is not None:
            received.append(_ends_of_arrow(story, story.message(step.received), step))
        lost += [_ends_of_arrow(story, story.message(number), None) for number in step.lost]
    for kind, expected in (("->>", received), ("-x", lost)):
        arrows = [(source, dest) for source, drawn, dest, _ in found.arrows if drawn == kind]
        assert arrows == [(ids[a], ids[b]) for a, b in expected if a in ids and b in ids]
    assert len(found.loops) == (1 if story.loop is not None else 0)


def _ends_of_arrow(story: Story, message: SentMessage, receiving: StoryStep | None) -> tuple[str, str]:
    """The names of the processes at both ends of an arrow, empty where there is none."""
    sender = message.source or (story.steps[message.sent_at - 1].actor if message.dest is None else None)
    receiver = message.dest or (receiving.actor if receiving is not None else None)
    return sender or "", receiver or ""


def _check_graphs(story: Story) -> None:
    graph = read_dot(trace_dot(story))
    assert [*graph.nodes] == [str(step.number) for step in story.steps]
    actions = [step.label for step in steps_of(story)]
    if story.loop is not None and story.loop.closing is None:
        actions.append("stuttering")
    assert [attributes["label"] for _, _, attributes in graph.edges] == actions
    read = networkx.read_graphml(StringIO(trace_graphml(story)), force_multigraph=True)
    assert read.number_of_nodes() == len(story.steps)
    assert sorted(data["action"] for *_, data in read.edges(data=True)) == sorted(actions)


def _check_markdown(story: Story) -> None:
    text = markdown_text(story)
    tables = read_markdown_tables(text)
    if story.lanes and story.columns:
        (table,) = tables
        assert [row[0] for row in table[2:]] == [*story.lanes]
        assert table[0][1:] == [column.title for column in story.columns]
    else:
        assert tables == []
    for step in steps_of(story):
        assert f"\n{step.number}. **" in text


def _check_texts(story: Story) -> None:
    for width in WIDTHS:
        for view in VIEWS:
            lines = [found.text for found in text_view(story, view, TextOptions(width))]
            wide = [line for line in lines if len(line) > width or "\n" in line]
            assert wide == [], (view, width)
            _check_text(story, view, lines, width)
        last = [found.text for found in text_step(story, len(story.steps), TextOptions(width))]
        assert max(map(len, last)) <= width


def _check_text(story: Story, view: str, lines: list[str], width: int) -> None:
    text = "\n".join(lines)
    for step in story.steps if len(story.steps) > 1 else ():
        assert any(line.lstrip("+| ").startswith(f"{step.number} ") for line in lines), (view, step.number)
    if view == "chart" and story.lanes and width == max(WIDTHS):
        squeezed = text.replace(" ", "")
        assert all(lane.replace(" ", "")[:6] in squeezed for lane in _busy(story)), (story.lanes, text)
    if view in ("chart", "changes", "states"):
        for message in story.messages:
            assert message.name in text, (view, message.name)


def _busy(story: Story) -> set[str]:
    """The processes that act, send or receive; a chart of very many draws these alone."""
    ends = {end for message in story.messages for end in (message.source, message.dest)}
    busy = {*ends, *(step.actor for step in story.steps)}
    return {lane for lane in story.lanes if lane in busy or len(story.lanes) < 8}


def check_files(file: TraceFile) -> None:
    """AssertionError unless both formats of files come back as they were, and another reader of ITF agrees."""
    text = itf_text(file)
    read = parse_itf(text)
    assert [_identities(s.variables) for s in read.steps] == [_identities(s.variables) for s in file.steps]
    assert read.loop == file.loop
    trace = itf_py.trace_from_json(read_json(text))
    assert len(trace.states) == len(file.steps)
    for state, step in zip(trace.states, file.steps, strict=True):
        for name, tree in step.variables.items():
            assert from_itf_py(state.values[name]) == in_python(tree), name
    told = parse_tlc_json(tlc_json_text(file))
    assert len(told.steps) == len(file.steps)
    for changed_only in (True, False):
        shown = "\n".join(line.text for line in render(file, changed_only=changed_only))
        assert all(f"State {number}:" in shown for number in range(1, len(file.steps) + 1))


def _identities(variables: Any) -> dict[str, Any]:
    return {name: identity(tree) for name, tree in variables.items()}


def check_regression(model: Model, violation: Violation, folder: Path) -> None:
    """AssertionError unless the regression test of a counterexample fails while the spec violates, and says so."""
    failure = RecordedFailure(violation.verdict, violation.name)
    file = file_of(model, violation)
    found = retake(file, model, failure)
    assert found.stop is None, found.stop
    assert found.shows
    test = regression_test(file, model, failure, found)
    assert test is not None
    assert complaint_of(test, model, is_fixed=False) is None
    complaint = complaint_of(test, model, is_fixed=True)
    assert complaint is not None
    assert "again, by these steps:" in complaint
    _check_file_of_test(test, model, folder)


def _check_file_of_test(test: RegressionTest, model: Model, folder: Path) -> None:
    """AssertionError unless the file for pytest passes where the failure is expected, and fails where it is not."""
    for is_fixed in (False, True):
        path = folder / f"test_of_{'fixed' if is_fixed else 'failing'}.py"
        labels = ["a step"] * len(test.steps)
        spec = str(model.spec.root)
        path.write_text(pytest_text(test, spec, True, render_cfg(model.file), labels, is_fixed=is_fixed), "utf-8")
        (function,) = (value for name, value in run_path(str(path)).items() if name.startswith("test_"))
        with pytest.raises(AssertionError, match="again") if is_fixed else nullcontext():
            function()
