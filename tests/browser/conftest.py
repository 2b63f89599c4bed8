"""One browser for all tests of a session: Chromium without a window, driven by Playwright.

No page may ask for anything but what has its own origin, nor write an error to its console. What it does of that is
refused, kept in `watch`, and fails the test.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.views.browsing import OpenTab, ShowStory, Watch, browser_program
from support.views.stories import hand_made_story

from kmc.story.parts.story import Story
from kmc.views.page.page import page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

_WAIT_MS_MAX = 30_000


def pytest_itemcollected(item: pytest.Item) -> None:
    """Every test of this folder needs a browser; no file can forget to say so."""
    item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser that all tests share."""
    program = browser_program()
    from playwright.sync_api import sync_playwright  # which only these tests load

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program)
        yield started
        started.close()


@pytest.fixture
def watch() -> Iterator[Watch]:
    """What pages did wrong; fails the test after its end, unless it took that out."""
    watch = Watch()
    yield watch
    assert (watch.refused, watch.errors) == ([], [])


@pytest.fixture
def open_tab(browser: Browser, watch: Watch) -> Iterator[OpenTab]:
    """Opens a page in a profile of its own: `open_tab(path, size=(390, 844), color_scheme="dark")`."""
    contexts: list[BrowserContext] = []

    def open_(address: str | Path, *, size: tuple[int, int] = (1400, 900), **options: Any) -> Page:
        path, _, fragment = str(address).partition("#")
        url = Path(path).resolve().as_uri() + "#" * bool(fragment) + fragment if "://" not in path else str(address)
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        contexts.append(context)
        context.set_default_timeout(_WAIT_MS_MAX)
        watch.over(context, url)
        page = context.new_page()
        page.goto(url)
        return page

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture
def show(open_tab: OpenTab, tmp_path: Path) -> ShowStory:
    """Opens the page of a story: `show(story, "#step=2", size=(390, 844))`."""

    def show(story: Story, link: str = "", **options: Any) -> Page:
        path = tmp_path / "trace.html"
        path.write_text(page(story), encoding="utf-8")
        return open_tab(f"{path.as_uri()}{link}", **options)

    return show


@pytest.fixture
def page_in_a_frame(open_tab: OpenTab, tmp_path: Path) -> Page:
    """A page that shows the page of a story in a frame, as a notebook does."""
    path = tmp_path / "outer.html"
    frame = f'<iframe width=1200 height=800 srcdoc="{escape(page(hand_made_story()))}"></iframe>'
    path.write_text(f"<!doctype html><title>t</title><link rel=icon href='data:,'>{frame}", encoding="utf-8")
    return open_tab(path)
