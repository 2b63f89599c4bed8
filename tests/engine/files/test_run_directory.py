"""A saved run goes on as if it had never been cut short, whatever cut it short, and says so when it cannot."""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest
from support.commands.descriptors import opened_in
from support.faults.crashes import Disk, Files, write_files
from support.kernels.grid import Grid
from support.runs.saved import DIGESTS, GRIDS, TINY, begin, go_on, search_in, told, whole

from kmc.engine.checkpoint import save
from kmc.engine.checkpoint.load import Loader
from kmc.engine.checkpoint.save import Saver
from kmc.engine.files.run_directory import FOLDER, RunDirectory
from kmc.engine.files.run_manifest import FORMAT
from kmc.engine.layout.frontier import Level
from kmc.engine.layout.record_structs import Chunk
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.loops.checksums import WORD_MASK, checksum
from kmc.engine.native.threads import WorkerPool
from kmc.engine.search.breadth_first import Search
from kmc.engine.search.level_maker import LevelMaker
from kmc.engine.search.worker import Worker
from kmc.errors import SystemFault
from kmc.result import Bound, Limits


def cut_short(path: Path, grid: Grid, **settings: Any) -> None:
    """Begin a run that a bound ends."""
    directory = begin(path)
    assert search_in(directory, grid, **settings).run().stopped is not None
    directory.close()


@pytest.mark.slow
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize(("before", "after"), [(1, 2), (3, 1), (2, 3)])
def test_a_bound_is_passed_by_going_on(grid: Grid, before: int, after: int, tmp_path: Path) -> None:
    for depth in (1, 2, 5):
        cut_short(tmp_path / str(depth), grid, threads=before, limits=Limits(depth=depth))
        assert told(go_on(tmp_path / str(depth), grid, threads=after)) == whole(grid)


