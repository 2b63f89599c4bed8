"""Nested functions without parameters: the value of one is computed once, where the function is defined.

Such a function gives a value a name, and its text may be long, so calling it must not write its code again. It is
evaluated whether it is called or not, which no spec can see: a check that fails there counts only where it is called.
A value without words, such as a network, is evaluated in each call, and so is one with a `require`, which ends the step
that calls it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from kmc.compiler.ir.build import ZERO
from kmc.compiler.ir.nodes import Break, Let, Var
from kmc.compiler.ir.walk import statements
from kmc.compiler.lowering.context import Lowering
from kmc.compiler.lowering.iteration import kind_of
from kmc.compiler.values.code import Draft, Origin, flat
from kmc.compiler.values.packing import lift
from kmc.compiler.values.scope import Scope
from kmc.compiler.values.value import Closure, Num, Precomputed, Value
from kmc.errors import SpecError
from kmc.lang.tree import yields
from kmc.lang.types import Type
from kmc.runtime.state_layout import layout_of


def nested_function(low: Lowering, node: ast.FunctionDef, scope: Scope) -> Value:
    """Return the value of the name of a nested function."""
    closure = Closure(node, scope)
    if node.args.args or node.args.kwonlyargs or yields(node):
        return closure
    code, checks, calls = low.code, len(low.code.checks), len(low.calls)
    outer, disabled = (low.choice_label, low.on_yield), code.fresh("disabled")
    found: list[Precomputed | None] = []
    draft: Draft = []
    try:
        low.choice_label = disabled
        draft = code.capture(lambda: found.append(_settled(low, closure)))
        if Break(disabled) in statements(flat(draft)):
            found.clear()
    except SpecError:
        del low.calls[calls:]  # what it says is refused where it is called, if it is
    finally:
        low.choice_label, low.on_yield = outer
    settled = found[0] if found else None
    if settled is None:
        del code.checks[checks:]
        return closure
    code.slot().extend(draft)
    return settled


def _settled(low: Lowering, closure: Closure) -> Precomputed | None:
    """Emit the evaluation of a function; None, and no code, for a value without words."""
    code, node = low.code, closure.node
    failure, label = code.fresh("failed"), code.fresh("settled")
    values: list[Value] = []
    draft = code.deferred(failure, label, lambda: values.append(low.call_function(None, {}, node, closure.scope)))
    words = _Words.of(low, values[0], node)
    if words is None:
        return None
    draft.append(code.deferred(failure, label, words.keep))
    code.emit(Let(failure, ZERO), *(Let(name, ZERO) for name in words.names))
    code.block(label, draft)
    return Precomputed(words.kept, failure)


@dataclass(frozen=True, slots=True)
class _Words:
    """A value, the variables that keep its words, and the value that these variables are."""

    low: Lowering
    value: Value
    declared: Type | None
    names: tuple[str, ...]
    node: Origin

    @staticmethod
    def of(low: Lowering, value: Value, node: Origin) -> _Words | None:
        """Return the variables for a value, None for one without words. A number may have bounds that no type has."""
        if isinstance(value, Num):
            return _Words(low, value, None, (low.code.fresh("value"),), node)
        declared = kind_of(low, value, node)
        if declared is None:
            return None
        return _Words(
            low, value, declared, tuple(low.code.fresh("value") for _ in range(layout_of(declared).words)), node
        )

    @property
    def kept(self) -> Value:
        """The value as the variables have it."""
        if self.declared is not None:
            return lift(self.declared, tuple(map(Var, self.names)))
        assert isinstance(self.value, Num)
        return Num(Var(self.names[0]), self.value.low, self.value.high)

    def keep(self) -> None:
        """Emit the code that sets the variables."""
        if self.declared is not None:
            words = self.low.words_as(self.value, self.declared, self.node)
        else:
            assert isinstance(self.value, Num)
            words = (self.value.code,)
        self.low.code.emit(*(Let(name, word) for name, word in zip(self.names, words, strict=True)))
