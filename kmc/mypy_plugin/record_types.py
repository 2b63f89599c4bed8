"""The types of records: the fields that `Node(...)` needs, that `node.set(...)` accepts, and that are read."""

from __future__ import annotations

from dataclasses import dataclass

from mypy.nodes import ARG_NAMED_OPT, TypeInfo, Var
from mypy.plugin import AttributeContext, FunctionSigContext, MethodSigContext
from mypy.types import (
    AnyType,
    FunctionLike,
    Instance,
    Type,
    TypeOfAny,
    UnionType,
    get_proper_type,
)

from kmc.mypy_plugin.words import MESSAGE_BAG, MESSAGE_SET

RECORD = "kmc.lang.Record"


@dataclass(frozen=True, slots=True)
class Literals:
    """The classes of what `{a, b}`, `{k: n}` and `n` are in a spec."""

    set_class: TypeInfo
    map_class: TypeInfo
    int_class: TypeInfo


def constructor_signature(context: FunctionSigContext, literals: Literals) -> FunctionLike:
    """The constructor of a record: mypy's own, of a dataclass, and literals for networks."""
    signature = context.default_signature
    return signature.copy_modified(arg_types=[_given(kind, literals) for kind in signature.arg_types])


def set_signature(context: MethodSigContext, literals: Literals) -> FunctionLike:
    """`set` of a record: each field by name, and none of them is needed."""
    record = get_proper_type(context.type)
    if not isinstance(record, Instance):
        return context.default_signature
    fields = fields_of(record.type)
    return context.default_signature.copy_modified(
        arg_types=[_given(kind, literals) for kind in fields.values()],
        arg_kinds=[ARG_NAMED_OPT] * len(fields),
        arg_names=list(fields),
        name=f"set of {record.type.name}",
    )


def read_field(context: AttributeContext) -> Type:
    """The type of reading a field: anything, if it is a union of a record with other kinds.

    `entry.value.members` is right wherever `entry.command` says that the value is a configuration. mypy cannot know.
    """
    read = get_proper_type(context.default_attr_type)
    kinds = [get_proper_type(item) for item in read.items] if isinstance(read, UnionType) else []
    records = {kind.type.has_base(RECORD) for kind in kinds if isinstance(kind, Instance)}
    return AnyType(TypeOfAny.special_form) if records == {True, False} else context.default_attr_type


def fields_of(record: TypeInfo) -> dict[str, Type]:
    """The fields of a record class, those of its bases first."""
    fields: dict[str, Type] = {}
    for base in reversed(record.mro):
        if base.fullname != RECORD and base.has_base(RECORD) and base.fullname != "kmc.lang.Message":
            for name, symbol in base.names.items():
                if isinstance(symbol.node, Var) and not symbol.plugin_generated and not name.startswith("__"):
                    fields[name] = symbol.node.type or AnyType(TypeOfAny.special_form)
    return fields


def _given(field: Type, literals: Literals) -> Type:
    """The type of a value for a field: for a network also the set or map that a literal is."""
    known = get_proper_type(field)
    if not isinstance(known, Instance):
        return field
    message = known.args[:1]
    match known.type.fullname:
        case name if name == MESSAGE_SET:
            return UnionType([known, Instance(literals.set_class, message)])
        case name if name == MESSAGE_BAG:
            counts = Instance(literals.map_class, [*message, Instance(literals.int_class, [])])
            return UnionType([known, counts])
        case _:
            return field
