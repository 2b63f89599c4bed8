"""The tables of steps: all edges, and for each state one that leads to it. Both are made by expanding the states again.

An edge is a step within the constraints. It names its target by fingerprint: under symmetry that of the state which
represents the orbit, with a view that of the state which is kept for the view.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kmc.runtime.blocks import Successors
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.shards.level.listing import Listing
from kmc.tables.arrow_arrays import words_of
from kmc.tables.parts import LevelPart, TablePart
from kmc.tables.state_tables import StateReader, fingerprints_of, write_batches

_NONE = -1


def _second(spec: CompiledSpec) -> list[str]:
    return ["_2"] if spec.words_before else []


_ACTION = pa.dictionary(pa.int16(), pa.string())


def actions_of(spec: CompiledSpec, instances: NDArray[np.int64]) -> pa.Array:
    """The column of the actions of these numbers."""
    titles = pa.array(spec.names.actions, pa.string())
    return words_of(instances.astype(np.uint64), _ACTION, titles, None)


def edges_schema(spec: CompiledSpec) -> pa.Schema:
    """The columns of the table of edges; `times` is how often TLC counts the step."""
    ends = [(f"{end}_fingerprint{more}", pa.uint64()) for end in ("source", "target") for more in ["", *_second(spec)]]
    return pa.schema([("source", pa.int64()), *ends, ("action", _ACTION), ("times", pa.int32())])


def write_edges(reader: StateReader, part: TablePart, path: Path) -> int:
    """Write the edges from the states of a part to a Parquet file; return their number."""
    schema = edges_schema(reader.spec)
    return write_batches(_edges(reader, part, schema), schema, path)


def _edges(reader: StateReader, part: TablePart, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for level in part.levels:
        for first, listing in reader.listed(level):
            steps = inside_steps(reader.spec, listing)
            sources = fingerprints_of(reader.spec, listing)
            columns = [
                pa.array(first + steps.parents),
                *(pa.array(words[steps.parents]) for words in sources),
                *map(pa.array, steps.targets),
                actions_of(reader.spec, steps.actions),
                pa.array(steps.times.astype(np.int32)),
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


class InsideSteps:
    """Steps within the constraints, in the order of their sources; `parents` are rows of the listing."""

    def __init__(self, successors: Successors, kept: NDArray[np.bool_], wide: bool) -> None:
        self.parents = successors.parents[kept]
        self.actions = successors.actions[kept]
        self.times = successors.times[kept]
        self.targets: list[NDArray[np.uint64]] = [successors.fingerprints[kept]]
        if wide:
            self.targets.append(successors.rows.words[successors.rows.starts[:-1]][kept].view(np.uint64))


def inside_steps(spec: CompiledSpec, listing: Listing) -> InsideSteps:
    """All steps from listed states that no constraint refuses."""
    rows = listing.rows
    successors = spec.expand_block(rows)
    kept = np.ones(len(successors), np.bool_)
    if spec.names.constraints:
        kept &= spec.outside(successors.rows) == 0
    if spec.names.action_constraints:
        kept &= spec.step_outside(rows, successors.parents, successors.rows) == 0
    return InsideSteps(successors, kept, wide=spec.words_before > 0)


def parents_schema(spec: CompiledSpec) -> pa.Schema:
    """The columns of the table of parents."""
    return pa.schema([("id", pa.int64()), ("parent", pa.int64()), ("action", _ACTION)])


class LevelParents:
    """For each state of a level, its predecessor of the least number in the level before, and the action.

    Pass the parts of that level in their order.
    """

    def __init__(self, reader: StateReader, level: Sequence[LevelPart]) -> None:
        of_parts = [fingerprints_of(reader.spec, listing) for part in level for _, listing in reader.listed(part)]
        fingerprints = [np.concatenate(words) for words in zip(*of_parts, strict=True)]
        self._first = level[0].first
        self._order = np.lexsort(fingerprints[::-1])
        self._sorted = [one[self._order] for one in fingerprints]
        self._parents = np.full(len(self._order), _NONE)
        self._actions = np.zeros(len(self._order), np.int64)

    def take(self, reader: StateReader, part: LevelPart) -> None:
        """Look for predecessors among the states of a part of the level before."""
        for first, listing in reader.listed(part):
            steps = inside_steps(reader.spec, listing)
            positions = np.searchsorted(self._sorted[0], steps.targets[0])
            positions = np.minimum(positions, len(self._order) - 1)
            is_target = np.logical_and.reduce(
                [known[positions] == wanted for known, wanted in zip(self._sorted, steps.targets, strict=True)]
            )
            states = self._order[positions]
            new = np.flatnonzero(is_target & (self._parents[states] == _NONE))
            chosen, where = np.unique(states[new], return_index=True)
            self._parents[chosen] = first + steps.parents[new[where]]
            self._actions[chosen] = steps.actions[new[where]]

    def batch(self, spec: CompiledSpec) -> pa.RecordBatch:
        """The rows of the table for this level; a state that no step leads to has none."""
        known = np.flatnonzero(self._parents != _NONE)
        columns = [
            pa.array(self._first + known),
            pa.array(self._parents[known]),
            actions_of(spec, self._actions[known]),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=parents_schema(spec))