@pytest.mark.parametrize("threads", [1, 3])
def test_fingerprints_of_a_level_are_saved_in_ranges(
    threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(save, "_RANGE_CHUNKS", 2)
    cut_short(tmp_path, GRIDS[0], threads=threads, limits=Limits(depth=6))
    assert told(go_on(tmp_path, GRIDS[0])) == whole(GRIDS[0])


@pytest.mark.slow
@pytest.mark.parametrize("grid", GRIDS)
def test_a_run_goes_on_level_by_level(grid: Grid, tmp_path: Path) -> None:
    cut_short(tmp_path, grid, limits=Limits(depth=1))
    levels = len(Search(grid.kernels, grid.initial, Settings(**TINY)).run().levels)
    for depth in range(2, levels):
        assert go_on(tmp_path, grid, threads=1 + depth % 3, limits=Limits(depth=depth)).stopped is Bound.DEPTH
    assert told(go_on(tmp_path, grid, threads=2)) == whole(grid)


@pytest.mark.parametrize("limits", [Limits(states=12), Limits(seconds=0.0), Limits(memory_bytes=1)])
def test_every_bound_leaves_a_run_that_goes_on(limits: Limits, tmp_path: Path) -> None:
    cut_short(tmp_path, GRIDS[0], threads=2, limits=limits)
    assert told(go_on(tmp_path, GRIDS[0])) == whole(GRIDS[0])


class Interrupting:
    """Instead of `Worker.provide`: interrupts a search when a worker asks for memory for the `last` time.

    Its batch is left undone, so the level is unfinished, whatever other workers do. Only calls count of workers that
    have stored `rows_min` rows of the level.
    """

    def __init__(self, last: int, rows_min: int = 0) -> None:
        self._last, self._rows_min = last, rows_min
        # Two threads never get one number.
        self._numbers = itertools.count(1)
        self.calls = 0
        self.search: Search | None = None

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Take its place until the patch ends."""
        provide = Worker.provide

        def counted(worker: Worker, status: int) -> None:
            rows = worker.thread.stored_in_level
            provide(worker, status)
            if rows >= self._rows_min:
                self.calls = number = next(self._numbers)
                if number == self._last and self.search is not None:
                    self.search._interrupt()

        patch.setattr(Worker, "provide", counted)


@pytest.mark.parametrize("grid", GRIDS[:3])
@pytest.mark.parametrize(("threads", "save_seconds"), [(1, 0.0), (3, 1e9)])
@pytest.mark.slow
def test_an_interrupt_inside_a_level_costs_that_level_alone(
    grid: Grid, threads: int, save_seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Long rows fill blocks soon, so that levels have several.
    grid = replace(grid, pad=400)
    counting = Interrupting(0)
    with monkeypatch.context() as patch:
        counting.install(patch)
        expected = whole(grid)
    # That search has one thread. Several threads ask more often, since each has blocks of its own.
    anywhere = [Interrupting(counting.calls * part // 8) for part in range(1, 8)]
    behind_rows = Interrupting(1, rows_min=1)
    for number, interrupting in enumerate((*anywhere, behind_rows)):
        path = tmp_path / str(number)
        directory = begin(path)
        interrupting.search = search_in(directory, grid, threads=threads, save_seconds=save_seconds)
        with monkeypatch.context() as patch:
            interrupting.install(patch)
            interrupted = interrupting.search.run()
        directory.close()
        assert interrupted.interrupted
        assert directory.manifest.levels == len(interrupted.levels)
        assert (interrupted.distinct > sum(interrupted.levels)) or interrupting is not behind_rows
        assert told(go_on(path, grid, threads=2)) == expected


def test_an_unfinished_level_is_left_out_in_parts_that_take_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = replace(GRIDS[0], pad=400)
    # A part takes one fingerprint. One of the two threads has four of the level when the search is interrupted.
    for name, value in (("_LEFT_OUT_BYTES_MIN", 8), ("SAVE_SHARE", 1 << 40), ("_HALF_MADE_CHUNKS", 1)):
        monkeypatch.setattr(save, name, value)
    sizes, of = [], save.Saver._fingerprints_of

    def noted(*given: Any) -> Any:
        sizes.append(len(found := of(*given)))
        return found

    monkeypatch.setattr(save.Saver, "_fingerprints_of", noted)
    directory, interrupting = begin(tmp_path), Interrupting(4, rows_min=4)
    interrupting.search = search_in(directory, grid, threads=2, save_seconds=1e9)
    with monkeypatch.context() as patch:
        interrupting.install(patch)
        interrupted = interrupting.search.run()
    directory.close()
    assert interrupted.distinct - sum(interrupted.levels) == sum(sizes) >= 4
    assert len(sizes) > 4
    assert told(go_on(tmp_path, grid, threads=2)) == whole(grid)


def test_what_a_level_that_was_stopped_holds_is_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory, interrupting = begin(tmp_path), Interrupting(4, rows_min=4)
    search = interrupting.search = search_in(directory, replace(GRIDS[0], pad=400), threads=2, save_seconds=1e9)
    with monkeypatch.context() as patch:
        interrupting.install(patch)
        outcome = search.run()
    directory.close()
    assert outcome.distinct > sum(outcome.levels)
    assert [len(worker._blocks) for worker in search._maker.workers] == [0, 0]


def test_ctrl_c_while_the_table_grows_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = Grid(2, 2, fan=3_000)
    directory = begin(tmp_path)
    search = search_in(directory, grid, threads=2, save_seconds=1e9)
    grow, rows = type(search._maker.known)._move, []

    def interrupted_move(table: Any, slots: int, pool: Any) -> None:
        search._interrupt()
        rows.append(slots)
        grow(table, slots, pool)

    with monkeypatch.context() as patch:
        patch.setattr(type(search._maker.known), "_move", interrupted_move)
        assert search.run().interrupted
    directory.close()
    assert len(rows) == 1
    assert told(go_on(tmp_path, grid)) == whole(grid)


@pytest.mark.parametrize("number", [1, 3, 5])
def test_ctrl_c_while_one_row_a_view_is_kept_loses_nothing(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = replace(GRIDS[3], pad=400)
    directory = begin(tmp_path)
    search = search_in(directory, grid, threads=2, save_seconds=1e9)
    keep, memories, alive = LevelMaker._with_one_row_a_view, list[ref[Any]](), list[bool]()
    save, calls = Saver.save, [number]

    def interrupted(maker: LevelMaker, level: Level) -> Level | None:
        calls[0] -= 1
        if calls[0] == 0:
            memories.extend(ref(block.memory._map) for block in level.blocks)
            search._interrupt()
        return keep(maker, level)

    def saved(saver: Saver, *arguments: Any) -> None:
        # Rows of the level that was stopped are read now.
        alive.extend(memory() is not None for memory in memories)
        save(saver, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(LevelMaker, "_with_one_row_a_view", interrupted)
        patch.setattr(Saver, "save", saved)
        assert search.run().interrupted
    directory.close()
    assert alive
    assert all(alive)
    if number > 1:
        assert told(go_on(tmp_path, grid)) == whole(grid)


def crashed(grid: Grid, threads: int, path: Path) -> list[tuple[list[str], list[Files]]]:
    """A run that saves each level: its steps up to each of them, and what is left if the process or the machine dies
    there.
    """
    directory = begin(path)
    found: list[tuple[list[str], list[Files]]] = []

    def watch() -> None:
        lost = [disk.after_power_loss(names_kept=kept) for kept in (False, True)]
        found.append((list(disk.points), [disk.after_kill(), *lost]))

    disk = Disk(directory.folder, watch)
    with pytest.MonkeyPatch.context() as patch:
        disk.install(patch)
        # What `check_native` does with a directory.
        search_in(directory, grid, threads=threads).run()
        directory.discard()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("grid", [Grid(2, 3), Grid(2, 3, forgets=True)])
def test_a_crash_at_any_step_leaves_a_run_that_goes_on(grid: Grid, threads: int, tmp_path: Path) -> None:
    expected, steps = whole(grid), crashed(grid, threads, tmp_path / "run")
    points = steps[-1][0]
    assert {"before sync known", "after rename run.json", "after remove rows", "before sync checkpoint"} <= {*points}
    resumable: dict[frozenset[tuple[str, bytes | None]], bool] = {}
    for passed, left in steps:
        for files in left:
            content = frozenset(files.items())
            # Many steps leave the same files. Going on once from them is enough, but each step is judged.
            if content not in resumable:
                path = tmp_path / f"{len(resumable)}"
                write_files(files, path / FOLDER)
                resumable[content] = is_resumable(path)
                if resumable[content]:
                    assert told(go_on(path, grid, threads=1 + len(resumable) % 3)) == expected, passed[-1]
                shutil.rmtree(path)
            # Else the first save had not ended, or all was being removed.
            assert resumable[content] or passed.count("after sync checkpoint") < 2 or "remove" in passed[-1], passed[-1]


@pytest.mark.parametrize("grid", [GRIDS[0], GRIDS[1]])
def test_a_run_that_is_closed_holds_no_file_open(grid: Grid, tmp_path: Path) -> None:
    directory = begin(tmp_path)
    search_in(directory, grid, limits=Limits(depth=5)).run()
    assert {Path(opened).name for opened in opened_in(tmp_path)} >= {"known", "rows-5"}
    directory.close()
    assert not opened_in(tmp_path)
    assert told(go_on(tmp_path, grid)) == whole(grid)
    assert not opened_in(tmp_path)


def is_resumable(path: Path) -> bool:
    """Whether there is something to resume; if not, it must be said so."""
    codes = []
    try:
        RunDirectory.opened(path).close()
    except SystemFault as fault:
        codes.append(fault.code)
    assert codes in ([], ["KMC555"])
    return not codes


def damage_cut(path: Path) -> None:
    """Cut a file off."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damage_byte(path: Path) -> None:
    """Flip a bit halfway through a file."""
    data = bytearray(path.read_bytes())
    data[min(len(data) - 1, 24)] ^= 4
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [damage_cut, damage_byte, Path.unlink])
@pytest.mark.parametrize("name", ["known", "rows-5", "run.json"])
def test_a_damaged_file_is_an_error(name: str, damage: Callable[[Path], None], tmp_path: Path) -> None:
    cut_short(tmp_path, GRIDS[0], limits=Limits(depth=5))
    damage(tmp_path / FOLDER / name)
    with pytest.raises(SystemFault) as caught:
        go_on(tmp_path, GRIDS[0])
    assert caught.value.code == ("KMC555" if (name, damage) == ("run.json", Path.unlink) else "KMC551")


