"""Does an abstraction lose nothing that a model asks for? The question as an invariant of the spec without it.

A search with abstractions explores images of states. It reaches the image of every reachable state, and no other, if in
each reachable state s with image i

- every predicate that the model asks for has the same value in s and in i;
- s and i have the same steps, each as often: the same action with the same arguments, to states with the same image,
  with the same answers of the predicates over steps;
- one of them is a deadlock only if the other is, where deadlocks are checked.

A step that leaves the image as it is may be missing on one side if no predicate over steps is false of it. A temporal
property counts such steps too: there, a step must change the state exactly if it changes the image, so that fairness
and stuttering are the same. Then R = {(s, i)} is a bisimulation for what the model asks. `verification_of` makes the
model whose one invariant says so, for any engine to check; `Bisimulation` is its meaning, and what compiled code is
compared with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from kmc.actions.abstraction import image_of
from kmc.actions.relation import NextStateRelation
from kmc.errors import ModelError
from kmc.frontend.model import Model
from kmc.frontend.temporal_problem import problem_of
from kmc.invariants.kinds import KINDS, Role
from kmc.invariants.properties import Invariant, Predicate, holds
from kmc.lang.order import SortKey, sort_key
from kmc.lang.records import State

ATOM = "a predicate of a temporal property"


@dataclass(frozen=True, slots=True)
class StateDifference:
    """The difference between a state and its image, in words; `label` is the step that one has and the other lacks."""

    image: Any
    why: str
    label: str | None = None
    successor: Any = None


@dataclass(frozen=True, slots=True)
class _Step:
    """A step as the two sides are compared by it."""

    label: str
    image: Any
    answers: tuple[bool, ...]


class Bisimulation:
    """The predicate "nothing that `model` asks for tells the state from its image", with `model` as it was declared.

    `of_states` and `of_steps` are the predicates that it asks for; the first `checked_of_steps` of the latter hold in
    each stuttering step. If `counts_stuttering`, it has temporal properties.
    """

    def __init__(self, model: Model) -> None:
        spec = model.spec
        self.model = model
        self.abstractions = model.abstractions
        self.constraints: tuple[Predicate, ...] = model.predicates(Role.BOUNDING, 1)
        self.of_states = (
            model.predicates(Role.CHECKED, 1) + model.predicates(Role.WITNESSED, 1) + model.predicates(Role.BOUNDING, 1)
        )
        self.of_steps = model.predicates(Role.CHECKED, 2) + model.predicates(Role.BOUNDING, 2)
        self.checked_of_steps = len(model.predicates(Role.CHECKED, 2))
        self.counts_stuttering = bool(model.temporal)
        self.actions = spec.actions
        if model.temporal:
            problem = problem_of(model)
            self.actions = (*spec.actions, *spec.other_actions)
            self.of_states += _atoms(problem.atoms, model)
            self.of_steps += _atoms(problem.step_atoms, model)
        self._relation = NextStateRelation(self.actions, spec.state_class, spec.files)

    def __call__(self, state: State) -> bool:
        """Whether nothing tells the state from its image."""
        expected: type = self.model.spec.state_class
        if type(state) is not expected:
            raise TypeError("not a state")  # of a caller that tries values of other kinds
        return self.difference(state) is None

    def difference(self, state: State) -> StateDifference | None:
        """The first difference of a state from its image, by predicates and then by steps in display order."""
        files = self.model.spec.files
        image = self._image(state)
        for prop in self.of_states:
            here, there = holds(prop, files, state), holds(prop, files, image)
            if here != there:
                return StateDifference(
                    image, f"{prop.name} is {_truth(here)} in the state and {_truth(there)} in its image"
                )
        sides: list[Counter[_Step]] = []
        enabled = 0
        # A state that is its own image has the image's steps.
        own = image == state
        for side in (state,) if own else (state, image):
            steps, count = list(self._steps(side, image)), 0
            for step in steps:
                count += 1
                if isinstance(step, StateDifference):
                    return step
            sides.append(Counter(step for step in steps if isinstance(step, _Step) and self._is_seen(step, image)))
            enabled = enabled * 2 + bool(count)
        if own:
            return None
        if sides[0] != sides[1]:
            return _of_steps(image, *sides)
        if self.model.deadlock and enabled in (1, 2):
            return StateDifference(
                image, f"the {'state' if enabled == 1 else 'image'} is a deadlock, and not the other"
            )
        return None

    def _image(self, state: State) -> Any:
        return image_of(self.abstractions, state, self.model.spec.files)

    def _is_seen(self, step: _Step, image: Any) -> bool:
        return self.counts_stuttering or step.image != image or not all(step.answers)

    def _steps(self, source: State, image: Any) -> Iterator[_Step | StateDifference]:
        files = self.model.spec.files
        for action, arguments, successor in self._relation.steps(source):
            reached, label = self._image(successor), action.label(arguments)
            for constraint in self.constraints:
                here, there = holds(constraint, files, successor), holds(constraint, files, reached)
                if here != there:
                    where = f"{_truth(here)} after {label} and {_truth(there)} in the image"
                    yield StateDifference(image, f"{constraint.name} is {where}", label, successor)
            if self.counts_stuttering and (successor == source) != (reached == image):
                changes = "the state and not its image" if reached == image else "the image and not the state"
                yield StateDifference(image, f"{label} changes {changes}", label, successor)
            answers = (holds(prop, files, source, successor) for prop in self.of_steps)
            inside = (holds(constraint, files, successor) for constraint in self.constraints)
            yield _Step(label, reached, (*answers, *inside))


def verification_of(model: Model) -> Model:
    """The model that has the states of `model` without its abstractions, and one invariant: these lose nothing.

    Raises ModelError KMC356 for a model without abstractions.
    """
    if not model.abstractions:
        advice = 'name some: abstractions = ["..."] in the manifest, or --abstraction on the command line'
        raise ModelError("KMC356", f"{model.name or model.spec.name} has no abstraction to verify", None, advice)
    name = f"{'_'.join(abstraction.name for abstraction in model.abstractions)}_loses_nothing"
    first = model.abstractions[0]
    nothing: dict[str, Any] = {kind.field: () for kind in KINDS if kind.role is not Role.BOUNDING}
    exact = Invariant(name, Bisimulation(model), first.span, first.doc)
    return replace(model, **{**nothing, "invariants": (exact,)}, abstractions=(), temporal=(), deadlock=False)


def difference_in(model: Model, state: State) -> StateDifference | None:
    """The difference that refutes the invariant of a model that `verification_of` made; None for another model."""
    for prop in model.invariants:
        if isinstance(prop.function, Bisimulation):
            return prop.function.difference(state)
    return None


def _atoms(functions: tuple[Callable[..., bool], ...], model: Model) -> tuple[Predicate, ...]:
    span = model.spec.properties[model.temporal[0].name].span
    return tuple(Predicate(ATOM, function, span, "") for function in functions)


def _truth(value: bool) -> str:
    return "TRUE" if value else "FALSE"


def _of_steps(image: Any, here: Counter[_Step], there: Counter[_Step]) -> StateDifference:
    """The least step that one side has more often than the other."""
    only = [("the state", "its image", step) for step in here - there]
    only += [("the image", "the state", step) for step in there - here]

    def key(row: tuple[str, str, _Step]) -> tuple[str, SortKey, tuple[bool, ...], str]:
        return row[2].label, sort_key(row[2].image), row[2].answers, row[0]

    has, lacks, step = min(only, key=key)
    why = f"{has} has the step {step.label}, and {lacks} has none to a state with the same image"
    return StateDifference(image, why, step.label, step.image)
