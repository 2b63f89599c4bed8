"""When memory is short, rows go to files, and nothing else changes."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands.descriptors import opened_in
from support.kernels.grid import Grid
from support.runs.saved import DIGESTS, GRIDS, begin, go_on, search_in, told, whole

from kmc.engine.files import durable_file
from kmc.engine.files.durable_folder import DurableFolder
from kmc.engine.files.run_directory import FOLDER, RunDirectory
from kmc.engine.files.run_manifest import Extent
from kmc.engine.files.spill_files import SpillFiles
from kmc.engine.layout import control_words as f
from kmc.engine.layout.frontier import RowBlock
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.loops.checksums import checksum
from kmc.engine.native.memory import PAGE_WORDS, BlockPool, MappedFile, Memory
from kmc.engine.search.breadth_first import Search
from kmc.engine.search.worker import Worker
from kmc.engine.stores.memory_budget import MemoryBudget
from kmc.errors import InternalError
from kmc.process import memory_bytes
from kmc.result import Bound, Limits

SHORT: dict[str, Any] = {"limits": Limits(memory_bytes=1 << 40), "spill_share": 0.0, "save_seconds": 1e9}
"""Memory is short from the first look at it, and never so short that the search must stop."""


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("grid", [*GRIDS, Grid(3, 6, pad=400, sum=5)])
def test_results_are_the_same_with_rows_in_files(grid: Grid, threads: int, tmp_path: Path) -> None:
    directory = begin(tmp_path)
    search = search_in(directory, grid, threads=threads, **SHORT)
    outcome = search.run()
    files = search._budget._files
    assert told(outcome) == whole(grid)
    assert isinstance(files, SpillFiles)
    assert files.spilled_bytes >= outcome.rows_bytes > 0
    # Of the levels that are over nothing is left but the last one.
    assert len([path for path in directory.folder.iterdir() if path.name.startswith("rows")]) <= 1
    directory.discard()
    assert not (tmp_path / FOLDER).exists()


@pytest.mark.parametrize("grid", [GRIDS[0], GRIDS[1]])
def test_a_run_with_rows_in_files_goes_on(grid: Grid, tmp_path: Path) -> None:
    for depth in (2, 5, 9):
        path = tmp_path / str(depth)
        directory = begin(path)
        search_in(directory, grid, **{**SHORT, "limits": Limits(depth=depth, memory_bytes=1 << 40)}).run()
        directory.close()
        assert told(go_on(path, grid, threads=2, **SHORT)) == whole(grid)


@pytest.mark.slow
def test_memory_that_rests_in_a_file_stays_where_it_was_and_is_given_back(tmp_path: Path) -> None:
    words = 1 << 22
    memory = Memory(words - f.SLACK_WORDS)
    memory.array[:] = np.arange(len(memory.array))
    file = durable_file.DataFile(DurableFolder(tmp_path), "rows-1")
    file.write(memory.address, words, PAGE_WORDS)
    before = memory_bytes()
    memory.map_file(file.descriptor, PAGE_WORDS, words // 2, writable=False)
    assert before - memory_bytes() > 8 * words * 0.9
    assert memory.array[: words // 2].tolist() == list(range(words // 2))


def test_pages_of_a_file_are_given_back_and_found_again(tmp_path: Path) -> None:
    words = 1 << 22
    memory = Memory(words - f.SLACK_WORDS)
    memory.array[:] = np.arange(len(memory.array))
    folder = DurableFolder(tmp_path)
    file = durable_file.DataFile(folder, "rows-1")
    file.write(memory.address, words, 0)
    memory.map_file(file.descriptor, 0, words, writable=False)
    expected = int(np.arange(len(memory.array)).sum())
    mapped = MappedFile(tmp_path / "rows-1", file.descriptor)
    drops: tuple[tuple[Callable[[], object], Any], ...] = (
        (lambda: memory.drop_pages(words), memory.array),
        (mapped.drop_pages, mapped.array),
    )
    for drop, array in drops:
        assert int(array[: words - f.SLACK_WORDS].sum()) == expected
        before = memory_bytes()
        drop()
        assert before - memory_bytes() > 8 * words * 0.9
        assert int(array[: words - f.SLACK_WORDS].sum()) == expected


def test_a_mapped_file_keeps_no_descriptor_open(tmp_path: Path) -> None:
    path = tmp_path / "rows-1"
    np.arange(PAGE_WORDS + 3).tofile(path)
    with path.open("rb") as file:
        mapped = MappedFile(path, file.fileno())
    assert not opened_in(tmp_path)
    assert (mapped.words, mapped.array.tolist()) == (PAGE_WORDS + 3, list(range(PAGE_WORDS + 3)))
    path.unlink()
    assert mapped.array[-1] == PAGE_WORDS + 2


def test_an_empty_file_is_not_mapped(tmp_path: Path) -> None:
    path = tmp_path / "rows-1"
    path.touch()
    with path.open("rb") as file, pytest.raises(ValueError, match="rows-1 is empty"):
        MappedFile(path, file.fileno())


def block_of(words: int) -> RowBlock:
    """A full block that holds 1, 2, 3 and so on."""
    block = RowBlock(Memory(4 * PAGE_WORDS - f.SLACK_WORDS))
    block.memory.array[:words] = np.arange(1, words + 1)
    block.close(words)
    return block


@pytest.mark.parametrize("ranked", [False, True])
def test_a_block_is_spilled_once_and_keeps_its_words(ranked: bool, tmp_path: Path) -> None:
    files = SpillFiles(begin(tmp_path), ranked=ranked)
    empty, full, second = block_of(0), block_of(PAGE_WORDS), block_of(3)
    for block in (empty, full, full, second):
        files.spill(block, 5)
    assert [block.on_disk for block in (empty, full, second)] == [False, True, True]
    # Each begins a page, and takes its words and the slack.
    assert [block.offset for block in (empty, full, second)] == [None, 0, 2 * PAGE_WORDS]
    assert files.spilled_bytes == 3 * PAGE_WORDS * f.WORD_BYTES
    assert full.memory.array[:PAGE_WORDS].tolist() == list(range(1, PAGE_WORDS + 1))
    for block, words in ((full, PAGE_WORDS), (second, 3)):
        assert block.offset is not None
        there = checksum(block.memory.address, words, block.offset)
        assert files.saved(block, 5) == Extent("rows-5", block.offset, words, there)


def test_words_that_are_not_rows_have_a_page_of_their_own_if_there_are_any(tmp_path: Path) -> None:
    files = SpillFiles(begin(tmp_path), ranked=False)
    words = np.array([7, 8], np.int64)
    assert files.files == frozenset()
    assert files.put(words[:0], 5) == Extent("rows-5", 0, 0, 0)
    extents = [files.put(words, 5) for _ in range(2)]
    assert [(extent.place, extent.words) for extent in extents] == [(0, 2), (PAGE_WORDS, 2)]
    assert [extent.checksum for extent in extents] == [
        checksum(words.ctypes.data, 2, place) for place in (0, PAGE_WORDS)
    ]
    found = np.fromfile(tmp_path / FOLDER / "rows-5", np.int64)
    assert found[[0, 1, PAGE_WORDS, PAGE_WORDS + 1]].tolist() == [7, 8, 7, 8]
    assert files.files == {"rows-5"}
    files.release(4)
    assert (tmp_path / FOLDER / "rows-5").exists()
    files.release(5)
    assert not (tmp_path / FOLDER / "rows-5").exists()
    assert files.files == frozenset()


@pytest.mark.parametrize("resumed", [False, True])
def test_pages_of_rows_in_files_do_not_use_up_the_limit(
    resumed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped: list[type] = []
    grid = Grid(3, 6, pad=400, sum=5)
    directory = begin(tmp_path)
    if resumed:
        search_in(directory, grid, limits=Limits(depth=6)).run()
        directory.close()
        directory = RunDirectory.opened(tmp_path)
        directory.begin(DIGESTS)
    for kind in (Memory, MappedFile):

        def recorded(*given: Any, drop: Callable[..., object] = kind.drop_pages) -> None:
            dropped.append(type(given[0]))
            drop(*given)

        monkeypatch.setattr(kind, "drop_pages", recorded)
    assert told(search_in(directory, grid, threads=2, **SHORT).run()) == whole(grid)
    assert {*dropped} == ({Memory, MappedFile} if resumed else {Memory})


def test_the_memory_of_progress_and_of_the_limit_is_the_resident_set() -> None:
    search = Search(GRIDS[0].kernels, GRIDS[0].initial, Settings(deadlock=False))
    search.run()
    found = search.counters().memory_bytes
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    assert abs(found - resident) < 1 << 22


@pytest.mark.parametrize(
    ("limit", "threads", "words"), [(None, 2, 1 << 20), (1 << 40, 2, 1 << 20), (1 << 28, 4, 1 << 17)]
)
def test_blocks_are_small_where_the_limit_is_low(limit: int | None, threads: int, words: int) -> None:
    budget = MemoryBudget(Settings(threads=threads, limits=Limits(memory_bytes=limit)), None)
    # The ninth block of a thread is one of the largest.
    assert budget.pool.take(9, 1).words + f.SLACK_WORDS == words


@pytest.mark.slow
def test_a_table_that_does_not_fit_ends_the_run_and_it_goes_on_with_more(tmp_path: Path) -> None:
    grid = Grid(2, 2, fan=3_000_000)
    limit = memory_bytes() + (24 << 20)
    directory = begin(tmp_path)
    sizes = {"chunk_rows": 256, "batch": 128, "block_words": 1 << 16, "save_seconds": 1e9}
    outcome = search_in(directory, grid, threads=2, **sizes, limits=Limits(memory_bytes=limit)).run()
    directory.close()
    assert outcome.stopped is Bound.MEMORY
    assert outcome.table_bytes < 64 << 20
    resumed = go_on(tmp_path, grid, threads=2, **sizes)
    assert (resumed.levels[:2], resumed.stopped) == ((1, 3_000_002), None)


def test_without_a_folder_a_limit_of_memory_only_stops() -> None:
    grid = GRIDS[0]
    settings = Settings(deadlock=False, keep_going=True, limits=Limits(memory_bytes=1 << 40), spill_share=0.0)
    assert told(Search(grid.kernels, grid.initial, settings).run()) == whole(grid)


def test_rows_behind_the_end_of_a_block_are_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    provide = Worker.provide

    def roomy(pool: BlockPool, before: int, words: int) -> Memory:
        memory = Memory(1 << 13)
        memory.words = 448
        return memory

    def exaggerated(worker: Worker, status: int) -> None:
        provide(worker, status)
        if status == f.NEED_BLOCK:
            # As if the loop thought that rows need less room than they do.
            worker.thread.block.words += 400

    monkeypatch.setattr(BlockPool, "take", roomy)
    grid = Grid(3, 12, pad=46)
    kernels = replace(grid.kernels, plain_words=60)
    settings = Settings(deadlock=False, chunk_rows=2, batch=1)
    assert Search(kernels, grid.initial, settings).run().distinct == 12**3
    monkeypatch.setattr(Worker, "provide", exaggerated)
    with pytest.raises(InternalError) as caught:
        Search(kernels, grid.initial, settings).run()
    assert caught.value.code == "KMC924"


def test_a_run_directory_can_be_opened_again_after_spilling(tmp_path: Path) -> None:
    directory = begin(tmp_path)
    search_in(directory, GRIDS[0], **{**SHORT, "limits": Limits(depth=4, memory_bytes=1 << 40)}).run()
    directory.close()
    again = RunDirectory.opened(tmp_path)
    again.begin(DIGESTS)
    assert again.manifest.levels == 4
    again.close()
