"""Golden files of mistakes: a title, a text with one mistake, and the error that it must give.

A file has blocks of the form `## title`, the text, a line `----`, and the error: `line:column-end code message`, then
its help and its notes, one line each. Kept as text so that a person can judge the errors as their reader sees them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kmc.errors import KmcError


@dataclass(frozen=True, slots=True)
class Mistake:
    """A text that must be refused, and the error as `described` shows it."""

    title: str
    text: str
    error: str


def read_mistakes(path: Path) -> list[Mistake]:
    """The mistakes in a golden file, in order."""
    blocks = path.read_text(encoding="utf-8").split("## ")[1:]
    mistakes = []
    for block in blocks:
        title, _, body = block.partition("\n")
        text, _, error = body.partition("\n----\n")
        mistakes.append(Mistake(title, text, error.strip()))
    return mistakes


def described(error: KmcError) -> str:
    """The place, code, message, help and notes of an error, as the golden files write them."""
    place = f"{error.span.line}:{error.span.column}-{error.span.end_column} " if error.span else ""
    lines = [f"{place}{error.code} {error.message}", f"help: {error.help}"]
    return "\n".join([*lines, *(f"note: {note}" for note in error.notes)])
