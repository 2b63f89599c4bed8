"""The page's files: its own, and those that every page of kmc shares. Only the files named here are served."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from kmc.views.page import page as shared

STYLES = (*shared.STYLES, "explorer.css")
SCRIPTS = (*shared.SCRIPTS, "connection.js", "moves.js", "tree.js", "controls.js", "explorer.js")

_TYPES = {"css": "text/css", "js": "text/javascript"}


@cache
def page() -> str:
    """The page itself."""
    head = "\n".join(
        [f'<link rel="stylesheet" href="assets/{name}">' for name in STYLES]
        + [f'<script src="assets/{name}" defer></script>' for name in SCRIPTS]
    )
    return _own("explorer.html").replace("{{assets}}", head)


@cache
def asset(name: str) -> tuple[str, str] | None:
    """The text of one of the files with its media type; None for any other name."""
    if name not in (*STYLES, *SCRIPTS):
        return None
    text = shared.asset(name) if name in (*shared.STYLES, *shared.SCRIPTS) else _own(name)
    return text, _TYPES[name.rpartition(".")[2]]


def _own(name: str) -> str:
    return files("kmc.explorer").joinpath("assets", name).read_text(encoding="utf-8")
