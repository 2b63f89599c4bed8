"""The annotations that the spec language implies: of the state, of a message, of the result of an action or
property.
"""

from __future__ import annotations

from mypy.nodes import MISSING_FALLBACK, CallExpr, Expression, FuncDef, MemberExpr, NameExpr, StrExpr
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    RawExpressionType,
    Type,
    TypeOfAny,
    UnboundType,
    UnionType,
)

from kmc.invariants.kinds import KINDS

STATE = "__kmc_state__"
STEPS = "__kmc_steps__"
FIELD = "__kmc_field__"
_ST = "st"
# Decorators of `spec`: how many states their functions take.
_ACTIONS = {"init": 0, "action": 1, "receive": 1}
_PROPERTIES = {kind.name: kind.states for kind in KINDS}


def plain_types(annotation: Type) -> Type:
    """An annotation in which `Int(0, 3)` is an int, and any other expression anything.

    mypy parses no expressions in annotations. Of a call it keeps a note for the author, which has the function's name.
    """
    match annotation:
        case RawExpressionType(literal_value=None, note=str(note)) if " Int[" in note:
            return UnboundType("int", line=annotation.line, column=annotation.column)
        case RawExpressionType(literal_value=None):
            return _any()
        case UnionType():
            annotation.items = [plain_types(item) for item in annotation.items]
        case UnboundType():
            annotation.args = tuple(plain_types(argument) for argument in annotation.args)
    return annotation


def returns_bool(decorators: list[Expression]) -> bool:
    """Are these the decorators of a property of states or steps?"""
    return any(_of_spec(decorator) in _PROPERTIES for decorator in decorators)


def annotate(function: FuncDef, decorators: list[Expression], *, has_state: bool) -> None:
    """Write the implied types into `function`, where the author wrote none."""
    kind = next((of_spec for decorator in decorators if (of_spec := _of_spec(decorator))), "")
    state: Type = UnboundType(STATE) if has_state else _any()
    implied = _implied_parameters(kind, decorators, state)
    bound = _bound(decorators)
    types: list[Type] = []
    for position, argument in enumerate(function.arguments):
        if argument.type_annotation is not None:
            types.append(plain_types(argument.type_annotation))
        elif position < len(implied):
            types.append(implied[position])
        else:
            types.append(bound.get(argument.variable.name) or (state if argument.variable.name == _ST else _any()))
    written = function.unanalyzed_type.ret_type if isinstance(function.unanalyzed_type, CallableType) else None
    result = _implied_result(kind, state) if written is None or isinstance(written, AnyType) else plain_types(written)
    names = [argument.variable.name for argument in function.arguments]
    kinds = [argument.kind for argument in function.arguments]
    fallback = Instance(MISSING_FALLBACK, [], -1)
    implied_type = CallableType(types, kinds, names, result, fallback, function.name, line=function.line)
    function.type = implied_type
    function.unanalyzed_type = implied_type.copy_modified()


def _implied_parameters(kind: str, decorators: list[Expression], state: Type) -> list[Type]:
    states = [state] * (_ACTIONS.get(kind) or _PROPERTIES.get(kind) or 0)
    messages = [_received(decorator) for decorator in decorators if kind == "receive"]
    return [*states, *messages]


def _bound(decorators: list[Expression]) -> dict[str, Type]:
    """The parameters that `@spec.receive(Vote, s="dest")` binds to fields of the message, with the fields' types."""
    for decorator in decorators:
        if isinstance(decorator, CallExpr) and _of_spec(decorator) == "receive":
            named = zip(decorator.arg_names, decorator.args, strict=True)
            fields = {name: value.value for name, value in named if name and isinstance(value, StrExpr)}
            return {name: _field(_received(decorator), field) for name, field in fields.items()}
    return {}


def _field(message: Type, field: str) -> Type:
    return UnboundType(FIELD, [message, RawExpressionType(field, "builtins.str")], line=message.line)


def _implied_result(kind: str, state: Type) -> Type:
    if kind in _ACTIONS:
        return UnboundType(STEPS, [state])
    return UnboundType("bool") if kind in _PROPERTIES else _any()


def _of_spec(decorator: Expression) -> str:
    """The NAME of `@spec.NAME` or `@spec.NAME(...)`."""
    match decorator:
        case CallExpr(callee=MemberExpr(expr=NameExpr(name="spec"), name=name)):
            return name
        case MemberExpr(expr=NameExpr(name="spec"), name=name):
            return name
        case _:
            return ""


def _received(decorator: Expression) -> Type:
    """The type of the message of `@spec.receive(Vote)`."""
    match decorator:
        case CallExpr(args=[NameExpr(name=name), *_]):
            return UnboundType(name, line=decorator.line, column=decorator.column)
        case _:
            return _any()


def _any() -> AnyType:
    return AnyType(TypeOfAny.explicit)
