"""Specs and models in words: constants with their values, names of properties."""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Protocol

from kmc.frontend.loader import Spec
from kmc.lang.constant_values import text_of
from kmc.lang.constants import Constant
from kmc.lang.types import SymbolMeta
from kmc.model_files.raw_values import ModelValue, render_raw


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """The name as a person reads it."""


def names(declared: Iterable[Named]) -> str:
    """The names of declarations, with commas."""
    return ", ".join(item.name for item in declared)


def constant_value(constant: Constant) -> str:
    """The value of a constant as a model file writes it; of an operator, its name."""
    if isinstance(constant.value, FunctionType):
        return render_raw(constant.raw) if constant.raw is not None else constant.value.__name__
    is_plain = isinstance(constant.raw, bool | int | str | ModelValue) or isinstance(constant.value, SymbolMeta)
    return render_raw(constant.raw) if is_plain and constant.raw is not None else text_of(constant.value)


def constants_text(spec: Spec) -> str:
    """`Server = { n1, n2 }, MaxElections = 1`; constants at their default last, and marked."""
    given = [f"{c.name} = {constant_value(c)}" for c in spec.constants.values() if c.raw is not None]
    defaults = [f"{c.name} = {constant_value(c)} (default)" for c in spec.constants.values() if c.raw is None]
    return ", ".join(given + defaults)


def given_constants_text(spec: Spec) -> str:
    """The constants that the model gives; all of them when it gives none."""
    given = [constant for constant in spec.constants.values() if constant.raw is not None]
    return ", ".join(f"{c.name} = {constant_value(c)}" for c in given or spec.constants.values())


def first_line(doc: str) -> str:
    """The first line of a docstring."""
    return doc.strip().splitlines()[0] if doc.strip() else ""


def listing(words: list[str]) -> str:
    """`A`, `A and B`, `A, B and C`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
