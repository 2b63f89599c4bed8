"""The formats that are drawn from a story: golden files, and what their readers ask of them.

KMC_UPDATE_GOLDEN=1 writes what is drawn now into tests/data/views; read the difference before you commit it.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import networkx
import pytest
from support.views.diagram_readers import read_markdown_tables, read_shiviz

from kmc.cli.saved.traced_story import traced_story
from kmc.lang.tla import TlaMap, TlaRecord
from kmc.story.parts.story import Change, LaneColumn, SentMessage, Story, StoryLoop, StoryStep
from kmc.trace.files import read_trace
from kmc.views.formats import FORMATS, written
from kmc.views.markdown import markdown_text
from kmc.views.mermaid import mermaid_text
from kmc.views.sentences import change_text, doc_text, happenings, heading, loop_text
from kmc.views.shiviz import shiviz_text
from kmc.views.trace_graph import trace_digraph, trace_dot

DATA = Path(__file__).parents[1] / "data" / "views"
GOLDEN = [
    ("own_vote_elects", "shiviz"),
    ("own_vote_elects", "mermaid"),
    ("own_vote_elects", "markdown"),
    ("own_vote_elects", "dot"),
    ("no_check_quorum", "shiviz"),
    ("no_check_quorum", "mermaid"),
    ("no_fetches", "mermaid"),
    ("no_fetches", "markdown"),
    ("no_fetches", "dot"),
    ("broken", "shiviz"),
    ("broken", "mermaid"),
    ("broken", "markdown"),
]


@cache
def story(name: str) -> Story:
    """The story of the trace of this name."""
    return traced_story(read_trace(DATA / f"{name}.itf.json"))


@pytest.mark.parametrize(("name", "form"), GOLDEN, ids=["-".join(pair) for pair in GOLDEN])
def test_a_trace_is_drawn_as_the_golden_file_shows(name: str, form: str) -> None:
    found = written(form, read_trace(DATA / f"{name}.itf.json"), lambda: story(name))
    path = DATA / f"{name}.{form}.txt"
    if os.environ.get("KMC_UPDATE_GOLDEN"):
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["own_vote_elects", "no_check_quorum", "no_fetches", "broken"])
def test_vector_clocks_count_own_events_and_grow(name: str) -> None:
    hosts = {host for _, host, _ in read_shiviz(shiviz_text(story(name)))}
    assert {step.actor for step in story(name).steps[1:] if step.actor is not None} <= hosts


def test_a_delivery_merges_the_clock_of_its_sending() -> None:
    events = {text.split(";")[0]: clock for text, _, clock in read_shiviz(shiviz_text(story("no_fetches")))}
    assert events["3 HandleRequestVoteRequest n1 -> n2, epoch 2"] == {"n1": 1, "n2": 1}
    assert events["4 HandleRequestVoteResponse n2 -> n1, epoch 2, voteGranted"] == {"n1": 2, "n2": 1}


def nasty(text: str) -> Story:
    """A story whose every text is this one."""
    message = SentMessage(1, "Kind", text, text, ((text, text),), f"Kind {text} -> {text}", 2, (3,), 3)
    change = Change((text, text), text, text, text)
    first = StoryStep(1, None, "Initial state", (), None, None, (), (), (), "", "", {})
    steps = [
        StoryStep(number, text, text, ((text, text),), actor, received, sent, lost, (change,), text, text, {})
        for number, actor, received, sent, lost in ((2, text, None, (1,), ()), (3, text, 1, (), (1,)))
    ]
    closing = StoryStep(4, text, text, (), None, None, (), (), (change,), text, text, {})
    about = {"spec": text, "model": text, "property": text, "status": text, "constants": text}
    return Story(about, (), (text,), (), (first, *steps), (message,), loop=StoryLoop(2, closing, (text,)))


NASTY = ["end", "a b\nc", 'x";y#z', "<script>alert(1)</script>", "```", "%%{init}%%", "a:b->>c", "\\", "`a|b` *c* _d_"]


@pytest.mark.parametrize("text", NASTY)
def test_no_text_breaks_out_of_a_diagram(text: str) -> None:
    drawn = mermaid_text(nasty(text))
    head, *lines = drawn.splitlines()
    assert head == "sequenceDiagram"
    words = [line.strip().split(" ")[0].split("-")[0] for line in lines]
    assert words == ["participant", "participant", "loop", "Note", "p1", "Note", "p1", "Note", "end"]
    for line in lines:
        shown = line.split(": ", 1)[-1].split(" as ", 1)[-1].removeprefix("    loop ")
        assert not re.search(r"[;#<>%`]", re.sub(r"#[0-9]+;|<br/>", "", re.sub(r"p\d\S*", "", shown))), line


def test_the_command_of_a_report_is_quoted_for_a_shell() -> None:
    assert "\nkmc check 'my spec; rm -r x' model.cfg\n" in markdown_text(nasty("my spec; rm -r x"))


@pytest.mark.parametrize("text", NASTY)
def test_no_text_breaks_out_of_a_log_a_graph_or_a_report(text: str) -> None:
    assert len(read_shiviz(shiviz_text(nasty(text)))) == 3
    dot = trace_dot(nasty(text))
    strings = re.findall(r'"(?:[^"\\]|\\.)*"', dot)
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", dot)
    assert '"' not in bare
    assert "<" not in bare
    assert len(strings) == 1 + 2 + 3 + 3
    report = markdown_text(nasty(text))
    outside = re.sub(r"(?ms)^(`{3,}).*?^\1$", "", report)
    assert not re.search(r"(?<!\\)<script>", re.sub(r"`[^`]*`", "", outside))
    assert outside.count("## ") == 4


def test_graphml_is_read_by_networkx() -> None:
    text = written("graphml", read_trace(DATA / "no_check_quorum.itf.json"), lambda: story("no_check_quorum"))
    graph = networkx.read_graphml(StringIO(text), force_multigraph=True)
    assert sorted(graph.edges(keys=False), key=lambda edge: (int(edge[0]), int(edge[1]))) == [
        ("1", "2"), ("2", "3"), ("3", "4"), ("4", "5"), ("5", "6"), ("6", "4"),
    ]  # fmt: skip
    assert next(data["action"] for *_, data in graph.edges(data=True)) == "ChangeNetworkConnectivity"


def test_a_behaviour_that_stutters_has_a_loop_at_its_last_state() -> None:
    graph = trace_digraph(story("no_fetches"))
    assert graph.get_edge_data(7, 7)[0]["action"] == "stuttering"
    assert loop_text(story("no_fetches")) == "nothing happens after state 7, for ever"


def test_the_story_as_json_names_what_the_story_has() -> None:
    found: dict[str, Any] = json.loads(written("json", read_trace(DATA / "broken.itf.json"), lambda: story("broken")))
    assert found["lanes"] == ["Manager", "r1", "r2", "r3"]
    assert found["steps"][3]["label"] == "RmReceiveCommit Manager -> r2"
    assert found["steps"][3]["variables"]["tm"] == "Committed"
    assert found["messages"][1]["received_at"] == [4]
    assert found["why"]["property"] == "Consistent"


def test_a_format_of_files_needs_no_story() -> None:
    file = read_trace(DATA / "broken.itf.json")

    def no_story() -> Story:
        raise AssertionError("a format of files asks for a story")

    for name, row in FORMATS.items():
        if row.of_file:
            assert written(name, file, no_story)


def test_short_texts() -> None:
    assert change_text(Change(("log", "n1", "[2]", "epoch"), "n1", "1", "2")) == "log[2].epoch of n1: 1 -> 2"
    assert change_text(Change(("acked",), None, None, "v1", of_set=True)) == "acked: + {v1}"
    assert change_text(Change(("acked",), None, "v1", None, of_set=True)) == "acked: - {v1}"
    assert change_text(Change(("log", "n1", "[2]"), "n1", None, "v1")) == "log[2] of n1: v1 (new)"
    assert change_text(Change(("end", "n1", "n1"), "n1", "1", None)) == "end.n1 of n1: 1 (removed)"
    assert heading(story("broken")) == "two_phase_commit broken: violation of Consistent, 4 states"
    assert doc_text(story("own_vote_elects").steps[1]).startswith("A follower becomes prospective")


def test_a_message_that_stands_in_a_state_is_called_by_its_number() -> None:
    value = TlaRecord((("type", "Fetch"), ("source", "n1"), ("dest", "n2")))
    message = SentMessage(1, "Fetch", "n1", "n2", (), "Fetch n1 -> n2", 2, value=value)
    change = Change(("pending", "n1"), "n1", "none", "{type: Fetch, source: n1, dest: n2}")
    step = StoryStep(2, "Send", "Send(n1)", (), "n1", None, (1,), (), (change,), "", "", {})
    told = Story({}, (), ("n1", "n2"), (), (step, step), (message,))
    assert list(happenings(told, step)) == ["pending of n1: none -> m1", "sends m1 Fetch n1 -> n2"]


def test_a_step_that_does_not_matter_is_marked() -> None:
    told = nasty("x")
    idle = replace(told.steps[2], matters=False, note="it reads only")
    story_of_idle = replace(told, steps=(*told.steps[:2], idle))
    assert "3 x (does not matter)" in mermaid_text(story_of_idle)
    assert "_(does not matter: it reads only)_" in markdown_text(story_of_idle)
    assert "color=gray60" in trace_dot(story_of_idle)


def test_processes_whose_names_differ_in_blanks_are_two_hosts() -> None:
    names = ("a b", "a_b", "a\tb", "system", "")
    steps = [
        StoryStep(number, name, f"Act({number})", (), name, None, (), (), (), "", "", {})
        for number, name in enumerate((None, *names, None), start=1)
    ]
    told = Story({}, (), names, (), tuple(steps), ())
    assert [host for _, host, _ in read_shiviz(shiviz_text(told))] == ["a_b", "a_b_", "a_b__", "system", "_", "system_"]


def test_a_cell_of_a_table_holds_any_text() -> None:
    name = "x|`a|b` | \\\\"
    first = replace(nasty("x").steps[0], variables={"role": TlaMap(((name, name), ("b", "|")))})
    told = Story({}, ("role",), (name, "b"), (LaneColumn(name, "role"),), (first,), (), of_lane=("role",))
    (table,) = read_markdown_tables(markdown_text(told))
    cell = name.replace("`", "'")
    assert table == [["", cell], ["---", "---"], [cell, cell], ["b", "|"]]