def test_any_wrong_word_of_a_level_is_noticed(tmp_path: Path) -> None:
    cut_short(tmp_path, GRIDS[0], limits=Limits(depth=5))
    manifest = RunDirectory.opened(tmp_path).manifest
    assert manifest.frontier is not None
    path = tmp_path / FOLDER / "rows-5"
    sound = np.fromfile(path, np.int64)
    for extent in (*manifest.frontier.blocks, manifest.frontier.chunks, manifest.frontier.dictionary):
        for place in (extent.place, extent.place + extent.words - 1):
            wrong = sound.copy()
            wrong[place] ^= 1 << 62
            assert checksum(wrong.ctypes.data + extent.place * 8, extent.words, extent.place) != extent.checksum


@pytest.mark.parametrize("grid", [GRIDS[0], GRIDS[2]])
def test_a_wrong_word_of_any_part_ends_the_resumed_run(grid: Grid, tmp_path: Path) -> None:
    cut_short(tmp_path, grid, limits=Limits(depth=5))
    directory = RunDirectory.opened(tmp_path)
    directory.begin(DIGESTS)
    for extent in directory.manifest.extents:
        path = tmp_path / FOLDER / extent.file
        sound = np.fromfile(path, np.int64)
        wrong = sound.copy()
        wrong[extent.place + extent.words - 1] ^= 1
        wrong.tofile(path)
        with pytest.raises(SystemFault, match=f"{extent.file}: its checksum is wrong"):
            search_in(directory, grid).run()
        sound.tofile(path)
    directory.close()
    assert told(go_on(tmp_path, grid)) == whole(grid)


