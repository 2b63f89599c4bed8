"""What a spec declares as a column, or has by default, leads into the records of processes."""

from __future__ import annotations

from pathlib import Path

from support.specs.small import model_of

from kmc.reference.search import Search
from kmc.story.parts.story import LaneColumn, Story
from kmc.story.tell import tell
from kmc.views.markdown import markdown_text
from kmc.views.page.data import committed_column, logs_of
from kmc.views.text_options import TextOptions
from kmc.views.text_view import text_view

NODES = """
Server = constant("Server", IdentSet(), "The servers")


class Place(Record):
    end_offset: Int(0, 3)


class Node(Record):
    epoch: Int(0, 3)
    place: Opt[Place]
    high_watermark: Int(0, 3)
    log: Seq[Int(0, 3), 2]


class State(Record):
    nodes: Map[Server, Node]


@spec.init
def init():
    yield State(nodes={s: Node(epoch=0, place=None, high_watermark=0, log=[]) for s in Server})


@spec.action
def grow(st, s: Server):
    me = st.nodes[s]
    if me.epoch < 2:
        log = me.log.append(1)
        yield st.set(nodes=st.nodes.set(s, me.set(epoch=me.epoch + 1, place=Place(end_offset=len(log)), log=log)))


@spec.invariant
def Small(st):
    return all(n.epoch < 2 for n in st.nodes.values())
"""
TABLE = 'spec.variables({"node": "nodes"}, fields="camelCase")\n'
COLUMNS = 'spec.columns({"epoch": "node.epoch", "end": "node.place.end_offset", "log end": "node.log"})\n'


def story_of_nodes(tmp_path: Path, declared: str = "") -> Story:
    model = model_of(tmp_path, NODES + declared, "CONSTANT Server = {a, b}\nINVARIANT Small")
    violation = Search(model).run().violation
    assert violation is not None
    return tell(model.spec, violation.trace)


def test_a_column_shows_the_field_of_a_record(tmp_path: Path) -> None:
    lines = [line.text for line in text_view(story_of_nodes(tmp_path, TABLE + COLUMNS), "table", TextOptions(100))]
    assert "Each column: epoch, end, log end. A star marks what the step changed." in lines
    assert [line for line in lines if line.startswith("3")] == ["3  0 - 0 |*2*2*2 | Grow(b)"]


def test_the_first_fields_of_records_are_columns_by_default(tmp_path: Path) -> None:
    columns = story_of_nodes(tmp_path, TABLE).columns
    assert columns == (
        LaneColumn("epoch", "node", fields=("epoch",)),
        LaneColumn("place", "node", fields=("place",)),
        LaneColumn("high_watermark", "node", fields=("highWatermark",)),
        LaneColumn("log", "node", length=True, fields=("log",)),
    )


def test_a_change_inside_of_a_column_comes_first(tmp_path: Path) -> None:
    columns = TABLE + 'spec.columns({"log end": "node.log"})\n'
    (line,) = [
        line.text
        for line in text_view(story_of_nodes(tmp_path, columns), "steps", TextOptions(100))
        if line.text.startswith("2")
    ]
    assert line == "2  Grow(b): node.log[1] new: 1; node.epoch 0 -> 1; node.place none -> {endOffset: 1}"


def test_logs_and_their_committed_part_are_found_in_records(tmp_path: Path) -> None:
    story = story_of_nodes(tmp_path, TABLE + COLUMNS)
    assert logs_of(story) == (LaneColumn("node.log", "node", fields=("log",)),)
    assert committed_column(story) == LaneColumn("node.highWatermark", "node", fields=("highWatermark",))


def test_a_variable_that_columns_show_in_part_is_whole_elsewhere_in_a_report(tmp_path: Path) -> None:
    report = markdown_text(story_of_nodes(tmp_path, TABLE + COLUMNS))
    assert "| b | 2 | 2 | 2, last: 1 |" in report
    assert "b: {epoch: 2, place: {endOffset: 2}, highWatermark: 0, log: [1, 1]}}" in report
