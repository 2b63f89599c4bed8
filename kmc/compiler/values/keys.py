"""Keys of maps and members of sets by number: scalars as they are, pairs in the order of `kmc.lang.domains.members`."""

from __future__ import annotations

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Expr
from kmc.compiler.values.code import Code, Origin
from kmc.compiler.values.packing import lift, pack, unwrap
from kmc.compiler.values.value import Packed, Value
from kmc.lang.types import MapType, PairType, Type
from kmc.runtime.state_layout import WORD, layout_of, scalar_count


def key_number(code: Code, key: Value, declared: MapType, node: Origin) -> Expr:
    """The number of a key."""
    return key_code(code, key, declared.key, node)


def key_code(code: Code, key: Value, declared: Type, node: Origin) -> Expr:
    """The number of a scalar or a pair among the values of its type."""
    if isinstance(declared, PairType):
        return _pair_number(pack(code, key, declared, node)[0], layout_of(declared).bits)
    return pack(code, unwrap(code, key, node), declared, node)[0]


def key_value(declared: Type, code: Expr) -> Value:
    """The scalar or pair with this number."""
    if not isinstance(declared, PairType):
        return lift(declared, (code,))
    masks = _pair_masks(scalar_count(declared.element))
    return Packed(declared, (_looked_up(code, dict(enumerate(masks))),))


def _pair_number(mask: Expr, count: int) -> Expr:
    return _looked_up(mask, {mask: index for index, mask in enumerate(_pair_masks(count))})


def _pair_masks(count: int) -> list[int]:
    return [1 << first | 1 << second for first in range(count) for second in range(first + 1, count)]


def _looked_up(key: Expr, table: dict[int, int]) -> Expr:
    """`table[key]`; 0 for another key. A small table is one constant, and an entry some bits of it."""
    width = max([*table.values(), 1]).bit_length()
    if not isinstance(key, Const) and (max([*table, 0]) + 1) * width <= WORD:
        whole = sum(value << index * width for index, value in table.items())
        at = x.binary("mul", key, Const(width))
        return x.binary("and", x.binary("lshr", Const(x.signed(whole)), at), x.low_mask(width))
    chosen: Expr = x.ZERO
    for index, value in table.items():
        chosen = x.select(x.eq(key, Const(index)), Const(x.signed(value)), chosen)
    return chosen
