"""The explorer of a TLA+ module in a browser: values of TLA+, what stops an action, expressions, errors on the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from support.specs.modules import module_of
from support.views.browsing import OpenTab, Watch
from support.views.exploring import serving

from kmc.explorer.modules.module_opening import module_ground_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

DESK = """---- MODULE Desk ----
EXTENDS Naturals, FiniteSets
CONSTANTS Clerk, none
VARIABLES asks, notes
vars == <<asks, notes>>
Init == asks = {} /\\ notes = [last |-> none, said |-> <<>>]
\\* A clerk asks another one.
Ask(c, k) ==
    /\\ Cardinality(asks) < 2
    /\\ \\E d \\in Clerk \\ {c} : asks' = asks \\union {[type |-> "ask", from |-> c, to |-> d, of |-> k]}
    /\\ UNCHANGED notes
Answer ==
    \\E a \\in asks :
        /\\ a.of > 1
        /\\ asks' = asks \\ {a}
        /\\ notes' = [last |-> a.to, said |-> <<"a \\"">>]
Wrong == notes.said[1] = 2 /\\ UNCHANGED vars
Next == (\\E c \\in Clerk, k \\in {1, 3} : Ask(c, k)) \\/ Answer \\/ Wrong
Quiet == notes.last = none
====
"""
MODEL = "INIT Init\nNEXT Next\nCONSTANTS Clerk = {ann, bob}\nnone = none\nINVARIANT Quiet\n"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("desk")
    with serving(module_ground_of(module_of(folder, DESK, MODEL)), folder) as address:
        yield address


def take(page: Page, label: str) -> None:
    page.locator("#moves .card", has=page.locator(f"b:text-is('{label}')")).first.click()
    page.locator("#state h2", has_text=label).wait_for()


def is_at(page: Page, text: str) -> None:
    page.locator("#position", has_text=re.compile(f"^{text}$")).wait_for()


def test_a_person_walks_a_module(open_tab: OpenTab, desk: str) -> None:
    page = open_tab(desk)
    take(page, "Ask(ann, 3)")
    assert page.locator("#state .doc", has_text="A clerk asks another one.").count() == 1
    assert "Desk.tla:8" in page.inner_text("#state")
    broken = page.locator("#moves .card.broken")
    assert "breaks Quiet" in broken.inner_text()
    assert 'notes said [1] gets "a \\""' in broken.inner_text()
    take(page, "Answer")
    assert "Quiet does not hold here" in page.inner_text("#verdict")
    assert "notes.last = none is FALSE (Desk.tla:19)." in page.inner_text("#verdicts .because")
    assert '[last |-> bob, said |-> <<"a \\"">>]' in page.inner_text("#state")
    page.keyboard.press("k")
    page.keyboard.press("k")
    is_at(page, "state 1 of 3")
    page.locator("details.disabled summary").click()
    page.locator("#moves .disabled-body li", has_text="asks is empty").wait_for()
    take(page, "Ask(bob, 1)")
    page.locator("details.disabled summary").click()
    stopped = page.locator("#moves .disabled-body li", has_text="a.of is 1")
    stopped.wait_for()
    assert "a.of > 1 is FALSE" in stopped.inner_text()
    assert 'a is [from |-> bob, of |-> 1, to |-> ann, type |-> "ask"]' in stopped.inner_text()


def test_expressions_are_those_of_tla_and_a_mistake_is_shown(open_tab: OpenTab, desk: str, watch: Watch) -> None:
    page = open_tab(desk)
    take(page, "Ask(ann, 3)")
    assert "an expression of TLA+" in str(page.get_attribute("#watch", "title"))
    page.fill("#watch", "{a.to : a \\in asks}")
    page.click("#show")
    page.locator("#state", has_text="{bob}").wait_for()
    page.fill("#watch", "asks + ")
    page.click("#show")
    page.locator("#trouble", has_text="KMC001").wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.select_option("#until", "expression ")
    assert "an expression of TLA+" in page.inner_text("#expression-row")
    page.fill("#expression", "Cardinality(asks) = 2")
    page.click("#seek")
    page.locator("#searching", has_text="found after 1 step").wait_for()
    watch.errors.clear()  # the refused expression was answered with 422


def test_an_action_that_fails_is_shown_where_it_fails(open_tab: OpenTab, desk: str) -> None:
    page = open_tab(desk)
    page.locator("#moves .remark.broken", has_text="Wrong: the spec has an error").wait_for()
    assert "notes.said[1] = 2" in page.inner_text("#moves .remark.broken")
    take(page, "Ask(ann, 3)")
    is_at(page, "state 2 of 2")
