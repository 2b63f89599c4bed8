"""Building IR expressions: constants are folded, neutral operands dropped. No other module shifts bits."""

from __future__ import annotations

from collections.abc import Callable

from kmc.compiler.ir.nodes import LANES, Bin, BinaryOp, Const, Expr, Intrinsic, Load, Matches, Select
from kmc.runtime.hashing import SECOND

MASK = (1 << 64) - 1
ZERO = Const(0)
ONE = Const(1)


def signed(value: int) -> int:
    """A 64-bit pattern as a signed integer."""
    value &= MASK
    return value - (1 << 64) if value >> 63 else value


# As compiled code computes them: shifts take the lowest 6 bits of their distance, and a divisor 0 counts as 1.
_FOLD: dict[BinaryOp, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << (b & 63),
    "lshr": lambda a, b: (a & MASK) >> (b & 63),
    "eq": lambda a, b: int((a - b) & MASK == 0),
    "ne": lambda a, b: int((a - b) & MASK != 0),
    "slt": lambda a, b: int(signed(a) < signed(b)),
    "sle": lambda a, b: int(signed(a) <= signed(b)),
    "ult": lambda a, b: int((a & MASK) < (b & MASK)),
    "udiv": lambda a, b: (a & MASK) // (b & MASK or 1),
    "urem": lambda a, b: (a & MASK) % (b & MASK or 1),
}

_OF_EQUALS: dict[BinaryOp, Const] = {"eq": ONE, "sle": ONE, "ne": ZERO, "slt": ZERO, "ult": ZERO}
"""The comparisons whose result is known if their operands are equal."""


def binary(op: BinaryOp, left: Expr, right: Expr) -> Expr:
    """`left op right`, folded where the operands allow it."""
    if isinstance(right, Const):
        if isinstance(left, Const):
            return Const(signed(_FOLD[op](left.value, right.value)))
        if right.value == 0 and op in ("add", "sub", "or", "xor", "shl", "lshr"):
            return left
        if right.value == 0 and op in ("mul", "and"):
            return ZERO
        if right.value == 1 and op in ("mul", "udiv"):
            return left
        if right.value == -1 and op == "and":
            return left
    elif isinstance(left, Const):
        if left.value == 0 and op in ("add", "or", "xor"):
            return right
        if left.value == 0 and op in ("mul", "and"):
            return ZERO
        if left.value == 1 and op == "mul":
            return right
    # Operands are compared last, and only where that decides something: they may be large.
    elif op in _OF_EQUALS and left == right:
        return _OF_EQUALS[op]
    return Bin(op, left, right)


def add(left: Expr, right: Expr) -> Expr:
    """left + right."""
    return binary("add", left, right)


def sub(left: Expr, right: Expr) -> Expr:
    """left - right."""
    return binary("sub", left, right)


def eq(left: Expr, right: Expr) -> Expr:
    """1 if equal."""
    return binary("eq", left, right)


def both(left: Expr, right: Expr) -> Expr:
    """Conjunction of two booleans, both evaluated."""
    if left == ONE:
        return right
    if right == ONE:
        return left
    return binary("and", left, right)


def either(left: Expr, right: Expr) -> Expr:
    """Disjunction of two booleans, both evaluated."""
    if ONE in (left, right):
        return ONE
    return binary("or", left, right)


def negate(condition: Expr) -> Expr:
    """1 - condition."""
    return binary("xor", condition, ONE)


def select(condition: Expr, yes: Expr, no: Expr) -> Expr:
    """`yes` if `condition`, else `no`."""
    if isinstance(condition, Const):
        return yes if condition.value else no
    return yes if yes == no else Select(condition, yes, no)


def low_mask(bits: int) -> Const:
    """The lowest `bits` bits."""
    return Const(signed((1 << bits) - 1))


def extract(word: Expr, bit: Expr | int, bits: int) -> Expr:
    """`bits` bits of `word` from `bit` on."""
    if bits == 0:
        return ZERO
    at = Const(bit) if isinstance(bit, int) else bit
    shifted = binary("lshr", word, at)
    whole = bits >= 64 or (isinstance(bit, int) and bit + bits >= 64)
    return shifted if whole else binary("and", shifted, low_mask(bits))


def place_at(value: Expr, bit: Expr | int) -> Expr:
    """`value` moved up to `bit`."""
    return binary("shl", value, Const(bit) if isinstance(bit, int) else bit)


def replace(word: Expr, bit: Expr | int, bits: int, value: Expr) -> Expr:
    """`word` with `bits` bits from `bit` on replaced by `value`."""
    if bits >= 64:
        return value
    if isinstance(bit, int):
        hole: Expr = Const(signed(~(((1 << bits) - 1) << bit)))
    else:
        hole = binary("xor", place_at(low_mask(bits), bit), Const(-1))
    return binary("or", binary("and", word, hole), place_at(value, bit))


def load(pointer: str, index: Expr) -> Expr:
    """The word at `pointer[index]`."""
    return Load(pointer, index)


def mix(word: Expr, salt: Expr) -> Expr:
    """The hash of a word under a salt."""
    return Intrinsic("mix", (word, salt))


def second_mix(word: Expr, salt: Expr) -> Expr:
    """The hash of a word under a salt, for the second word of a fingerprint of 128 bits."""
    return mix(word, add(salt, Const(SECOND)))


def matches(pointer: str, index: Expr, mask: Expr, wanted: Expr, lanes: int = LANES) -> Expr:
    """A mask of the words from `pointer[index]` on that are `wanted` under `mask`; see `lanes_below`."""
    return Matches(pointer, index, mask, wanted, lanes)


def lanes_below(count: Expr, lanes: int = LANES) -> Expr:
    """The mask of the first `count` of the words that `matches` compares; all of them if there are more."""
    few = binary("slt", count, Const(lanes))
    return sub(place_at(ONE, select(few, count, Const(lanes))), ONE)
