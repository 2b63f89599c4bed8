"""Values of constants as data, exactly as a person wrote them in a `.cfg` file, in `models.toml` or after `--set`.

Invariant: a value here is raw. The type of a constant is known only where a spec meets its model. Sets keep the order
in which their members were written, because identifiers are shown in that order. A function on 1..n is a sequence, as
in TLA+.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from kmc.errors import ModelError

ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "t": "\t", "r": "\r", "f": "\f"}
"""The escapes of a string: the letter after the backslash, and its character."""

_INTEGER_LIMIT = 1 << 63


@dataclass(frozen=True, slots=True)
class ModelValue:
    """A value equal only to itself, known by its name, as in TLC."""

    name: str


@dataclass(frozen=True, slots=True)
class RawSet:
    """A set, in the order in which its members were written; raises ModelError KMC308 when a member occurs twice."""

    members: tuple[Raw, ...]

    def __post_init__(self) -> None:
        repeated = first_repeated(self.members)
        if repeated is not None:
            raise ModelError("KMC308", f"{render_raw(repeated)} occurs twice in a set", None, "write it once")


@dataclass(frozen=True, slots=True)
class RawSequence:
    """A sequence or tuple: `<<1, 2>>`."""

    elements: tuple[Raw, ...]


@dataclass(frozen=True, slots=True)
class RawRecord:
    """A record, `[epoch |-> 1]`, or a function from names that a manifest writes as a table."""

    fields: tuple[tuple[str, Raw], ...]


@dataclass(frozen=True, slots=True)
class RawFunction:
    """A function: `(n1 :> 1 @@ n2 :> 2)`. Its keys are different; `raw_function` checks that."""

    pairs: tuple[tuple[Raw, Raw], ...]


@dataclass(frozen=True, slots=True)
class RawOperator:
    """A definition of the spec whose value a constant gets: `Edges <- Ring`."""

    name: str


Raw: TypeAlias = int | bool | str | ModelValue | RawSet | RawSequence | RawRecord | RawFunction | RawOperator
"""A value as written: a number, TRUE or FALSE, a quoted string (`str`), a model value, a collection of such values, or
the name of a definition.
"""


def raw_function(pairs: tuple[tuple[Raw, Raw], ...]) -> RawFunction | RawSequence:
    """Return the function with these pairs; a sequence if its keys are 1..n in this order.

    Raises ModelError KMC308 when a key occurs twice.
    """
    repeated = first_repeated(tuple(key for key, _ in pairs))
    if repeated is not None:
        message = f"{render_raw(repeated)} occurs twice as a key of a function"
        raise ModelError("KMC308", message, None, "give each key one value")
    if [raw_identity(key) for key, _ in pairs] == [raw_identity(n) for n in range(1, len(pairs) + 1)]:
        return RawSequence(tuple(value for _, value in pairs))
    return RawFunction(pairs)


def first_repeated(members: tuple[Raw, ...]) -> Raw | None:
    """Return the first member that is equal to an earlier one; None if all are different."""
    seen = set()
    for member in members:
        identity = raw_identity(member)
        if identity in seen:
            return member
        seen.add(identity)
    return None


def raw_identity(value: Raw) -> object:
    """A hashable key, equal for equal values only: 1 differs from TRUE, and the order of a set does not count."""
    match value:
        case RawSet(members):
            return frozenset(raw_identity(member) for member in members)
        case RawSequence(elements):
            return tuple(raw_identity(element) for element in elements)
        case RawRecord(fields):
            return "record", frozenset((name, raw_identity(item)) for name, item in fields)
        case RawFunction(pairs):
            return "function", frozenset((raw_identity(key), raw_identity(item)) for key, item in pairs)
        case _:
            return type(value).__name__, value


def fits_integer(value: int) -> bool:
    """Whether the number is within the range of model files, 64 bits with sign."""
    return -_INTEGER_LIMIT <= value < _INTEGER_LIMIT


def render_raw(value: Raw) -> str:
    """The value as a `.cfg` file writes it; of a definition, its name."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case str():
            escaped = {ord(plain): "\\" + letter for letter, plain in ESCAPES.items()}
            return f'"{value.translate(escaped)}"'
        case ModelValue(name) | RawOperator(name):
            return name
        case RawSet(members):
            return "{ " + ", ".join(map(render_raw, members)) + " }" if members else "{}"
        case RawSequence(elements):
            return f"<<{', '.join(map(render_raw, elements))}>>"
        case RawRecord(fields):
            return "[" + ", ".join(f"{name} |-> {render_raw(item)}" for name, item in fields) + "]"
        case RawFunction(pairs):
            shown = " @@ ".join(f"{render_raw(key)} :> {render_raw(item)}" for key, item in pairs)
            return f"({shown})"
        case _:
            assert_never(value)


def render_assignment(name: str, value: Raw) -> str:
    """A constant and its value as a line of a `.cfg` file has them: `MaxEpoch = 2`, `Edges <- Ring`."""
    return f"{name} {'<-' if isinstance(value, RawOperator) else '='} {render_raw(value)}"