def test_a_level_that_was_loaded_has_the_rows_of_the_one_that_was_saved(tmp_path: Path) -> None:
    cut_short(tmp_path, GRIDS[0], limits=Limits(depth=5))
    directory = RunDirectory.opened(tmp_path)
    assert directory.manifest.snapshot is not None
    level = Loader(directory, WorkerPool(1, lambda: None, lambda: None)).level()
    assert level.rows == directory.manifest.snapshot.levels[-1] == int(level.chunks[:, Chunk.rows].sum())
    assert level.rows != directory.manifest.snapshot.levels[0]
    directory.close()


def test_a_checksum_is_what_numpy_makes_it() -> None:
    words = np.array([0, 1, -1, 1 << 62, 12345, 0], np.int64)
    place = np.arange(7, 13, dtype=np.uint64)
    stirred = (words.view(np.uint64) ^ (place + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)) * np.uint64(
        0xBF58476D1CE4E5B9
    )
    expected = int((stirred ^ stirred >> np.uint64(32)).sum() & np.uint64(WORD_MASK))
    assert checksum(words.ctypes.data, len(words), 7) == expected
    swapped = words[::-1].copy()
    assert checksum(swapped.ctypes.data, len(words), 7) != expected


def test_a_run_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    cut_short(tmp_path, GRIDS[0], limits=Limits(depth=2))
    path = tmp_path / FOLDER / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": FORMAT + 1}))
    with pytest.raises(SystemFault, match=f"format {FORMAT + 1}, and this kmc reads format {FORMAT}") as caught:
        RunDirectory.opened(tmp_path)
    assert caught.value.code == "KMC552"


def test_two_processes_do_not_share_a_run(tmp_path: Path) -> None:
    cut_short(tmp_path, GRIDS[0], limits=Limits(depth=2))
    first = RunDirectory.opened(tmp_path)
    with pytest.raises(SystemFault) as caught:
        RunDirectory.opened(tmp_path)
    assert caught.value.code == "KMC553"
    first.close()
    assert told(go_on(tmp_path, GRIDS[0])) == whole(GRIDS[0])


def test_another_model_is_refused(tmp_path: Path) -> None:
    cut_short(tmp_path, GRIDS[0], limits=Limits(depth=2))
    directory = RunDirectory.opened(tmp_path)
    with pytest.raises(SystemFault, match="the grid changed since it began") as caught:
        directory.begin({"the grid": "2"})
    assert caught.value.code == "KMC554"


@pytest.mark.parametrize(
    ("call", "times"), [("pwrite", 9), ("pwrite", 40), ("fsync", 20), ("replace", 3), ("open", 30)]
)
def test_a_full_disk_leaves_what_was_saved(
    call: str, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = begin(tmp_path)
    function, left = getattr(os, call), [times]

    def full(*arguments: Any, **keywords: Any) -> Any:
        left[0] -= 1
        if left[0] <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return function(*arguments, **keywords)

    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with pytest.raises(SystemFault, match="No space left on device") as caught:
            search_in(directory, GRIDS[0], threads=2).run()
    directory.close()
    assert caught.value.code == "KMC550"
    assert directory.manifest.levels > 0
    assert told(go_on(tmp_path, GRIDS[0])) == whole(GRIDS[0])


def test_short_runs_save_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[int] = []
    monkeypatch.setattr(Saver, "save", lambda saver, *_: saved.append(saver.levels))
    directory = begin(tmp_path)
    search_in(directory, GRIDS[0], save_seconds=30.0).run()
    assert saved == []
    assert sorted(path.name for path in directory.folder.iterdir()) == ["lock", "reserve", "run.json"]
