"""When a checkpoint is due: after the interval that was asked for, and later where saving costs too much."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kmc.engine.checkpoint import save
from kmc.engine.checkpoint.save import Saver
from kmc.engine.files.run_manifest import RunManifest, Snapshot
from kmc.engine.layout.frontier import Level, RowBlock
from kmc.engine.native.memory import Memory

WORDS_A_SECOND = 5e8 / 8
"""How fast a disk is taken to be before a checkpoint was timed."""


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        """The time."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of checkpoints."""
    found = Clock()
    monkeypatch.setattr(save, "time", found)
    return found


class TimedSaver(Saver):
    """A saver that notes when it saves, which takes a quarter of a second."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        nothing: Any = SimpleNamespace()
        super().__init__(nothing, nothing, seconds)
        self.clock = clock
        self.saved: list[float] = []

    def save(self, table: Any, half_made: Any) -> None:
        """Note the time."""
        self.saved.append(self.clock.now)
        self.clock.now += 0.25
        self._ended = self.clock.now


def snapshot(stored: int) -> Snapshot:
    """The counters of a search with so many states."""
    return Snapshot((1,), (1,), (), 0, stored, 0, 0, 0, 0, (), (), 0, 0.0, 0.0)


def level_of(*blocks: RowBlock) -> Level:
    """A level of these blocks."""
    return Level(1, np.zeros((1, 3), np.int64), blocks)


TABLE: Any = SimpleNamespace(entry_words=1)


def ends(saver: TimedSaver, *times: float, stored: float = 0, blocks: tuple[RowBlock, ...] = ()) -> list[float]:
    """When the saver saves of levels that end at these times, from its beginning."""
    for time in times:
        saver.clock.now = 1000.0 + time
        saver.end_level(snapshot(int(stored)), level_of(*blocks), TABLE)
    return [time - 1000.0 for time in saver.saved]


def test_a_checkpoint_is_due_after_the_interval(clock: Clock) -> None:
    assert ends(TimedSaver(clock, 30.0), 10, 29.9, 30, 31, 60.2, 60.25, 90) == [30, 60.25]


def test_every_level_is_saved_with_an_interval_of_zero(clock: Clock) -> None:
    assert ends(TimedSaver(clock, 0.0), 0, 1, 2, stored=100 * WORDS_A_SECOND) == [0, 1, 2]


def test_saving_takes_at_most_a_twentieth_of_the_time(clock: Clock) -> None:
    # Two seconds to save all fingerprints: due after forty.
    assert ends(TimedSaver(clock, 30.0), 30, 39.9, 40, stored=2 * WORDS_A_SECOND) == [40]


def test_rows_that_are_in_files_cost_nothing(clock: Clock) -> None:
    words = int(2 * WORDS_A_SECOND)
    new, old = RowBlock(Memory(8), used=words), RowBlock(Memory(8), used=words, offset=0)
    assert ends(TimedSaver(clock, 30.0), 30, 39.9, 40, blocks=(new, old)) == [40]


def test_fingerprints_that_are_in_a_file_cost_nothing(clock: Clock) -> None:
    saver = TimedSaver(clock, 30.0)
    saver._add_level = lambda level, entry_words: None  # type: ignore[method-assign]  # there is no file
    saver._file = SimpleNamespace()  # type: ignore[assignment]  # as above
    assert ends(saver, 29.9, 30, stored=100 * WORDS_A_SECOND) == [30]


def test_the_time_that_saving_takes_is_counted(clock: Clock) -> None:
    saver = TimedSaver(clock, 0.0)
    ends(saver, 1, 2, 3)
    assert saver.seconds_spent == 0.75


class SlowDisk(Saver):
    """A saver that writes nothing, in so many seconds; it notes when each checkpoint began."""

    def __init__(self, clock: Clock, takes: float) -> None:
        files: Any = SimpleNamespace(files=SimpleNamespace(files=None))
        directory: Any = SimpleNamespace(
            manifest=SimpleNamespace(levels=0), commit=self._committed, clean=lambda files: None
        )
        super().__init__(directory, files, 30.0)
        self.clock = clock
        self.takes = takes
        self.began: list[float] = []

    def _committed(self, manifest: RunManifest) -> None:
        self.bits = manifest.fingerprint_bits
        self.began.append(self.clock.now)
        self.clock.now += self.takes

    def _write_table(self, table: Any, half_made: Any) -> None:
        pass

    def _written(self, snapshot: Snapshot, level: Level) -> RunManifest:
        return RunManifest({})

    def due_after(self, stored: float) -> float:
        """How many seconds after the last checkpoint the next one of so many states begins."""
        last, count = self.clock.now, len(self.began)
        while len(self.began) == count:
            self.clock.now += 1
            self.end_level(snapshot(int(stored)), level_of(), TABLE)
        return self.began[-1] - last


def test_saving_costs_what_the_last_checkpoint_took(clock: Clock) -> None:
    saver = SlowDisk(clock, takes=4.0)
    assert saver.due_after(2 * WORDS_A_SECOND) == 40
    assert saver.due_after(2 * WORDS_A_SECOND) == 80
    assert saver.due_after(3 * WORDS_A_SECOND) == 120
    assert saver.saves == 3
    assert saver.seconds_spent == 12.0


def test_a_checkpoint_of_a_megabyte_does_not_tell_how_fast_a_disk_is(clock: Clock) -> None:
    saver = SlowDisk(clock, takes=4.0)
    saver.due_after(2 * WORDS_A_SECOND)
    assert saver.due_after(1e6 / 8) == 30
    assert saver.due_after(2 * WORDS_A_SECOND) == 40


def test_no_disk_is_taken_to_be_slower_than_a_megabyte_a_second(clock: Clock) -> None:
    saver = SlowDisk(clock, takes=400.0)
    saver.due_after(1e8 / 8)
    assert saver.due_after(1e8 / 8) == 100 / 0.05


def test_a_level_that_is_saved_is_not_saved_again(clock: Clock) -> None:
    saver = SlowDisk(clock, takes=1.0)
    saver.save(TABLE, [])
    assert saver.saves == 0
    saver.due_after(1)
    saver._directory.manifest.levels = 1  # type: ignore[misc]  # not a real one
    saver.save(TABLE, [])
    assert saver.saves == 1


@pytest.mark.parametrize("words", [1, 2])
def test_a_checkpoint_says_how_wide_its_fingerprints_are(words: int, clock: Clock) -> None:
    saver = SlowDisk(clock, takes=1.0)
    saver.due_after(1)
    saver._latest = (replace(snapshot(1), levels=(1, 1)), level_of())
    saver.save(SimpleNamespace(entry_words=words), [])  # type: ignore[arg-type]  # a table of this width
    assert saver.bits == 64 * words
