"""The page of a counterexample in a browser: keys, links, search, filters, messages, themes, and no request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.source_tree import ROOT
from support.views.browsing import ShowStory, Watch
from support.views.stories import (
    HOSTILE,
    hand_made_story,
    long_story,
    lossy_story,
    reading,
    reassignment,
    story_of_finding,
)

from kmc.cli.saved.traced_story import watching
from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.story.parts.story import Change, ComparedValue, LaneColumn, Story
from kmc.trace.files import read_trace

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHOSEN = """() => [
  ...[...document.querySelectorAll("#steps [aria-current=step]")].map((row) => row.dataset.step),
  document.querySelector(".step-number").textContent,
  location.hash,
]"""


def chosen(tab: Page) -> int:
    """The number of the step that the list, the state and the link agree on."""
    marked, heading, link = tab.evaluate(CHOSEN)
    assert heading.startswith(f"Step {marked} of ")
    assert f"step={marked}" in link.lstrip("#").split("&")
    return int(marked)


def press(tab: Page, keys: str) -> int:
    """The step that is chosen after these keys, one after another."""
    for key in keys.split():
        tab.keyboard.press(key)
    return chosen(tab)


def test_it_opens_where_the_property_fails_and_says_why(show: ShowStory) -> None:
    tab = show(story_of_finding("kip_996", "own_vote_elects"))
    assert tab.inner_text("h1") == "ElectionSafety does not hold"
    assert chosen(tab) == 7
    assert "BecomeLeader(s3)" in tab.inner_text("#state h2")
    assert tab.locator("#diagram .lane-names .lane").all_inner_texts() == ["s1", "s2", "s3"]
    assert tab.locator(".processes tr.actor .changed").count() == 3


def test_keys_walk_through_the_steps(show: ShowStory) -> None:
    tab = show(hand_made_story())
    assert press(tab, "Home") == 1
    assert press(tab, "ArrowDown") == 2
    assert press(tab, "j j") == 4
    assert press(tab, "j") == 4
    assert press(tab, "k ArrowUp ArrowUp ArrowUp") == 1
    assert press(tab, "ArrowRight ArrowRight ArrowLeft") == 2
    assert press(tab, "End") == 4


def test_the_focus_follows_the_step_which_is_said_aloud(show: ShowStory) -> None:
    tab = show(hand_made_story())
    assert tab.locator("#steps [tabindex='0']").count() == 1
    press(tab, "Home j")
    assert tab.evaluate("document.activeElement.dataset.step") == "2"
    assert tab.inner_text("[aria-live=polite]").startswith("Step 2 of 4: Elect(a).")


def test_a_lasso_goes_on_with_the_first_state_of_its_cycle(show: ShowStory) -> None:
    tab = show(hand_made_story(loop=True))
    assert press(tab, "End") == 4
    assert "leads back to step 2" in tab.inner_text("#state")
    assert press(tab, "j") == 2
    assert "The cycle begins again" in tab.inner_text("[aria-live=polite]")
    assert tab.locator("#diagram .cycle").count() == 1
    assert tab.locator("#diagram .again").text_content() == "again from step 2"
    tab.click(".step.closing")
    assert chosen(tab) == 2


def test_a_lasso_opens_where_the_property_begins_to_fail(show: ShowStory) -> None:
    tab = show(reading("no_check_quorum"))
    assert chosen(tab) == 2
    assert tab.locator(".step .failed").all_inner_texts() == ["fails from here on"]
    assert tab.locator(".step.current .failed").count() == 1
    story = hand_made_story(loop=True)
    assert story.loop is not None
    tab = show(replace(story, loop=replace(story.loop, back_to=3)))
    assert chosen(tab) == 3


def test_in_a_cycle_every_change_that_recurs_is_listed_with_its_steps(show: ShowStory) -> None:
    tab = show(reading("no_check_quorum"), "#step=4")
    told = tab.locator(".recurring dd").all_inner_texts()
    assert any("Prospective" in text and "step 5" in text and "back to 4" in text for text in told)
    assert any(text.startswith("fetch_state") and "back to 4" in text and "step 6" in text for text in told)
    tab.keyboard.press("k")
    assert tab.locator(".recurring").count() == 0


def test_a_link_names_the_step_and_what_is_hidden(show: ShowStory) -> None:
    tab = show(hand_made_story(), "#step=2&hide=net,variables&servers=b")
    assert chosen(tab) == 2
    assert tab.locator("#diagram .message").count() == 0
    assert tab.locator("#diagram .lane-names .lane").all_inner_texts() == ["a"]
    assert "Messages on their way" not in tab.inner_text("#state")
    tab.evaluate("location.hash = '#step=3'")
    tab.wait_for_selector("[aria-current=step][data-step='3']")
    assert tab.locator("#diagram .message").count() == 3
    tab.goto(tab.url.replace("step=3", "step=99&hide=nonsense&servers=zz"))
    tab.reload()
    assert chosen(tab) == 4


def test_filters_hide_and_show_again(show: ShowStory) -> None:
    tab = show(hand_made_story())
    tab.click(".filter summary")
    for word, what, left in [("net", "#diagram .message", 0), ("processed", "#diagram .message", 2),
                             ("variables", "[data-key=others]", 0), ("aside", "#steps .step", 3)]:  # fmt: skip
        before = tab.locator(what).count()
        tab.uncheck(f"[data-filter={word}]")
        assert tab.locator(what).count() == left < before
        assert f"hide={word}" in tab.url
        tab.check(f"[data-filter={word}]")
        assert tab.locator(what).count() == before
        assert "hide=" not in tab.url
    tab.uncheck("[data-lane=b]")
    assert tab.locator("#diagram .lane-names .lane").all_inner_texts() == ["a"]


def test_all_processes_can_be_hidden(show: ShowStory) -> None:
    tab = show(hand_made_story(), "#step=2&servers=a,b")
    assert tab.locator("#diagram svg:visible").count() == 0
    assert tab.locator("#steps .step").count() == 4


@pytest.mark.parametrize(
    ("words", "found"),
    [("VOTE", [3]), ("m2", [2, 4]), ("leader", [2]), ("absent", [])],
)
def test_search_looks_through_labels_messages_and_values(show: ShowStory, words: str, found: list[int]) -> None:
    tab = show(hand_made_story(), "#step=1")
    tab.keyboard.press("/")
    tab.keyboard.type(words)
    marked = tab.locator("#steps .found")
    assert [int(row.get_attribute("data-step") or 0) for row in marked.all()] == found
    for expected in [*found, *found[:1]]:
        assert press(tab, "Enter") == expected
    if not found:
        assert tab.inner_text("#found") == "nothing found"
    tab.keyboard.press("Escape")
    assert tab.locator("#steps .found").count() == 0
    assert tab.input_value("#search") == ""


def test_a_message_shows_its_fields_and_where_it_went(show: ShowStory) -> None:
    tab = show(hand_made_story())
    tab.locator("#diagram .message .hit").first.click(force=True)
    assert tab.inner_text("#message-title") == "m1 a"
    assert tab.locator("#message .fields td").all_inner_texts() == ["1", "a"]
    assert tab.locator("#message .fate li").all_inner_texts() == ["sent in step 2", "received in step 3"]
    tab.click("#message .fate li:nth-child(2) button")
    assert chosen(tab) == 3
    press(tab, "Home j")
    tab.click(".messages-of-step button:nth-of-type(2)")
    assert "lost in step 4" in tab.inner_text("#message .fate")
    tab.keyboard.press("Escape")
    assert tab.locator("dialog[open]").count() == 0


def test_arrows_end_where_messages_do(show: ShowStory) -> None:
    tab = show(hand_made_story())
    assert [tab.locator(f"#diagram {mark}").count() for mark in (".head", ".cross", ".waiting")] == [1, 1, 1]
    assert "m2 lost" in (tab.locator("#diagram svg, svg.diagram").first.text_content() or "")


def test_help_opens_and_keys_rest_meanwhile(show: ShowStory) -> None:
    tab = show(hand_made_story(), "#step=2")
    tab.keyboard.press("?")
    assert tab.locator("#help").is_visible()
    tab.keyboard.press("j")
    tab.keyboard.press("Escape")
    assert not tab.locator("#help").is_visible()
    assert chosen(tab) == 2


def test_a_log_has_a_cell_for_each_entry_and_a_line_after_the_committed_ones(show: ShowStory) -> None:
    tab = show(hand_made_story())
    assert tab.locator(".logs .entry").all_inner_texts() == ["a\nepoch 1\nnew"]
    assert tab.locator(".logs .entry.limit.epoch-1").count() == 1


def test_steps_that_do_not_matter_say_so(show: ShowStory) -> None:
    tab = show(hand_made_story())
    assert tab.locator(".step.aside .summary").all_inner_texts() == ["not needed: no one reads it"]
    assert "Not needed for the failure: no one reads it" in tab.inner_text("#state")


def test_hostile_names_stay_text(show: ShowStory) -> None:
    tab = show(hand_made_story(HOSTILE))
    assert HOSTILE in tab.inner_text("h1")
    assert tab.locator("img").count() == 0
    assert HOSTILE in tab.inner_text("#state")
    tab.click(".filter summary")
    tab.uncheck("[data-lane=b]")
    tab.click(".network button")
    assert HOSTILE in tab.inner_text("#message")


def test_the_policy_stops_a_request_that_a_page_would_make(show: ShowStory, watch: Watch) -> None:
    tab = show(hand_made_story())
    tab.evaluate("document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:9/x.png'}))")
    tab.wait_for_function("true")
    assert watch.refused == []
    assert "Content Security Policy" in watch.errors.pop()


def test_a_trace_without_processes_is_a_list(show: ShowStory) -> None:
    tab = show(story_of_finding("die_hard", "solution"))
    assert tab.locator("#diagram svg:visible").count() == 0
    assert press(tab, "Home j j") == 3
    assert tab.locator("[data-key=others] dd").count() == 2


def test_nothing_is_wider_than_the_window(show: ShowStory) -> None:
    tab = show(story_of_finding("kip_996", "own_vote_elects"))
    for width in (1400, 1024, 390):
        tab.set_viewport_size({"width": width, "height": 800})
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_sixty_steps_are_drawn_at_once_and_walked_through(show: ShowStory) -> None:
    tab = show(long_story("kip_996", "standard", 60, seed=1), "#step=1")
    assert tab.locator("#steps .step").count() == 60
    # As many keys as a person who holds one down sends.
    tab.evaluate("for (let n = 0; n < 59; n += 1) document.body.dispatchEvent("
                 "new KeyboardEvent('keydown', {key: 'j', bubbles: true}))")  # fmt: skip
    assert chosen(tab) == 60
    row = tab.locator("[aria-current=step]").bounding_box()
    assert row is not None
    assert 0 < row["y"] < 900 - row["height"]


def told_story() -> Story:
    """The hand-made story, in which the property compares `acked`, and a column and an entry have long values."""
    story = hand_made_story()
    assert story.why is not None
    plan: Tla = TlaRecord((("current", TlaSet(("a", "b"))), ("target", "a long name, so that it is wide"), ("at", 1)))
    entry: Tla = TlaRecord((("epoch", 1), ("value", "an entry that is far too long for a cell of a log, and goes on")))
    states = [{**step.variables, "plan": TlaMap((("a", plan), ("b", plan)))} for step in story.steps]
    states[3]["log"] = TlaMap((("a", TlaSeq((entry,))), ("b", TlaSeq(()))))
    changes = (Change(("acked", "v1"), None, "false", "true"), Change(("log", "a", "[1]"), "a", None, "an entry"),
               Change(("hwm", "a"), "a", "0", "1"), Change(("role", "b"), "b", "Follower", "Voted"))  # fmt: skip
    steps = [replace(step, variables=state) for step, state in zip(story.steps, states, strict=True)]
    steps[1] = replace(steps[1], action="Elect", sent=())
    steps[3] = replace(steps[3], changes=changes, matters=True, note="")
    why = replace(story.why, compared=(ComparedValue("acked[v1]", "true"),))
    columns = (*story.columns, LaneColumn("plan", "plan"))
    return replace(story, steps=tuple(steps), why=why, columns=columns, of_lane=(*story.of_lane, "plan"))


def test_what_the_property_compares_comes_first_in_a_row(show: ShowStory) -> None:
    tab = show(told_story())
    summary = tab.inner_text("[data-step='4'] .summary")
    assert summary.startswith("acked v1 false → true · b: role Follower → Voted · high watermark 0 → 1 · log [1] gets")
    assert tab.locator(".changes dt").all_inner_texts() == ["a", "b", "shared"]
    assert tab.inner_text(".changes dd:has(.decides)").startswith("acked v1")


def test_a_received_message_has_its_ends_beside_the_action_and_its_details_after_the_changes(show: ShowStory) -> None:
    row = show(hand_made_story()).locator("[data-step='3']")
    assert row.locator(".label").text_content() == "Vote a → b"
    assert row.locator(".summary").inner_text() == "takes m1 from the network · epoch 1"


@pytest.mark.parametrize("width", [1400, 390])
def test_a_long_value_of_a_process_is_shown_whole(show: ShowStory, width: int) -> None:
    tab = show(told_story(), size=(width, 844))
    cell = tab.locator(".processes td.long").first
    assert "a long name, so that it is wide" in cell.inner_text()
    assert cell.inner_text().startswith("plan")
    assert (
        tab.evaluate("(({scrollWidth, clientWidth}) => scrollWidth - clientWidth)(document.querySelector('.scroll'))")
        <= 0
    )


def test_a_long_entry_of_a_log_opens(show: ShowStory) -> None:
    tab = show(told_story())
    entry = tab.locator(".logs .opens")
    height = "document.querySelector('.logs .entry-value').getBoundingClientRect().height"
    tab.evaluate("document.querySelector('.logs .entry-value').style.width = '60px'")
    cut = tab.evaluate(height)
    entry.click()
    assert entry.get_attribute("aria-expanded") == "true"
    assert tab.evaluate(height) > cut
    press(tab, "j")
    assert entry.get_attribute("aria-expanded") == "true"


def test_the_diagram_says_epochs_and_what_is_done_without_a_message(show: ShowStory) -> None:
    tab = show(told_story())
    assert "Leader e1" in tab.locator("#diagram .role").all_text_contents()
    assert tab.locator("#diagram .deed").all_text_contents() == ["Append(a)"]


def test_the_menu_closes_with_escape_and_with_a_click_elsewhere(show: ShowStory) -> None:
    tab = show(hand_made_story())
    tab.click("#show")
    tab.keyboard.press("Escape")
    assert not tab.locator("#filters").is_visible()
    tab.click("#show")
    assert tab.locator("#filters").is_visible()
    tab.click("h1")
    assert not tab.locator("#filters").is_visible()


def test_the_page_says_that_something_is_hidden_and_that_a_step_is_not_there(show: ShowStory) -> None:
    tab = show(hand_made_story(), "#step=99&hide=net,nonsense&servers=b")
    assert tab.inner_text("#show") == "Show (2 hidden)"
    assert tab.inner_text("#found") == "there is no step 99"
    press(tab, "k")
    assert tab.inner_text("#found") == ""


def test_the_search_says_which_of_the_steps_found_this_is(show: ShowStory) -> None:
    tab = show(hand_made_story(), "#step=1")
    tab.fill("#search", "m2")
    assert tab.inner_text("#found") == "2 steps found"
    tab.keyboard.press("Enter")
    tab.keyboard.press("Enter")
    assert tab.inner_text("#found") == "2 of 2"


def test_arrow_keys_step_where_a_table_need_not_scroll(show: ShowStory) -> None:
    tab = show(hand_made_story(), "#step=2")
    tab.focus(".scroll")
    assert press(tab, "ArrowRight") == 3


def test_on_a_phone_the_bar_is_below_and_the_steps_are_in_sight(show: ShowStory) -> None:
    tab = show(story_of_finding("kip_996", "own_vote_elects"), size=(390, 844), has_touch=True)
    boxes = [tab.locator(part).bounding_box() for part in (".bar", "#steps")]
    assert all(box is not None for box in boxes)
    bar, steps = [box for box in boxes if box is not None]
    assert bar["y"] + bar["height"] == 844
    assert steps["y"] < 500
    tab.click("#show")
    menu = tab.locator("#filters").bounding_box()
    assert menu is not None
    assert menu["y"] + menu["height"] <= bar["y"] + 20


def test_on_a_phone_nothing_scrolls_within_the_page_and_each_part_is_one_touch_away(show: ShowStory) -> None:
    tab = show(long_story("kip_996", "standard", 30, seed=1), "#step=20", size=(390, 844), has_touch=True)
    nested = """[...document.querySelectorAll("*")].filter((element) =>
        /auto|scroll/.test(getComputedStyle(element).overflowY) && element !== document.scrollingElement
        && element.scrollHeight > element.clientHeight + 1).map((element) => element.id)"""
    assert tab.evaluate(nested) == []
    assert tab.evaluate("scrollY") == 0
    bar = tab.locator(".bar").bounding_box()
    assert bar is not None
    for part, within in (
        ("steps", "#steps [aria-current=step]"),
        ("diagram", "#diagram .row.current"),
        ("state", "#state h2"),
    ):
        tab.tap(f".bar [data-part={part}]")
        place = tab.locator(within).bounding_box()
        assert place is not None
        assert 0 <= place["y"] < place["y"] + place["height"] <= bar["y"]
    before = tab.evaluate("scrollY")
    tab.tap("#next")
    assert tab.evaluate("scrollY") == before
    tab.tap(".bar [data-part=steps]")
    for _ in range(8):
        tab.tap("#next")
    row = tab.locator("#steps [aria-current=step]").bounding_box()
    assert row is not None
    assert row["y"] + row["height"] <= bar["y"]


def test_a_change_that_the_property_compares_is_marked_and_no_other(show: ShowStory) -> None:
    tab = show(story_of_finding("kip_996", "own_vote_elects"), "#step=7")
    marked = tab.locator("#state .changes dd", has=tab.locator(".decides")).locator(".where").all_inner_texts()
    assert marked == ["leader"]


def test_a_step_that_only_takes_a_message_says_which(show: ShowStory, tmp_path: Path) -> None:
    tab = show(lossy_story(tmp_path, "receives"), "#step=3")
    assert "Only the network: m1 is taken from it." in tab.inner_text("#state")
    assert tab.inner_text("#steps [data-step='3'] .summary") == "takes m1 from the network"
    told = hand_made_story()
    idle = replace(told, steps=(*told.steps[:2], replace(told.steps[2], received=None)), messages=())
    tab = show(replace(idle, steps=(*idle.steps[:1], replace(idle.steps[1], sent=()), idle.steps[2])), "#step=3")
    assert "Nothing." in tab.inner_text("#state .empty")


def test_the_majority_of_a_step_is_named(show: ShowStory) -> None:
    tab = show(reassignment(), "#step=19")
    assert "A majority: n1, n4 of n1, n3, n4" in tab.inner_text("#state")


def test_the_mark_of_the_failure_does_not_cut_the_name_of_its_step(show: ShowStory) -> None:
    tab = show(story_of_finding("two_phase_commit", "broken"), size=(1280, 800))
    row = tab.locator(".step.current")
    assert row.locator(".failed").inner_text() == "fails here"
    boxes = [row.locator(part).bounding_box() for part in (".label", ".failed")]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"] + 2


def test_the_opened_fold_leaves_room_for_the_steps(show: ShowStory) -> None:
    tab = show(reassignment(), size=(1280, 900))
    tab.click(".top summary")
    box = tab.locator(".top").bounding_box()
    assert box is not None
    assert box["height"] <= 360
    assert "log[2] of n1 =" in tab.locator("details .compared").inner_text()


def test_a_watched_expression_has_a_column_and_stands_above_the_changes(show: ShowStory) -> None:
    file = read_trace(ROOT / "tests" / "data" / "views" / "no_fetches.itf.json")
    tab = show(watching(reading("no_fetches"), file, None, None, ["len(messages)"]), "#step=2")
    assert tab.inner_text(".watched dt") == "len(messages)"
    before, now = tab.locator(".watched del").inner_text(), tab.locator(".watched ins").inner_text()
    assert (before, int(now) > 0) == ("0", True)
    assert tab.inner_text("#steps .watched-head") == "len(messages)"
    values = tab.locator("#steps .step .watched-value")
    told = [text.removeprefix("len(messages): ") for text in values.all_text_contents()]
    assert (told[:2], len(told)) == (["0", now], tab.locator("#steps [data-step]").count())
    assert "changed" in (values.nth(1).get_attribute("class") or "")
    lefts = tab.evaluate(
        "[...document.querySelectorAll('.watched-value')].map((one) => one.getBoundingClientRect().left)"
    )
    assert len(set(lefts)) == 1
    assert "len(messages)" not in tab.locator("#steps .current .summary").inner_text()
    assert "len(messages)" not in tab.locator("[data-key=others]").inner_text()
