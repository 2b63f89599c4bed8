"""Masks of sets, and of the keys of partial maps: one word for a type of at most 64 values, several for a larger one.

Bit n of the mask, counted through its words, is 1 if the value with the number n is there. Bits beyond the last number
are 0. Of a mask of one word these functions build the same code as the operations on words that they stand for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from typing import Literal

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Break, Const, Expr, If, Intrinsic, Let, Load, Var
from kmc.compiler.values.code import Code, Origin
from kmc.lang.domains import describe
from kmc.lang.types import IntType, PairType, SetType
from kmc.runtime.kernel_errors import assumed_ends
from kmc.runtime.state_layout import WORD, is_plain_key, layout_of, mask_words

Mask = tuple[Expr, ...]

SetOperator = Literal["or", "and", "sub"]
"""The name of a union, intersection or difference."""


def no_members(declared: SetType) -> Mask:
    """The mask of the empty set."""
    return (x.ZERO,) * layout_of(declared).words


def all_members(count: int) -> Mask:
    """The mask of all `count` values of a type."""
    return tuple(x.low_mask(min(count - WORD * word, WORD)) for word in range(mask_words(count)))


def word_at(mask: Mask, index: Expr) -> Expr:
    """The word with this index, which the mask has. Words that lie in memory are loaded at the index."""
    if len(mask) == 1:
        return mask[0]
    if isinstance(index, Const):
        return mask[index.value]
    first = mask[0]
    if isinstance(first, Load) and all(
        word == x.load(first.pointer, x.add(first.index, Const(place))) for place, word in enumerate(mask)
    ):
        return x.load(first.pointer, x.add(first.index, index))
    chosen = first
    for place, word in enumerate(mask[1:], 1):
        chosen = x.select(x.eq(index, Const(place)), word, chosen)
    return chosen


def has_number(mask: Mask, number: Expr) -> Expr:
    """1 if the value with this number is there; the mask has a bit for it."""
    if len(mask) == 1:
        return x.extract(mask[0], number, 1)
    if isinstance(number, Const):
        return x.extract(mask[number.value // WORD], number.value % WORD, 1)
    return x.extract(word_at(mask, x.binary("lshr", number, Const(6))), x.binary("and", number, Const(WORD - 1)), 1)


def only_number(number: Expr, count: int) -> Mask:
    """The mask of `count` bits in which only the bit with this number is 1."""
    if mask_words(count) == 1:
        return (x.place_at(x.ONE, number),)
    bit = x.place_at(x.ONE, x.binary("and", number, Const(WORD - 1)))
    index = x.binary("lshr", number, Const(6))
    return tuple(x.select(x.eq(index, Const(word)), bit, x.ZERO) for word in range(mask_words(count)))


def put_number(code: Code, names: list[str], number: Expr) -> None:
    """Emit code that sets the bit with this number in the mask in these variables."""
    if len(names) > 1:
        number = code.keep(number, "number")
    for name, bit in zip(names, only_number(number, WORD * len(names)), strict=True):
        code.emit(Let(name, x.binary("or", Var(name), bit)))


def joined_masks(kind: SetOperator, left: Mask, right: Mask) -> Mask:
    """The union, intersection or difference of two masks of the same numbers."""
    if kind == "sub":
        return tuple(x.binary("and", a, x.binary("xor", b, Const(-1))) for a, b in zip(left, right, strict=True))
    return tuple(x.binary(kind, a, b) for a, b in zip(left, right, strict=True))


def is_empty(mask: Mask) -> Expr:
    """1 if no bit is 1."""
    return x.eq(reduce(lambda all_bits, word: x.binary("or", all_bits, word), mask), x.ZERO)


def same_mask(left: Mask, right: Mask) -> Expr:
    """1 if two masks of the same numbers have the same bits."""
    return reduce(x.both, (x.eq(a, b) for a, b in zip(left, right, strict=True)))


def member_count(mask: Mask) -> Expr:
    """The number of bits that are 1."""
    counts: list[Expr] = [Intrinsic("popcount", (word,)) for word in mask]
    return reduce(x.add, counts)


def first_missing(code: Code, mask: Mask, count: int) -> tuple[Expr, Expr]:
    """Whether one of the first `count` bits is 0, and the number of the first such bit."""
    within = zip(mask, all_members(count), strict=True)
    free = tuple(code.keep(x.binary("and", x.binary("xor", word, Const(-1)), every)) for word, every in within)
    number: Expr = x.ZERO
    for place, word in reversed(list(enumerate(free))):
        mine = x.add(Intrinsic("cttz", (word,)), Const(WORD * place))
        number = mine if place == len(free) - 1 else x.select(x.eq(word, x.ZERO), number, mine)
    return x.negate(is_empty(free)), number


def each_number(code: Code, mask: Mask, body: Callable[[Expr], object]) -> None:
    """Emit two loops, over the words of a mask and over the bits of a word that are 1; the body occurs once."""

    def of_word(place: Expr) -> None:
        rest, label = code.fresh("rest"), code.fresh("members")
        code.emit(Let(rest, word_at(mask, place)))

        def one() -> None:
            code.emit(If(x.eq(Var(rest), x.ZERO), (Break(label),)))
            bit = code.keep(Intrinsic("cttz", (Var(rest),)), "bit")
            code.emit(Let(rest, x.binary("and", Var(rest), x.sub(Var(rest), x.ONE))))
            body(code.keep(x.add(x.binary("mul", place, Const(WORD)), bit), "number"))

        code.loop(label, code.capture(one))

    code.count_up(x.ZERO, Const(len(mask)), of_word, "word")


def converted_mask(
    code: Code, mask: Mask, kind: SetType | PairType, declared: SetType | PairType, node: Origin
) -> Mask:
    """The mask of a set as another type of set, whose numbers may start at another lower bound."""
    mine, wanted = kind.element, declared.element
    if isinstance(declared, PairType) and isinstance(kind, SetType):
        code.check(x.eq(member_count(mask), Const(2)), node)
    if mine == wanted:
        return mask
    if not (is_plain_key(mine) and is_plain_key(wanted)):
        code.refuse(node, f"a set of {describe(mine)} as {describe(declared)}", "make it of elements of one type")
    words = layout_of(declared).words
    if not (isinstance(mine, IntType) and isinstance(wanted, IntType)):
        code.check(is_empty(mask), node)
        return (x.ZERO,) * words
    mask = tuple(code.keep(word) for word in mask)
    below, above = assumed_ends(wanted)
    if mine.low < wanted.low:
        count = min(wanted.low - mine.low, WORD * len(mask))
        code.check(is_empty(_lowest(mask, count)), node, below)
        mask = _moved_down(mask, count)
    if mine.high > wanted.high:
        kept = max(0, wanted.high - max(mine.low, wanted.low) + 1)
        code.check(is_empty(_moved_down(mask, kept)), node, above)
    return _moved_up(mask, max(0, mine.low - wanted.low), words)


def _lowest(mask: Mask, count: int) -> Mask:
    """The first `count` bits of a mask."""
    return tuple(
        x.extract(word, 0, min(count - WORD * place, WORD)) for place, word in enumerate(mask) if count > WORD * place
    )


def _moved_down(mask: Mask, count: int) -> Mask:
    """A mask without its first `count` bits, in as many words; 0 behind the last bit."""
    whole, bits = divmod(count, WORD)
    source = (*mask[whole:], *(x.ZERO,) * (min(whole, len(mask)) + 1))
    return tuple(_spliced(source[place], source[place + 1], bits) for place in range(len(mask)))


def _moved_up(mask: Mask, count: int, words: int) -> Mask:
    """A mask behind `count` bits that are 0, in `words` words; bits behind these are known to be 0."""
    whole, bits = divmod(count, WORD)
    source = ((x.ZERO,) * (min(whole, words) + 1) + mask + (x.ZERO,) * words)[: words + 1]
    if not bits:
        return source[1:]
    return tuple(_spliced(before, word, WORD - bits) for before, word in pairwise(source))


def _spliced(low: Expr, high: Expr, bits: int) -> Expr:
    """The word that begins at a bit of one word and ends in the next one."""
    if not bits:
        return low
    return x.binary("or", x.binary("lshr", low, Const(bits)), x.place_at(high, WORD - bits))
