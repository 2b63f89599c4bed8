"""When two states of a module count as one, as TLC decides it: by their view, up to symmetry, else by their values.

States are compared by value, never by fingerprint. The state that was found first represents its class, as in TLC with
one worker. Without symmetry and view, this is equality of values.
"""

from __future__ import annotations

from collections.abc import Hashable

from kmc.checking.modules.value_order import value_key
from kmc.lang.order import SortKey
from kmc.tla.run.program import ModuleProgram, State


class ModuleStates:
    """The states found so far, numbered in the order in which they were added; the `KnownStates` of a module."""

    def __init__(self, program: ModuleProgram) -> None:
        model = program.model
        self.has_view = model.view is not None
        self._is_plain = not self.has_view and model.symmetry is None
        self._is_symmetric = model.symmetry is not None and not self.has_view
        self._program = program
        self._ids: dict[Hashable, int] = {}

    def key(self, state: State) -> Hashable:
        """Return the value by which states count as one."""
        return state if self._is_plain else self._program.identity(state)

    def find(self, state: State) -> int | None:
        """Return the number of the state that counts as `state`, or None."""
        return self._ids.get(self.key(state))

    def add(self, state: State) -> int:
        """Add a state that is not known, and return its number."""
        return self._ids.setdefault(self.key(state), len(self._ids))

    def rank(self, state: State) -> SortKey:
        """Return the place of a state in the order of values; symmetric states have the same."""
        return value_key(self.key(state)) if self._is_symmetric else value_key(state)

    def precedence(self, state: State) -> SortKey:
        """Return the same for all states of a view: the first one that was found represents it."""
        return ()

    def counted_as(self, state: State) -> Hashable:
        """Return a key that is equal for the states that count as one, and for no others."""
        return self.key(state)

    def orbit(self, state: State) -> Hashable:
        """Return a key that symmetric states share."""
        return self.key(state) if self._is_symmetric else state

    def images(self, state: State) -> list[State]:
        """Return the state alone: symmetric states are found by `key`."""
        return [state]

    def is_same(self, state: State, other: State) -> bool:
        """Return whether a state may be shown where the search has `other`: it has the same steps, up to symmetry."""
        return self.key(state) == self.key(other) if self._is_symmetric else state == other
