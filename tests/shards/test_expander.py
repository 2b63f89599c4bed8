"""A task expands rows into a file and outboxes: each row, its owner, its place, and what its owner answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from support.kernels.grid import Grid, fingerprint, level_sizes, point_of
from support.runs.shards import store_in

from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.word_dictionary import Dictionary
from kmc.engine.loops.checksums import run_storing
from kmc.engine.native.memory import Words
from kmc.engine.search import worker
from kmc.errors import SystemFault
from kmc.shards.files.range_files import RangeBlock, UnwrittenBlock, write_blocks
from kmc.shards.files.store import FolderStore, new_name
from kmc.shards.files.word_files import write_words
from kmc.shards.level import expander
from kmc.shards.level.expander import Expander, Stopped
from kmc.shards.level.listing import Listing
from kmc.shards.level.sent_sums import sent_sum
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import Expanded, ExpandTask, LevelSource, RowsTask, SeekTask, SegmentRef
from kmc.shards.redivide import owners

SHARDINGS = (
    Sharding(1),
    Sharding(4, segment_rows=3, slice_chunks=1, batch=2, chunk_rows=2, slots_min=8),
    Sharding(64, segment_rows=10, slice_chunks=2, batch=5, chunk_rows=4),
)
GRID = Grid(3, 6)


@dataclass(frozen=True)
class AnsweredRows(RowsTask):
    """A task that reads segments, of whose rows shards have accepted those in `bits`."""

    bits: tuple[RangeBlock, ...]


@dataclass
class Tasks:
    """Tasks over a grid, one after another on one expander, as a search gives them."""

    store: FolderStore
    grid: Grid
    sharding: Sharding

    def __post_init__(self) -> None:
        kernels = self.grid.kernels
        self.expander = Expander(kernels, self.sharding, self.store, deadlock=False)
        words = Dictionary(kernels.plain_words, kernels.implied_words).words
        self.dictionary = write_words(self.store, new_name("words", 0, 0), [words])
        self.uncoded_max = 1 << 16

    def source(self, rows: RowsTask) -> LevelSource:
        """The part that the tasks of a level share."""
        assert isinstance(rows, AnsweredRows)
        return LevelSource(rows.bits, self.dictionary, uncoded_max=self.uncoded_max)

    def rows(
        self, level: int, segments: Sequence[SegmentRef], bits: Sequence[RangeBlock] = (), number: int = 0
    ) -> AnsweredRows:
        return AnsweredRows(level, number, tuple(segments), tuple(bits))

    def expanding(self, rows: RowsTask, initial: tuple[PackedState, ...] = ()) -> ExpandTask:
        return ExpandTask(rows, self.sharding.shards, initial)

    def expand(self, task: ExpandTask) -> tuple[Expanded, list[Words]]:
        """What a task answers; the entries stay valid."""
        answer, entries = self.expander.expand(self.source(task.rows), task)
        return answer, [part.copy() for part in entries]

    def first(self) -> tuple[Expanded, list[Words]]:
        return self.expand(self.expanding(self.rows(1, ()), tuple(self.grid.initial)))

    def listed(self, rows: RowsTask) -> list[list[int]]:
        """The fingerprints of the states of a task, segment by segment."""
        listings = self.expander.listings(self.source(rows), rows, Listing())
        return [listing.fingerprints.view(np.uint64).tolist() for listing in listings]

    def answered(self, accepted: Sequence[Sequence[int]]) -> tuple[RangeBlock, ...]:
        """What shards answer to one task: a bit per entry."""
        blocks = []
        for shard, bits in enumerate(accepted):
            words = np.packbits(np.array([*bits, *[0] * (-len(bits) % 64)], np.uint8), bitorder="little")
            blocks.append(UnwrittenBlock(shard, np.array([0, len(words) // 8], np.int64), words.view(np.int64)))
        return write_blocks(self.store, new_name("bits", 1, 0), blocks)


def segments_of(expanded: Expanded) -> list[SegmentRef]:
    assert expanded.file is not None
    return [SegmentRef(expanded.file, number) for number in range(len(expanded.file.segments))]


def made(tmp_path: Path, sharding: Sharding, grid: Grid = GRID) -> Tasks:
    return Tasks(store_in(tmp_path), grid, sharding)


@pytest.mark.slow
@pytest.mark.parametrize("sharding", SHARDINGS)
def test_each_row_is_sent_to_its_owner_in_order(sharding: Sharding, tmp_path: Path) -> None:
    tasks = made(tmp_path, sharding)
    expanded, sent = tasks.first()
    for level in range(1, 8):
        segments = segments_of(expanded)
        listed = tasks.listed(tasks.rows(level + 1, segments))
        assert [len(part) for part in listed] == [segment.rows for segment in segments]
        fingerprints = [word for part in listed for word in part]
        assert len(set(fingerprints)) == len(fingerprints) == level_sizes(3, 6)[level - 1]
        owned = owners(np.array(fingerprints, np.uint64).view(np.int64), sharding.shards).tolist()
        for shard, box in enumerate(sent):
            wanted = [word for word, owner in zip(fingerprints, owned, strict=True) if owner == shard]
            assert box.view(np.uint64).tolist() == wanted
        counts = np.array([len(box) for box in sent])
        assert (expanded.sent, expanded.sent_sum) == (counts.sum(), sent_sum(counts, 0))
        expanded, sent = tasks.expand(tasks.expanding(tasks.rows(level + 1, segments)))
        assert expanded.expanded == len(fingerprints)
    assert max(len(segments), 1) >= (1 if sharding.shards == 1 else 2)


@pytest.mark.parametrize("sharding", SHARDINGS)
def test_every_outbox_gets_room_when_it_is_full(
    sharding: Sharding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = [word for box in made(tmp_path / "roomy", sharding).first()[1] for word in box.tolist()]
    monkeypatch.setattr(expander, "_OUTBOX_WORDS", 1)
    tasks = made(tmp_path / "tight", sharding)
    expanded, sent = tasks.first()
    assert [word for box in sent for word in box.tolist()] == whole
    for level in range(1, 8):
        rows = tasks.rows(level + 1, segments_of(expanded))
        expanded, sent = tasks.expand(tasks.expanding(rows))
        assert sum(map(len, sent)) == level_sizes(3, 6)[level]
        counts = np.array([len(box) for box in sent])
        assert (expanded.sent, expanded.sent_sum) == (counts.sum(), sent_sum(counts, 0))


@pytest.mark.parametrize("out_words", [1, 1 << 15])
@pytest.mark.parametrize("sharding", SHARDINGS)
def test_refused_rows_are_skipped_everywhere(
    sharding: Sharding, out_words: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where successors do not fit in their buffer, so that a row is entered once more."""
    monkeypatch.setitem(worker._OWN_WORDS, "out", out_words)
    tasks = made(tmp_path, sharding)
    expanded, sent = tasks.first()
    for level in range(1, 6):
        expanded, sent = tasks.expand(tasks.expanding(tasks.rows(level + 1, segments_of(expanded))))
    bits = [[int(word % 3 == 0) for word in box.view(np.uint64).tolist()] for box in sent]
    rows = tasks.rows(7, segments_of(expanded), tasks.answered(bits))
    accepted = [word for box in sent for word in box.view(np.uint64).tolist() if word % 3 == 0]
    every = [word for part in tasks.listed(tasks.rows(7, rows.segments)) for word in part]
    listed = [word for part in tasks.listed(rows) for word in part]
    assert listed == [word for word in every if word % 3 == 0]
    assert 0 < len(accepted) < len(every)
    after, _ = tasks.expand(tasks.expanding(rows))
    assert (after.expanded, after.refused) == (len(accepted), len(every) - len(accepted))
    assert tasks.expander.check(tasks.source(rows), rows, stored=True).failed == (0, 0)
    refused = [word for word in every if word % 3]
    assert tasks.expander.seek(tasks.source(rows), SeekTask(rows, tuple(refused), steps=False)) == []
    found = tasks.expander.seek(tasks.source(rows), SeekTask(rows, tuple(every), steps=False))
    assert sorted(record.fingerprint for record in found) == sorted(accepted)
    targets = [word for part in tasks.listed(tasks.rows(8, segments_of(after))) for word in part]
    tight = Expander(tasks.grid.kernels, sharding, tasks.store, deadlock=False)
    found = tight.seek(tasks.source(rows), SeekTask(rows, tuple(targets), steps=True))
    assert sorted(record.fingerprint for record in found) == sorted(accepted)


