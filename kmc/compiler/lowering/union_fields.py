"""Fields of unions: a field that several alternatives have is read where each has it, and the values are merged.

Messages are looked at shape by shape. A field that only other shapes have fails where it is read: any condition of the
spec may rule this shape out before, such as one on a field that says of which kind a message is.
"""

from __future__ import annotations

from functools import partial, reduce

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Expr
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.values.code import Draft, Origin
from kmc.compiler.values.packing import alternatives, field, lift
from kmc.compiler.values.value import Packed, Rec, Received, Stored, Value
from kmc.errors import SpecError
from kmc.lang.types import RecordMeta, RecordType, Type, UnionType
from kmc.runtime.state_layout import layout_of, record_layout, union_layout


def field_of(low: Lowering, owner: Value, name: str, node: Origin) -> Value:
    """Return field `name` of a record, or of the records of a union, whatever place and type it has in each."""
    value = owner.value if isinstance(owner, Received) else owner
    lacking = _shape_without(value, name)
    declared = None if lacking is None else _of_other_shapes(low, lacking, name)
    if declared is not None:
        low.code.check(x.ZERO, node)
        return lift(declared, (x.ZERO,) * layout_of(declared).words)
    if not (isinstance(value, Packed | Stored) and _differs(value, name)):
        return field(low.code, owner, name, node)
    found: list[tuple[Expr, Value]] = []
    for here, item in alternatives(low.code, value):
        kind = item.type if isinstance(item, Packed | Stored) else None
        if isinstance(kind, RecordType) and name in kind.cls.shapes[0].fields:
            found.append((low.code.keep(here), field(low.code, item, name, node)))
    low.code.check(reduce(x.either, (here for here, _ in found)), node)
    return _merged(low, found, name, node)


def _shape_without(value: Value, name: str) -> RecordMeta | None:
    """Return the class of a record of one shape that has no such field; None for any other value."""
    while isinstance(value, Rec) and value.base is not None and name not in value.fields:
        value = value.base
    value = value.value if isinstance(value, Received) else value
    kind = value.type if isinstance(value, Rec | Packed | Stored) else None
    if not isinstance(kind, RecordType) or len(kind.cls.shapes) > 1:
        return None
    shape: RecordMeta = kind.cls.shapes[0]
    return None if name in shape.fields else shape


def _of_other_shapes(low: Lowering, shape: RecordMeta, name: str) -> Type | None:
    """Return the type of a field in another shape of a family, or of messages of one network; None if none has it."""
    families = [base.shapes for base in shape.__mro__[1:] if isinstance(base, RecordMeta)]
    networks = [network.shapes for _, network in low.row.networks] if low.row is not None else []
    together = [shapes for shapes in networks if any(other.shapes[0] is shape for other in shapes)]
    others = (other for shapes in (*families, *together) for other in shapes)
    return next((other.fields[name] for other in others if name in other.fields), None)


def _differs(value: Packed | Stored, name: str) -> bool:
    """Return whether several alternatives have a field, at different places or with different types."""
    if not isinstance(value.type, UnionType | RecordType) or union_layout(value.type).coded:
        return False
    classes = [kind.cls.shapes[0] for kind in union_layout(value.type).alternatives if isinstance(kind, RecordType)]
    having = [cls for cls in classes if name in cls.fields]
    return len({(record_layout(cls).fields[name], cls.fields[name]) for cls in having}) > 1


def _merged(low: Lowering, found: list[tuple[Expr, Value]], name: str, node: Origin) -> Value:
    """Return one value for the fields of all alternatives: that of the alternative which is there."""
    try:
        value, setters = low.merge([item for _, item in found], node)
    except SpecError:
        low.code.refuse(node, f"'{name}', which differs between the alternatives", "give it one type in all of them")
    pairs = zip(setters, (item for _, item in found), strict=True)
    drafts = [low.code.capture(partial(put, item)) for put, item in pairs]
    _emit_branches(low, [here for here, _ in found[:-1]], drafts)
    return value


def _emit_branches(low: Lowering, conditions: list[Expr], drafts: list[Draft]) -> None:
    """Emit the draft of the first condition that holds, the last one where none does."""
    if not conditions:
        low.code.branch(x.ONE, drafts[0])
        return
    rest = low.code.capture(lambda: _emit_branches(low, conditions[1:], drafts[1:]))
    low.code.branch(conditions[0], drafts[0], rest)
