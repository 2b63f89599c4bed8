"""The abstract side of a refinement that fails: what the states of a trace are to the abstract spec, and its steps.

A step of a trace is a step of the abstract spec, changes nothing there, or is the one that the refinement lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from kmc.actions.relation import NextStateRelation
from kmc.frontend.loader import Spec
from kmc.frontend.model import Model
from kmc.frontend.refined_fairness import SUFFIX
from kmc.invariants.properties import Refinement
from kmc.lang.tla import Tla
from kmc.result import Violation
from kmc.spec.variables import encode_state
from kmc.story.parts.changes import changes_between
from kmc.story.parts.lanes import table_for_people
from kmc.story.parts.story import Change, ComparedValue

STUTTERS = "nothing changes"
"""The text for a step of which the abstract spec sees nothing."""

NO_STEP = "no step of it"
"""The text for a step that the abstract spec does not have."""


def refinement_in(model: Model, violation: Violation) -> Refinement | None:
    """The refinement that a violation refutes, itself or by its fairness; None for another property."""
    name = violation.name or ""
    name = name.removesuffix(SUFFIX) if violation.refutation is not None else name
    declared = model.spec.properties.get(name)
    return declared if isinstance(declared, Refinement) else None


class AbstractRun:
    """The images of some states under a refinement, and what leads from one to the next."""

    def __init__(self, model: Model, refinement: Refinement, states: Sequence[Any]) -> None:
        self.name = refinement.abstract
        self._spec: Spec = model.spec.refined[refinement.abstract]
        self._relation = NextStateRelation(self._spec.actions, self._spec.state_class, self._spec.files)
        self._states = [refinement.mapping(state) for state in states]
        self._table = table_for_people(self._spec)
        self.trees = [encode_state(state, self._table) for state in self._states]

    def labels(self) -> Iterator[str]:
        """What leads to each of the states, in the words of the abstract spec."""
        is_initial = any(state == self._states[0] for state in self._spec.init())
        yield self._spec.init_name if is_initial else f"not {self._spec.init_name}"
        for before, after in pairwise(self._states):
            yield self._label(before, after)

    def named_values(self) -> list[dict[str, Tla]]:
        """The abstract variables in each state, by names that no variable of the other spec has."""
        return [{f"{self.name}.{name}": tree for name, tree in trees.items()} for trees in self.trees]

    def changes(self) -> tuple[Change, ...]:
        """The changes of the last step."""
        before, after = self.trees[-2:]
        return changes_between(before, after, list(after), lambda path: None)

    def possible(self) -> tuple[ComparedValue, ...]:
        """The steps that the abstract spec has in the last state but one, or the initial states that it has."""
        if len(self._states) == 1:
            return ()
        labels = dict.fromkeys(
            action.label(arguments) for action, arguments, _ in self._relation.steps(self._states[-2])
        )
        return (ComparedValue(f"steps of {self.name}", ", ".join(sorted(labels)) or "none"),)

    def _label(self, before: Any, after: Any) -> str:
        if before == after:
            return STUTTERS
        steps = (action.label(arguments) for action, arguments, end in self._relation.steps(before) if end == after)
        return min(steps, default=NO_STEP)


def why_not_refined(refinement: Refinement, run: AbstractRun) -> str:
    """The sentence on a trace whose last step, or whose only state, the abstract spec does not have."""
    if len(run.trees) == 1:
        return f"{refinement.name} fails: {run.name} has no such initial state."
    changed = "; ".join(f"{run.name}.{_change_text(change)}" for change in run.changes())
    return f"{refinement.name} fails: no action of {run.name} takes this step: {changed}."


def _change_text(change: Change) -> str:
    if change.old is None or change.new is None:
        return f"{change.place} {'loses' if change.new is None else 'gains'} {change.old or change.new}"
    return f"{change.place} goes from {change.old} to {change.new}"
