"""Values of options as they are typed, and as kmc prints them in commands."""

from __future__ import annotations

import click
import pytest

from kmc.cli.options.quantities import duration_seconds, duration_text, size_bytes, size_text

PARAMETER = click.Option(["--value"])
CONTEXT = click.Context(click.Command("kmc"))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1186.937185, "1186s"), (600, "10m"), (90.5, "90s"), (7200, "2h"), (172800, "2d"), (9.97, "9.9s"), (0.01, "0.1s")],
)
def test_a_duration_is_printed_in_few_digits_and_rounded_down(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
    assert duration_seconds(CONTEXT, PARAMETER, text) == pytest.approx(seconds, abs=1)


@pytest.mark.parametrize(("count", "text"), [(8 << 30, "8G"), (350 << 20, "350M"), (3 << 40, "3T"), (1000, "1000")])
def test_a_size_is_printed_as_it_is_typed(count: int, text: str) -> None:
    assert size_text(count) == text
    assert size_bytes(CONTEXT, PARAMETER, text) == count
