"""The picture of a trace page in the README: `make picture` takes it from the gallery with a real browser."""

from __future__ import annotations

from support.pages.gallery import GALLERY, build, page_name
from support.source_tree import ROOT
from support.views.browsing import browser_program

PICTURE = ROOT / "docs" / "images" / "trace_page.png"
SIZE = (1200, 760)


def main() -> None:
    """Build the page of kraft's finding `restarts`, and photograph it."""
    from playwright.sync_api import sync_playwright

    GALLERY.mkdir(parents=True, exist_ok=True)
    failed = build("kraft", "restarts")
    assert not failed, failed
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_program(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="light")
        page.goto((GALLERY / page_name("kraft", "restarts")).as_uri())
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
