"""Conditions on a cycle as masks: native loops test all conditions of a component in one pass.

Each set of steps and each set of states that a condition names has a bit. The steps that some labels name have theirs
in a table by label; other sets are columns, a byte for eight sets, for each step or state. WF and SF of a set of steps
need no set of states: which steps a state has says where they are enabled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmc.engine.behaviour_graph.labelled_steps import LABELS, labels_of
from kmc.engine.behaviour_graph.sets import GraphSets
from kmc.engine.lassos.component_loops import Conditions
from kmc.engine.native.memory import WORD_BYTES, Memory, address_of
from kmc.engine.native.words import NULL
from kmc.liveness.lasso_queries import (
    NO_STATES,
    NO_STEPS,
    AllStates,
    HasStep,
    NotStates,
    Recurrence,
    Response,
    StateSet,
    StepSet,
)

NONE = -1
_WORD_BITS = 64
_COLUMN_BITS = 8

Columns = list[NDArray[np.uint8]]


def weak_steps(condition: Recurrence) -> StepSet | None:
    """The steps of which a condition is weak fairness, if it is."""
    weak = condition.steps != NO_STEPS and condition.states == NotStates(HasStep(condition.steps))
    return condition.steps if weak else None


def strong_steps(condition: Response) -> StepSet | None:
    """The steps of which a condition is strong fairness, if it is."""
    steps = condition.answer.steps
    strong = condition.trigger == HasStep(steps) and condition.answer.states == NO_STATES and steps != NO_STEPS
    return steps if strong else None


@dataclass(slots=True)
class _Collected:
    """The sets that conditions name, in the order in which they were met."""

    by_label: dict[StepSet, frozenset[int]] = field(default_factory=dict)
    steps: dict[StepSet, int] = field(default_factory=dict)
    states: dict[StateSet, int] = field(default_factory=dict)

    def add_steps(self, steps: StepSet) -> None:
        if steps == NO_STEPS or steps in self.by_label:
            return
        if (labels := labels_of(steps)) is not None:
            self.by_label[steps] = labels
        else:
            self.steps.setdefault(steps, len(self.steps))

    def add_states(self, states: StateSet) -> None:
        if states != NO_STATES:
            self.states.setdefault(states, len(self.states))

    def add(self, condition: Recurrence | Response) -> None:
        if isinstance(condition, Recurrence):
            self.add_steps(condition.steps)
            if weak_steps(condition) is None:
                self.add_states(condition.states)
        elif strong_steps(condition) is not None:
            self.add_steps(condition.answer.steps)
        else:
            self.add_states(condition.trigger)
            self.add_states(condition.answer.states)
            self.add_steps(condition.answer.steps)


class SetColumns:
    """The sets of a graph as columns; the columns for the fairness of a problem are kept, because every query uses
    them.
    """

    def __init__(self, sets: GraphSets, kept: Iterable[Recurrence | Response]) -> None:
        self.sets = sets
        self._kept = _Collected()
        for condition in kept:
            self._kept.add(condition)
        self._kept_steps: Columns | None = None
        self._kept_states: Columns | None = None

    def start(self) -> _Collected:
        """Return a new collection for a query; it begins with the columns that are kept."""
        return _Collected(dict(self._kept.by_label), dict(self._kept.steps), dict(self._kept.states))

    def of_steps(self, wanted: Sequence[StepSet]) -> Columns:
        """Columns of sets of steps; whole columns of kept sets are shared."""
        if self._kept_steps is None:
            self._kept_steps = _columns(map(self.sets.steps, self._kept.steps))
        return _extended(self._kept_steps, len(self._kept.steps), wanted, self.sets.steps)

    def of_states(self, wanted: Sequence[StateSet]) -> Columns:
        """Columns of sets of states."""
        if self._kept_states is None:
            self._kept_states = _columns(map(self.sets.states, self._kept.states))
        return _extended(self._kept_states, len(self._kept.states), wanted, self.sets.states)


def _columns(sets: Iterable[NDArray[np.bool_]]) -> Columns:
    columns: Columns = []
    for index, bits in enumerate(sets):
        bit = index % _COLUMN_BITS
        if bit == 0:
            columns.append(bits.view(np.uint8).copy())
        else:
            columns[-1] |= bits.view(np.uint8) << np.uint8(bit)
    return columns


def _extended(kept: Columns, count: int, wanted: Sequence[Any], evaluate: Any) -> Columns:
    columns = list(kept)
    for index, each in enumerate(wanted[count:], count):
        bit = index % _COLUMN_BITS
        bits = evaluate(each).view(np.uint8) << np.uint8(bit)
        if bit == 0:
            columns.append(bits)
        else:
            columns[-1] = columns[-1] | bits
    return columns


class ConditionMasks:
    """Conditions for native loops, `native`, and bit by bit for `CycleProgress`."""

    def __init__(self, columns: SetColumns, conditions: Sequence[Recurrence | Response]) -> None:
        collected = columns.start()
        for condition in conditions:
            collected.add(condition)
        self.conditions = tuple(conditions)
        self.label_words = -(-len(collected.by_label) // _WORD_BITS)
        self.step_columns = columns.of_steps(list(collected.steps))
        self.state_columns = columns.of_states(list(collected.states))
        self.words = self.label_words + -(-len(self.step_columns) // (_WORD_BITS // _COLUMN_BITS))
        self.state_words = -(-len(self.state_columns) // (_WORD_BITS // _COLUMN_BITS))
        self._step_bits = {steps: bit for bit, steps in enumerate(collected.by_label)}
        self._step_bits |= {steps: self.label_words * _WORD_BITS + bit for steps, bit in collected.steps.items()}
        self._state_bits = collected.states
        self._labels = columns.sets.graph.labels
        self._label_sets: dict[int, int] = {}
        self.table = self._table(columns.sets, collected)
        self._fill_native()

    def _table(self, sets: GraphSets, collected: _Collected) -> NDArray[np.int64]:
        labels = sets.graph.labels
        count = int(labels.max()) + 1 if len(labels) else 1
        table = np.zeros((count, max(self.label_words, 1)), np.uint64)
        for bit, named in enumerate(collected.by_label.values()):
            rows = slice(None) if len(named) == LABELS else [label for label in named if label < count]
            table[rows, bit // _WORD_BITS] |= np.uint64(1 << (bit % _WORD_BITS))
        return table.view(np.int64)

    def step_bit(self, steps: StepSet) -> int:
        """The bit of a set of steps, NONE for the empty set."""
        return NONE if steps == NO_STEPS else self._step_bits[steps]

    def state_bit(self, states: StateSet) -> int:
        """The bit of a set of states, NONE for the empty set."""
        return NONE if states == NO_STATES else self._state_bits[states]

    def sets_of_step(self, step: int, *, changes: bool) -> int:
        """The bits of the sets that a stored step is in; one to itself is not in a set that labels name."""
        mask = self._sets_of_label(int(self._labels[step])) if changes else 0
        for index, column in enumerate(self.step_columns):
            mask |= int(column[step]) << (self.label_words * _WORD_BITS + index * _COLUMN_BITS)
        return mask

    def sets_of_state(self, state: int) -> int:
        """The bits of the sets that a state is in."""
        return sum(int(column[state]) << (index * _COLUMN_BITS) for index, column in enumerate(self.state_columns))

    def _sets_of_label(self, label: int) -> int:
        if label not in self._label_sets:
            self._label_sets[label] = int.from_bytes(self.table[label].tobytes(), "little")
        return self._label_sets[label]

    def _fill_native(self) -> None:
        weak, strong, asked = _Mask(self.words), _Mask(self.words), _Mask(self.words)
        asked_states = _Mask(self.state_words)
        # The bits of each: a set of states and one of steps, of a response the trigger before them.
        self.recurrences: list[tuple[int, int]] = []
        self.responses: list[tuple[int, int, int]] = []
        for condition in self.conditions:
            if isinstance(condition, Recurrence):
                if (steps := weak_steps(condition)) is not None:
                    weak.set(self.step_bit(steps))
                else:
                    self.recurrences.append((self.state_bit(condition.states), self.step_bit(condition.steps)))
            elif (steps := strong_steps(condition)) is not None:
                strong.set(self.step_bit(steps))
                asked.set(self.step_bit(steps))
            elif condition.trigger != NO_STATES and condition.answer.states != AllStates():
                answer = condition.answer
                bits = self.state_bit(condition.trigger), self.state_bit(answer.states), self.step_bit(answer.steps)
                self.responses.append(bits)
        for *of_states, of_steps in (*self.recurrences, *self.responses):
            asked.set(of_steps)
            for bit in of_states:
                asked_states.set(bit)
        self.weak, self.strong = np.array(weak.words, np.int64), np.array(strong.words, np.int64)
        masks = weak.words, strong.words, asked.words, asked_states.words
        self._kept = [np.array(words or [0], np.int64) for words in masks]
        self._kept += [np.array(bits or [0], np.int64) for bits in (self.recurrences, self.responses)]
        self._kept += [_addresses(self.step_columns), _addresses(self.state_columns)]
        self._kept += [np.zeros(max(count, 1), np.int64) for count in (*[self.words] * 4, *[self.state_words] * 3)]
        native = self.native = Conditions.of(Memory(Conditions.WORDS))
        native.table, native.label_words = address_of(self.table), self.label_words
        native.table_bytes = self.table.shape[1] * WORD_BYTES
        native.words, native.state_words = self.words, self.state_words
        native.step_columns, native.state_columns = len(self.step_columns), len(self.state_columns)
        native.recurrence_count, native.response_count = len(self.recurrences), len(self.responses)
        addresses = [address_of(array) for array in self._kept]
        native.weak, native.strong, native.asked_steps, native.asked_states = addresses[:4]
        native.recurrences, native.responses = addresses[4:6]
        native.step_column_table, native.state_column_table = addresses[6:8]
        native.taken, native.some, native.every, native.here = addresses[8:12]
        native.some_states, native.here_states, native.bad_triggers = addresses[12:]


class _Mask:
    def __init__(self, words: int) -> None:
        self._bits = [0] * words

    def set(self, bit: int) -> None:
        if bit != NONE:
            self._bits[bit // _WORD_BITS] |= 1 << (bit % _WORD_BITS)

    @property
    def words(self) -> list[int]:
        """As signed words."""
        return [bits - (1 << _WORD_BITS) if bits >> (_WORD_BITS - 1) else bits for bits in self._bits]


def _addresses(columns: Columns) -> NDArray[np.int64]:
    return np.array([address_of(column) for column in columns] or [NULL], np.int64)
