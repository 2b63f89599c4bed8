"""The explorer as a person uses it: walking, branching, undoing, searching, saving, with the mouse and with keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.commands.cli_runner import kmc
from support.specs.shipped import shipped_model
from support.specs.small import COUNTER, model_of
from support.views.browsing import CUT_NAMES, OpenTab, Watch
from support.views.exploring import do, searched, serving, session_of
from support.views.stories import lossy_model

from kmc.cli.saved.traced_model import model_of_trace
from kmc.explorer.python_specs.opening import ground_at, ground_of
from kmc.explorer.saving import walked_trace
from kmc.trace.files import pick

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traces")


@pytest.fixture(scope="module")
def jugs(folder: Path) -> Iterator[str]:
    """An explorer of a model without processes."""
    with serving(ground_of(shipped_model("die_hard", "solution")), folder) as address:
        yield address


@pytest.fixture(scope="module")
def servers(folder: Path) -> Iterator[str]:
    """An explorer of three servers that opens at the fourth of thirteen states."""
    model = shipped_model("kip_996", "smoke")
    session = session_of(model)
    do(session, "walk", steps=12, seed=9)
    with serving(ground_at(model, walked_trace(session), 4), folder) as address:
        yield address


def is_at(page: Page, text: str) -> None:
    page.locator("#position", has_text=re.compile(f"^{text}$")).wait_for()


def take(page: Page, label: str) -> None:
    page.locator("#moves .card", has=page.locator(f"b:text-is('{label}')")).first.click()
    page.locator("#state h2", has_text=label).wait_for()


def shown(open_tab: OpenTab, address: str) -> Page:
    """The page, once it shows what can happen."""
    page = open_tab(address)
    page.locator("#moves .card").first.wait_for()
    return page


def steps_of(page: Page) -> list[str]:
    return page.locator("#steps .label").all_text_contents()


def test_a_person_walks_branches_and_undoes(open_tab: OpenTab, jugs: str) -> None:
    page = open_tab(jugs)
    take(page, "FillBigJug")
    take(page, "BigToSmall")
    assert steps_of(page) == ["Initial state", "FillBigJug", "BigToSmall"]
    page.locator("#steps .step").nth(1).click()
    is_at(page, "state 2 of 3")
    take(page, "EmptyBigJug")
    assert steps_of(page) == ["Initial state", "FillBigJug", "EmptyBigJug"]
    page.get_by_role("tab", name="All visited states").click()
    assert page.locator("#tree .visited .label").all_text_contents() == [
        "Initial state", "FillBigJug", "BigToSmall", "EmptyBigJug",
    ]  # fmt: skip
    page.get_by_role("button", name="Undo").click()
    is_at(page, "state 2 of 3")
    assert page.locator("#tree .visited").count() == 4
    page.get_by_role("button", name="Redo").click()
    is_at(page, "state 3 of 3")


def test_keys_walk_along_a_trace(open_tab: OpenTab, servers: str) -> None:
    page = open_tab(servers)
    is_at(page, "state 4 of 13")
    for _ in range(3):
        page.keyboard.press("k")
    is_at(page, "state 1 of 13")
    page.keyboard.press("ArrowRight")
    is_at(page, "state 2 of 13")
    page.keyboard.press("ArrowLeft")
    is_at(page, "state 1 of 13")
    page.keyboard.press("j")
    is_at(page, "state 2 of 13")
    page.keyboard.press("End")
    is_at(page, "state 13 of 13")
    page.keyboard.press("Home")
    is_at(page, "state 1 of 13")
    page.keyboard.press("1")
    is_at(page, "state 2 of 2")
    page.keyboard.press("u")
    is_at(page, "state 1 of 13")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("timeout")
    assert {"Timeout" in text for text in page.locator("#moves .card b").all_text_contents()} == {True}
    page.keyboard.press("Escape")
    assert page.locator("#moves .card").count() > 9


def test_a_click_on_a_message_delivers_it_or_drops_it(open_tab: OpenTab, folder: Path) -> None:
    with serving(ground_of(shipped_model("two_phase_commit", "smoke")), folder) as address:
        page = shown(open_tab, address)
        page.locator("#moves .card", has_text="RmPrepare").first.click()
        is_at(page, "state 2 of 2")
        page.locator("#state .network .message-name").first.click()
        page.locator("#message button", has_text="Deliver").click()
        is_at(page, "state 3 of 3")
        assert "m1" in page.inner_text(".messages-of-step")
        assert not page.locator("#message").is_visible()


def test_a_message_that_a_step_loses_is_dropped_by_a_click(open_tab: OpenTab, folder: Path, tmp_path: Path) -> None:
    with serving(ground_of(lossy_model(tmp_path, "loses")), folder) as address:
        page = shown(open_tab, address)
        page.locator("#moves .card", has_text="Write").first.click()
        is_at(page, "state 2 of 2")
        page.locator("#state .network .message-name").first.click()
        assert [text.split()[0] for text in page.locator("#message .buttons button").all_inner_texts()] == [
            "Deliver", "Drop",
        ]  # fmt: skip
        page.locator("#message button", has_text="Drop").click()
        is_at(page, "state 3 of 3")
        page.locator("#state .messages-of-step", has_text="Lost").wait_for()
        page.keyboard.press("k")
        is_at(page, "state 2 of 3")


def test_the_names_of_steps_are_whole_beside_the_cards(open_tab: OpenTab, folder: Path) -> None:
    file, number = pick("tests/data/views/changes_without_own_record.itf.json#19")
    with serving(ground_at(model_of_trace(file), file, number), folder) as address:
        page = open_tab(address, size=(1280, 900))
        is_at(page, "state 19 of 19")
        assert page.evaluate(CUT_NAMES) == []


def test_run_until_goes_to_the_violation_and_says_why(open_tab: OpenTab, jugs: str) -> None:
    page = shown(open_tab, jugs)
    page.keyboard.press("s")
    page.select_option("#until", "property NotSolved")
    page.click("#seek")
    is_at(page, "state 7 of 7")
    assert "found after 6 steps" in page.inner_text("#searching")
    assert "NotSolved" in page.inner_text("#verdict")
    assert "big" in page.inner_text("#verdicts .because")
    page.keyboard.press("k")
    is_at(page, "state 6 of 7")
    assert page.locator(".card.broken").count() == 1
    assert "breaks NotSolved" in page.inner_text(".card.broken")


def test_an_expression_is_waited_for_and_a_wrong_one_is_told(open_tab: OpenTab, watch: Watch, jugs: str) -> None:
    page = shown(open_tab, jugs)
    page.keyboard.press("s")
    page.select_option("#until", "expression ")
    page.fill("#expression", "st.bigg == 3")
    page.click("#seek")
    page.locator("#searching", has_text="bigg").wait_for()
    page.keyboard.press("s")
    page.fill("#expression", "st.big == 2 and st.small == 0")
    page.click("#seek")
    page.locator("#searching", has_text="found after").wait_for()
    is_at(page, "state [0-9]+ of [0-9]+")
    assert page.locator("#state").inner_text().split()[-2:] == ["big", "2"]


def test_an_expression_has_a_column_that_undo_a_branch_and_a_reload_keep(open_tab: OpenTab, jugs: str) -> None:
    page = shown(open_tab, jugs)
    take(page, "FillBigJug")
    page.keyboard.press("e")
    page.keyboard.type("st.big + st.small")
    page.keyboard.press("Enter")
    page.locator("#steps .watched-head", has_text="st.big + st.small").wait_for()
    values = page.locator("#steps .step .watched-value")

    def told() -> list[str]:
        return [text.removeprefix("st.big + st.small: ") for text in values.all_text_contents()]

    assert (told(), page.input_value("#watch")) == (["0", "5"], "")
    page.locator("#moves h2").click()
    page.keyboard.press("u")
    is_at(page, "state 1 of 1")
    take(page, "FillSmallJug")
    assert told() == ["0", "3"]
    page.reload()
    is_at(page, "state 2 of 2")
    assert told() == ["0", "3"]
    page.click("#save")
    assert "--show 'st.big + st.small'" in page.locator(".commands code").first.inner_text()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Remove st.big + st.small").click()
    page.locator("#steps .watched-head").wait_for(state="detached")


def test_a_mistake_in_an_expression_is_told_and_stays_to_be_mended(open_tab: OpenTab, watch: Watch, jugs: str) -> None:
    page = shown(open_tab, jugs)
    page.fill("#watch", "st.bigg")
    page.click("#show")
    page.locator("#trouble", has_text="State has no field 'bigg'").wait_for()
    assert page.input_value("#watch") == "st.bigg"
    page.fill("#watch", "st.big")
    page.keyboard.press("Enter")
    page.locator("#steps .watched-head", has_text="st.big").wait_for()
    assert not page.locator("#trouble").is_visible()
    watch.errors.clear()  # the browser logs the status of the refusal


def test_names_stay_whole_and_heads_in_sight_beside_what_is_watched(open_tab: OpenTab, folder: Path) -> None:
    file, number = pick("tests/data/views/changes_without_own_record.itf.json#19")
    watched = ("len(st.messages)", "{s for s in Server if st.servers[s].log != ()}")
    with serving(ground_at(model_of_trace(file), file, number, watched), folder) as address:
        page = open_tab(address, size=(1280, 900))
        is_at(page, "state 19 of 19")
        assert page.evaluate(CUT_NAMES) == []
        tabs, head, lanes = (page.locator(one).bounding_box() for one in (".tabs", ".watched-head", ".lane-names"))
        assert tabs is not None
        assert head is not None
        assert lanes is not None
        assert head["y"] == lanes["y"] == tabs["y"] + tabs["height"]


def test_a_random_walk_is_repeated_by_its_seed(open_tab: OpenTab, jugs: str) -> None:
    walks = []
    for _ in range(2):
        page = shown(open_tab, jugs)
        page.keyboard.press("s")
        page.fill("#count", "8")
        page.fill("#seed", "5")
        page.click("#walk")
        is_at(page, "state 9 of 9")
        walks.append(steps_of(page))
    assert walks[0] == walks[1]


def test_a_saved_path_is_replayed_and_opened_by_its_commands(
    open_tab: OpenTab, jugs: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_tab(jugs)
    take(page, "FillBigJug")
    take(page, "BigToSmall")
    page.click("#save")
    page.wait_for_selector("#saved[open]")
    commands = page.locator(".commands code").all_text_contents()
    assert [command.split()[1] for command in commands] == ["trace", "replay", "explore", "check", "simulate"]
    monkeypatch.chdir(folder)
    for command in commands[:2]:
        found = kmc(*command.split()[1:])
        assert found.exit_code == 0, found.output
    assert "BigToSmall" in kmc(*commands[0].split()[1:]).stdout
    with page.expect_download() as downloaded:
        page.get_by_text("Download it").click()
    assert Path(downloaded.value.path()).read_text() == Path(commands[0].split()[-1]).read_text()


def test_a_bookmark_is_set_with_a_name_and_gone_to(open_tab: OpenTab, jugs: str) -> None:
    page = open_tab(jugs)
    take(page, "FillBigJug")
    page.keyboard.press("b")
    page.fill("#name", "a full jug")
    page.keyboard.press("Enter")
    page.wait_for_selector("#tree .mark", state="attached")
    take(page, "BigToSmall")
    page.keyboard.press("t")
    page.locator("#tree .tree").first.locator(".visited").click()
    is_at(page, "state 2 of 3")
    assert page.locator("#tree .mark").first.inner_text() == "★ a full jug"


def test_a_page_loaded_again_shows_the_same_session_and_a_new_tab_another(open_tab: OpenTab, jugs: str) -> None:
    page = open_tab(jugs)
    take(page, "FillSmallJug")
    page.reload()
    is_at(page, "state 2 of 2")
    other = open_tab(jugs)
    is_at(other, "state 1 of 1")
    take(other, "FillBigJug")
    same = open_tab(page.url)
    is_at(same, "state 2 of 2")
    take(same, "SmallToBig")
    page.reload()
    is_at(page, "state 3 of 3")


def test_what_cannot_happen_is_told_with_its_guard(open_tab: OpenTab, servers: str) -> None:
    page = open_tab(servers)
    page.get_by_text("What cannot happen now, and why").click()
    page.wait_for_selector(".disabled h3")
    told = page.inner_text(".disabled")
    assert "RestartWithState" in told
    assert "MaxRestarts" in told
    assert re.search(r"\bis (true|false) \S*failures\.py:\d+", told)


def test_one_of_many_initial_states_is_chosen(open_tab: OpenTab, tmp_path: Path) -> None:
    source = COUNTER.replace("    yield State(n=0)", "    for n in range(0, 60):\n        yield State(n=n)")
    with serving(ground_of(model_of(tmp_path, source, "CONSTANT Limit = 90")), tmp_path) as address:
        page = shown(open_tab, address)
        assert page.locator("#moves .card").count() == 50
        page.get_by_role("button", name="More").click()
        page.get_by_role("button", name="Initial state 58 ").click()
        is_at(page, "state 1 of 1")
        assert "57" in page.inner_text("#state")
        page.get_by_role("button", name="Start again").click()
        page.wait_for_selector("body.choosing")


def test_an_error_of_the_spec_is_shown_at_its_place_and_the_walk_goes_on(open_tab: OpenTab, tmp_path: Path) -> None:
    source = COUNTER.replace("    if st.n < Limit:\n", "    assert st.n != 1\n    if st.n < Limit:\n")
    with serving(ground_of(model_of(tmp_path, source)), tmp_path) as address:
        page = open_tab(address)
        take(page, "Increase")
        assert "assert st.n != 1" in page.inner_text("#moves .remark.broken")
        page.keyboard.press("k")
        is_at(page, "state 1 of 2")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1400, 900), (390, 844)])
def test_nothing_is_cut_off_at_the_side(open_tab: OpenTab, servers: str, size: tuple[int, int], scheme: str) -> None:
    page = open_tab(servers, size=size, color_scheme=scheme)
    is_at(page, "state 4 of 13")
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert page.evaluate("document.getElementById('moves').scrollWidth <= document.getElementById('moves').clientWidth")


def test_each_control_has_a_name_and_the_state_is_announced(open_tab: OpenTab, servers: str) -> None:
    page = open_tab(servers)
    is_at(page, "state 4 of 13")
    nameless = page.evaluate(
        """[...document.querySelectorAll('button, input, select')].filter((one) =>
             !(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.length)).map((one) => one.id)"""
    )
    assert nameless == []
    page.keyboard.press("j")
    is_at(page, "state 5 of 13")
    assert page.inner_text("#spoken").startswith("State 5: ")


def test_a_search_from_the_page_is_cancelled(open_tab: OpenTab, tmp_path: Path) -> None:
    source = COUNTER.replace("Int(0, 100)", "Int(0, 10_000_000)").replace("if st.n < Limit:", "if st.n < 9_000_000:")
    with serving(ground_of(model_of(tmp_path, source)), tmp_path) as address:
        page = shown(open_tab, address)
        page.keyboard.press("s")
        page.fill("#limit", "1000000")
        page.click("#seek")
        page.locator("#searching").get_by_role("button", name="Cancel").click()
        # The first search on a machine compiles its loops, some ten seconds that a cancellation does not interrupt.
        page.locator("#searching", has_text="cancelled").wait_for(timeout=60_000)


def test_a_session_opens_at_what_a_search_found(open_tab: OpenTab, folder: Path) -> None:
    model = shipped_model("die_hard", "solution")
    session = session_of(model)
    searched(session, what="property", name="NotSolved")
    with serving(ground_at(model, walked_trace(session), 7), folder) as address:
        page = open_tab(address)
        is_at(page, "state 7 of 7")
        assert "NotSolved" in page.inner_text("#verdict")
        page.keyboard.press("ArrowUp")
        is_at(page, "state 6 of 7")


def test_a_lasso_shows_its_cycle(open_tab: OpenTab, folder: Path) -> None:
    file, number = pick("tests/data/views/no_check_quorum.itf.json#6")
    with serving(ground_at(model_of_trace(file), file, number), folder) as address:
        page = shown(open_tab, address)
        assert page.locator("#steps .in-cycle .number").all_inner_texts() == ["4", "5", "6", "↩"]
        assert page.locator("#diagram .cycle").count() == 1
        page.locator("#steps .closing").click()
        is_at(page, "state 4 of 6")


def test_of_a_long_path_the_steps_around_the_current_one_are_drawn(open_tab: OpenTab, folder: Path) -> None:
    model = shipped_model("die_hard", "solution")
    session = session_of(model)
    do(session, "walk", steps=600, seed=1)
    with serving(ground_at(model, walked_trace(session), 300), folder) as address:
        page = shown(open_tab, address)
        drawn = page.locator("#steps .step")
        count = drawn.count()
        assert count <= 240
        assert page.locator("#steps .current .number").inner_text() == "300"
        page.locator("#before .more").click()
        is_at(page, "state 180 of 601")
        page.keyboard.press("End")
        is_at(page, "state 601 of 601")
        assert page.locator("#after .more").count() == 0
        assert page.locator("#steps .current .number").inner_text() == "601"
