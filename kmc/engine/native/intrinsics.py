"""The operations that loops need beyond Python: memory by address, atomic words, prefetch, and calls of kernels by
address.

Addresses travel as integers: array arguments made kernels six times slower. A word is 64 bits; an index counts words.
`inlined` marks a part of a loop. Only `kmc.engine.native.translate` gives it and the intrinsics a meaning.

Every atomic access is monotonic (C's relaxed order): one word has one history, and an atomic update sees its newest
value, but two words may be seen in any order. That is enough, since no thread reads memory that another thread wrote
because of a word that it found: a row is read by other threads only after all threads were joined, which orders all.
The tables rest on single words that change once, from 0 to their value; `docs/fingerprint_table.md` has the argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from llvmlite import ir

FEW_WORDS = 16
FEW_CODES = 32

_I64 = ir.IntType(64)
_I32 = ir.IntType(32)
_I16 = ir.IntType(16)
_I8 = ir.IntType(8)
_CODES = ir.VectorType(_I16, FEW_CODES)
_Function = TypeVar("_Function", bound=Callable[..., Any])

parts: set[Callable[..., Any]] = set()
"""The functions that loops may call."""


def inlined(function: _Function) -> _Function:
    """Compile `function` into every native loop that calls it; its parameters are words, its result is one or None."""
    parts.add(function)
    return function


class LoopIntrinsic:
    """A function of loops in LLVM's words: `emit(builder, argument...)` gives a word, or None for the word 0."""

    __slots__ = ("arity", "emit")

    def __init__(self, emit: Callable[..., Any]) -> None:
        self.emit = emit
        self.arity = emit.__code__.co_argcount - 1

    def __call__(self, *words: int) -> int:
        """The signature for a type checker; never called."""
        raise AssertionError("an intrinsic is a part of a compiled loop")


def _word(builder: Any, address: Any, index: Any) -> Any:
    return builder.gep(builder.inttoptr(address, _I64.as_pointer()), [index])


@LoopIntrinsic
def load(builder: Any, address: Any, index: Any) -> Any:
    """The word at `address[index]`.

    A plain load: LLVM may move it, or use the value of an earlier load. Where another thread may write the word, the
    caller relies on it only if it is not 0, since a word of a table never changes after that.
    """
    return builder.load(_word(builder, address, index))


@LoopIntrinsic
def load_shared(builder: Any, address: Any, index: Any) -> Any:
    """The word at `address[index]`, read anew each time: another thread may have written it."""
    return builder.load_atomic(_word(builder, address, index), "monotonic", 8)


@LoopIntrinsic
def store(builder: Any, address: Any, index: Any, value: Any) -> None:
    """Write the word at `address[index]`, which no other thread reads or writes until the threads are joined."""
    builder.store(value, _word(builder, address, index))


@LoopIntrinsic
def compare_and_swap(builder: Any, address: Any, index: Any, old: Any, new: Any) -> Any:
    """Write `new` at `address[index]` if it holds `old`; the value before, `old` if and only if this call wrote."""
    word = _word(builder, address, index)
    # Monotonic also where it fails: the value that it returns is all that callers use, and nothing is behind it.
    return builder.extract_value(builder.cmpxchg(word, old, new, "monotonic", "monotonic"), 0)


@LoopIntrinsic
def add(builder: Any, address: Any, index: Any, amount: Any) -> Any:
    """Add to the word at `address[index]` atomically; the value before, which no other thread gets."""
    return builder.atomic_rmw("add", _word(builder, address, index), amount, "monotonic")


@LoopIntrinsic
def raise_to(builder: Any, address: Any, index: Any, value: Any) -> Any:
    """Make the word at `address[index]` at least `value`, as unsigned numbers, atomically; the value before."""
    return builder.atomic_rmw("umax", _word(builder, address, index), value, "monotonic")


@LoopIntrinsic
def is_less(builder: Any, left: Any, right: Any) -> Any:
    """1 if `left` < `right` as unsigned numbers, else 0."""
    return builder.zext(builder.icmp_unsigned("<", left, right), _I64)


@LoopIntrinsic
def slot_of(builder: Any, fingerprint: Any, slots: Any) -> Any:
    """The home of a fingerprint among `slots`: floor(fingerprint * slots / 2**64), which keeps their order."""
    # 128 bits, since the product has up to 64 bits more than `slots`; the result is less than `slots`.
    wide = ir.IntType(128)
    product = builder.mul(builder.zext(fingerprint, wide), builder.zext(slots, wide))
    return builder.trunc(builder.lshr(product, wide(64)), _I64)


