"""The states that a model would save without its unread state, measured on the first levels.

`kmc.compiler.checks.unread` proposes what could be dropped; here each proposal becomes an abstraction, and is kept if
no state of a sample differs from its image in what the model asks for. That proves nothing: `--verify-abstractions`
proves it for the abstraction that an author then declares.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from kmc.actions.abstraction import Abstraction, image_of
from kmc.actions.relation import NextStateRelation
from kmc.checking.unread.dropping import Records, dropping, records_of
from kmc.compiler.checks.unread.unread_state import (
    Unread,
    UnreadField,
    unread_state,
)
from kmc.errors import KmcError
from kmc.frontend.bisimulation import Bisimulation
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role
from kmc.invariants.properties import holds
from kmc.lang.order import sort_key
from kmc.lang.records import State
from kmc.reference.states.initial import initial_states

STATES = 5_000
"""The sample ends with the level in which it has so many states."""

SECONDS = 10.0
"""Nothing is tried any more after this time: what was not tried is not reported."""

_WALKS = 40
_WALK_STEPS = 40
_TRIED = 80
_SAVING_MIN = 0.02


@dataclass(frozen=True, slots=True)
class Saving:
    """A piece of unread state, in words, and the states that are left of the sample without it and those before it."""

    what: str
    states: int


@dataclass(frozen=True, slots=True)
class Savings:
    """The unread state of a model: what dropping it leaves of the `states` of the first `levels`, step by step."""

    states: int
    levels: int
    dropped: tuple[Saving, ...]


def unread_savings(model: Model, *, states: int = STATES, seconds: float = SECONDS) -> Savings | None:
    """Measure the states that dropping unread state would save; None if no confirmed proposal saves any.

    The model is looked at with the abstractions that it has. An error of the spec ends the sample.
    """
    until = time.monotonic() + seconds
    proposals = unread_state(model)
    trial = _Trial(model.searched, states if proposals else 0, until)
    confirmed: list[tuple[Unread, Abstraction]] = []
    for proposal in proposals if trial.sample else ():
        drop = dropping(proposal, model.spec.state_class, trial.met, model.spec.actions[0].span)
        if not _is_known(proposal, [known for known, _ in confirmed]) and trial.confirms(drop):
            confirmed.append((proposal, drop))
    saved = tuple(_in_steps(trial, confirmed))
    return Savings(len(trial.sample), trial.levels, saved) if saved else None


def _in_steps(trial: _Trial, confirmed: Sequence[tuple[Unread, Abstraction]]) -> Iterator[Saving]:
    """Drop in each step the proposal that then saves most, and leave out proposals that save nothing.

    Two proposals may save nothing alone and much together, where a kept message repeats what a cleared field held.
    """
    rest = list(confirmed)
    whole = trial.images(tuple(drop for _, drop in rest))
    for proposal in list(rest):
        without = [other for other in rest if other is not proposal]
        if trial.images(tuple(drop for _, drop in without)) <= whole * (1 + _SAVING_MIN):
            rest = without
    dropped: tuple[Abstraction, ...] = ()
    while rest:
        left, best = min(((trial.images((*dropped, each[1])), each) for each in rest), key=lambda choice: choice[0])
        dropped = (*dropped, best[1])
        rest.remove(best)
        yield Saving(str(best[0]), left)


def _is_known(proposal: Unread, confirmed: Sequence[Unread]) -> bool:
    """Return whether the field is dropped already, under another test."""
    return isinstance(proposal, UnreadField) and any(
        isinstance(known, UnreadField) and (known.record, known.name) == (proposal.record, proposal.name)
        for known in confirmed
    )


class _Trial:
    """The first levels of a model, and states of random walks; both are the same whenever they are made in time."""

    def __init__(self, model: Model, states: int, until: float) -> None:
        self._model = model
        spec = model.spec
        self._relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
        self._bounds = model.predicates(Role.BOUNDING, 1), model.predicates(Role.BOUNDING, 2)
        self._until = until
        self.sample: list[State] = []
        self.levels = 0
        self._walked: list[State] = []
        self.met: Records = {}
        try:
            self._explore(states)
            self._walked += self._walks()
            self.met = records_of((*self.sample[:_TRIED], *self._walked))
        except KmcError:
            pass  # a check reports it

    def images(self, abstractions: tuple[Abstraction, ...]) -> int:
        """The number of images of the sample."""
        return len({self._image(abstractions, state) for state in self.sample})

    def confirms(self, drop: Abstraction) -> bool:
        """Return whether the abstraction changes some state, and no state tried is told from its image by the model."""
        asked = Bisimulation(replace(self._model, abstractions=(drop,)))
        changed = (state for state in (*self._walked, *self.sample) if self._image((drop,), state) != state)
        tried = 0
        try:
            for state in islice(changed, _TRIED):
                if time.monotonic() > self._until or asked.difference(state) is not None:
                    return False
                tried += 1
        except KmcError:
            return False
        return tried > 0

    def _image(self, abstractions: Sequence[Abstraction], state: State) -> Any:
        return image_of(abstractions, state, self._model.spec.files)

    def _explore(self, states: int) -> None:
        level = dict.fromkeys(state for state in initial_states(self._model) if self._inside(None, state))
        known = set(level)
        while level and len(self.sample) < states and self._has_level_left():
            self.sample += level
            self.levels += 1
            successors: dict[State, None] = {}
            for state in level:
                if time.monotonic() > self._until:
                    return
                new = [target for target in self._next(state) if target not in known]
                known.update(new)
                successors.update(dict.fromkeys(new))
            level = successors

    def _has_level_left(self) -> bool:
        return self._model.max_depth is None or self.levels < self._model.max_depth

    def _walks(self) -> Iterator[State]:
        chance = random.Random(1)
        first = self.sample[:1]
        seen = set(self.sample)
        for _ in range(_WALKS):
            state = chance.choice(first) if first else None
            for _ in range(_WALK_STEPS):
                if state is None or time.monotonic() > self._until:
                    break
                targets = sorted(self._next(state), key=sort_key)  # in an order that no hash decides
                state = chance.choice(targets) if targets else None
                if state is not None and state not in seen:
                    seen.add(state)
                    yield state

    def _next(self, state: State) -> Iterator[State]:
        for *_, target in self._relation.steps(state):
            if self._inside(state, target):
                yield target

    def _inside(self, source: State | None, state: State) -> bool:
        files = self._model.spec.files
        of_states, of_steps = self._bounds
        return all(holds(bound, files, state) for bound in of_states) and (
            source is None or all(holds(bound, files, source, state) for bound in of_steps)
        )
