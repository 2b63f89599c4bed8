"""The table of parents where no process knows a whole level: states and steps meet at the owners of fingerprints.

Each part sends every owner the states that it has and, for each target of its steps, the first step that leads there.
An owner then knows all states of its fingerprints, and all that may be their parents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kmc.runtime.compiled_spec import CompiledSpec
from kmc.shards.redivide import owners
from kmc.tables.parts import TablePart
from kmc.tables.state_tables import StateReader, fingerprints_of
from kmc.tables.step_tables import actions_of, inside_steps, parents_schema

Records = NDArray[np.int64]
"""Rows: the words of a fingerprint; the number of a state and its level; of a step the source, its level, an action."""

_STATE, _STEP = 2, 3  # the words behind a fingerprint


def records_for(reader: StateReader, part: TablePart, count: int) -> Iterator[tuple[int, Records, Records]]:
    """The states and the steps of a part, for each of `count` owners that has any."""
    states, steps = [], []
    for level in part.levels:
        first_steps = []
        for first, listing in reader.listed(level):
            ordinals = np.arange(first, first + len(listing))
            states.append(_table(fingerprints_of(reader.spec, listing), ordinals, level.task.level))
            from_part = inside_steps(reader.spec, listing)
            first_steps.append(
                _table(from_part.targets, first + from_part.parents, level.task.level, from_part.actions)
            )
        if first_steps:
            steps.append(_first_of_each(np.concatenate(first_steps), _STEP))
    own = [_by_owner(np.concatenate(records), count) if records else {} for records in (states, steps)]
    for owner in sorted(own[0].keys() | own[1].keys()):
        words = 1 + (reader.spec.words_before > 0)
        empty = [np.zeros((0, words + more), np.int64) for more in (_STATE, _STEP)]
        yield owner, own[0].get(owner, empty[0]), own[1].get(owner, empty[1])


def _table(fingerprints: Sequence[NDArray[np.uint64]], *columns: NDArray[np.int64] | int) -> Records:
    length = len(fingerprints[0])
    words = [one.view(np.int64) for one in fingerprints]
    return np.stack([*words, *(np.broadcast_to(np.asarray(one, np.int64), length) for one in columns)], axis=1)


def _first_of_each(records: Records, more: int) -> Records:
    """The first of the records of each fingerprint; `more` words follow the fingerprint."""
    words = records.shape[1] - more
    order = np.lexsort(records[:, :words].T)
    return records[order[_begins(records[order, :words])]]


def _begins(fingerprints: Records) -> NDArray[np.bool_]:
    """Return a mask of sorted fingerprints: which differ from the one before."""
    begins = np.ones(len(fingerprints), np.bool_)
    begins[1:] = (fingerprints[1:] != fingerprints[:-1]).any(axis=1)
    return begins


def _by_owner(records: Records, count: int) -> dict[int, Records]:
    own = owners(np.ascontiguousarray(records[:, 0]), count)
    order = np.argsort(own, kind="stable")
    distinct, begins = np.unique(own[order], return_index=True)
    return dict(zip(distinct.tolist(), np.split(records[order], begins[1:]), strict=True))


def parent_rows(spec: CompiledSpec, states: Sequence[Records], steps: Sequence[Records]) -> pa.RecordBatch:
    """The rows of the table of parents for the states of an owner, of which all states and steps are given."""
    words = 1 + (spec.words_before > 0)
    known = np.concatenate([np.zeros((0, words + _STATE), np.int64), *states])
    led = np.concatenate([np.zeros((0, words + _STEP), np.int64), *steps])
    # A state precedes the steps to it, and of these the one from the least source comes first.
    fingerprints = np.concatenate([known[:, :words], led[:, :words]])
    sources = np.concatenate([np.full(len(known), -1), led[:, words]])
    levels = np.concatenate([known[:, words + 1], led[:, words + 1]])
    order = np.lexsort((sources, *fingerprints.T))
    begins = _begins(fingerprints[order])
    group = np.cumsum(begins) - 1
    heads = order[begins][group]
    leads = (heads < len(known)) & (sources[order] >= 0) & (levels[order] + 1 == levels[heads])
    leading = np.flatnonzero(leads)
    first = leading[np.unique(group[leading], return_index=True)[1]]
    targets, chosen = known[heads[first], words], order[first] - len(known)
    by_number = np.argsort(targets)
    chosen = chosen[by_number]
    columns = [
        pa.array(targets[by_number]),
        pa.array(np.ascontiguousarray(led[chosen, words])),
        actions_of(spec, led[chosen, words + 2]),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=parents_schema(spec))
