"""Names on the page can be read: steps whole, texts of the diagram clear of each other, entries by what differs."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from support.views.browsing import CUT_NAMES, ShowStory
from support.views.stories import hand_made_story, long_story, reassignment, story_of_finding

from kmc.story.parts.story import Story

# Pairs of texts of the diagram that are printed over each other.
OVERPRINTED = """() => {
  const texts = [...document.querySelectorAll("svg.diagram .mark text, svg.diagram .name")];
  const shown = texts.filter((text) => text.checkVisibility());
  const boxes = shown.map((text) => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([one, a], place) => boxes.slice(place + 1).filter(([, b]) =>
    a.left < b.right - 2 && b.left < a.right - 2 && a.top < b.bottom - 6 && b.top < a.bottom - 6)
    .map(([other]) => [one, other]));
}"""


STORIES: dict[str, Callable[[], Story]] = {
    "reassignment": reassignment,
    "own_vote_elects": lambda: story_of_finding("kip_996", "own_vote_elects"),
    "restarts": lambda: story_of_finding("kraft", "restarts"),
    "two_phase_commit": lambda: story_of_finding("two_phase_commit", "broken"),
    "lasso": lambda: hand_made_story(loop=True),
    "walk": lambda: long_story("kip_996", "standard", 25, seed=3),
    "long names": lambda: hand_made_story("{host: n1, port: 1}"),
}


@pytest.mark.parametrize("width", [1280, 1024, 390])
@pytest.mark.parametrize("name", ["reassignment", "own_vote_elects", "restarts", "two_phase_commit"])
def test_the_name_of_every_step_is_read_whole(show: ShowStory, name: str, width: int) -> None:
    tab = show(STORIES[name](), size=(width, 900))
    assert tab.evaluate(CUT_NAMES) == []
    tab.evaluate("document.querySelector('.step .label').style.maxHeight = '9px'")
    assert tab.evaluate(CUT_NAMES) != []


def test_a_row_of_the_list_is_one_line_where_the_window_is_wide(show: ShowStory) -> None:
    tab = show(reassignment(), size=(1280, 900))
    heights = "[...document.querySelectorAll('#steps .label')].map((label) => label.getBoundingClientRect().height)"
    assert set(tab.evaluate(heights)) == {19}


def test_a_name_that_has_no_room_is_cut_in_its_middle(show: ShowStory) -> None:
    tab = show(hand_made_story())
    cut = tab.evaluate("kmc.cut('m12 HandleRequestVoteResponse', 150, '600 12px')")
    assert re.fullmatch(r"m12 Hand\w*…Response", cut)
    assert tab.evaluate(f"kmc.textWidth('{cut}', '600 12px')") <= 150
    assert tab.evaluate("kmc.cut('Vote', 150, '600 12px')") == "Vote"


def test_the_servers_keep_their_rows_and_the_log_that_a_step_changes_is_in_sight(show: ShowStory) -> None:
    tab = show(reassignment(), "#step=16", size=(1280, 800))
    rows = tab.locator(".logs tbody tr")
    assert rows.locator(".lane").all_inner_texts() == ["n1", "n2", "n3", "n4"]
    box = rows.nth(2).bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 800
    tab.keyboard.press("k")
    assert rows.locator(".lane").all_inner_texts() == ["n1", "n2", "n3", "n4"]


def test_an_entry_shows_what_tells_it_from_others_and_opened_all_of_it(show: ShowStory) -> None:
    tab = show(reassignment(), "#step=16", size=(1280, 800))
    values = tab.locator(".logs .entry-value")
    assert values.all_inner_texts() == [
        "{n1, n2, n3, n4}", "{n1, n3, n4}", "{n1, n2, n3, n4}", "{n2, n3, n4}", "{n1, n2, n3, n4}", "{n2, n3, n4}",
        "{n1, n2, n3, n4}",
    ]  # fmt: skip
    entry = tab.locator(".logs .opens").first
    assert "more" in entry.evaluate("(button) => getComputedStyle(button, '::after').content")
    key = entry.get_attribute("data-key")
    entry.click()
    opened = tab.locator(f'[data-key="{key}"]')
    assert opened.locator(".entry-value").inner_text() == "current {n1, n2, n3, n4}, target {n3, n4}, cluster 0"
    assert opened.evaluate("(button) => button.firstChild.scrollHeight - button.firstChild.clientHeight") <= 1
    assert "less" in opened.evaluate("(button) => getComputedStyle(button, '::after').content")
    tab.keyboard.press("k")
    assert opened.locator(".entry-value").inner_text() == "current {n1, n2, n3, n4}, target {n3, n4}, cluster 0"


@pytest.mark.parametrize("name", STORIES)
def test_no_text_of_the_diagram_lies_over_another_whatever_step_is_chosen(show: ShowStory, name: str) -> None:
    tab = show(STORIES[name]())
    for width in (1400, 1280, 1024, 390):
        tab.set_viewport_size({"width": width, "height": 900})
        for key in ("End", "k", "k", "k"):
            tab.keyboard.press(key)
            assert tab.evaluate(OVERPRINTED) == [], (width, key)


def test_a_text_over_another_is_found(show: ShowStory) -> None:
    tab = show(story_of_finding("kip_996", "own_vote_elects"))
    tab.evaluate("for (const text of document.querySelectorAll('.diagram .role')) text.setAttribute('x', 60)")
    assert tab.evaluate(OVERPRINTED) != []


def test_a_process_that_is_a_pair_is_named_whole_in_the_list(show: ShowStory) -> None:
    tab = show(STORIES["long names"](), size=(1280, 900))
    name = "{host: n1, port: 1}"
    assert tab.locator("[data-step='3'] .ends-of-message").inner_text() == f"{name} → b"
    assert tab.inner_text("h1") == f"{name} does not hold"
    found = tab.evaluate("kmc.clauses('{n2, (a, b)} → {n1, n2}, n 1, [x, y]')")
    assert found == ["{n2, (a, b)} → {n1, n2}", "n 1", "[x, y]"]


def test_the_text_beside_the_last_process_does_not_widen_the_gaps_between_others(show: ShowStory) -> None:
    tab = show(STORIES["two_phase_commit"](), size=(1280, 900))
    scroller = "document.getElementById('timeline')"
    assert tab.evaluate(f"{scroller}.scrollWidth <= {scroller}.clientWidth")


def test_the_names_of_processes_keep_clear_of_each_other(show: ShowStory) -> None:
    tab = show(STORIES["long names"](), size=(1024, 900))
    first, second = (lane.bounding_box() for lane in tab.locator(".lane-names .lane").all())
    assert first is not None
    assert second is not None
    assert first["x"] + first["width"] <= second["x"]
