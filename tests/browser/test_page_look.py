"""The look of the page and the explorer: three families of colour, four sizes of type, targets that a finger hits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page
from support.specs.shipped import shipped_model
from support.views.browsing import OpenTab, ShowStory
from support.views.exploring import serving
from support.views.looks import FAMILIES, SIZES, SMALL_TARGETS, open_all
from support.views.stories import hand_made_story, long_story, reading, reassignment, story_of_finding

from kmc.cli.saved.traced_model import model_of_trace
from kmc.explorer.python_specs.opening import ground_at, ground_of
from kmc.story.parts.story import Story
from kmc.trace.files import pick

STORIES: dict[str, Callable[[], Story]] = {
    "kraft": lambda: story_of_finding("kraft", "restarts"),
    "die_hard": lambda: story_of_finding("die_hard", "solution"),
    "lasso": lambda: reading("no_check_quorum"),
    "logs": reassignment,
    "walk": lambda: long_story("kip_996", "standard", 25, seed=3),
}

EXPLORED = ("die_hard", "lasso", "logs")


@pytest.fixture
def show_explorer(open_tab: OpenTab, tmp_path: Path) -> Iterator[Callable[[str], Page]]:
    """Opens an explorer at the end of a trace, or of a model without processes."""
    running = []

    def show(name: str) -> Page:
        if name == "die_hard":
            ground = ground_of(shipped_model("die_hard", "solution"))
        else:
            trace = {"lasso": "no_check_quorum", "logs": "changes_without_own_record"}[name]
            file, number = pick(f"tests/data/views/{trace}.itf.json")
            ground = ground_at(model_of_trace(file), file, number)
        server = serving(ground, tmp_path)
        running.append(server)
        tab = open_tab(server.__enter__(), size=(1280, 900))
        tab.locator("#steps .step").first.wait_for()
        return tab

    yield show
    for server in running:
        server.__exit__(None, None, None)


def test_the_page_and_the_explorer_have_four_sizes_of_type(
    show: ShowStory, show_explorer: Callable[[str], Page]
) -> None:
    sizes: set[str] = set()
    for story in STORIES.values():
        tab = show(story(), size=(1280, 900))
        open_all(tab)
        sizes |= set(tab.evaluate(SIZES))
    for name in EXPLORED:
        tab = show_explorer(name)
        open_all(tab)
        sizes |= set(tab.evaluate(SIZES))
    assert sizes == {"12px", "14px", "17px", "21px"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", STORIES)
def test_the_page_has_red_a_highlight_and_neutral(show: ShowStory, name: str, scheme: str) -> None:
    tab = show(STORIES[name](), size=(1280, 900), color_scheme=scheme, reduced_motion="reduce")
    open_all(tab)
    fails = ["red"] if STORIES[name]().why else []
    assert tab.evaluate(FAMILIES) == ["highlight", "neutral", *fails]


def test_a_page_on_which_nothing_fails_has_no_red(show: ShowStory) -> None:
    assert "red" not in show(long_story("kip_996", "standard", 25, seed=4)).evaluate(FAMILIES)


@pytest.mark.parametrize("name", EXPLORED)
def test_the_explorer_has_the_colours_of_the_page(show_explorer: Callable[[str], Page], name: str) -> None:
    tab = show_explorer(name)
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        open_all(tab)
        assert set(tab.evaluate(FAMILIES)) <= {"highlight", "neutral", "red"}


def test_another_colour_is_found(show: ShowStory) -> None:
    tab = show(hand_made_story())
    tab.evaluate("document.querySelector('h1').style.color = 'rgb(11, 92, 173)'")
    assert "rgb(11, 92, 173)" in tab.evaluate(FAMILIES)


@pytest.mark.parametrize("name", STORIES)
def test_what_is_clicked_on_the_page_is_large_enough(show: ShowStory, name: str) -> None:
    tab = show(STORIES[name](), size=(1280, 900))
    open_all(tab)
    assert tab.evaluate(SMALL_TARGETS) == []
    tab.evaluate("for (const box of document.querySelectorAll('dialog')) box.close()")
    tab.keyboard.press("Home")
    if tab.locator(".message-name").count():
        tab.locator(".message-name").first.click()
        assert tab.locator("#message .go").count()
        assert tab.evaluate(SMALL_TARGETS) == []


@pytest.mark.parametrize("name", EXPLORED)
def test_what_is_clicked_in_the_explorer_is_large_enough(show_explorer: Callable[[str], Page], name: str) -> None:
    tab = show_explorer(name)
    open_all(tab)
    assert tab.evaluate(SMALL_TARGETS) == []


def test_a_small_target_is_found(show: ShowStory) -> None:
    tab = show(story_of_finding("kraft", "restarts"))
    tab.evaluate("document.querySelector('#ask').style.cssText = 'width: 23px; min-width: 0'")
    assert ['<button type="button" id="ask"', 23] in [
        [text[:30], width] for text, width, _ in tab.evaluate(SMALL_TARGETS)
    ]
