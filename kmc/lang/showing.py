"""The text of a value in an error: short, in one line.

Values of the language look as in TLA+. `kmc.lang.tla` makes that text. It imports the modules of all values, so those
modules cannot import it; it registers itself here instead, and they can show values in their own errors.
"""

from __future__ import annotations

from decimal import Decimal
from functools import singledispatch
from types import FunctionType, GeneratorType

# Fewer digits than the least limit that Python accepts.
_DIRECT_BITS = 2_000

_PYTHON_KINDS: tuple[tuple[type, str], ...] = (
    (GeneratorType, "the states that a helper yields"),
    (range, "a range"),
    (tuple, "a tuple"),
    (dict, "a Python dict"),
    (float, "a fraction"),
)


@singledispatch
def shown(value: object) -> str:
    """A value in an error: short, in one line, in TLA+'s style unless Python's is what the author wrote."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return digits(value)
    return shown_python(value)


def digits(value: int) -> str:
    """Write an integer in full. Python's own conversion raises ValueError where it has more than 4,300 digits."""
    return str(value) if value.bit_length() <= _DIRECT_BITS else format(Decimal(value), "f")


def shown_python(value: object) -> str:
    """Text for something that is not a value of the language: its kind."""
    if isinstance(value, FunctionType):
        return "a lambda" if value.__name__ == "<lambda>" else f"the function {value.__name__}"
    if isinstance(value, str):
        return f'the text "{value}"'
    if value is frozenset:
        return "the function set"
    if isinstance(value, type):
        return f"the type {value.__name__}"
    kinds = [kind for cls, kind in _PYTHON_KINDS if isinstance(value, cls)]
    return kinds[0] if kinds else f"Python's {type(value).__name__}"
