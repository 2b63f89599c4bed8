"""Operators of the community modules that TLC runs in Java: texts of kmc take the place of the modules' own.

The modules define these operators for people and for proofs. Evaluated, some of the definitions never end, since they
go through all sequences over a set, and folds have another value: CHOOSE takes the first element last. A user of TLC
has the values of the Java code, so they are the values here. Other definitions of the modules stand as they are.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

from kmc.tla.syntax.modules import parse_module
from kmc.tla.syntax.tree import DefinitionSyntax, ModuleSyntax

_MARKS = ("FiniteSetsExt.tla", "Folds.tla", "Functions.tla", "SequencesExt.tla")
"""Files that a folder of the community modules has: another module of the same name has a meaning of its own."""


def with_replaced_operators(module: ModuleSyntax, path: Path) -> ModuleSyntax:
    """Return the module of a file with the definitions that kmc has in the place of its own, if it is a community one.

    A definition is replaced if name and number of parameters agree.
    """
    if not all((path.parent / name).is_file() for name in _MARKS):
        return module
    known = _replacements(module.name)
    if not known:
        return module
    units = tuple(
        known.get((unit.name, len(unit.parameters)), unit) if isinstance(unit, DefinitionSyntax) else unit
        for unit in module.units
    )
    return replace(module, units=units)


@cache
def _replacements(name: str) -> dict[tuple[str, int], DefinitionSyntax]:
    """Return the definitions that kmc has for a community module, by name and number of parameters."""
    text = files("kmc.tla.names").joinpath("standard", "community", f"{name}.tla")
    if not text.is_file():
        return {}
    units = parse_module(text.read_text(encoding="utf-8"), str(text)).units
    return {(unit.name, len(unit.parameters)): unit for unit in units if isinstance(unit, DefinitionSyntax)}
