"""What tests in a browser share: which browser, and a watch over what its pages must not do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Route

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
"""The programs that are tried, unless KMC_BROWSER names one."""

OpenTab = Callable[..., "Page"]
"""`open_tab(address, *, size=(1400, 900), **options of Playwright's new_context)`; an address is a Path or a URL."""

ShowStory = Callable[..., "Page"]
"""`show(story, link="#step=2", **options of OpenTab)` opens the page of a story."""

# The names of steps that are not shown whole: cut at their sides, or below what their row shows.
CUT_NAMES = """() => [...document.querySelectorAll("#steps .label")].filter((label) => {
  const [name, row] = [label, label.closest(".step")].map((one) => one.getBoundingClientRect());
  const isCut = label.scrollWidth > label.clientWidth + 1 || label.scrollHeight > label.clientHeight + 1;
  return isCut || name.bottom > row.bottom || name.top < row.top;
}).map((label) => label.textContent)"""


def browser_program() -> str:
    """The path of a Chromium. Fails the test where there is none."""
    named = os.environ.get("KMC_BROWSER")
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        where = f"KMC_BROWSER={named} is not a program" if named else f"no {', '.join(BROWSERS)} on PATH"
        pytest.fail(f"{where}: `sudo make chromium` installs it on Debian; else set KMC_BROWSER to its path")
    return found


@dataclass
class Watch:
    """What the pages of one test did that they must not do. A test that expects it takes it out of these lists."""

    refused: list[str] = field(default_factory=list)
    """The addresses that a page asked for, and that are not its own."""
    errors: list[str] = field(default_factory=list)
    """Errors and warnings on the console, exceptions, and violations of the Content-Security-Policy."""

    def over(self, context: BrowserContext, address: str) -> None:
        """Watch the pages of `context`; they may ask for what has the origin of `address`, a file for itself alone."""
        own = urlsplit(address)

        def decide(route: Route) -> None:
            asked = urlsplit(route.request.url)
            if (asked.scheme, asked.netloc) == (own.scheme, own.netloc) and (own.netloc or asked.path == own.path):
                route.continue_()
            else:
                self.refused.append(route.request.url)
                route.abort()

        context.route("**/*", decide)
        context.on("console", self._heard)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)
