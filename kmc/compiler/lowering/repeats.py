"""Repeated elements: tests for collections, and rounds of set comprehensions, that may give an element twice.

A set whose rounds give different elements needs no comparison of them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from kmc.compiler.ir import build as x
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.values.scope import Scope, lookup, python_value
from kmc.compiler.values.value import (
    Chosen,
    Comprehension,
    Entries,
    Generator,
    Packed,
    Python,
    SeqLiteral,
    Several,
    Stored,
    Value,
)
from kmc.lang.tree import placed_like
from kmc.lang.types import RecordMeta, SeqType, Type, UnionType


def may_repeat(low: Lowering, comprehension: Comprehension) -> bool:
    """Return whether different rounds of a set comprehension may give the same element."""
    if not isinstance(comprehension.node, ast.SetComp):
        return False
    return not _is_injective(comprehension) or _runs_over_repeats(low, comprehension)


def repeats(low: Lowering, source: Value) -> bool:
    """Return whether a loop over a collection may meet an element twice, as one over a sequence may."""
    match source:
        case SeqLiteral() | Several() | Generator() | Entries(_, "values"):
            return True
        case Packed(declared) | Stored(declared):
            return _is_sequence(declared)
        case Comprehension(ast.GeneratorExp() as node):
            # Different choices of a generator expression may give the same element, as those of a set do not.
            as_a_set = placed_like(ast.SetComp(node.elt, node.generators), node)
            return may_repeat(low, Comprehension(as_a_set, source.scope))
        case Chosen(options):
            return any(repeats(low, option) for _, option in options)
        case _:
            return False


def _is_sequence(declared: Type) -> bool:
    return isinstance(declared, SeqType) or (
        isinstance(declared, UnionType) and any(map(_is_sequence, declared.alternatives))
    )


def _is_injective(comprehension: Comprehension) -> bool:
    """Return whether different choices always give different elements: the choice itself, or a record that holds it."""
    node = comprehension.node
    targets = [generator.target for generator in node.generators]
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    if len(names) != len(targets):
        return False
    if isinstance(node.elt, ast.Name):
        return names == {node.elt.id}
    if not isinstance(node.elt, ast.Call) or not _makes_record(node.elt, names, comprehension.scope):
        return False
    return names <= {keyword.value.id for keyword in node.elt.keywords if isinstance(keyword.value, ast.Name)}


def _makes_record(call: ast.Call, bound: set[str], scope: Scope) -> bool:
    """Return whether a call names a record, or is `set` of one, and so keeps the values of its keyword arguments.

    A helper or a word of the language may give the same value for different arguments.
    """
    callee = _python_object(call.func, bound, scope)
    if callee is None:
        return isinstance(call.func, ast.Attribute) and call.func.attr == "set" and not call.args
    return isinstance(callee.object, RecordMeta)


def _python_object(node: ast.expr, bound: set[str], scope: Scope) -> Python | None:
    """Return the class, function or word of the language that an expression names; None for any other expression."""
    found: Value | None = None
    if isinstance(node, ast.Name) and node.id not in bound:
        found = lookup(scope, node.id)
    elif isinstance(node, ast.Attribute):
        owner = _python_object(node.value, bound, scope)
        found = None if owner is None else python_value(getattr(owner.object, node.attr, None))
    return found if isinstance(found, Python) else None


def _runs_over_repeats(low: Lowering, comprehension: Comprehension) -> bool:
    """Return whether a collection that a comprehension runs over may have an element twice."""
    found: list[bool] = []
    generators, scope = comprehension.node.generators, comprehension.scope.child()
    low.code.trial(lambda: _look_for_repeats(low, generators, scope, found))
    return any(found)


def _look_for_repeats(low: Lowering, generators: Sequence[ast.comprehension], scope: Scope, found: list[bool]) -> None:
    """Add to `found` whether the collection of the first generator may have an element twice, and then of the others
    for each of its elements, until one may.
    """
    generator, *others = generators
    source = low.evaluate(generator.iter, scope)
    found.append(any(found) or repeats(low, source))

    def item(value: Value) -> None:
        low.assign(generator.target, value, scope)
        # Only a value that may pass the tests needs the fields that inner collections are read from.
        if all(low.truth(low.evaluate(test, scope), test) != x.ZERO for test in generator.ifs):
            _look_for_repeats(low, others, scope, found)

    if others and not any(found):
        low.each(source, item, generator.iter, once=False)
