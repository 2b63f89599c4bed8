"""Native loop: the states where a behaviour may stay for ever and meet all conditions."""

from __future__ import annotations

from kmc.engine.lassos.component_loops import (
    Conditions,
    clear,
    find_bad_triggers,
    is_stopped,
    lacks_recurrence,
    note_states,
    note_steps,
)
from kmc.engine.native.intrinsics import inlined, load, load_byte, load_code, load_half, store, store_byte
from kmc.engine.native.structs import Struct


class Scan(Struct):
    """The candidate states, each tested for whether a behaviour that stays there for ever meets the conditions."""

    offsets: int
    targets: int
    labels: int
    states: int
    candidates: int  # a byte per state: 0 or 1 before, and after
    stopping: int  # see `ComponentSearch`
    conditions: Conditions


@inlined
def has_weak_step(conditions: Conditions, state: int, scan: Scan) -> int:
    """1 if a label of a step to another state names a set with weak fairness, so that no other test is needed; else
    0.
    """
    targets, labels = scan.targets, scan.labels
    for step in range(load(scan.offsets, state), load(scan.offsets, state + 1)):
        if load_half(targets, step) != state:
            row = conditions.table + load_code(labels, step) * conditions.table_bytes
            for word in range(conditions.label_words):
                if load(row, word) & load(conditions.weak, word) != 0:
                    return 1
    return 0


def find_stuttering(scan: Scan) -> int:
    """Keep those candidates where staying for ever meets all conditions; return their number."""
    conditions = scan.conditions
    count = 0
    for state in range(scan.states):
        if is_stopped(scan.stopping, state) != 0:
            return 0
        if load_byte(scan.candidates, state) != 0:
            if has_weak_step(conditions, state, scan) != 0:
                store_byte(scan.candidates, state, 0)
                continue
            note_steps(conditions, state, scan.offsets, scan.targets, scan.labels)
            note_states(conditions, state)
            clear(conditions.taken, conditions.words, 0)
            for word in range(conditions.words):
                store(conditions.every, word, load(conditions.here, word))
                store(conditions.some, word, load(conditions.here, word))
            for word in range(conditions.state_words):
                store(conditions.some_states, word, load(conditions.here_states, word))
            fair = 1 - (lacks_recurrence(conditions) | find_bad_triggers(conditions))
            store_byte(scan.candidates, state, fair)
            count += fair
    return count
