"""Conditions on a cycle, for many states at once: which sets their steps and they themselves are in, as rows of words.

The loops of `kmc.engine.lassos.component_loops` gather words for one component in memory; here tasks gather them for
a part of a component. The words of several parts are joined by OR; the words that all their states have, by AND.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmc.engine.behaviour_graph.sets import Bytes
from kmc.engine.lassos.condition_masks import NONE, Columns, ConditionMasks, SetColumns
from kmc.liveness.lasso_queries import Recurrence, Response
from kmc.shards.graph.graph_rows import Rows, RowSets

WordRows = NDArray[np.uint64]

_WORD_BITS = 64
_COLUMNS_A_WORD = 8


def masks_of(sets: RowSets, conditions: Sequence[Recurrence | Response]) -> ConditionMasks:
    """The masks of conditions for some states."""
    return ConditionMasks(SetColumns(sets, ()), conditions)


@dataclass(frozen=True, slots=True)
class Gathered:
    """The words gathered from some states, a row for each state or one for all: see `component_loops.Conditions`."""

    taken: WordRows
    some: WordRows
    every: WordRows
    states: WordRows

    def union(self, other: Gathered) -> Gathered:
        """The words gathered from these states and others together."""
        return Gathered(
            self.taken | other.taken, self.some | other.some, self.every & other.every, self.states | other.states
        )

    def lacks_recurrence(self, masks: ConditionMasks) -> Bytes:
        """Return a mask of the rows that miss weak fairness or another recurrence, which every part of them misses
        too.
        """
        lacks = _have_any(masks.weak.view(np.uint64) & self.every & ~self.taken)
        for states, steps in masks.recurrences:
            lacks |= ~(_has(self.states, states) | _has(self.taken, steps))
        return lacks

    def bad_triggers(self, masks: ConditionMasks) -> BadTriggers:
        """The triggers that are met, and their answers not."""
        of_states = np.zeros_like(self.states)
        for trigger, states, steps in masks.responses:
            bad = _has(self.states, trigger) & ~_has(self.states, states) & ~_has(self.taken, steps)
            of_states[bad, trigger // _WORD_BITS] |= np.uint64(1 << (trigger % _WORD_BITS))
        return BadTriggers(masks.strong.view(np.uint64) & self.some & ~self.taken, of_states)


@dataclass(frozen=True, slots=True)
class BadTriggers:
    """Sets of steps and of states: a state that has such a step, or is in such a set, is on no fair cycle."""

    of_steps: WordRows
    of_states: WordRows

    def rows(self) -> Bytes:
        """Whether each row has any."""
        return _have_any(self.of_steps) | _have_any(self.of_states)

    def meet(self, here: Gathered) -> Bytes:
        """Whether each state triggers one."""
        return _have_any(self.of_steps & here.some) | _have_any(self.of_states & here.states)


def of_each(masks: ConditionMasks, rows: Rows) -> Gathered:
    """The words of each of some states if no step is taken."""
    here = _sets_of_steps(_step_words(masks, rows), rows)
    return Gathered(np.zeros_like(here), here, here, _state_words(masks, rows))


def of_all(masks: ConditionMasks, rows: Rows, taken: Bytes) -> Gathered:
    """The words of some states together if the steps of `taken` are taken."""
    steps = _step_words(masks, rows)
    here = _sets_of_steps(steps, rows)
    return Gathered(
        np.bitwise_or.reduce(steps[taken], axis=0, keepdims=True),
        np.bitwise_or.reduce(here, axis=0, keepdims=True),
        np.bitwise_and.reduce(here, axis=0, keepdims=True),
        np.bitwise_or.reduce(_state_words(masks, rows), axis=0, keepdims=True),
    )


def _step_words(masks: ConditionMasks, rows: Rows) -> WordRows:
    """The sets that each step is in; one to the state itself is not in a set that labels name."""
    out = np.zeros((len(rows.part.targets), masks.words), np.uint64)
    if masks.label_words:
        out[:, : masks.label_words] = masks.table.view(np.uint64)[rows.part.labels]
        out[rows.part.targets == rows.sources, : masks.label_words] = 0
    _add_columns(out, masks.label_words, masks.step_columns)
    return out


def _state_words(masks: ConditionMasks, rows: Rows) -> WordRows:
    """The sets that each state is in."""
    out = np.zeros((len(rows.states), masks.state_words), np.uint64)
    _add_columns(out, 0, masks.state_columns)
    return out


def _add_columns(out: WordRows, first: int, columns: Columns) -> None:
    for index, column in enumerate(columns):
        shift = np.uint64(_COLUMNS_A_WORD * (index % _COLUMNS_A_WORD))
        out[:, first + index // _COLUMNS_A_WORD] |= column.astype(np.uint64) << shift


def _sets_of_steps(steps: WordRows, rows: Rows) -> WordRows:
    """The sets that each state has a step of."""
    out = np.zeros((len(rows.states), steps.shape[1]), np.uint64)
    begins = rows.part.offsets[:-1]
    having = np.flatnonzero(np.diff(rows.part.offsets))
    if len(having):
        out[having] = np.bitwise_or.reduceat(steps, begins[having], axis=0)
    return out


def _has(words: WordRows, bit: int) -> Bytes:
    if bit == NONE:
        return np.zeros(len(words), np.bool_)
    mask: Bytes = words[:, bit // _WORD_BITS] >> np.uint64(bit % _WORD_BITS) & np.uint64(1) != 0
    return mask


def _have_any(words: WordRows) -> Bytes:
    return np.asarray(words.any(axis=1))