@LoopIntrinsic
def prefetch(builder: Any, address: Any, index: Any) -> None:
    """Ask for the cache line of `address[index]`, to be written."""
    word = builder.bitcast(_word(builder, address, index), ir.IntType(8).as_pointer())
    kind = ir.FunctionType(ir.VoidType(), [word.type, _I32, _I32, _I32])
    name = "llvm.prefetch.p0"
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    builder.call(function, [word, _I32(1), _I32(3), _I32(1)])


@LoopIntrinsic
def differing(builder: Any, left: Any, left_index: Any, right: Any, right_index: Any) -> Any:
    """A mask of the words that differ among the eight at `left[left_index]` and the eight at `right[right_index]`."""
    eight = ir.VectorType(_I64, 8).as_pointer()
    first = builder.load(builder.bitcast(_word(builder, left, left_index), eight), align=8)
    second = builder.load(builder.bitcast(_word(builder, right, right_index), eight), align=8)
    return builder.zext(builder.bitcast(builder.icmp_unsigned("!=", first, second), ir.IntType(8)), _I64)


@LoopIntrinsic
def equal_in_line(builder: Any, address: Any, index: Any, word: Any) -> Any:
    """A mask of the words that equal `word` among the eight from `address[index]` on, which are one cache line.

    The load is not atomic: each word is whole, but the words may be of different times, and another thread may write
    them meanwhile. Two calls for one line without a write between them are one load, since LLVM's O2 merges equal
    loads. The insertions into the fingerprint tables depend on that; tests/engine/table/test_table_code.py checks it.
    """
    return _among_eight(builder, "==", address, index, word, align=64)


@LoopIntrinsic
def before_among_eight(builder: Any, address: Any, index: Any, word: Any) -> Any:
    """A mask of the words that are less than `word`, as unsigned numbers, among the eight from `address[index]` on."""
    return _among_eight(builder, "<", address, index, word)


@LoopIntrinsic
def few_words(builder: Any) -> Any:
    """The address of `FEW_WORDS` words that belong to this call of the loop; they are not initialized."""
    # In the entry block, since an `alloca` inside a loop takes more of the stack in every round.
    with builder.goto_entry_block():
        words = builder.alloca(_I64, FEW_WORDS)
    return builder.ptrtoint(words, _I64)


@LoopIntrinsic
def lowest(builder: Any, mask: Any) -> Any:
    """The number of the lowest bit that is set in a mask, which is not 0."""
    # The second operand lets LLVM assume that; of 0 the result would be anything.
    return builder.cttz(mask, ir.IntType(1)(1))


@LoopIntrinsic
def ones(builder: Any, mask: Any) -> Any:
    """The number of bits set in a mask."""
    return builder.ctpop(mask)


@LoopIntrinsic
def load_code(builder: Any, address: Any, index: Any) -> Any:
    """The 16 bits at any `address`, `index` counting in steps of 16 bits; without a sign."""
    return builder.zext(builder.load(_code(builder, address, index), align=1), _I64)


@LoopIntrinsic
def store_code(builder: Any, address: Any, index: Any, code: Any) -> None:
    """Write 16 bits at `address`, `index` counting in steps of 16 bits."""
    builder.store(builder.trunc(code, _I16), _code(builder, address, index), align=2)


@LoopIntrinsic
def load_half(builder: Any, address: Any, index: Any) -> Any:
    """The 32 bits at `address`, `index` counting in steps of 32 bits; without a sign."""
    return builder.zext(builder.load(_half(builder, address, index), align=4), _I64)


@LoopIntrinsic
def store_half(builder: Any, address: Any, index: Any, value: Any) -> None:
    """Write 32 bits at `address`, `index` counting in steps of 32 bits."""
    builder.store(builder.trunc(value, _I32), _half(builder, address, index), align=4)


@LoopIntrinsic
def load_byte(builder: Any, address: Any, index: Any) -> Any:
    """The byte at `address[index]`, without a sign."""
    return builder.zext(builder.load(_byte(builder, address, index), align=1), _I64)


@LoopIntrinsic
def store_byte(builder: Any, address: Any, index: Any, value: Any) -> None:
    """Write the byte at `address[index]`."""
    builder.store(builder.trunc(value, _I8), _byte(builder, address, index), align=1)


