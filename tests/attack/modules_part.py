"""The part `modules`: drawn TLA+ modules in three ways. A module that kmc gets wrong is made smaller and kept."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from support.modules.protocol_modules import DrawnModule, protocol_module
from support.modules.three_ways import Checked, check_ways


def attack_modules(seed: int, count: Callable[[int], None], kept: Path | None) -> list[str]:
    """Check the module of a seed; the differences as text. `count` gets the number of checks."""
    drawn = protocol_module(seed)
    checked = _checked(drawn.module, drawn.configuration)
    count(1 + len(checked.translations))
    found = checked.differences()
    if found and kept is not None:
        keep(drawn, found, kept)
    return found


def keep(drawn: DrawnModule, found: list[str], folder: Path) -> None:
    """Write the module, as small as it gets, with the differences."""
    small = shrunken(drawn, found)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Protocol.tla").write_text(small, encoding="utf-8")
    (folder / "Protocol.cfg").write_text(drawn.configuration, encoding="utf-8")
    again = _checked(small, drawn.configuration).differences()
    text = "\n".join([*again, "", "as drawn:", *found, ""])
    (folder / "difference.txt").write_text(text, encoding="utf-8")


def shrunken(drawn: DrawnModule, found: list[str]) -> str:
    """Return the module without the lines that do not matter for the first difference."""
    first, *lines = drawn.module.rstrip("\n").split("\n")
    wanted, compiles = _kind(found[0]), found[0].startswith("compiled")
    size = max(1, len(lines) // 4)
    while size:
        index = 0
        while index < len(lines):
            fewer = [*lines[:index], *lines[index + size :]]
            if any(
                _kind(one) == wanted for one in _found("\n".join([first, *fewer, ""]), drawn.configuration, compiles)
            ):
                lines = fewer
            else:
                index += size
        size //= 2
    return "\n".join([first, *lines, ""])


def _kind(difference: str) -> str:
    return difference.partition(" is ")[0]


def _found(module: str, configuration: str, compiles: bool) -> list[str]:
    """Return the differences of a module that may lack what it needs."""
    try:
        return _checked(module, configuration, compiles).differences()
    except (ValueError, IndexError, KeyError, AttributeError, TypeError, AssertionError):
        return []


def _checked(module: str, configuration: str, compiles: bool = True) -> Checked:
    with tempfile.TemporaryDirectory(prefix="kmc-attack-") as folder:
        return check_ways(Path(folder), module, configuration, compiles=compiles)
