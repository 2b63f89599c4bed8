"""The application of a function that a word is given: a lambda, a helper, or a function inside of another one."""

from __future__ import annotations

import ast

from kmc.compiler.lowering.context import Lowering
from kmc.compiler.values.code import Origin
from kmc.compiler.values.scope import is_spec_function, scope_of, syntax
from kmc.compiler.values.value import Closure, Python, Value
from kmc.lang.tree import yields


def applied(low: Lowering, function: Value, given: tuple[Value, ...], word: str, needs: str, node: Origin) -> Value:
    """The value of a call of the function; `word` is what it is given to, and `needs` says which parameters it has."""
    callee: object = None
    if isinstance(function, Closure):
        tree, scope = function.node, function.scope
    elif isinstance(function, Python) and is_spec_function(function.object):
        callee, tree, scope = function.object, syntax(function.object), scope_of(function.object)
    else:
        low.code.refuse(node, f"{word} with this function")
    names = [argument.arg for argument in tree.args.args]
    if len(names) != len(given) or tree.args.kwonlyargs or (isinstance(tree, ast.FunctionDef) and yields(tree)):
        low.code.refuse(node, f"{word} with this function", needs)
    return low.call_function(callee, dict(zip(names, given, strict=True)), tree, scope)
