"""Golden texts of results, several in a file: a heading `# TITLE`, and the lines below it.

With KMC_UPDATE_GOLDEN=1 a comparison writes the text of now into the file; read the difference before you commit it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "data" / "results"


def golden_texts(name: str) -> dict[str, list[str]]:
    """The texts of a file by title, in its order; none if there is no file."""
    path = _path(name)
    texts: dict[str, list[str]] = {}
    for section in path.read_text(encoding="utf-8").split("# ")[1:] if path.exists() else ():
        title, *lines = section.rstrip().split("\n")
        texts[title] = lines
    return texts


def assert_golden(name: str, title: str, lines: Iterable[str]) -> None:
    """Compare lines with the text under a title of a file."""
    found, texts = list(lines), golden_texts(name)
    if os.environ.get("KMC_UPDATE_GOLDEN"):
        FOLDER.mkdir(exist_ok=True)
        updated = {**texts, title: found}
        whole = "\n".join("\n".join([f"# {each}", *text, ""]) for each, text in updated.items())
        _path(name).write_text(whole, encoding="utf-8")
    else:
        assert found == texts.get(title)


def _path(name: str) -> Path:
    return FOLDER / f"{name}.txt"
