"""What the loop does with a successor: counts it as often as its header says, settles it, asks what it may change.

The model is a chain of states, each with one successor, whose step TLC counts three times.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.kernels.grid import Grid, address

from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.layout.record_structs import Chunk
from kmc.engine.layout.search_outcome import FindingKind, SearchOutcome, Settings
from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.engine.native.intrinsics import load, store
from kmc.engine.native.memory import BlockPool, Memory
from kmc.engine.native.words import NULL
from kmc.engine.search.breadth_first import Search

NUMBER, SEEN = 0, 1
LAST = 6
FIRST_LONG, LENGTH, ODD = 10, 400, -7046029254386353131
BASE = 1 << 60
"""The fingerprint of the first state; those of others follow."""


@NativeLoop
def expand(row: int, out: int, out_words: int) -> int:
    """One step to the next state up to the last one, by action 1, which counts twice more."""
    number = load(row, NUMBER)
    if number == LAST:
        return 0
    if out_words < 4:
        return -1
    store(out, 0, 2 | 1 << 32 | 2 << 48)
    store(out, 1, BASE + number + 1)
    store(out, 2, number + 1)
    store(out, 3, 0)
    return 1


@NativeLoop
def burst(row: int, out: int, out_words: int) -> int:
    """From the first state, as many steps as its row says in its second word."""
    count = load(row, SEEN)
    if out_words < 4 * count:
        return -1
    for number in range(1, count + 1):
        store(out, 4 * number - 4, 2)
        store(out, 4 * number - 3, BASE + number)
        store(out, 4 * number - 2, number)
        store(out, 4 * number - 1, 0)
    return count


@NativeLoop
def lengthen(row: int, out: int, out_words: int) -> int:
    """From each of the first states to a row of `LENGTH` words that no other row has."""
    number = load(row, NUMBER)
    if number >= FIRST_LONG:
        return 0
    if out_words < 2 + LENGTH:
        return -1
    store(out, 0, LENGTH)
    store(out, 1, BASE + FIRST_LONG + number)
    store(out, 2, FIRST_LONG + number)
    for index in range(1, LENGTH):
        store(out, 2 + index, (number * LENGTH + index) * ODD)
    return 1


@NativeLoop
def is_later(row: int) -> int:
    """An invariant that fails in all states but the first."""
    return 1 if load(row, NUMBER) > 0 else 0


@NativeLoop
def leads_on(source: int, row: int) -> int:
    """An action property that fails in every step."""
    return 1 if load(row, NUMBER) != load(source, NUMBER) else 0


@NativeLoop
def is_odd(row: int) -> int:
    """An invariant or a constraint that fails in odd states."""
    return load(row, NUMBER) & 1


@NativeLoop
def is_big(source: int, row: int) -> int:
    """An action property that fails from state 3 on, and a constraint of steps."""
    return 1 if load(source, NUMBER) >= 3 and load(row, NUMBER) > load(source, NUMBER) else 0


@NativeLoop
def note_fingerprint(row: int, fingerprint: int) -> int:
    """Settles a state by noting its fingerprint in its row."""
    store(row, SEEN, fingerprint)
    return 0


@NativeLoop
def never_odd(source: int, row: int) -> int:
    """Says of every step that the invariant still holds."""
    return 0


@NativeLoop
def odd_after_two(source: int, row: int) -> int:
    """Evaluates the invariant after the step from state 2, after no other."""
    return load(row, NUMBER) & 1 if load(source, NUMBER) == 2 else 0


@NativeLoop
def fails_at_four(row: int) -> int:
    """An action property fails in each step from state 4 that changes nothing."""
    return 1 if load(row, NUMBER) == 4 else 0


@NativeLoop
def leads_from_two(source: int, row: int) -> int:
    """Evaluates an action property in the step from state 2, in no other."""
    return 1 if load(source, NUMBER) == 2 else 0


INITIAL = [PackedState(BASE, 0, np.array([0, 0], np.int64))]


def chain(**kernels: Any) -> KernelTable:
    """The kernels of the chain."""
    counts = {"expand": address(expand), "action_count": 3, "check_count": 1, "step_count": 1, "plain_words": 1}
    return KernelTable(**{**counts, **kernels})


def run(kernels: KernelTable, **settings: Any) -> SearchOutcome:
    """A search of the chain, one state a batch."""
    return Search(kernels, INITIAL, Settings(**{"deadlock": False, "batch": 1, **settings})).run()


def test_a_step_is_counted_as_often_as_its_header_says() -> None:
    outcome = run(chain())
    assert outcome.levels == (1,) * (LAST + 1)
    assert outcome.generated_by_action == (0, 3 * LAST, 0)
    assert (outcome.generated, outcome.expanded) == (3 * LAST + 1, LAST + 1)


def test_a_step_out_of_the_constraints_is_counted_as_often_as_its_header_says() -> None:
    outcome = run(chain(step_outside=address(is_big)))
    assert (outcome.levels, outcome.generated, outcome.cut) == ((1,) * 4, 3 * 4 + 1, 3)


def test_a_step_that_fails_is_counted_as_often_as_its_header_says() -> None:
    outcome = run(chain(step=address(is_big)), keep_going=True)
    assert outcome.failed == (0, 3 * 3)
    assert {finding.kind for finding in outcome.findings} == {FindingKind.STEP}


def test_a_state_is_kept_as_the_model_settles_it() -> None:
    search = Search(chain(settle=address(note_fingerprint)), INITIAL, Settings(deadlock=False, batch=1))
    levels = len(search.run().levels)
    rows = [record.row.tolist() for level in range(1, levels + 1) for record in search.predecessors.kept(level)]
    assert rows == [[number, BASE + number] for number in range(LAST + 1)]


def test_a_state_is_kept_as_it_was_generated_where_nothing_settles_it() -> None:
    search = Search(chain(), INITIAL, Settings(deadlock=False, batch=1))
    search.run()
    assert [record.row.tolist() for record in search.predecessors.kept(3)] == [[2, 0]]


@pytest.mark.parametrize(("changed", "failed"), [(0, 1), (never_odd, None), (odd_after_two, 3)])
def test_an_invariant_is_evaluated_where_a_step_may_change_it(changed: Any, failed: int | None) -> None:
    outcome = run(chain(check=address(is_odd), check_changed=address(changed) if changed else 0))
    assert [finding.fingerprint - BASE for finding in outcome.findings] == ([] if failed is None else [failed])


def test_every_invariant_is_evaluated_after_a_first_finding() -> None:
    kernels = chain(check=address(is_odd), check_changed=address(odd_after_two))
    outcome = run(kernels, keep_going=True)
    assert [finding.fingerprint - BASE for finding in outcome.findings] == [3]
    assert outcome.failed == (2, 0)
    assert run(replace(kernels, check_changed=NULL), keep_going=True).failed == (3, 0)


def test_an_action_property_is_evaluated_where_a_step_may_change_it() -> None:
    kernels = chain(step=address(leads_on), step_changed=address(leads_from_two), step_kept=address(fails_at_four))
    # Each state has three steps. Those from state 4 are all evaluated, and from other states what they may change.
    assert run(kernels, keep_going=True).failed == (0, 3 + 3)
    assert run(replace(kernels, step_changed=NULL, step_kept=NULL), keep_going=True).failed == (0, 3 * LAST)


@pytest.mark.parametrize("batch", [1, 128])
def test_a_chunk_is_filled_before_the_next_one_begins(batch: int) -> None:
    grid = Grid(dims=2, size=2, fan=10)
    search = Search(grid.kernels, grid.initial, Settings(deadlock=False, batch=batch, chunk_rows=5))
    first = search._maker.first(grid.initial)
    assert first is not None
    level = search._maker.next(first, store=True)
    assert level is not None
    assert level.chunks[:, Chunk.rows].tolist() == [5, 5, 2]
    assert level.chunks[:, Chunk.ordinal].tolist() == [0, 5, 10]


# Each of these is too many for another buffer: findings, chunks, candidates.
@pytest.mark.parametrize("count", [120, 400, 1_500])
@pytest.mark.parametrize("block_words", [1 << 7, 1 << 20])
def test_buffers_have_room_for_all_that_one_batch_finds(count: int, block_words: int) -> None:
    kernels = chain(expand=address(burst), check=address(is_later), step=address(leads_on))
    initial = [PackedState(BASE, 0, np.array([0, count], np.int64))]
    search = Search(kernels, initial, Settings(deadlock=False, chunk_rows=1, block_words=block_words))
    outcome = search.run()
    assert (outcome.levels, outcome.failed) == ((1, count), (count, count))
    found = [(finding.kind, finding.fingerprint - BASE) for finding in outcome.findings]
    numbers = range(1, count + 1)
    assert found == [(kind, number) for kind in (FindingKind.INVARIANT, FindingKind.STEP) for number in numbers]
    assert [int(record.row[NUMBER]) for record in search.predecessors.kept(2)] == [*numbers]


def test_a_block_has_room_for_rows_whose_words_have_no_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    # Such a row takes a quarter more than it has words. Two of them do not fit here, though their words would.
    monkeypatch.setattr(BlockPool, "take", lambda pool, before, words: Memory(max(words, 12 * LENGTH // 5)))
    initial = [PackedState(BASE + number, 0, np.array([number, 0], np.int64)) for number in range(4)]
    search = Search(chain(expand=address(lengthen)), initial, Settings(deadlock=False, batch=1))
    search._maker.dictionary.words[1:] = 1  # full
    assert search.run().levels == (4, 4)
    indices = np.arange(1, LENGTH)
    for number, record in enumerate(search.predecessors.kept(2)):
        assert record.row.tolist() == [FIRST_LONG + number, *((number * LENGTH + indices) * ODD).tolist()]
