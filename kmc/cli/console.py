"""Where text goes: results to stdout, progress and errors to stderr.

Consoles are made when they are needed, so that a redirected stream is seen, and colour follows NO_COLOR and whether
the stream is a terminal. Nothing is wrapped, highlighted or read as markup: the text is what a program wrote.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterable

from rich.console import Console
from rich.text import Text


class _ResultConsole(Console):
    """Goes on without a reader: `kmc check ... | head` must end with the status of the check."""

    def on_broken_pipe(self) -> None:
        """Nobody reads on: write what is left to nowhere."""
        self.quiet = True
        _forget_stdout()


def _forget_stdout() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


def stdout() -> Console:
    """The console of results."""
    return _ResultConsole(highlight=False, markup=False, emoji=False, soft_wrap=True)


def stderr() -> Console:
    """The console of progress and errors."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def show(lines: Iterable[Text | str], console: Console | None = None) -> None:
    """Print these lines, on stdout unless a console is given."""
    target = console or stdout()
    for line in lines:
        target.print(line)


def say(text: str) -> None:
    """Print a whole machine-readable text on stdout."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()


def table(rows: Iterable[tuple[str, ...]], *, right: frozenset[int] = frozenset(), indent: int = 2) -> list[str]:
    """Rows as aligned lines; the columns in `right` are aligned to the right, and nothing trails."""
    listed = list(rows)
    if not listed:
        return []
    widths = [max(map(len, column)) for column in zip(*listed, strict=True)]
    lines = []
    for row in listed:
        cells = [
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((" " * indent + "  ".join(cells)).rstrip())
    return lines


def definitions(rows: Iterable[tuple[str, str]], *, width: int = 110, indent: int = 2) -> list[str]:
    """Terms and what they mean, aligned; a meaning that is too long goes on below itself, broken at blanks."""
    listed = list(rows)
    if not listed:
        return []
    at = indent + max(len(term) for term, _ in listed) + 2
    lines = []
    for term, meaning in listed:
        first, *rest = textwrap.wrap(meaning, max(40, width - at), break_on_hyphens=False) or [""]
        lines.append((" " * indent + term.ljust(at - indent) + first).rstrip())
        lines += [" " * at + line for line in rest]
    return lines


def bytes_in_words(count: int) -> str:
    """A number of bytes for a person: `512 MB`, `1.5 GB`, by powers of 1024."""
    size = count / 1024**2
    return f"{size:,.0f} MB" if size < 1024 else f"{size / 1024:,.1f} GB"


def seconds_in_words(seconds: float) -> str:
    """A duration for a person: `0.42 s`, `12 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if seconds < 10:
        return f"{seconds:.2f} s"
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
