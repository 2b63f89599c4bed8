"""What a level says of properties: what was found about a row counts once its owner has accepted that row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest

from kmc.engine.layout import record_structs as r
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.layout.record_structs import FindingEntry
from kmc.engine.native.memory import Words
from kmc.engine.native.words import Address
from kmc.shards.executors.executor import Executor
from kmc.shards.files.word_files import WordFile
from kmc.shards.level.tasks import Checked, Effort, Expanded, LevelSource, RowsTask, SeekTask
from kmc.shards.made_level import MadeLevel

SOURCE = LevelSource((), WordFile("words", 0, 0))
TASKS = [RowsTask(3, 0, ()), RowsTask(3, 1, ())]
LARGE = 2**64 - 5
"""A fingerprint that is negative as a signed word."""

Entry = tuple[int, int, int]
"""A kind, a value and a fingerprint."""


class Answers:
    """An executor whose tasks answer what a test says."""

    def __init__(self, accepted: Sequence[int] = (), checked: Sequence[Checked] = ()) -> None:
        self._accepted, self._checked = accepted, checked
        self.sought: list[tuple[int, ...]] = []
        self.stored: list[bool] = []

    def check(self, source: LevelSource, tasks: Sequence[RowsTask], *, stored: bool) -> list[Checked]:
        """The answers for `stored` or not."""
        assert (source, tasks) == (SOURCE, TASKS)
        self.stored.append(stored)
        return list(self._checked)

    def seek(self, source: LevelSource, tasks: Sequence[SeekTask]) -> list[list[PackedState]]:
        """Those that are accepted, by the second task."""
        assert (source, [task.rows for task in tasks]) == (SOURCE, TASKS)
        assert not any(task.steps for task in tasks)
        self.sought.append(tasks[0].targets)
        asked = {target % 2**64 for target in tasks[0].targets}
        return [[], [PackedState(one, 0, np.zeros(1, np.int64)) for one in self._accepted if one in asked]]


def entries(found: Sequence[Entry]) -> Words:
    table = np.zeros((len(found), FindingEntry.source + 1), np.uint64)
    for row, (kind, value, fingerprint) in zip(table, found, strict=True):
        row[[FindingEntry.kind, FindingEntry.value, FindingEntry.fingerprint]] = kind, value, fingerprint
    return table.view(np.int64)


def expanded(number: int, found: Sequence[Entry] = (), reached: int = 0, *, violating: bool = False) -> Expanded:
    effort = Effort(0.0, 0.0, ("here", 1))
    return Expanded(number, None, 0, 0, (), 0, 0, 0, reached, (), violating, entries(found), (), effort)


def made(parts: Sequence[Expanded], *, stored: bool = True, new: int = 5, rank: int = 0) -> MadeLevel:
    kernels = KernelTable(expand=Address(1), action_count=1, check=Address(1), check_count=2, rank=Address(rank))
    return MadeLevel(kernels, parts, lambda: (SOURCE, TASKS), new, stored)


def told(logs: Sequence[Words]) -> list[Entry]:
    words = np.concatenate(logs).view(np.uint64)
    columns = [FindingEntry.kind, FindingEntry.value, FindingEntry.fingerprint]
    return [(int(row[0]), int(row[1]), int(row[2])) for row in words[:, columns].tolist()]


VIEWED = (
    expanded(
        0, [(r.INVARIANT, 1, 7), (r.REACHED, 2, 7), (r.ACTION_PROPERTY, 0, 9), (r.STORED_CHECK_ERROR, 3, LARGE)], 16
    ),
    expanded(1, [(r.INVARIANT, 0, 8), (r.REACHED, 4, 8), (r.REACHED, 8, LARGE), (r.NO_SUCCESSOR, 0, 8)], 32),
)


@pytest.mark.parametrize("stored", [True, False])
def test_with_a_view_findings_about_refused_rows_do_not_count(stored: bool) -> None:
    executor = Answers(accepted=[LARGE, 7])
    found = made(VIEWED, stored=stored, rank=1).checked(cast(Executor, executor))
    invariant = r.INVARIANT if stored else r.UNSTORED_INVARIANT
    assert told(found.logs) == [
        (invariant, 1, 7),
        (r.ACTION_PROPERTY, 0, 9),
        (r.CHECK_ERROR, 3, LARGE),
        (r.NO_SUCCESSOR, 0, 8),
    ]
    assert found.reached == 16 | 32 | 2 | 8
    assert found.failed.tolist() == [0, 0]
    assert [{target % 2**64 for target in targets} for targets in executor.sought] == [{7, 8, LARGE}]


def test_with_a_view_nothing_is_sought_where_no_finding_is_about_a_row() -> None:
    executor = Answers()
    parts = (expanded(0, [(r.ACTION_PROPERTY, 0, 9), (r.CHECK_ERROR, 1, 9)]), expanded(1))
    found = made(parts, rank=1).checked(cast(Executor, executor))
    assert told(found.logs) == [(r.ACTION_PROPERTY, 0, 9), (r.CHECK_ERROR, 1, 9)]
    assert executor.sought == []


CHECKED = (
    Checked(0, (1, 0), 4, entries([(r.INVARIANT, 0, 5)])),
    Checked(1, (2, 3), 8, entries([(r.INVARIANT, 1, 6)])),
)


@pytest.mark.parametrize(
    ("violating", "stored", "new", "asked"),
    [
        (True, True, 5, [True]),
        (True, False, 0, [False]),
        (False, True, 5, []),
        (False, False, 5, [False]),
        (False, False, 0, []),
    ],
)
def test_accepted_rows_are_checked_where_that_can_matter(
    violating: bool, stored: bool, new: int, asked: list[bool]
) -> None:
    executor = Answers(checked=CHECKED)
    parts = (expanded(0, [(r.ACTION_PROPERTY, 0, 9)], 16), expanded(1, reached=2, violating=violating))
    found = made(parts, stored=stored, new=new).checked(cast(Executor, executor))
    assert executor.stored == asked
    more = [(r.INVARIANT, 0, 5), (r.INVARIANT, 1, 6)] if asked else []
    assert told(found.logs) == [(r.ACTION_PROPERTY, 0, 9), *more]
    assert (found.failed.tolist(), found.reached) == (([3, 3], 30) if asked else ([0, 0], 18))
