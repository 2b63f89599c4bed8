"""The least refutation of a property of a drawn module: all short lassos, one by one, by the definitions of TLA+."""

from __future__ import annotations

from collections.abc import Iterator

from support.drawing.module_formulas import DrawnModule

from kmc.liveness.formulas import Formula
from kmc.liveness.lasso_semantics import EndlessBehaviour


def behaviours(module: DrawnModule, length: int) -> Iterator[EndlessBehaviour]:
    """All behaviours that are a stem and a cycle of so many states together, the last of which may stutter."""
    paths: list[tuple[int, ...]] = [(0,)]
    for _ in range(length - 1):
        paths = [(*path, target) for path in paths for source, target in sorted(module.steps) if source == path[-1]]
    for path in paths:
        for loop in range(length):
            if loop == length - 1 or (path[-1], path[loop]) in module.steps:
                yield EndlessBehaviour(path, loop, lambda _: {})


def least_refutation(module: DrawnModule, fairness: Formula, formula: Formula, longest: int) -> int | None:
    """The number of states of the least fair behaviour that does not satisfy a formula; None if none is that short."""
    for length in range(1, longest + 1):
        for behaviour in behaviours(module, length):
            if behaviour.satisfies(fairness) and not behaviour.satisfies(formula):
                return length
    return None
