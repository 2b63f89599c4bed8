"""Output: results go to stdout, progress and errors to stderr.

Consoles are made when they are needed, so that a redirected stream is respected. Colour depends on NO_COLOR and on
whether the stream is a terminal, unless `--color` decides. Text is never wrapped, highlighted or read as markup.
"""

from __future__ import annotations

import math
import os
import sys
import textwrap
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, TextIO

import click
from rich.console import Console
from rich.text import Text

from kmc.errors import SystemFault


class _ResultConsole(Console):
    """Continues without a reader: `kmc check ... | head` must end with the status of the check."""

    def on_broken_pipe(self) -> None:
        """The reader is gone: discard the rest."""
        self.quiet = True
        _forget(sys.stdout)


class _LossyStream:
    """A stream for progress and errors: where it cannot be written, they are lost, and the command goes on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text, if that is possible."""
        try:
            return self._stream.write(text)
        except OSError:
            _forget(self._stream)
            return len(text)

    def flush(self) -> None:
        """Write what is left, if that is possible."""
        try:
            self._stream.flush()
        except OSError:
            _forget(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _forget(stream: TextIO) -> None:
    """Let all that is written to a stream, and what it still holds, go nowhere."""
    with suppress(OSError, ValueError):  # a stream in memory has no descriptor
        target = stream.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, target)
        os.close(nowhere)


def stdout() -> Console:
    """The console of results."""
    return _ResultConsole(highlight=False, markup=False, emoji=False, soft_wrap=True, **_colours())


def _colours() -> dict[str, Any]:
    """What `--color` asks for, which the context of the command keeps; nothing where the stream decides."""
    context = click.get_current_context(silent=True)
    match context.color if context is not None else None:
        case True:
            return {"force_terminal": True, "no_color": False, "color_system": "standard"}
        case False:
            return {"force_terminal": False, "no_color": True, "color_system": None}
        case _:
            return {}


def stderr() -> Console:
    """The console of progress and errors."""
    file: Any = None if sys.stderr is None else _LossyStream(sys.stderr)
    return Console(file=file, stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def show(lines: Iterable[Text | str], console: Console | None = None) -> None:
    """Print these lines, on stdout unless a console is given. Raises SystemFault KMC504 where stdout refuses them."""
    if console is not None:
        for line in lines:
            console.print(line)
        return
    if sys.stdout is None:
        raise stdout_fault("it is closed")
    target = stdout()
    try:
        for line in lines:
            target.print(line)
    except OSError as error:
        raise stdout_fault(error) from None


def say(text: str) -> None:
    """Print a whole machine-readable text on stdout. Raises SystemFault KMC504 where stdout refuses it."""
    if sys.stdout is None:
        raise stdout_fault("it is closed")
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _forget(sys.stdout)
    except OSError as error:
        raise stdout_fault(error) from None


def stdout_fault(why: OSError | str) -> SystemFault:
    """KMC504: standard output cannot be written; what it still holds is lost.

    A reader that goes away is not a fault: it has what it wants, and the exit status tells the verdict.
    """
    if sys.stdout is not None:
        _forget(sys.stdout)
    text = why if isinstance(why, str) else why.strerror or str(why)
    return SystemFault(
        "KMC504", f"cannot write to standard output: {text}", help="free space there, or send the output elsewhere"
    )


def table(rows: Iterable[tuple[str, ...]], *, right: frozenset[int] = frozenset(), indent: int = 2) -> list[str]:
    """Rows as aligned lines without trailing blanks; the columns in `right` are aligned to the right."""
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
    """Terms and their meanings, aligned; a long meaning continues on the next line, broken at blanks."""
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


def indent_below(head: str, text: str, *, width: int = 110) -> list[str]:
    """Break a text at blanks behind its head; its later lines begin below the first one."""
    first, *rest = textwrap.wrap(text, max(40, width - len(head)), break_on_hyphens=False) or [""]
    return [(head + first).rstrip(), *(" " * len(head) + line for line in rest)]


def bytes_in_words(count: int) -> str:
    """A number of bytes for a person: `512 MB`, `1.5 GB`, by powers of 1024."""
    size = count / 1024**2
    return f"{size:,.0f} MB" if size < 1024 else f"{size / 1024:,.1f} GB"


def size_in_words(count: int) -> str:
    """The size of files for a person: `12 KB`, `512 MB`, `1.5 GB`, by powers of 1024, rounded up to a kilobyte."""
    return f"{math.ceil(count / 1024):,} KB" if count < 1024**2 else bytes_in_words(count)


def age_in_words(seconds: float) -> str:
    """How long ago something was, by its largest unit: `12 s`, `5 min`, `3 h`, `12 d`."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size):,} {unit}"
    return f"{max(0, int(seconds))} s"


def count_in_words(count: int) -> str:
    """A large number for a person: `987`, `12.3 K`, `54.8 M`, `1.2 G`."""
    size = float(count)
    for unit in ("", " K", " M"):
        if size < 1000:
            return f"{size:.1f}{unit}" if unit else f"{count}"
        size /= 1000
    return f"{size:,.1f} G"


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