@LoopIntrinsic
def load_anywhere(builder: Any, address: Any) -> Any:
    """The word at any address, which need not be that of a word."""
    return builder.load(builder.inttoptr(address, _I64.as_pointer()), align=1)


@LoopIntrinsic
def store_anywhere(builder: Any, address: Any, word: Any) -> None:
    """Write a word to any address, which need not be that of a word."""
    builder.store(word, builder.inttoptr(address, _I64.as_pointer()), align=1)


@LoopIntrinsic
def copy_eight(builder: Any, target: Any, source: Any) -> None:
    """Copy eight words, all read before the first is written, so that source and target may overlap."""
    eight = ir.VectorType(_I64, 8).as_pointer()
    words = builder.load(builder.inttoptr(source, eight), align=8)
    builder.store(words, builder.inttoptr(target, eight), align=8)


@LoopIntrinsic
def differing_codes(builder: Any, left: Any, right: Any) -> Any:
    """A mask of those that differ among 32 codes at `left` and 32 at `right`."""
    first, second = _codes(builder, left), _codes(builder, right)
    return builder.zext(builder.bitcast(builder.icmp_unsigned("!=", first, second), _I32), _I64)


@LoopIntrinsic
def highest_codes(builder: Any, address: Any) -> Any:
    """A mask of those among 32 codes that have all bits set."""
    most = ir.Constant(_CODES, [(1 << 16) - 1] * FEW_CODES)
    return builder.zext(builder.bitcast(builder.icmp_unsigned("==", _codes(builder, address), most), _I32), _I64)


@LoopIntrinsic
def store_some_codes(builder: Any, target: Any, source: Any, mask: Any) -> None:
    """Write those of 32 codes at `source` that a mask selects to any address `target`, one behind another; the bytes
    behind them are undefined.

    The number of bytes written is always that of 32 codes, whatever the mask.
    """
    mask_kind = ir.VectorType(ir.IntType(1), FEW_CODES)
    kind = ir.FunctionType(_CODES, [_CODES, mask_kind, _CODES])
    name = f"llvm.experimental.vector.compress.v{FEW_CODES}i16"
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    chosen = builder.bitcast(builder.trunc(mask, _I32), mask_kind)
    some = builder.call(function, [_codes(builder, source), chosen, ir.Constant(_CODES, ir.Undefined)])
    builder.store(some, builder.inttoptr(target, _CODES.as_pointer()), align=1)


def _among_eight(builder: Any, how: str, address: Any, index: Any, word: Any, align: int = 8) -> Any:
    eight = ir.VectorType(_I64, 8)
    line = builder.load(builder.bitcast(_word(builder, address, index), eight.as_pointer()), align=align)
    # An aligned line lies in one cache line. A processor without 512-bit registers loads it in two or four parts.
    wanted = builder.insert_element(ir.Constant(eight, ir.Undefined), word, _I32(0))
    wanted = builder.shuffle_vector(wanted, wanted, ir.Constant(ir.VectorType(_I32, 8), [0] * 8))
    return builder.zext(builder.bitcast(builder.icmp_unsigned(how, line, wanted), ir.IntType(8)), _I64)


def _code(builder: Any, address: Any, index: Any) -> Any:
    return builder.gep(builder.inttoptr(address, _I16.as_pointer()), [index])


def _half(builder: Any, address: Any, index: Any) -> Any:
    return builder.gep(builder.inttoptr(address, _I32.as_pointer()), [index])


def _byte(builder: Any, address: Any, index: Any) -> Any:
    return builder.gep(builder.inttoptr(address, _I8.as_pointer()), [index])


def _codes(builder: Any, address: Any) -> Any:
    return builder.load(builder.inttoptr(address, _CODES.as_pointer()), align=2)


def _call(builder: Any, function: Any, *arguments: Any) -> Any:
    kind = ir.FunctionType(_I64, [_I64] * len(arguments))
    return builder.call(builder.inttoptr(function, kind.as_pointer()), list(arguments))


@LoopIntrinsic
def call_one(builder: Any, function: Any, first: Any) -> Any:
    """Call the kernel at address `function`."""
    return _call(builder, function, first)


@LoopIntrinsic
def call_two(builder: Any, function: Any, first: Any, second: Any) -> Any:
    """Call the kernel at address `function`."""
    return _call(builder, function, first, second)


@LoopIntrinsic
def call_three(builder: Any, function: Any, first: Any, second: Any, third: Any) -> Any:
    """Call the kernel at address `function`."""
    return _call(builder, function, first, second, third)
