"""The changes of a step, down to the field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.story.parts.in_words import in_words
from kmc.story.parts.story import Change
from kmc.trace.trees import entries, identity

_Path = tuple[str, ...]
_Shown = Callable[[Tla], str]
_Difference = tuple[_Path, str | None, str | None, bool]


def changes_between(
    before: Mapping[str, Tla],
    after: Mapping[str, Tla],
    names: Sequence[str],
    lane_at: Callable[[_Path], str | None],
    shown: _Shown = in_words,
) -> tuple[Change, ...]:
    """The places of the variables `names` that differ, in their order; `lane_at` gives the process of a place, and
    `shown` the text of a value.
    """
    changes: list[Change] = []
    for name in names:
        for path, old, new, of_set in _different((name,), before[name], after[name], shown):
            changes.append(Change(path, lane_at(path), old, new, of_set))
    return tuple(changes)


def _different(path: _Path, old: Tla, new: Tla, shown: _Shown) -> Iterator[_Difference]:
    if old is new or identity(old) == identity(new):
        return
    match old, new:
        case TlaRecord(fields), TlaRecord(others) if [n for n, _ in fields] == [n for n, _ in others]:
            for (field, left), (_, right) in zip(fields, others, strict=True):
                yield from _different((*path, field), left, right, shown)
        case ((TlaMap() | TlaSeq()), (TlaMap() | TlaSeq())):
            yield from _entries(path, old, new, shown, is_sequence=isinstance(old, TlaSeq) and isinstance(new, TlaSeq))
        case TlaSet(elements), TlaSet(others):
            known, present = {identity(e) for e in elements}, {identity(e) for e in others}
            for element in elements:
                if identity(element) not in present:
                    yield path, shown(element), None, True
            for element in others:
                if identity(element) not in known:
                    yield path, None, shown(element), True
        case _:
            yield path, shown(old), shown(new), False


def _entries(path: _Path, old: Tla, new: Tla, shown: _Shown, *, is_sequence: bool) -> Iterator[_Difference]:
    before, after = dict(_keyed(old, shown, is_sequence)), dict(_keyed(new, shown, is_sequence))
    for key, value in before.items():
        if key not in after:
            yield (*path, key), shown(value), None, False
        else:
            yield from _different((*path, key), value, after[key], shown)
    for key, value in after.items():
        if key not in before:
            yield (*path, key), None, shown(value), False


def _keyed(tree: Tla, shown: _Shown, is_sequence: bool) -> Iterator[tuple[str, Tla]]:
    for key, value in entries(tree) or ():
        yield f"[{shown(key)}]" if is_sequence else shown(key), value
