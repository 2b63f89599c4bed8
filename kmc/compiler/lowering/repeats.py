"""Whether the rounds of a set comprehension give different elements, so that its elements need no comparison."""

from __future__ import annotations

import ast

from kmc.compiler.lowering.context import Lowering
from kmc.compiler.values.packing import unwrap
from kmc.compiler.values.scope import is_injective
from kmc.compiler.values.value import (
    Chosen,
    Comprehension,
    Entries,
    Generator,
    Packed,
    SeqLiteral,
    Several,
    Stored,
    Value,
)
from kmc.lang.tree import placed_like
from kmc.lang.types import SeqType


def may_repeat(low: Lowering, comprehension: Comprehension) -> bool:
    """Whether different rounds of a set comprehension may give the same element."""
    node = comprehension.node
    if not isinstance(node, ast.SetComp):
        return False
    return not is_injective(node) or _runs_over_repeats(low, comprehension)


def _runs_over_repeats(low: Lowering, comprehension: Comprehension) -> bool:
    """Whether a collection that a comprehension runs over may have an element twice, as a sequence may."""
    generators, scope, found = comprehension.node.generators, comprehension.scope.child(), [False]

    def level(depth: int) -> None:
        generator = generators[depth]
        source = low.evaluate(generator.iter, scope)
        found[0] = found[0] or _repeats(low, unwrap(low.code, source, generator.iter))
        if depth + 1 < len(generators) and not found[0]:

            def item(value: Value) -> None:
                low.assign(generator.target, value, scope)
                level(depth + 1)

            low.each(source, item, generator.iter, once=False)

    low.code.trial(lambda: level(0))
    return found[0]


def _repeats(low: Lowering, source: Value) -> bool:
    match source:
        case SeqLiteral() | Several() | Generator() | Entries(_, "values"):
            return True
        case Packed(declared) | Stored(declared):
            return isinstance(declared, SeqType)
        case Comprehension(ast.GeneratorExp() as node):
            # Different choices of a generator expression may give the same element, as those of a set do not.
            as_a_set = placed_like(ast.SetComp(node.elt, node.generators), node)
            return may_repeat(low, Comprehension(as_a_set, source.scope))
        case Chosen(options):
            return any(_repeats(low, option) for _, option in options)
        case _:
            return False