def test_bits_that_are_not_those_of_the_rows_are_noticed(tmp_path: Path) -> None:
    sharding = SHARDINGS[1]
    tasks = made(tmp_path, sharding)
    expanded, sent = tasks.first()
    expanded, sent = tasks.expand(tasks.expanding(tasks.rows(2, segments_of(expanded))))
    bits = tasks.answered([[1] * len(box) for box in sent])
    with pytest.raises(SystemFault, match="the answers of some shards are missing") as caught:
        tasks.expand(tasks.expanding(tasks.rows(3, segments_of(expanded), bits[:3])))
    assert caught.value.code == "KMC551"


def test_a_task_does_not_know_what_another_met(tmp_path: Path) -> None:
    tasks = made(tmp_path, SHARDINGS[1])
    task = tasks.expanding(tasks.rows(2, segments_of(tasks.first()[0])))
    first, sent = tasks.expand(task)
    again, sent_again = tasks.expand(task)
    assert [box.tolist() for box in sent] == [box.tolist() for box in sent_again]
    assert (first.sent, first.generated, first.uncoded) == (again.sent, again.generated, again.uncoded)
    assert tasks.listed(tasks.rows(3, segments_of(first))) == tasks.listed(tasks.rows(3, segments_of(again)))


def test_a_task_after_one_that_failed_answers_as_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = made(tmp_path, SHARDINGS[1])
    task = tasks.expanding(tasks.rows(2, segments_of(tasks.first()[0])))
    expanded, sent = tasks.expand(task)
    with monkeypatch.context() as patch:
        patch.delattr("kmc.shards.level.expander.write_frontier")
        with pytest.raises(NameError):
            tasks.expand(tasks.expanding(tasks.rows(3, segments_of(expanded))))
    again, sent_again = tasks.expand(task)
    assert [box.tolist() for box in sent_again] == [box.tolist() for box in sent]
    assert (again.sent, again.generated, again.expanded) == (expanded.sent, expanded.generated, expanded.expanded)


