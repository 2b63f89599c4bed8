"""Classes of identifiers: `Server = constant("Server", IdentSet(...), "...")` and `spawned(...)`."""

from __future__ import annotations

from mypy.nodes import GDEF, CallExpr, Expression, RefExpr, SymbolTableNode
from mypy.plugin import DynamicClassDefContext

_IDENT_SET = "kmc.lang.IdentSet"
_SPAWNED = "kmc.lang.spawned"


def identifier_type(context: DynamicClassDefContext) -> None:
    """Add a class of this name, unless the constant is a number, a Bool or a member of an Enum."""
    call = context.call
    if not (_callee(call) == _SPAWNED or any(_callee(argument) == _IDENT_SET for argument in call.args)):
        return
    base = context.api.named_type_or_none("kmc.lang.Ident")
    if base is None:
        return
    info = context.api.basic_new_typeinfo(context.name, base, call.line)
    info.metaclass_type = base.type.metaclass_type
    info.line = call.line
    context.api.add_symbol_table_node(context.name, SymbolTableNode(GDEF, info, plugin_generated=True))


def _callee(expression: Expression) -> str:
    match expression:
        case CallExpr(callee=RefExpr() as callee):
            return callee.fullname
        case _:
            return ""
