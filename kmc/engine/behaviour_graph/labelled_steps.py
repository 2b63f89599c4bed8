"""Sets of steps that labels alone decide, as in most conditions of fairness."""

from __future__ import annotations

from collections.abc import Iterable

from kmc.liveness.lasso_queries import AndSteps, Changing, Labelled, OrSteps, StepSet

LABELS = 1 << 16
"""The greatest number of labels."""

_ALL_LABELS = frozenset(range(LABELS))


def labels_of(steps: StepSet) -> frozenset[int] | None:
    """The labels of which a set has all changing steps and no other; None if labels do not decide the set."""
    match steps:
        case Changing():
            return _ALL_LABELS
        case AndSteps(parts) if Changing() in parts:
            # Not of several parts: a pair may have a label of each.
            named = [part for part in parts if part != Changing()]
            return _ALL_LABELS if not named else _named_labels(named[0]) if len(named) == 1 else None
        case OrSteps(parts):
            return _union(map(labels_of, parts))
    return None


def _named_labels(steps: StepSet) -> frozenset[int] | None:
    """The labels of which a set has all steps and no other; None if labels do not decide the set."""
    match steps:
        case Labelled(labels):
            return labels
        case OrSteps(parts):
            return _union(map(_named_labels, parts))
    return None


def _union(sets: Iterable[frozenset[int] | None]) -> frozenset[int] | None:
    labels: frozenset[int] = frozenset()
    for each in sets:
        if each is None:
            return None
        labels |= each
    return labels
