"""What is refused before anything runs: results that depend on the run of TLC, on chance, on the clock or on files."""

from __future__ import annotations

from collections.abc import Iterator

from kmc.errors import SpecError
from kmc.tla.resolved.model import ResolvedModel
from kmc.tla.resolved.nodes import ApplyExpr, Argument, BuiltinExpr, OperatorDefinition, OperatorReferenceExpr
from kmc.tla.run import builtins
from kmc.tla.run.analysis import parts

_REASONS = {
    "TLCSet": "it changes a register of TLC while states are found, so results would depend on their order",
    "TLCGet": 'it reads what TLC counts while it runs; of these figures kmc has only TLCGet("level")',
    "RandomElement": "its value is random",
    "RandomSubset": "its value is random",
    "JavaTime": "its value is the time",
    "\\cdot": "TLC does not compose actions",
    "-+->": "TLC has no such formulas",
}


def refuse_unsupported(model: ResolvedModel) -> None:
    """Raise SpecError KMC023 for an operator that kmc does not evaluate, in what a check of the model evaluates."""
    seen: set[OperatorDefinition] = set()
    for root in _roots(model):
        for node in _builtins_below(root, seen):
            if node.operator in _REASONS or not builtins.is_known(node.operator):
                reason = _REASONS.get(node.operator, "kmc has no meaning for it")
                raise SpecError(
                    "KMC023",
                    f"'{node.operator}' is not supported: {reason}",
                    node.place,
                    help="leave it out of what the .cfg file names, or override its definition there",
                )


def _roots(model: ResolvedModel) -> Iterator[Argument]:
    if model.behaviour is not None:
        yield from model.behaviour.initial
        if model.behaviour.next is not None:
            yield model.behaviour.next
    yield from (assumption.condition for assumption in model.assumptions)
    named = (*model.invariants, *model.constraints, *model.action_constraints, model.symmetry, model.view)
    yield from (definition.body for definition in named if definition is not None and definition.body is not None)


def _builtins_below(root: Argument, seen: set[OperatorDefinition]) -> Iterator[BuiltinExpr]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, BuiltinExpr):
            yield node
        if isinstance(node, (ApplyExpr, OperatorReferenceExpr)) and isinstance(node.operator, OperatorDefinition):
            definition = node.operator
            if definition not in seen and definition.body is not None:
                seen.add(definition)
                waiting.append(definition.body)
        waiting.extend(parts(node))
