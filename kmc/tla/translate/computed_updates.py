"""Updates of computed functions that are applied at once: `[f EXCEPT ![a] = e][b]` as e where b = a, f[b] elsewhere.

TLA+ evaluates f[a] and e wherever a is in the domain of f, whatever b is. A part that may have no value is therefore
evaluated too where the whole function is gone through, and refused where it is applied to one argument only.
"""

from __future__ import annotations

from kmc.tla.resolved.nodes import (
    BoundExpr,
    BuiltinExpr,
    ExceptExpr,
    Expression,
    FunctionApplicationExpr,
    FunctionConstructorExpr,
    NameBinding,
)
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import Shape
from kmc.tla.translate.lazy import is_total
from kmc.tla.translate.logic import either
from kmc.tla.translate.membership import in_domain
from kmc.tla.translate.pointwise import Side, is_key_of_all
from kmc.tla.translate.scope import Delayed, SpecLocal, TranslationScope, TypedSource, head
from kmc.tla.translate.translation import Translation


def updated_at(t: Translation, node: ExceptExpr, scope: TranslationScope, argument: Side, want: Shape) -> TypedSource:
    """Translate `[f EXCEPT ![a] = e][b]`, which is an error where b is not in the domain of f."""
    key, at = NameBinding("argument", node.place), NameBinding("at", node.place)
    read = BoundExpr(place=node.place, binding=key)
    inside = scope.bind(((key, Delayed(*argument)),))
    code = t.value(FunctionApplicationExpr(place=node.place, function=node.function, argument=read), inside, want)
    constructor, around = _constructor(node, scope)
    body_scope = around.bind(((constructor.ranges[0].bindings[0], Delayed(*argument)),))
    is_safe = head(node.function, scope)[0] is constructor and _is_safe(t, constructor.body, body_scope)
    test = in_domain(t, *argument, constructor.ranges[0].domain, around)
    is_applied = not is_key_of_all(*argument)
    for update in node.updates:
        forced = test if is_safe else f"({code.source} == {code.source})"
        with_step = inside.bind(((at, Delayed(update.path[0], scope)), (update.previous, SpecLocal(code))))
        if is_applied and not (is_safe and _is_safe(t, update.value, with_step)):
            raise refusal("a changed function that is applied at once, with values that may be undefined,", node.place)
        same = BuiltinExpr(place=node.place, operator="=", arguments=(read, BoundExpr(place=node.place, binding=at)))
        code = either(t.source(same, with_step), t.value(update.value, with_step, want), code)
        if forced != "True":
            code = TypedSource(f"checked({code.source}, {forced})", code.shape, code.is_network)
        is_safe = is_safe and is_applied and _is_safe(t, update.path[0], scope)
    return code


def _constructor(node: ExceptExpr, scope: TranslationScope) -> tuple[FunctionConstructorExpr, TranslationScope]:
    """Return the function that is changed, below the changes."""
    inner, inside = head(node.function, scope)
    if isinstance(inner, ExceptExpr):
        return _constructor(inner, inside)
    if not isinstance(inner, FunctionConstructorExpr):
        raise refusal("a change of a function of a new state that is applied at once", node.place)
    return inner, inside


def _is_safe(t: Translation, node: Expression, scope: TranslationScope) -> bool:
    """Return whether an expression has a value in every state, since nothing in it is applied to an argument."""
    if t.constant(*head(node, scope)) is not None:
        return True
    return is_total(t, node, scope, trusts_guards=False) and not t.shared.is_in("[", t.source(node, scope))
