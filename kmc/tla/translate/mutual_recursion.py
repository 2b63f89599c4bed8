r"""Recursive operators that call each other: `Even(n) == ... Odd(n - 1)` and `Odd(n) == ... Even(n - 1)`.

One operator of such a group becomes a chain of helpers, and the others are written out where it calls them. An operator
that does not call itself is written out everywhere, so that the one that does is the chain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from kmc.tla.resolved.nodes import Argument, OperatorDefinition
from kmc.tla.translate.facts import children, definitions_of


def is_written_out(operator: OperatorDefinition, at_work: Iterable[object]) -> bool:
    """Return whether a recursive operator is written out where it is called, inside of the recursions at work."""
    if operator.is_local or _calls_itself(operator):
        return False
    reached = [one for one in _reached(operator) if one.recursive and one is not operator and operator in _reached(one)]
    working = set(at_work)
    chains = {one for one in reached if one in working or _calls_itself(one)}
    return bool(chains) and operator not in _reached(operator, without=chains)  # else its text would have no end


def calls_back(operator: OperatorDefinition, at_work: Iterable[object]) -> bool:
    """Return whether an operator calls one of the recursions at work, of whose helpers it would need the levels."""
    return not _reached(operator).isdisjoint(at_work)


def _calls_itself(operator: OperatorDefinition) -> bool:
    """Return whether an operator calls itself without the help of another recursive one."""
    return operator in _reached(operator, through_recursive=False)


def _reached(
    operator: OperatorDefinition, *, through_recursive: bool = True, without: Collection[OperatorDefinition] = ()
) -> set[OperatorDefinition]:
    """Return the definitions that are evaluated by calls of an operator, itself only if it is called again.

    The calls of those in `without` do not count.
    """
    found: set[OperatorDefinition] = set()
    waiting = [operator]
    while waiting:
        one = waiting.pop()
        for definition in _called(one.body):
            if definition not in found:
                found.add(definition)
                if definition not in without and (through_recursive or not definition.recursive):
                    waiting.append(definition)
    return found


def _called(node: Argument | None) -> Iterator[OperatorDefinition]:
    if node is None:
        return
    yield from definitions_of(node)
    for child in children(node):
        yield from _called(child)
