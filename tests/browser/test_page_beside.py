"""Two traces side by side on a page: rows that both share, where they part, and the states of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.views.browsing import OpenTab
from support.views.looks import FAMILIES, PALE_TEXTS, SIZES, SMALL_TARGETS, UNNAMED, open_all
from support.views.stories import HOSTILE, branched, hand_made_story, reading, story_of_finding

from kmc.story.parts.story import Story
from kmc.views.page.two_traces import beside_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAMES = ("one/trace.itf.json", "other/trace.itf.json")


def jugs() -> tuple[Story, Story]:
    """The solution of a puzzle without processes, and a trace that leaves it in the third state and ends there."""
    story = story_of_finding("die_hard", "solution")
    other = replace(story.steps[2], label="Spill", variables={**story.steps[2].variables, "big": 1})
    return story, replace(story, steps=(*story.steps[:2], other))


def lasso() -> tuple[Story, Story]:
    """A lasso of six states, and its first four."""
    story = reading("no_check_quorum")
    return story, replace(story, steps=story.steps[:4], loop=None, why=None)


PAIRS: dict[str, Callable[[], tuple[Story, Story]]] = {
    "jugs": jugs,
    "lasso": lasso,
    "kraft": lambda: branched("kraft", "restarts", shared=4, count=10, seed=3),
    "equal": lambda: (hand_made_story(loop=True), hand_made_story(loop=True)),
    "nothing shared": lambda: (hand_made_story("a"), hand_made_story("c")),
}


@pytest.fixture
def show_pair(open_tab: OpenTab, tmp_path: Path) -> Callable[..., Page]:
    """Opens the page of two traces: `show_pair("jugs", size=(800, 900))`."""

    def show(name: str, link: str = "", size: tuple[int, int] = (1280, 900)) -> Page:
        path = tmp_path / "beside.html"
        path.write_text(beside_page(*PAIRS[name](), NAMES), encoding="utf-8")
        return open_tab(f"{path.as_uri()}{link}", size=size)

    return show


def test_what_both_share_stands_once_and_the_rest_in_rows_of_two(show_pair: Callable[..., Page]) -> None:
    tab = show_pair("jugs")
    assert tab.inner_text("h1") == "Two traces that share their first 2 states"
    assert tab.locator("#rows .shared .label").all_inner_texts() == ["Initial state", "FillBigJug"]
    assert tab.inner_text("#rows .parts") == "They part in state 3"
    assert tab.locator("#rows .pair").first.locator(".label").all_inner_texts() == ["BigToSmall", "Spill"]
    assert tab.locator("#rows .ended").first.inner_text() == "ends"
    left, right = (one.bounding_box() for one in tab.locator("#rows .pair").first.locator(".step").all())
    assert left is not None
    assert right is not None
    assert left["y"] == right["y"]
    assert left["x"] < right["x"]


def test_it_opens_where_they_part_and_shows_both_states_and_what_differs(show_pair: Callable[..., Page]) -> None:
    tab = show_pair("jugs")
    assert tab.inner_text("#position") == "3 / 7"
    assert tab.locator("#panels h2").all_inner_texts() == ["Step 3 of 7\nBigToSmall", "Step 3 of 3\nSpill"]
    assert tab.locator(".differ tbody tr").all_inner_texts() == ["big\t2\t1"]
    tab.keyboard.press("j")
    assert tab.inner_text("#position") == "4 / 7"
    assert "This trace ends in state 3." in tab.inner_text("#panels")
    tab.keyboard.press("Home")
    assert tab.locator("#panels h2:visible").all_inner_texts() == ["Step 1 of 7\nInitial state"]
    assert "the same in both traces" in tab.inner_text("#differences")
    tab.locator("#rows .step").nth(1).click()
    assert tab.url.endswith("#step=2")
    tab.click("#parting")
    assert tab.inner_text("#position") == "3 / 7"


def test_messages_that_differ_are_called_by_their_ends_and_open(show_pair: Callable[..., Page]) -> None:
    tab = show_pair("kraft", "#step=6")
    places = tab.locator(".differ tbody th").all_inner_texts()
    assert any(place.startswith("messages BeginQuorumRequest n1 → n2") for place in places)
    assert "state of n1" in places
    assert not any("{" in place for place in places)
    tab.locator("#panels .message-name").first.click()
    assert "epoch" in tab.inner_text("#message-body")


def test_what_only_one_trace_says_of_a_shared_step_is_said_to_be_of_that_one(show_pair: Callable[..., Page]) -> None:
    tab = show_pair("lasso", "#step=2")
    assert tab.locator("#rows .shared .failed").all_inner_texts() == [f"fails from here on in {NAMES[0]}"]
    assert tab.locator("#rows .shared .in-cycle").count() == 0
    assert tab.locator("#rows .ended").all_inner_texts() == ["ends", "", "again from step 4", ""]


def test_equal_traces_say_so(show_pair: Callable[..., Page]) -> None:
    tab = show_pair("equal")
    assert tab.inner_text("h1") == "Two equal traces"
    assert not tab.locator("#parting").is_visible()
    assert tab.locator("#rows .pair .step").count() == 0


@pytest.mark.parametrize("name", PAIRS)
def test_it_looks_and_is_read_as_every_page(show_pair: Callable[..., Page], name: str) -> None:
    tab = show_pair(name)
    assert tab.evaluate(UNNAMED) == []
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        open_all(tab)
        assert tab.evaluate(PALE_TEXTS) == []
        assert set(tab.evaluate(FAMILIES)) <= {"highlight", "neutral", "red"}
    assert set(tab.evaluate(SIZES)) <= {"12px", "14px", "17px", "21px"}
    assert tab.evaluate(SMALL_TARGETS) == []
    for width in (1280, 800, 390):
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_names_from_a_trace_reach_the_page_as_text(open_tab: OpenTab, tmp_path: Path) -> None:
    path = tmp_path / "beside.html"
    path.write_text(beside_page(hand_made_story(HOSTILE), hand_made_story("c"), (HOSTILE, HOSTILE)), encoding="utf-8")
    tab = open_tab(path)
    for key in ("Home", "j", "j", "j"):
        tab.keyboard.press(key)
    assert tab.locator("img").count() == 0
