"""What a loop notes and counts of a state and of a step, for every answer that the kernels of a model may give.

The kernels here answer what stands in a row, in words of its own for each kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kmc.engine.layout import record_structs as r
from kmc.engine.layout.control_words import Shared, Thread
from kmc.engine.layout.record_structs import FindingEntry, StateRecord
from kmc.engine.loops.check_properties import (
    check_after,
    check_state,
    check_step,
    is_inside,
    known_source,
    outside_mask,
    prepare_steps,
    rank_if_any,
)
from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.engine.native.intrinsics import load
from kmc.engine.native.memory import Memory
from kmc.engine.native.specialization import Specialization
from kmc.engine.native.words import Address, Mask

CHECK, REACHABLE, OUTSIDE, STEP, STEP_OUTSIDE, RANK, CHECK_CHANGED, REACHABLE_CHANGED, STEP_CHANGED, STEP_KEPT = range(
    10
)
ERROR = -17
ROW_END = 2 + 10
SOURCE, STATE = 71, 72
"""Fingerprints."""


@NativeLoop
def check(row: int) -> int:
    """Answers what the row says."""
    return load(row, CHECK)


@NativeLoop
def reachable(row: int, wanted: int) -> int:
    """Answers what the row says, of what is wanted; an error whatever is wanted."""
    answer = load(row, REACHABLE)
    return answer & wanted if answer > 0 else answer


@NativeLoop
def outside(row: int) -> int:
    """Answers what the row says."""
    return load(row, OUTSIDE)


@NativeLoop
def step(source: int, row: int) -> int:
    """Answers what the rows say together; the row of the source says 0."""
    return load(row, STEP) - 2 * load(source, STEP)


@NativeLoop
def step_outside(source: int, row: int) -> int:
    """Answers what the rows say together; the row of the source says 0."""
    return load(row, STEP_OUTSIDE) - 2 * load(source, STEP_OUTSIDE)


@NativeLoop
def check_changed(source: int, row: int) -> int:
    """Answers what the rows say together; the row of the source says 0."""
    return load(row, CHECK_CHANGED) - 2 * load(source, CHECK_CHANGED)


@NativeLoop
def reachable_changed(source: int, row: int, wanted: int) -> int:
    """Answers what the rows say together, of what is wanted; the row of the source says 0."""
    answer = load(row, REACHABLE_CHANGED) - 2 * load(source, REACHABLE_CHANGED)
    return answer & wanted if answer > 0 else answer


@NativeLoop
def step_changed(source: int, row: int) -> int:
    """Answers what the rows say together; the row of the source says 0."""
    return load(row, STEP_CHANGED) - 2 * load(source, STEP_CHANGED)


@NativeLoop
def step_kept(row: int) -> int:
    """Answers what the row says, which is that of the source."""
    return load(row, STEP_KEPT)


@NativeLoop
def rank(row: int) -> int:
    """Answers what the row says."""
    return load(row, RANK)


def stored_state(shared: Shared, thread: Thread, record: StateRecord, _: int) -> int:
    """`check_state` for a state that is kept, with the rank 5."""
    check_state(shared, thread, record, 5, 1)
    return 0


def changed_state(shared: Shared, thread: Thread, record: StateRecord, _: int) -> int:
    """`check_after` for a state that is kept, with the rank 5."""
    check_after(shared, thread, record, 5, 1, known_source(shared, thread))
    return 0


def unstored_state(shared: Shared, thread: Thread, record: StateRecord, _: int) -> int:
    """`check_state` for a state that is not kept, with the rank 5."""
    check_state(shared, thread, record, 5, 0)
    return 0


def taken_step(shared: Shared, thread: Thread, record: StateRecord, times: int) -> int:
    """`prepare_steps` and `check_step`, to be called from Python."""
    prepare_steps(shared, thread)
    check_step(shared, thread, record, times)
    return 0


def inside(shared: Shared, thread: Thread, record: StateRecord, _: int) -> int:
    """`is_inside`, to be called from Python."""
    return is_inside(shared, thread, record)


def constraints_broken(shared: Shared, thread: Thread, record: StateRecord, _: int) -> int:
    """`outside_mask`, to be called from Python."""
    return outside_mask(shared, thread, record)


def rank_noted(shared: Shared, _: Thread, record: StateRecord, __: int) -> int:
    """`rank_if_any`, to be called from Python."""
    return rank_if_any(shared, record)


class Checked:
    """A thread that checks one state, reached from a source unless it is `initial`."""

    def __init__(self, *, initial: bool = False, ranked: bool = False, **kernels: NativeLoop) -> None:
        self._specialization = Specialization(ranked=ranked)
        self.shared, self.thread = Shared.of(Memory(Shared.WORDS)), Thread.of(Memory(Thread.WORDS))
        self.shared.rank, self.shared.listing, self.shared.invariant_count = Address(rank.address), 1, 3
        self.shared.wanted = Mask(0b111 if "reachable" in kernels else 0)
        for name, kernel in kernels.items():
            setattr(self.shared, name, kernel.address)
        self._failed, self._findings, self._source = Memory(6), Memory(10 * FindingEntry.WORDS), Memory(ROW_END)
        self._source.array[:2] = [7, SOURCE]
        self.thread.failed, self.thread.findings.address = self._failed.address, self._findings.address
        self.thread.source = StateRecord(0 if initial else self._source.address)

    def source_says(self, **says: int) -> None:
        """Let the row of the source say these things."""
        self._say(self._source, says)

    def __call__(self, part: Callable[[Shared, Thread, StateRecord, int], int], argument: int = 0, **says: int) -> int:
        """The answer of a part of a loop for a state whose row says these things."""
        state = Memory(ROW_END)
        state.array[:2] = [7, STATE]
        self._say(state, says)
        return NativeLoop(part, self._specialization)(self.shared, self.thread, state.address, argument)

    @staticmethod
    def _say(record: Memory, says: dict[str, int]) -> None:
        for name, answer in says.items():
            record.array[2 + int(globals()[name.upper()])] = answer

    @property
    def failed(self) -> list[int]:
        """The counters of properties that failed."""
        failed: list[int] = self._failed.array.tolist()
        return failed

    @property
    def findings(self) -> list[tuple[int, ...]]:
        """What was noted: kind, value, fingerprint, rank and source."""
        entries = self._findings.array.reshape(-1, FindingEntry.WORDS)
        assert not entries[:, FindingEntry.source + 1 :].any()
        used = self.thread.findings.used // FindingEntry.WORDS
        assert not entries[used:].any()
        return [tuple(entry[: FindingEntry.source + 1].tolist()) for entry in entries[:used]]


@pytest.mark.slow
def test_invariants_that_fail_are_counted_and_noted() -> None:
    checked = Checked(check=check)
    assert checked(stored_state, check=0) == 0
    assert (checked.failed, checked.findings) == ([0] * 6, [])
    checked(stored_state, check=0b101)
    checked(stored_state, check=0b100)
    assert checked.failed == [1, 0, 2, 0, 0, 0]
    assert checked.findings == [(r.INVARIANT, 0b101, STATE, 5, SOURCE), (r.INVARIANT, 0b100, STATE, 5, SOURCE)]


def test_the_source_of_an_initial_state_is_none() -> None:
    checked = Checked(initial=True, check=check)
    checked(stored_state, check=1)
    assert checked.findings == [(r.INVARIANT, 1, STATE, 5, 0)]


@pytest.mark.parametrize("list_repeated", [0, 1])
def test_violations_are_only_counted_where_none_is_listed(list_repeated: int) -> None:
    checked = Checked(check=check)
    checked.shared.listing, checked.shared.list_repeated = 0, list_repeated
    checked(stored_state, check=0b10)
    assert (checked.failed, len(checked.findings)) == ([0, 1, 0, 0, 0, 0], list_repeated)


@pytest.mark.slow
def test_violations_of_states_that_are_not_kept_are_noted_and_not_counted() -> None:
    checked = Checked(check=check)
    checked.shared.listing = 0
    checked(unstored_state, check=0b11)
    assert (checked.failed, checked.findings) == ([0] * 6, [(r.UNSTORED_INVARIANT, 0b11, STATE, 5, SOURCE)])


@pytest.mark.parametrize("part", [stored_state, unstored_state])
def test_an_invariant_that_cannot_be_evaluated_is_an_error(part: Callable[..., int]) -> None:
    checked = Checked(check=check)
    checked(part, check=ERROR)
    assert (checked.failed, checked.findings) == ([0] * 6, [(r.CHECK_ERROR, ERROR, STATE, 5, SOURCE)])


def test_reachable_properties_are_gathered_as_far_as_they_are_wanted() -> None:
    checked = Checked(reachable=reachable)
    checked.shared.wanted = Mask(0b101)
    checked(stored_state, reachable=0b011)
    assert checked.thread.reached == 0b001
    checked(unstored_state, reachable=0b110)
    assert checked.thread.reached == 0b101
    assert checked.findings == []


def test_invariants_are_evaluated_whether_or_not_a_property_is_reached() -> None:
    checked = Checked(check=check, reachable=reachable)
    for reached in (0, 1):
        checked(stored_state, reachable=reached, check=1)
    assert (checked.thread.reached, checked.findings) == (1, [(r.INVARIANT, 1, STATE, 5, SOURCE)] * 2)


def test_a_reachable_property_that_cannot_be_evaluated_is_an_error_in_place_of_invariants() -> None:
    checked = Checked(check=check, reachable=reachable)
    checked(stored_state, reachable=ERROR, check=1)
    assert checked.thread.reached == 0
    assert (checked.failed, checked.findings) == ([0] * 6, [(r.CHECK_ERROR, ERROR, STATE, 5, SOURCE)])


@pytest.mark.slow
def test_after_a_step_only_what_it_changes_is_evaluated() -> None:
    checked = Checked(
        check=check, reachable=reachable, check_changed=check_changed, reachable_changed=reachable_changed
    )
    # An error would be noted: the kernels for all properties are not called.
    for failed, reached in ((0, 0), (0b10, 0b001), (0, 0b110)):
        checked(changed_state, check=ERROR, reachable=ERROR, check_changed=failed, reachable_changed=reached)
    assert (checked.findings, checked.thread.reached) == ([(r.INVARIANT, 0b10, STATE, 5, SOURCE)], 0b111)
    checked.shared.wanted = Mask(0)
    checked(changed_state, check=ERROR, reachable_changed=ERROR)
    assert len(checked.findings) == 1


@pytest.mark.parametrize("wrong", ["check_changed", "reachable_changed"])
def test_a_property_that_cannot_be_evaluated_after_a_step_is_an_error(wrong: str) -> None:
    checked = Checked(
        check=check, reachable=reachable, check_changed=check_changed, reachable_changed=reachable_changed
    )
    checked(changed_state, **{wrong: ERROR})
    assert checked.findings == [(r.CHECK_ERROR, ERROR, STATE, 5, SOURCE)]


def test_all_properties_are_evaluated_where_the_source_says_nothing_about_them() -> None:
    changed: dict[str, Any] = {"check_changed": check_changed, "reachable_changed": reachable_changed}
    found = Checked(check=check, reachable=reachable, **changed)
    found.shared.listing = 0
    initial = Checked(check=check, reachable=reachable, initial=True, **changed)
    for checked in (Checked(check=check, reachable=reachable), found, initial):
        checked(changed_state, check=0b101, reachable=0b011, check_changed=ERROR, reachable_changed=ERROR)
        assert (checked.failed[:3], checked.thread.reached) == ([1, 0, 1], 0b011)


@pytest.mark.parametrize(("kept", "failed"), [(0, [0, 4]), (1, [4, 0]), (ERROR, [4, 0])])
def test_action_properties_are_evaluated_where_a_step_may_change_them(kept: int, failed: list[int]) -> None:
    checked = Checked(step=step, step_changed=step_changed, step_kept=step_kept)
    checked.source_says(step_kept=kept)
    checked(taken_step, 4, step=0b01, step_changed=0b10)
    assert checked.failed[3:5] == failed


def test_without_kernels_nothing_is_evaluated() -> None:
    checked = Checked()
    checked(stored_state, check=1, reachable=1)
    assert (checked.findings, checked.thread.reached) == ([], 0)
    assert checked(inside, outside=1, step_outside=1) == 1


@pytest.mark.parametrize("listing", [0, 1])
def test_action_properties_that_fail_are_counted_behind_the_invariants(listing: int) -> None:
    checked = Checked(step=step)
    checked.shared.listing = listing
    checked(taken_step, 4, step=0)
    checked(taken_step, 4, step=0b101, rank=9)
    assert checked.failed == [0, 0, 0, 4, 0, 4]
    assert checked.findings == [(r.ACTION_PROPERTY, 0b101, STATE, 0, SOURCE)] * listing


def test_initial_states_are_not_steps() -> None:
    checked = Checked(step=step, initial=True)
    checked(taken_step, 1, step=1)
    assert (checked.failed, checked.findings) == ([0] * 6, [])


def test_an_action_property_that_cannot_be_evaluated_is_an_error_of_its_source() -> None:
    checked = Checked(step=step)
    checked(taken_step, 4, step=ERROR)
    assert (checked.failed, checked.findings) == ([0] * 6, [(r.EXPAND_ERROR, ERROR, SOURCE, 0, SOURCE)])


@pytest.mark.slow
def test_a_rank_is_what_the_model_says_but_for_the_one_that_reads_as_none() -> None:
    checked = Checked(ranked=True, step=step)
    assert [checked(rank_noted, rank=said) for said in (9, 0, -1, -2, -3)] == [9, 0, -2, -2, -3]
    checked(taken_step, 1, step=1, rank=9)
    assert checked.findings == [(r.ACTION_PROPERTY, 1, STATE, 9, SOURCE)]
    assert Checked()(rank_noted, rank=9) == 0


def test_a_state_is_inside_if_no_constraint_fails() -> None:
    checked = Checked(outside=outside, step_outside=step_outside)
    says = [(0, 0), (2, 0), (0, 4), (2, 4)]
    assert [checked(inside, outside=one, step_outside=other) for one, other in says] == [1, 0, 0, 0]
    # A state outside of a constraint has no step to ask about.
    assert [checked(constraints_broken, outside=one, step_outside=other) for one, other in says] == [0, 2, 4, 2]
    assert checked.findings == []


def test_action_constraints_say_nothing_of_initial_states() -> None:
    checked = Checked(initial=True, outside=outside, step_outside=step_outside)
    assert [checked(inside, step_outside=4), checked(inside, outside=2)] == [1, 0]


def test_action_constraints_alone_keep_states_out() -> None:
    assert Checked(step_outside=step_outside)(inside, outside=2, step_outside=4) == 0


@pytest.mark.parametrize("says", ["outside", "step_outside"])
def test_a_constraint_that_cannot_be_evaluated_is_an_error_of_the_source(says: str) -> None:
    checked = Checked(outside=outside, step_outside=step_outside)
    assert checked(inside, **{says: ERROR}) == -1
    assert checked.findings == [(r.EXPAND_ERROR, ERROR, SOURCE, 0, SOURCE)]


def test_a_constraint_that_cannot_be_evaluated_for_an_initial_state_is_an_error_of_that_state() -> None:
    checked = Checked(initial=True, outside=outside)
    assert checked(inside, outside=ERROR) == -1
    assert checked.findings == [(r.EXPAND_ERROR, ERROR, STATE, 0, 0)]
