"""The meaning of each function of the language for the interpreter.

A few differ from Python's functions of the same name: `set` makes an immutable set, and `min` and `max` compare numbers
only. The names and arguments are in the table `kmc.lang.words`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import Any

from kmc.lang.choosing import the
from kmc.lang.guards import count, equals_any, product, require, ways
from kmc.lang.numbers import greatest, least
from kmc.lang.pairs import pair, pairs
from kmc.lang.seqs import fold
from kmc.lang.set_ranges import functions, permutations, sequences, subsets
from kmc.lang.words import PYTHON_FUNCTIONS

BUILTINS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(builtins, name) for name in sorted(PYTHON_FUNCTIONS)},
    "set": frozenset,
    "max": greatest,
    "min": least,
}
"""The functions that a spec calls without an import."""

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **BUILTINS,
    "count": count,
    "equals_any": equals_any,
    "fold": fold,
    "functions": functions,
    "pair": pair,
    "pairs": pairs,
    "permutations": permutations,
    "product": product,
    "require": require,
    "sequences": sequences,
    "subsets": subsets,
    "the": the,
    "ways": ways,
}
"""The functions of the language by their names."""

NAMES: Mapping[Any, str] = {function: name for name, function in FUNCTIONS.items() if name != "frozenset"}
"""The name of each function."""
