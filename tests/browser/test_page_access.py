"""The page can be read by everyone: contrast, names, focus, order, small windows, print, motion only where wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.views.browsing import ShowStory
from support.views.looks import PALE_TEXTS, UNNAMED
from support.views.stories import hand_made_story, long_story, story_of_finding

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Texts of the diagram that leave it, while one step after another is chosen.
CUT_TEXTS = """() => {
  const cut = [];
  for (const row of document.querySelectorAll("#steps .step")) {
    row.click();
    const drawing = document.querySelector("svg.diagram").getBoundingClientRect();
    for (const text of document.querySelectorAll("svg.diagram text")) {
      const box = text.getBoundingClientRect();
      const leaves = box.left < drawing.left - 1 || box.right > drawing.right + 1 || box.bottom > drawing.bottom + 1;
      if (text.checkVisibility() && leaves) cut.push(text.textContent);
    }
  }
  return cut;
}"""

ACTIVE_PLACE = """() => {
  const place = document.activeElement.closest("header.top, .bar, #steps, #state, .skip");
  return place?.id || place?.className;
}"""

STORIES: dict[str, Any] = {
    "restarts": lambda: story_of_finding("kraft", "restarts"),
    "own_vote_elects": lambda: story_of_finding("kip_996", "own_vote_elects"),
    "two_phase_commit": lambda: story_of_finding("two_phase_commit", "broken"),
    "lasso": lambda: hand_made_story(loop=True),
    "walk": lambda: long_story("kip_996", "standard", 25, seed=3),
}


@pytest.mark.parametrize("name", STORIES)
def test_every_text_has_contrast_in_light_and_dark(show: ShowStory, name: str) -> None:
    tab = show(STORIES[name](), reduced_motion="reduce")  # else colours are on their way
    tab.click("[data-key=others-summary]")
    tab.click(".top summary")
    tab.click(".filter summary")
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        assert tab.evaluate(PALE_TEXTS) == []
    tab.keyboard.press("?")
    assert tab.evaluate(PALE_TEXTS) == []


def test_a_pale_text_is_found(show: ShowStory) -> None:
    tab = show(hand_made_story())
    tab.evaluate("document.querySelector('h1').style.color = '#999'")
    assert [found[0] for found in tab.evaluate(PALE_TEXTS)] == ["a does not hold"]


def test_colours_can_be_chosen(show: ShowStory) -> None:
    tab = show(hand_made_story(), color_scheme="light")
    grounds = []
    for _ in range(3):
        tab.click("#theme")
        grounds.append(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
    light, dark, auto = grounds
    assert light == auto != dark
    assert "dark" not in tab.inner_text("#theme")


def test_controls_have_names_and_headings_their_order(show: ShowStory) -> None:
    tab = show(story_of_finding("kip_996", "own_vote_elects"))
    assert tab.evaluate(UNNAMED) == []
    tab.evaluate("document.body.append(document.createElement('button'))")
    assert tab.evaluate(UNNAMED) == ["<button></button>"]


def test_tab_goes_from_the_bar_to_the_list_to_the_state(show: ShowStory) -> None:
    tab = show(story_of_finding("kip_996", "own_vote_elects"))
    places = []
    for _ in range(11):
        tab.keyboard.press("Tab")
        places.append(tab.evaluate(ACTIVE_PLACE))
    kept = [place for number, place in enumerate(places) if number == 0 or place != places[number - 1]]
    assert kept[:5] == ["skip", "top", "bar", "steps", "state"]


def test_what_has_the_focus_is_outlined(show: ShowStory) -> None:
    tab = show(hand_made_story())
    tab.keyboard.press("Home")
    style = tab.evaluate(
        "(({outlineStyle, outlineWidth}) => [outlineStyle, outlineWidth])(getComputedStyle(document.activeElement))"
    )
    assert style == ["solid", "2px"]


@pytest.mark.parametrize("name", ["own_vote_elects", "two_phase_commit", "lasso"])
def test_no_text_of_the_diagram_is_cut(show: ShowStory, name: str) -> None:
    tab = show(STORIES[name]())
    for width in (1400, 1024, 390):
        tab.set_viewport_size({"width": width, "height": 900})
        assert tab.evaluate(CUT_TEXTS) == []


def test_a_cut_text_is_found(show: ShowStory) -> None:
    tab = show(hand_made_story())
    tab.evaluate("document.querySelector('.role').setAttribute('x', -20)")
    assert set(tab.evaluate(CUT_TEXTS)) == {"Follower e0"}


def test_on_a_phone_steps_diagram_and_state_stand_below_each_other(show: ShowStory) -> None:
    tab = show(story_of_finding("kip_996", "own_vote_elects"), size=(390, 844), has_touch=True)
    boxes = [tab.locator(part).bounding_box() for part in ("#steps", "#diagram", "#state")]
    tops = [box["y"] for box in boxes if box is not None]
    assert tops == sorted(tops)
    assert [box["x"] for box in boxes if box is not None] == [0, 0, 0]
    tab.tap("#previous")
    assert tab.inner_text("#position") == "6 / 7"


def test_without_a_wish_for_motion_nothing_moves(show: ShowStory) -> None:
    tab = show(hand_made_story(), reduced_motion="reduce")
    assert tab.evaluate("[...document.querySelectorAll('*')].map((e) => getComputedStyle(e).transitionDuration)"
                        ".filter((d) => d !== '0s')") == []  # fmt: skip


def test_print_shows_every_step_and_no_controls(show: ShowStory) -> None:
    tab = show(long_story("kip_996", "standard", 25, seed=3))
    tab.emulate_media(media="print")
    assert not tab.locator(".bar").is_visible()
    assert (
        tab.evaluate(
            "(({scrollHeight, clientHeight}) => scrollHeight - clientHeight)(document.getElementById('timeline'))"
        )
        <= 1
    )
    assert tab.locator("#state h2").is_visible()


def test_it_works_inside_another_page(show: ShowStory, page_in_a_frame: Page) -> None:
    frame = page_in_a_frame.frame_locator("iframe")
    assert frame.locator("[aria-current=step]").get_attribute("data-step") == "4"
    frame.locator("[data-step='2']").click()
    assert frame.locator("[aria-current=step]").get_attribute("data-step") == "2"
