"""Comments of a module in one line."""

from __future__ import annotations


def first_sentence(comment: str) -> str:
    """Return the first paragraph of a comment, in one line."""
    return " ".join(comment.strip().split("\n\n")[0].split())
