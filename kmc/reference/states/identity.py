"""When two states count as one: equality, equality of a view, and orbits under a symmetry, by brute force.

The reference interpreter compares values, never fingerprints: a state is known if any permutation of it is known. As
in TLC, the state that was found first represents its orbit. A permutation is applied to the variables without
networks first, and to the rest only if these are then the variables of a stored state. Of the states of one view, the
one with the least full fingerprint represents it, so every engine expands the same one. That order belongs to the
native engine and is passed in (`kmc.compiler.view_order`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeAlias

from kmc.invariants.properties import SymmetrySet, View
from kmc.lang.order import SortKey, record_key
from kmc.lang.permutation import Swap, keeps_unused, permute, permute_state, swaps
from kmc.lang.records import State
from kmc.lang.types import NetworkType, RecordMeta

ViewOrder: TypeAlias = Callable[[Any], SortKey]
"""An order of the states of one view, the same for all permutations of a state: the least is expanded."""

_Remembered: TypeAlias = tuple[Swap, dict[Any, Any]]
"""A permutation with the images of records that it gave."""

_PART_KEYS_MAX = 1 << 16
"""The most records inside states whose keys are remembered."""


class StateSet:
    """The states found so far, numbered in the order in which they were added."""

    def __init__(
        self,
        state_class: RecordMeta,
        symmetry: tuple[SymmetrySet, ...],
        view: View | None,
        order: ViewOrder | None = None,
    ) -> None:
        """`order` is the order of the states of one view; without one it is the order of their values."""
        self._ids: dict[Hashable, int] = {}
        classes = tuple(dict.fromkeys(cls for group in symmetry for cls in group.classes))
        self._swaps: list[_Remembered] = [(swap, {}) for swap in swaps(classes)][1:]
        self._spawned = [(cls, cls.started) for cls in classes if cls.started is not None]
        self._swaps_of: dict[tuple[frozenset[Any], ...], list[_Remembered]] = {}
        kept = [name for name in state_class.fields if view is None or name not in view.dropped]
        self._kept = None if view is None else _taking(kept, state_class)
        self._without_networks = _taking(
            [name for name in kept if not isinstance(state_class.fields[name], NetworkType)], state_class
        )
        self._stored_without_networks: set[Hashable] = set()
        self._part_keys: dict[Any, SortKey] = {}
        self.has_view = view is not None
        self._order = order

    def find(self, state: Any) -> int | None:
        """The number of the state that counts as `state`, or None."""
        index = self._ids.get(self.key(state))
        if index is not None or not self._swaps:
            return index
        small = self._without_networks(state)
        for swap, memo in self._swaps_for(state):
            # Networks take longest to permute, and the other variables of most images are those of no stored state.
            if tuple([permute(value, swap, memo) for value in small]) not in self._stored_without_networks:
                continue
            index = self._ids.get(self.key(permute_state(state, swap, memo)))
            if index is not None:
                return index
        return None

    def add(self, state: State) -> int:
        """Add a state that is not known; its number."""
        index = len(self._ids)
        self._ids[self.key(state)] = index
        if self._swaps:
            self._stored_without_networks.add(self._without_networks(state))
        return index

    def key(self, state: State) -> Hashable:
        """The state, or the fields that the view keeps: the value to compare."""
        return state if self._kept is None else self._kept(state)

    def rank(self, state: State) -> SortKey:
        """An order of orbits that depends on values only: the least display order among all permutations."""
        if len(self._part_keys) > _PART_KEYS_MAX:
            self._part_keys.clear()
        return min([record_key(image, self._part_keys) for image in self.images(state)])

    def precedence(self, state: State) -> SortKey:
        """An order of the states of one view: the least represents it."""
        return self.rank(state) if self._order is None else self._order(state)

    def orbit(self, state: State) -> Hashable:
        """A key that is equal for the permutations of `state` and for no other states."""
        return self.rank(state) if self._swaps else state

    def counted_as(self, state: State) -> Hashable:
        """A key that is equal for the states that count as one, and for no others."""
        if self._kept is None:
            return self.orbit(state)
        return frozenset(map(self.key, self.images(state))) if self._swaps else self.key(state)

    def images(self, state: Any) -> list[State]:
        """All permutations of `state`, itself first."""
        return [state, *(permute_state(state, swap, memo) for swap, memo in self._swaps_for(state))]

    def _swaps_for(self, state: State) -> list[_Remembered]:
        """The permutations that apply to a state: those of spawned types depend on the members in use."""
        if not self._spawned:
            return self._swaps
        used = tuple(frozenset(getattr(state, field)) for _, field in self._spawned)
        if used not in self._swaps_of:
            classes = [(cls, members) for (cls, _), members in zip(self._spawned, used, strict=True)]
            self._swaps_of[used] = [
                (swap, memo)
                for swap, memo in self._swaps
                if all(keeps_unused(swap, cls, members) for cls, members in classes)
            ]
        return self._swaps_of[used]

    def __len__(self) -> int:
        return len(self._ids)


def _taking(names: Iterable[str], state_class: RecordMeta) -> Callable[[Any], tuple[Any, ...]]:
    """Return the function from a state to the values of some of its fields."""
    position_of = {name: position for position, name in enumerate(state_class.fields, 1)}
    positions = [position_of[name] for name in names]
    return lambda state: tuple([tuple.__getitem__(state, position) for position in positions])
