"""Keys that a map gains or loses, and maps without keys, read like neither sums nor lists."""

from __future__ import annotations

import pytest
from support.specs.small import model_of

from kmc.reference.search import Search
from kmc.story.parts.story import Change, Story
from kmc.story.tell import tell
from kmc.views.page.data import page_data
from kmc.views.text_options import TextOptions
from kmc.views.text_view import text_view

LEASES = """
Client = constant("Client", IdentSet(), "Who may hold the lease")


class State(Record):
    until: PartialMap[Client, Int(0, 9)]
    slots: PartialMap[Int(1, 3), Client]
    seen: Set[Int(1, 3)]


@spec.init
def init():
    yield State(until={}, slots={}, seen=set())


@spec.action
def grant(st, c: Client):
    if len(st.until) == 0 and len(st.seen) == 0:
        yield st.set(until=st.until.add(c, 2), slots=st.slots.add(1, c), seen=st.seen | {1})


@spec.action
def expire(st, c: Client):
    if c in st.until:
        yield st.set(until=st.until.without(c), seen=st.seen - {1} | {2})


@spec.invariant
def StaysAtOne(st):
    return 2 not in st.seen
"""


@pytest.fixture(scope="module")
def leases(tmp_path_factory: pytest.TempPathFactory) -> Story:
    """A lease is granted, then expires."""
    cfg = "CONSTANTS Client = {c1}\nINVARIANTS StaysAtOne"
    model = model_of(tmp_path_factory.mktemp("leases"), LEASES, cfg)
    violation = Search(model).run().violation
    assert violation is not None
    return tell(model.spec, violation.trace)


def test_only_the_elements_of_a_set_are_added_and_subtracted(leases: Story) -> None:
    assert [found.text for found in text_view(leases, "steps", TextOptions(100))][:3] == [
        "1  Initial state",
        "2  Grant(c1): until.c1 new: 2; slots.1 new: c1; seen + {1}",
        "3  Expire(c1): until.c1 removed: 2; seen - {1} + {2}",
    ]
    assert leases.steps[1].changes[-1] == Change(("seen",), None, None, "1", of_set=True)


def test_an_empty_map_is_neither_a_set_nor_a_list(leases: Story) -> None:
    lines = [found.text for found in text_view(leases, "states", TextOptions(100))]
    assert "  until  {:}" in lines
    assert "* slots  {1: c1}" in lines
    data = page_data(leases)
    first, last = (data["steps"][number]["state"] for number in (0, 2))
    assert data["values"][first["until"]] == ["map"]
    assert data["values"][last["slots"]][0] == "map"
