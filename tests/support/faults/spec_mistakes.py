"""Golden files of spec authors' mistakes: each a spec with one mistake, its place marked, and the error it must give.

A file has blocks: `## title`, the files of the spec (each after a line `=== name.py`; what comes before the first such
line is `actions.py`), a line `----`, and the error. Files that a block does not bring are those of `common.txt`, unless
it brings its own `types.py`; `=== constants` holds assignments, `=== model.cfg` a model file. The place is marked by a
comment of carets in the line below it. A caret right behind the `#` makes the `#` a part of the mark; a place of
several lines is marked in its first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kmc.compiler.checks.kinds.spec_kinds import check_kinds
from kmc.errors import KmcError, Span
from kmc.frontend.binding import bind, bind_all
from kmc.frontend.model import Model
from kmc.model_files.cfg import read_cfg
from kmc.model_files.value_text import parse_set
from kmc.reference.search import Search

_MARK = re.compile(r"^(\s*(?:#|\\\*)?\s*)(\^+)$")
_CONSTANTS = "constants"
_MODEL = "model.cfg"


@dataclass(frozen=True, slots=True)
class SpecMistake:
    """A spec with a mistake, by the names of its files, and the error as `described` shows it."""

    title: str
    files: dict[str, str]
    error: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where carets stand, or an error lies; columns count from 1, the end is exclusive."""

    file: str
    line: int
    column: int
    end_column: int


def read_files(text: str) -> dict[str, str]:
    """The files of a spec in a block."""
    first, *texts = re.split(r"^=== .+$", text, flags=re.M)
    names = re.findall(r"^=== (.+)$", text, flags=re.M)
    files = {"actions.py": first, **dict(zip(names, texts, strict=True))}
    return {name: body.strip("\n") + "\n" for name, body in files.items() if body.strip() or name in names}


def read_spec_mistakes(path: Path) -> list[SpecMistake]:
    """The mistakes in a golden file, in order."""
    mistakes = []
    for block in re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
        title, _, body = block.partition("\n")
        text, _, error = body.partition("\n----\n")
        mistakes.append(SpecMistake(title, read_files(text), error.strip()))
    return mistakes


def marked(files: dict[str, str]) -> list[Place]:
    """The places that carets mark."""
    places = []
    for name, text in files.items():
        for number, line in enumerate(text.splitlines()):
            mark = _MARK.match(line)
            if mark:
                start = mark.start(2) - (mark[1].endswith("#"))
                places.append(Place(name, number, start + 1, mark.end(2) + 1))
    return places


def place_of(span: Span) -> Place:
    """The place of an error, cut at the end of its first line."""
    line = span.source_line() or ""
    one_line = span.end_line in (None, span.line) and span.end_column is not None
    return Place(Path(span.path).name, span.line, span.column, span.end_column or 0 if one_line else len(line) + 1)


def error_of(
    files: dict[str, str], common: dict[str, str], folder: Path, *, kinds: bool = True
) -> tuple[KmcError, int]:
    """The error of the spec made of these files, and the exit status of checking it; fails when there is none.

    Without `kinds`, the spec runs although its type check may fail.
    """
    spec_files = files if "types.py" in files else {**common, **files}
    constants = spec_files.get(_CONSTANTS, "").split("\n")[:-1]
    for name, text in spec_files.items():
        if name != _CONSTANTS:
            (folder / name).write_text(text, encoding="utf-8")
    try:
        model = _model(folder, spec_files, constants)
        if kinds:
            check_kinds(model.spec)
        result = Search(model).run()
    except KmcError as error:
        return error, int(error.exit_status)
    assert result.violation is not None, f"no error: {result.verdict}"
    assert result.violation.error is not None, f"no error: {result.verdict}, {result.violation.name}"
    return result.violation.error, int(result.exit_status())


def _model(folder: Path, files: dict[str, str], constants: list[str]) -> Model:
    if _MODEL in files:
        return bind(folder, read_cfg(folder / _MODEL))
    return bind_all(folder, [parse_set(line) for line in constants if line])


def described(error: KmcError, status: int) -> str:
    """The class, exit status, code, message, help and notes of an error, as the golden files write them."""
    lines = [f"{type(error).__name__} {status} {error.code} {error.message}", f"help: {error.help}"]
    return "\n".join([*lines, *(f"note: {note}" for note in error.notes)])
