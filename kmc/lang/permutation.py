"""Permutations of symmetric identifiers, applied to whole values.

`permute(value, swap, memo)` is the value with every identifier replaced; a value without identifiers is returned as it
is. This is the plain recursion that the reference interpreter uses. It does not check domains again: domains of
symmetric types are closed under permutation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import permutations, product
from types import NoneType
from typing import Any, TypeAlias

from kmc.lang.idents import Ident
from kmc.lang.maps import MapValue
from kmc.lang.networks import MessageBagValue, MessageSetValue
from kmc.lang.records import Record, State
from kmc.lang.seqs import SeqValue
from kmc.lang.types import IdentType, MapType, Type

Swap: TypeAlias = Mapping[Ident, Ident]

_WITHOUT_IDENTIFIERS = frozenset({bool, int, NoneType})
_FIELDS = slice(1, None)
"""The fields of a record, which is a tuple that begins with its class."""


def swaps(classes: Iterable[type[Ident]]) -> list[Swap]:
    """All permutations of the members of all `classes` together, the identity first."""
    per_class = [[dict(zip(cls.members, image, strict=True)) for image in permutations(cls.members)] for cls in classes]
    return [{key: image for swap in of_classes for key, image in swap.items()} for of_classes in product(*per_class)]


def is_started_in(cls: type[Ident], declared: Type | None) -> bool:
    """Whether a field of this type can record which members of `cls` are in use: a partial map with them as keys."""
    return isinstance(declared, MapType) and not declared.total and declared.key == IdentType(cls)


def keeps_unused(swap: Swap, cls: type[Ident], used: frozenset[Ident]) -> bool:
    """Whether a permutation leaves the members that are not in use where they are.

    Members come into use in order, so the next member must stay the next one under every permutation. If the members in
    use are not a first part of the type, only the identity is allowed.
    """
    in_order = used == frozenset(cls.members[: len(used)])
    return all(swap.get(member, member) is member for member in cls.members if not in_order or member not in used)


def permute(value: Any, swap: Swap, memo: dict[Any, Any]) -> Any:
    """`value` with every identifier replaced by its image; `memo` remembers the images of records under this swap."""
    if type(value) in _WITHOUT_IDENTIFIERS:
        return value
    if isinstance(value, Ident):
        return swap.get(value, value)
    if isinstance(value, Record):
        image = memo.get(value)
        if image is None:
            image = memo[value] = _fields_permuted(value, swap, memo)
        return image
    if isinstance(value, SeqValue):
        return tuple.__new__(type(value), [permute(element, swap, memo) for element in value])
    if isinstance(value, frozenset):
        return frozenset([permute(element, swap, memo) for element in value])
    if isinstance(value, MapValue):
        # Maps that are equal may differ in what they admit, and so may their images.
        known = value, id(value.domain)
        image = memo.get(known)
        if image is None:
            pairs = [(permute(key, swap, memo), permute(item, swap, memo)) for key, item in value.items()]
            image = memo[known] = MapValue(dict(pairs), value.domain)
        return image
    if isinstance(value, (MessageSetValue, MessageBagValue)):
        # Most messages are those of states before. Looking all of them up first takes half the time.
        images = list(map(memo.get, value))
        return value.with_images([permute(message, swap, memo) for message in value] if None in images else images)
    return value


def permute_state(state: State, swap: Swap, memo: dict[Any, Any]) -> Any:
    """`permute` of a whole state. States are not memoized, because most of them are new."""
    return _fields_permuted(state, swap, memo)


def _fields_permuted(record: Any, swap: Swap, memo: dict[Any, Any]) -> Any:
    cls = type(record)
    return tuple.__new__(cls, [cls, *[permute(item, swap, memo) for item in tuple.__getitem__(record, _FIELDS)]])
