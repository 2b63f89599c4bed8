"""Sets of states and steps of a behaviour graph, evaluated in bulk: a byte per state, or per stored step.

Invariant: stored steps that are the same pair of states are in a set together or not at all. Steps to OUTSIDE are never
considered the same pair, since their targets are unknown; so they are in no `Into` set.

Steps are evaluated in blocks of states, so that intermediate arrays stay small beside the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from kmc.engine.behaviour_graph.labelled_steps import LABELS, labels_of
from kmc.liveness.behaviour_graph import OUTSIDE, Array, BehaviourGraph, bit_of
from kmc.liveness.lasso_queries import (
    AllStates,
    AllSteps,
    AndStates,
    AndSteps,
    AtomHolds,
    Changing,
    From,
    HasStep,
    Into,
    Labelled,
    NotStates,
    NotSteps,
    OrStates,
    OrSteps,
    StateSet,
    StepAtomHolds,
    StepSet,
)

Bytes: TypeAlias = NDArray[np.bool_]

_BLOCK_STATES = 1 << 18


class StepBlock:
    """The steps of the states from `first` up to `end`."""

    def __init__(self, graph: BehaviourGraph, first: int, end: int) -> None:
        self.first, self.end = first, end
        self.steps = slice(int(graph.offsets[first]), int(graph.offsets[end]))
        self.targets = graph.targets[self.steps]
        self.labels = graph.labels[self.steps]
        self.degrees = np.diff(graph.offsets[first : end + 1])

    @cached_property
    def sources(self) -> NDArray[np.uint32]:
        """The state that each step leads from."""
        sources: NDArray[np.uint32] = np.repeat(np.arange(self.first, self.end, dtype=np.uint32), self.degrees)
        return sources

    def of_pairs(self, steps: Bytes) -> Bytes:
        """Extend `steps` in place so that it holds for all steps of a pair if it holds for one of them."""
        while len(halved_at := self._halved_pairs(steps)):
            steps[halved_at] = steps[halved_at + 1] = True
        return steps

    def _halved_pairs(self, steps: Bytes) -> NDArray[np.intp]:
        """The indices of steps whose bit differs from that of the next step, although both are the same pair."""
        halved = steps[1:] != steps[:-1]
        halved &= self.targets[1:] == self.targets[:-1]
        halved &= self.targets[1:] != OUTSIDE
        indices: NDArray[np.intp] = np.flatnonzero(halved)
        if not len(indices):
            return indices
        ends = np.cumsum(self.degrees)
        same = np.searchsorted(ends, indices, side="right") == np.searchsorted(ends, indices + 1, side="right")
        kept: NDArray[np.intp] = indices[same]
        return kept


class GraphSets:
    """The sets of one graph."""

    def __init__(self, graph: BehaviourGraph) -> None:
        self.graph = graph
        self._last_steps: tuple[StepSet, Bytes] | None = None

    def states(self, wanted: StateSet) -> Bytes:
        """Return a mask: which states are in a set."""
        match wanted:
            case AtomHolds(atom):
                return _bit(self.graph.state_bits, atom)
            case HasStep(steps):
                return self._sources_of(steps)
            case AllStates():
                return np.ones(self.graph.states, np.bool_)
            case NotStates(inner):
                return ~self.states(inner)
            case AndStates(parts):
                return self._combined(np.logical_and, parts, True)
            case OrStates(parts):
                return self._combined(np.logical_or, parts, False)
            case _:
                assert_never(wanted)

    def steps(self, wanted: StepSet) -> Bytes:
        """Return a mask: which stored steps are in a set; do not change it. It is cached, because the next query mostly
        needs the same set.
        """
        if self._last_steps is not None and self._last_steps[0] == wanted:
            return self._last_steps[1]
        sets = self._sets_within(wanted)
        out = np.empty(len(self.graph.targets), np.bool_)
        for block in self._blocks():
            out[block.steps] = self._in_block(wanted, block, sets)
        self._last_steps = wanted, out
        return out

    def dropped_steps(self, wanted: StepSet, indices: NDArray[np.intp]) -> Bytes:
        """Return a mask: which of the steps at some indices, all of them to OUTSIDE, are in a set."""
        if (labels := labels_of(wanted)) is not None:
            return np.isin(self.graph.labels[indices], sorted(labels))
        return self.steps(wanted)[indices]

    def _combined(self, operation: Any, parts: tuple[StateSet, ...], neutral: bool) -> Bytes:
        out = np.full(self.graph.states, neutral)
        for part in parts:
            operation(out, self.states(part), out=out)
        return out

    def _sources_of(self, steps: StepSet) -> Bytes:
        sets = self._sets_within(steps)
        out = np.zeros(self.graph.states, np.bool_)
        for block in self._blocks():
            out[block.sources[self._in_block(steps, block, sets)]] = True
        return out

    def _blocks(self) -> Iterator[StepBlock]:
        for first in range(0, self.graph.states, _BLOCK_STATES):
            yield StepBlock(self.graph, first, min(first + _BLOCK_STATES, self.graph.states))

    def _sets_within(self, steps: StepSet) -> dict[StateSet, Bytes]:
        """The sets of states that a set of steps names, each evaluated once for all blocks."""
        match steps:
            case From(inner) | Into(inner):
                return {inner: self.states(inner)}
            case NotSteps(nested):
                return self._sets_within(nested)
            case AndSteps(parts) | OrSteps(parts):
                return {key: held for nested in parts for key, held in self._sets_within(nested).items()}
            case _:
                return {}

    def _source_numbers(self, block: StepBlock) -> NDArray[np.uint32]:
        """The sources of steps, as targets number them."""
        return block.sources

    def _are_in(self, states: StateSet, indices: NDArray[np.uint32], sets: dict[StateSet, Bytes]) -> Bytes:
        """Return a mask: which of some targets are in a set."""
        return sets[states][indices]

    def _in_block(self, wanted: StepSet, block: StepBlock, sets: dict[StateSet, Bytes]) -> Bytes:
        match wanted:
            case Labelled(labels):
                table = np.zeros(LABELS, np.bool_)
                table[list(labels)] = True
                return block.of_pairs(table[block.labels])
            case StepAtomHolds(atom):
                return _bit(self.graph.step_bits[block.steps], atom)
            case Changing():
                return np.asarray(block.targets != self._source_numbers(block))
            case From(states):
                return sets[states][block.sources]
            case Into(states):
                inside = block.targets != OUTSIDE
                return np.asarray(inside & self._are_in(states, np.where(inside, block.targets, 0), sets))
            case AllSteps():
                return np.ones(len(block.targets), np.bool_)
            case NotSteps(inner):
                return ~self._in_block(inner, block, sets)
            case AndSteps(parts):
                held = np.ones(len(block.targets), np.bool_)
                for inner in parts:
                    held &= self._in_block(inner, block, sets)
                return held
            case OrSteps(parts):
                held = np.zeros(len(block.targets), np.bool_)
                for inner in parts:
                    held |= self._in_block(inner, block, sets)
                return held
            case _:
                assert_never(wanted)


def _bit(rows: Array, bit: int) -> Bytes:
    out = np.empty(len(rows), np.bool_)
    for first in range(0, len(rows), _BLOCK_STATES):
        block = slice(first, first + _BLOCK_STATES)
        out[block] = bit_of(rows[block], bit)
    return out
