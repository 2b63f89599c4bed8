"""What numba's Python cannot say: memory by address, atomic words, prefetch, and calls of kernels by address.

Addresses travel as integers: numba caches a loop only if it holds no pointer, and array arguments made kernels six
times slower. A word is 64 bits; an index counts words. `inlined` marks a part of a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

FEW_WORDS = 16

_I64 = ir.IntType(64)
_I32 = ir.IntType(32)
_I16 = ir.IntType(16)
_Function = TypeVar("_Function", bound=Callable[..., Any])


# Without wrappers that only Python would call, a cold start is a quarter shorter. numba's types do not know the words.
_compiler: Any = njit


def inlined(function: _Function) -> _Function:
    """Compile `function` into every native loop that calls it."""
    result: _Function = _compiler(forceinline=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(
        function
    )
    return result


def _typed(function: Callable[..., Any]) -> Callable[..., int]:
    made: Callable[..., int] = intrinsic(function)
    return made


def _word(builder: Any, address: Any, index: Any) -> Any:
    return builder.gep(builder.inttoptr(address, _I64.as_pointer()), [index])


def _load(typing: Any, address: Any, index: Any) -> Any:
    """The word at `address[index]`."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_word(builder, args[0], args[1]))

    return types.int64(types.int64, types.int64), emit


def _load_shared(typing: Any, address: Any, index: Any) -> Any:
    """The word at `address[index]`, read anew each time: another thread may have written it."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_word(builder, args[0], args[1]), "monotonic", 8)

    return types.int64(types.int64, types.int64), emit


def _store(typing: Any, address: Any, index: Any, value: Any) -> Any:
    """Write the word at `address[index]`."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _word(builder, args[0], args[1]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), emit


def _compare_and_swap(typing: Any, address: Any, index: Any, old: Any, new: Any) -> Any:
    """Write `new` at `address[index]` if `old` stands there; what stood there before."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _word(builder, args[0], args[1])
        return builder.extract_value(builder.cmpxchg(place, args[2], args[3], "monotonic", "monotonic"), 0)

    return types.int64(*[types.int64] * 4), emit


def _add(typing: Any, address: Any, index: Any, amount: Any) -> Any:
    """Add to the word at `address[index]` atomically; what stood there before."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _word(builder, args[0], args[1]), args[2], "monotonic")

    return types.int64(*[types.int64] * 3), emit


def _raise_to(typing: Any, address: Any, index: Any, value: Any) -> Any:
    """Make the word at `address[index]` at least `value`, as unsigned numbers, atomically; what stood there before."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("umax", _word(builder, args[0], args[1]), args[2], "monotonic")

    return types.int64(*[types.int64] * 3), emit


def _is_less(typing: Any, left: Any, right: Any) -> Any:
    """1 if `left` < `right` as unsigned numbers, else 0."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(builder.icmp_unsigned("<", args[0], args[1]), _I64)

    return types.int64(types.int64, types.int64), emit


def _slot_of(typing: Any, fingerprint: Any, slots: Any) -> Any:
    """The home of a fingerprint among `slots`: floor(fingerprint * slots / 2**64), which keeps their order."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, wide(64)), _I64)

    return types.int64(types.int64, types.int64), emit


def _prefetch(typing: Any, address: Any, index: Any) -> Any:
    """Ask for the cache line of `address[index]`, to be written."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.bitcast(_word(builder, args[0], args[1]), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [place.type, _I32, _I32, _I32])
        name = "llvm.prefetch.p0"
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        builder.call(function, [place, _I32(1), _I32(3), _I32(1)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit


def _differing(typing: Any, left: Any, left_index: Any, right: Any, right_index: Any) -> Any:
    """A mask of the words that differ among the eight at `left[left_index]` and the eight at `right[right_index]`."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        eight = ir.VectorType(_I64, 8).as_pointer()
        first = builder.load(builder.bitcast(_word(builder, args[0], args[1]), eight), align=8)
        second = builder.load(builder.bitcast(_word(builder, args[2], args[3]), eight), align=8)
        return builder.zext(builder.bitcast(builder.icmp_unsigned("!=", first, second), ir.IntType(8)), _I64)

    return types.int64(*[types.int64] * 4), emit


def _equal_in_line(typing: Any, address: Any, index: Any, word: Any) -> Any:
    """A mask of the words that equal `word` among the eight from `address[index]` on, which are one cache line."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        eight = ir.VectorType(_I64, 8)
        line = builder.load(builder.bitcast(_word(builder, args[0], args[1]), eight.as_pointer()), align=64)
        wanted = builder.insert_element(ir.Constant(eight, ir.Undefined), args[2], _I32(0))
        wanted = builder.shuffle_vector(wanted, wanted, ir.Constant(ir.VectorType(_I32, 8), [0] * 8))
        return builder.zext(builder.bitcast(builder.icmp_unsigned("==", line, wanted), ir.IntType(8)), _I64)

    return types.int64(*[types.int64] * 3), emit


def _few_words(typing: Any) -> Any:
    """The address of `FEW_WORDS` words that belong to this call of the loop; what they hold at first is anything."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        with builder.goto_entry_block():
            words = builder.alloca(_I64, FEW_WORDS)
        return builder.ptrtoint(words, _I64)

    return types.int64(), emit


def _lowest(typing: Any, mask: Any) -> Any:
    """The number of the lowest bit that is set in a mask, which is not 0."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), emit


def _store_code(typing: Any, address: Any, index: Any, code: Any) -> Any:
    """Write 16 bits at `address`, `index` counting in steps of 16 bits."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.gep(builder.inttoptr(args[0], _I16.as_pointer()), [args[1]])
        builder.store(builder.trunc(args[2], _I16), place)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), emit


def _call(builder: Any, args: Any) -> Any:
    kind = ir.FunctionType(_I64, [_I64] * (len(args) - 1))
    return builder.call(builder.inttoptr(args[0], kind.as_pointer()), list(args[1:]))


def _call_one(typing: Any, function: Any, first: Any) -> Any:
    """Call the kernel at address `function`."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, args)

    return types.int64(types.int64, types.int64), emit


def _call_two(typing: Any, function: Any, first: Any, second: Any) -> Any:
    """Call the kernel at address `function`."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, args)

    return types.int64(*[types.int64] * 3), emit


def _call_three(typing: Any, function: Any, first: Any, second: Any, third: Any) -> Any:
    """Call the kernel at address `function`."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, args)

    return types.int64(*[types.int64] * 4), emit


load = _typed(_load)
load_shared = _typed(_load_shared)
store = _typed(_store)
compare_and_swap = _typed(_compare_and_swap)
add = _typed(_add)
raise_to = _typed(_raise_to)
is_less = _typed(_is_less)
slot_of = _typed(_slot_of)
prefetch = _typed(_prefetch)
equal_in_line = _typed(_equal_in_line)
differing = _typed(_differing)
few_words = _typed(_few_words)
lowest = _typed(_lowest)
store_code = _typed(_store_code)
call_one = _typed(_call_one)
call_two = _typed(_call_two)
call_three = _typed(_call_three)
