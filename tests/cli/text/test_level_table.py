"""The levels of a search as a small table with bars."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from support.commands.cli_runner import COUNTER, kmc

from kmc.cli.text.level_table import ROWS_MAX, level_lines


class _Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """Yes."""
        return True


def test_a_row_has_level_states_and_a_bar() -> None:
    assert list(level_lines((1, 10, 1_000, 500), 30)) == [
        "Levels: 4, the widest is 3.",
        "  1      1  ▏",
        "  2     10  ▏",
        "  3  1,000  ██████████████████",
        "  4    500  █████████",
    ]


def test_many_levels_share_rows() -> None:
    title, *rows = level_lines(tuple(range(1, 31)), 80, ascii_only=True)
    assert title == "Levels: 30, 3 to a row, the widest is 30 with 30 states."
    assert rows[0] == "    1-3   6  ###"
    assert rows[-1] == "  28-30  87  " + "#" * 48
    assert len(rows) == 10


@pytest.mark.parametrize("width", [1, 10, 20, 59, 79, 119])
@pytest.mark.parametrize("count", [1, 2, 12, 13, 61, 100_000])
def test_it_fits_the_width_and_the_screen(width: int, count: int) -> None:
    lines = list(level_lines(tuple(range(1, count + 1)), width))
    assert len(lines) <= 1 + ROWS_MAX
    assert all(len(line) <= width for line in lines)


@pytest.mark.parametrize(
    ("words", "shown"),
    [((), True), (("--no-levels",), False), (("--quiet",), False), (("--quiet", "--levels"), False)],
)
def test_a_terminal_gets_them_unless_it_is_quiet(
    words: tuple[str, ...], shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = Console(file=_Terminal(), width=80)
    monkeypatch.setattr("kmc.cli.text.render_result.stdout", lambda: console)
    told = kmc("check", "die_hard", "--engine", "python", "--no-run-dir", *words).stdout
    assert ("Levels: 8, the widest is " in told) == shown


def test_elsewhere_an_option_asks_for_them() -> None:
    assert "Levels: " not in kmc("check", "die_hard", "--no-run-dir").stdout
    assert "Levels: 8, the widest is " in kmc("check", "die_hard", "--no-run-dir", "--levels").stdout


def test_a_failure_has_none_unless_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(file=_Terminal(), width=80)
    monkeypatch.setattr("kmc.cli.text.render_result.stdout", lambda: console)
    failing = ("check", COUNTER, "two", "--engine", "python", "--no-run-dir")
    assert "Levels: " not in kmc(*failing).stdout
    assert "Levels: 3, " in kmc(*failing, "--levels").stdout
