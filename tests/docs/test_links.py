"""Links between pages lead somewhere: the file exists, and so does the heading. `make site` refuses the others too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.pages.site_hooks import TEXTS

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs"
ON_THE_SITE = TEXTS
"""Pages of the site that lie elsewhere in the repository."""
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("specs/*/*.md"), *ROOT.glob("tests/*.md"),
                *ROOT.glob("distributed/*.md")])  # fmt: skip
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def links_of(text: str) -> list[str]:
    """The targets of a page's links, without those to other sites."""
    return [link for link in LINK.findall(CODE.sub("", text)) if not re.match(r"[a-z]+:", link)]


def anchors_of(text: str) -> set[str]:
    """The headings of a page, as GitHub and the site name them in links."""
    titles = [title.replace("`", "") for title in HEADING.findall(re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S))]
    return {re.sub(r" ", "-", re.sub(r"[^\w\- ]", "", title.lower())) for title in titles}


def broken(page: Path, text: str) -> list[str]:
    """The links of a page that lead nowhere; a page of the site may link to pages of the site only."""
    found = []
    for link in links_of(text):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        leaves = page.parent == SITE and not target.is_relative_to(SITE) and target not in ON_THE_SITE
        missing = bool(anchor) and target.is_file() and anchor not in anchors_of(target.read_text(encoding="utf-8"))
        if leaves or not target.exists() or missing:
            found.append(link)
    return found


@pytest.mark.parametrize("page", PAGES, ids=[path.relative_to(ROOT).as_posix() for path in PAGES])
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert broken(page, page.read_text(encoding="utf-8")) == []


def test_a_link_that_leads_nowhere_is_found() -> None:
    page = ROOT / "docs" / "index.md"
    text = "[a](language.md#messages) [b](no.md) [c](language.md#no) [d](../README.md) `[e](f.md)` [g](https://x.org/y)"
    assert broken(page, text) == ["no.md", "language.md#no", "../README.md"]