def test_a_stopped_expander_answers_once_it_is_restarted(tmp_path: Path) -> None:
    tasks = made(tmp_path, SHARDINGS[1])
    task = tasks.expanding(tasks.rows(2, segments_of(tasks.first()[0])))
    tasks.expander.stop()
    for _ in range(2):
        with pytest.raises(Stopped):
            tasks.expand(task)
    tasks.expander.restart()
    assert tasks.expand(task)[0].expanded == 1


def test_more_entries_than_an_outbox_holds_are_sent(tmp_path: Path) -> None:
    tasks = made(tmp_path, Sharding(2, batch=128), Grid(1, 2, fan=20_000))
    expanded, sent = tasks.expand(tasks.expanding(tasks.rows(2, segments_of(tasks.first()[0]))))
    assert expanded.sent == 20_001
    every = [word for part in tasks.listed(tasks.rows(3, segments_of(expanded))) for word in part]
    assert sorted(word for box in sent for word in box.view(np.uint64).tolist()) == sorted(every)
    assert len(set(every)) == 20_001


def test_words_without_a_code_are_reported(tmp_path: Path) -> None:
    tasks = made(tmp_path, SHARDINGS[0], Grid(3, 6, pad=40))
    expanded, _ = tasks.first()
    seeking = SeekTask(tasks.rows(2, segments_of(expanded)), (fingerprint(0),), steps=False)
    found = tasks.expander.seek(tasks.source(seeking.rows), seeking)
    assert [point_of(record) for record in found] == [0]
    words = {int(word) for record in found for word in record.row[1:]} - {0}
    assert set(expanded.uncoded) == words
    # What a later task meets is not reported with this one again.
    later, _ = tasks.expand(tasks.expanding(tasks.rows(2, segments_of(expanded))))
    assert set(later.uncoded) - words
    assert tasks.first()[0].uncoded == expanded.uncoded


def test_a_task_reports_so_many_words_and_another_task_other_ones(tmp_path: Path) -> None:
    tasks = made(tmp_path, SHARDINGS[0], Grid(3, 6, pad=40))
    expanded, _ = tasks.first()
    segments = segments_of(expanded)
    every = tasks.expand(tasks.expanding(tasks.rows(2, segments)))[0].uncoded
    assert len(every) > 10
    tasks.uncoded_max = 3
    found = [tasks.expand(tasks.expanding(tasks.rows(2, segments, number=number)))[0].uncoded for number in range(50)]
    assert {len(words) for words in found} == {3}
    assert {word for words in found for word in words} == set(every)


def test_of_states_with_one_view_the_one_with_the_least_rank_is_sent(tmp_path: Path) -> None:
    tasks = made(tmp_path, SHARDINGS[1], Grid(3, 6, forgets=True))
    expanded, sent = tasks.first()
    kept = [0]
    for level in range(1, 5):
        expanded, sent = tasks.expand(tasks.expanding(tasks.rows(level + 1, segments_of(expanded))))
        entries = [tuple(row) for box in sent for row in box.view(np.uint64).reshape(-1, 2).tolist()]
        best: dict[int, int] = {}
        for point in (point + step for point in kept for step in (1, 1 << 8, 1 << 16)):
            view = (point >> 16 << 16) + (point & 255) + (point >> 8 & 255)
            best[view] = min(best.get(view, point), point, key=fingerprint)  # a point's rank is its fingerprint
        kept = list(best.values())
        assert sorted(entries) == sorted((fingerprint(view), fingerprint(point)) for view, point in best.items())


def test_each_task_has_its_own_dictionary(tmp_path: Path) -> None:
    tasks = made(tmp_path, SHARDINGS[0], Grid(3, 6, pad=40))
    first, _ = tasks.first()
    segments = segments_of(first)
    before = tasks.expand(tasks.expanding(tasks.rows(2, segments)))[0]
    assert before.uncoded
    # With codes for the words that had none, the same task reports none of them, and writes less.
    kernels, words = tasks.grid.kernels, np.array(before.uncoded, np.int64)
    dictionary = Dictionary(kernels.plain_words, kernels.implied_words)
    run_storing("assign_codes", source=words.ctypes.data, count=len(words), target=dictionary.address)
    old, tasks.dictionary = tasks.dictionary, write_words(tasks.store, new_name("words", 1, 0), [dictionary.words])
    after = tasks.expand(tasks.expanding(tasks.rows(2, segments)))[0]
    assert not set(after.uncoded) & set(before.uncoded)
    assert before.file is not None
    assert after.file is not None
    assert after.file.rows_words < before.file.rows_words
    tasks.dictionary = old
    again = tasks.expand(tasks.expanding(tasks.rows(2, segments)))[0]
    assert again.uncoded == before.uncoded
