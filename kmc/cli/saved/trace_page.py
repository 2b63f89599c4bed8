"""`kmc trace --html`: the page of a trace, written beside the trace or to a given file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from kmc.cli.saved.saved_runs import PAGE_NAME
from kmc.errors import CommandLineError, SystemFault

BESIDE = ""
"""The value of `--html` without a file."""

_ENDINGS = (".itf.json", ".tlc.json", ".json")


def html_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--html [OUT]`."""
    return click.option(
        "--html",
        "page",
        metavar="[OUT]",
        is_flag=False,
        flag_value=BESIDE,
        help="Write a page that explains the trace: one HTML file that needs nothing else. Beside FILE without OUT.",
    )(command)


def page_path(trace: Path, out: str, suffix: str = "") -> Path:
    """The file for the page of a trace: `OUT`, else beside it, with `suffix` in its name. Raises CommandLineError
    KMC680.

    OUT must look like a page, since the word behind `--html` is always OUT, even if it is a trace.
    """
    if out == BESIDE:
        ending = next((ending for ending in _ENDINGS if trace.name.endswith(ending)), trace.suffix)
        stem = trace.name.removesuffix(ending) or Path(PAGE_NAME).stem
        return trace.with_name(f"{stem}{suffix}{Path(PAGE_NAME).suffix}")
    if Path(out).suffix not in (".html", ".htm"):
        raise CommandLineError(
            "KMC680",
            f"--html {out}: the file of a page ends in .html",
            help="write kmc trace FILE --html, then OUT.html",
        )
    return Path(out)


def write_page(path: Path, text: str) -> None:
    """Write a page. Raises SystemFault KMC506."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SystemFault(
            "KMC506",
            f"cannot write the page {path}: {error.strerror or error}",
            help="give another file: --html OUT.html",
        ) from None
