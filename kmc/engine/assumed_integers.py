"""The range of the integers without declared bounds: assumed from a few states, and widened when a value leaves it.

Invariant: a search that ends kept all values in its range. If a value leaves the range, the search is discarded and
starts again from the initial states. So verdict, counts and traces are those of the interpreter, which has no ranges.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

from kmc.actions.relation import NextStateRelation
from kmc.cache_folder import cache_folder
from kmc.engine.files.run_directory import RunDirectory
from kmc.errors import KmcError, SpecError
from kmc.frontend.model import Model
from kmc.lang.assumed_range import NARROWEST, WIDEST, AssumedRange, AssumedRangeLeft, assuming
from kmc.lang.records import State
from kmc.reference.states.initial import each_initial_state
from kmc.result import Limits
from kmc.runtime.assumptions import has_assumptions, too_many_members
from kmc.runtime.codec import encode_row

OBSERVED_STATES = 200
"""The number of states whose integers the interpreter looks at before anything is compiled."""

RANGE = "the assumed range of its integers"
"""The name of the range among the digests of a run."""

_FOLDER = "integers"

_Answer = TypeVar("_Answer")


def nothing_noted(text: str) -> None:
    """Show nothing."""


def searched_in_range(
    model: Model,
    start: State | None,
    directory: RunDirectory | None,
    limits: Limits,
    note: Callable[[str], None],
    search: Callable[[Limits], _Answer],
) -> _Answer:
    """Return the result of `search`, which is called again with a wider range while an integer leaves the assumed one.

    A resumed run begins with its own range. `note` is called with a line for each restart, and `search` with what is
    left of the limits. A model whose integers all have bounds is searched once.
    """
    if not has_assumptions(model.spec):
        return search(limits)
    began, memory = time.monotonic(), RememberedRange.of(model)
    assumed = saved_range(directory) or _first_range(model, start, memory)
    while True:
        try:
            with assuming(assumed):
                result = search(_left(limits, time.monotonic() - began))
            # Not before, since the compiler may refuse what the next range makes of a product.
            memory.write(assumed)
            return result
        except AssumedRangeLeft as left:
            if left.members and model.view is not None:
                raise too_many_members(left.place) from None
            wider = widened(assumed, left)
            note(restart_line(assumed, wider, left))
            assumed = wider
        except SpecError as error:
            if assumed == NARROWEST:
                raise
            raise error.noting(_assumption(assumed)) from None
        if directory is not None:
            directory.restart()


def _first_range(model: Model, start: State | None, memory: RememberedRange) -> AssumedRange:
    """Return the range of a search that begins, such that no result depends on earlier searches.

    Of the states of one view the engines keep the first by fingerprint, which depends on the layout: so a model with a
    view has the interpreter's layout. Which of several shortest lassos is shown depends on it too: so with temporal
    properties no range is remembered.
    """
    if model.view is not None:
        return WIDEST
    remembered = None if model.temporal else memory.read()
    return remembered or observed_range(model, start)


def _assumption(assumed: AssumedRange) -> str:
    """Return the note on what compiled code assumes."""
    members = f", and that a set has at most {assumed.members} members if their type has too many values for a mask"
    more = members if assumed.members > NARROWEST.members else ""
    return f"compiled code assumes that an int is in {assumed.integers}{more}"


def widened(assumed: AssumedRange, left: AssumedRangeLeft) -> AssumedRange:
    """Return the range to assume after a value left another one: at the end where it left, at least twice as wide."""
    if left.members:
        return assumed.with_more_members()
    if left.depth:
        return assumed.with_more_levels()
    if left.value is not None:
        return assumed.with_room_for(left.value)
    return assumed.lowered() if left.below else assumed.raised()


def restart_line(assumed: AssumedRange, wider: AssumedRange, left: AssumedRangeLeft) -> str:
    """Return the line that says why the search starts again."""
    place = f"{left.place}: " if left.place else ""
    if left.members:
        return (
            f"{place}a set has more than {assumed.members} members, for which its list has room; the search starts "
            f"again with {wider.members}."
        )
    if left.depth:
        return (
            f"{place}this recursion has more than {assumed.depth} levels, which are compiled; the search starts again "
            f"with {wider.depth}."
        )
    value = "an int" if left.value is None else f"the int {left.value}"
    side = "below" if left.below else "above"
    return (
        f"{place}{value} is {side} {assumed.integers}, which was assumed; the search starts again with "
        f"{wider.integers}."
    )


def observed_range(model: Model, start: State | None = None) -> AssumedRange:
    """Return a range with room beyond the integers of the first states, breadth first, for the interpreter."""
    assumed = NARROWEST
    # An error of the spec is found again, with its trace, and so is a type without a layout, with its place.
    with suppress(KmcError):
        for state in _first_states(model.searched, start):
            assumed = _holding(state, assumed)
    return assumed


def _holding(state: State, assumed: AssumedRange) -> AssumedRange:
    """Return a range, or a wider one that has room for all integers of a state."""
    while True:
        with assuming(assumed):
            try:
                encode_row(state)
                return assumed
            except AssumedRangeLeft as left:
                assumed = widened(assumed, left)


@contextmanager
def naming_place(places: Sequence[str]) -> Iterator[None]:
    """Give an integer that leaves the range in the body the place of its check, from the `places` of all checks."""
    try:
        yield
    except AssumedRangeLeft as left:
        if left.check is not None and left.check < len(places):
            left.place = places[left.check]
        raise


def _first_states(model: Model, start: State | None) -> Iterator[State]:
    """Yield some states, each once. Raises KmcError for an error of the spec."""
    spec = model.spec
    relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
    initial = iter((start,)) if start is not None else each_initial_state(model)
    states = list(dict.fromkeys(islice(initial, OBSERVED_STATES)))
    known = set(states)
    yield from states
    for state in states:
        for _, _, successor in relation.steps(state):
            if len(known) >= OBSERVED_STATES:
                return
            if successor not in known:
                known.add(successor)
                states.append(successor)
                yield successor


@dataclass(frozen=True, slots=True)
class RememberedRange:
    """The range that an earlier search of a model needed, in kmc's cache; it spares restarts, and decides nothing."""

    path: Path | None

    @classmethod
    def of(cls, model: Model) -> RememberedRange:
        """Return the remembered range of a model; its path is None without a cache."""
        folder = cache_folder()
        return cls(None if folder is None else folder / _FOLDER / model.digest)

    def read(self) -> AssumedRange | None:
        """Return the range; None if there is none that can be read."""
        with suppress(OSError, ValueError):
            return None if self.path is None else AssumedRange.parsed(self.path.read_text(encoding="ascii"))
        return None

    def write(self, assumed: AssumedRange) -> None:
        """Remember a range, if the cache can be written."""
        if self.path is None or assumed == self.read():
            return
        with suppress(OSError):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = self.path.with_name(f"{self.path.name}.{os.getpid()}")
            new.write_text(str(assumed), encoding="ascii")
            new.replace(self.path)


def saved_range(directory: RunDirectory | None) -> AssumedRange | None:
    """Return the range of a run that is resumed; None for a new one."""
    if directory is None or not directory.resumed:
        return None
    return AssumedRange.parsed(directory.manifest.digests.get(RANGE, ""))


def range_of(digests: Mapping[str, str]) -> AssumedRange:
    """Return the range of a run with these digests; the widest if all its integers have bounds."""
    return AssumedRange.parsed(digests.get(RANGE, "")) or WIDEST


def _left(limits: Limits, passed: float) -> Limits:
    return limits if limits.seconds is None else replace(limits, seconds=max(0.0, limits.seconds - passed))
