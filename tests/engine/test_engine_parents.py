"""The log of parents gives back what was put in, from memory and from files, and no word beyond its own is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmc.engine.checkpoint.load import Loader
from kmc.engine.checkpoint.memory_pressure import Relief
from kmc.engine.checkpoint.save import saved_parents
from kmc.engine.files import durable_file
from kmc.engine.files.durable_file import DataFile
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.files.run_manifest import Extent
from kmc.engine.layout import control_words as f
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.loops import storage as s
from kmc.engine.loops.checksums import after_storing
from kmc.engine.loops.compiled_loops import Loop
from kmc.engine.loops.work import log_parent, shortage
from kmc.engine.native.intrinsics import load, store
from kmc.engine.native.memory import MappedFile, Memory
from kmc.engine.native.threads import Crew
from kmc.engine.run_state.parents import Parents, SavedStream, Stream
from kmc.engine.search.worker import Worker
from kmc.errors import SystemFault

Parent = tuple[int, int]
"""An ordinal, -1 for that of an initial state, and an action."""

BLOCK_WORDS = 128  # of which 64 are slack: a batch or two

# A step of 254 and an action of 255 are the last that a unit holds; units of an escaped word may look like any other.
UNITS = st.sampled_from([0xFFFF, 0xFF00, 0xFF01, 0xFEFF, 0])
LOOKALIKES = st.tuples(UNITS, UNITS, UNITS).map(lambda units: units[0] << 32 | units[1] << 16 | units[2])
STEPS = st.one_of(st.integers(0, 4), st.integers(0, 4), st.integers(250, 258), st.integers(-300, 70_000))
ACTIONS = st.one_of(st.integers(0, 3), st.integers(0, 3), st.integers(250, 260), UNITS)


@st.composite
def batches(draw: st.DrawFn) -> list[Parent]:
    """Parents that are logged together: most ordinals follow each other, some fall or are far away."""
    ordinal, found = draw(st.sampled_from([-1, 0, 1000, 1 << 40])), []
    for step, action in draw(st.lists(st.tuples(STEPS, ACTIONS), max_size=40)):
        ordinal = draw(LOOKALIKES) if step == 0 and draw(st.booleans()) else max(-1, min(ordinal + step, f.PARENT_MASK))
        found.append((ordinal, action))
    return found


@dataclass(frozen=True)
class Break:
    """Between two batches the block ends, or the level, or full blocks go to the file."""

    what: str


LogParts = list[list[Parent] | Break]
BREAKS = st.sampled_from(["block", "level", "level", "spill"]).map(Break)
LOGS: st.SearchStrategy[LogParts] = st.lists(st.one_of(batches(), batches(), BREAKS), max_size=12)


@Loop
def log_batch(mine: int, drawn: int) -> int:
    """Log the pending parents, [ordinal][action] each: DONE, or what memory is short."""
    status = shortage(mine)
    if status != f.DONE:
        return status
    pending = load(mine, f.PENDING)
    for index in range(0, 2 * pending, 2):
        store(mine, f.SOURCE_ORDINAL, load(drawn, index))
        log_parent(mine, load(drawn, index + 1))
    store(mine, f.STORED_IN_LEVEL, load(mine, f.STORED_IN_LEVEL) + pending)
    return f.DONE


class Log:
    """The stream of a thread, and in Python what should stand in it, level by level."""

    def __init__(self, open_file: Callable[[str], DataFile] | None = None, block_words: int = BLOCK_WORDS) -> None:
        self.parents = Parents(1, block_words, open_file)
        (self.stream,) = self.parents.streams
        self.levels: list[list[Parent]] = [[]]
        self._worker = Worker(Relief(Settings(), self.parents, None), self.stream, 1, 1, 1)
        self._spills = open_file is not None

    def add(self, batch: list[Parent]) -> None:
        """Log a batch as a search does, within the memory that is there."""
        words = self._worker.words
        drawn = Memory(2 * len(batch))
        drawn.array[:] = [word for parent in batch for word in parent]
        words[f.PENDING] = len(batch)
        needs = []
        while (status := log_batch(self._worker.address, drawn.address)) != f.DONE:
            assert status not in needs
            needs.append(status)
            self._worker.provide(status)
        words[f.PENDING] = 0
        assert words[f.PARENTS_USED] <= words[f.PARENTS_UNITS]
        self.levels[-1] += batch

    def take(self, part: Break) -> None:
        """What comes between two batches."""
        match part.what:
            case "block":
                self._worker.provide(f.NEED_PARENTS)
            case "level":
                self._worker.end_level()
                self._worker.begin_level()
                self.levels.append([])
            case "spill" if self._spills:
                self.stream.spill()

    def play(self, parts: LogParts) -> Log:
        """Log all parts, and end the level."""
        for part in [*parts, Break("level")]:
            if isinstance(part, Break):
                self.take(part)
            else:
                self.add(part)
        return self


def held(stream: Stream, levels: list[list[Parent]]) -> list[list[int]]:
    """The entries of a stream, which has as many in each level as were logged."""
    assert [stream.count(number) for number in range(len(levels))] == list(map(len, levels))
    return [[stream.entry(number, index) for index in range(len(level))] for number, level in enumerate(levels)]


def words_of(levels: list[list[Parent]]) -> list[list[int]]:
    """The entries of parents, as signed words."""
    return [[signed(action << 48 | ordinal & (1 << 48) - 1) for ordinal, action in level] for level in levels]


def signed(word: int) -> int:
    """The same 64 bits."""
    return word - (word >> 63 << 64)


@contextmanager
def run_folder() -> Iterator[RunDirectory]:
    """The folder of a run that was begun; syncs take no time."""
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(durable_file.os, "fsync", lambda descriptor: None)
        directory = RunDirectory.created(Path(folder), {})
        directory.begin({})
        yield directory
        directory.close()


@given(LOGS)
def test_parents_come_back_from_memory(parts: LogParts) -> None:
    log = Log().play(parts)
    assert held(log.stream, log.levels[:-1]) == words_of(log.levels[:-1])


@given(LOGS, st.integers(0, 12))
def test_parents_come_back_from_a_file_that_full_blocks_went_to(parts: LogParts, place: int) -> None:
    with run_folder() as directory:
        log = Log(directory.file).play([*parts[:place], Break("spill"), *parts[place:]])
        assert held(log.stream, log.levels[:-1]) == words_of(log.levels[:-1])
        if log.stream._file is not None:
            log.stream.file.close()


@given(LOGS, LOGS)
def test_parents_come_back_from_a_saved_session(parts: LogParts, unfinished: LogParts) -> None:
    with run_folder() as directory:
        log = Log(directory.file).play(parts)
        levels = log.levels[:-1]
        log.play(unfinished)
        directory.commit(replace(directory.manifest, parents=(saved_parents(log.parents, len(levels)),)))
        directory.close()
        if log.stream._file is not None:
            log.stream.file.close()
        again = RunDirectory.opened(directory.path)
        (stream,) = Loader(again, Crew(1, lambda: None, lambda: None))._streams(again.manifest.parents[0])
        assert held(stream, levels) == words_of(levels)
        again.close()


def whole(ordinal: int, action: int) -> list[int]:
    """The units of an entry that begins a block or a level, and of small numbers."""
    return [0xFFFF, ordinal, 0, 0, action]


def test_blocks_and_levels_begin_with_a_word_and_a_whole_entry() -> None:
    pad = 0xFF00
    with run_folder() as directory:
        log = Log(directory.file)
        log.play([[(4, 1), (258, 255), (259, 256), (258, 2), (513, 3), (513, 4)], Break("block"), [(513, 4)]])
        log.play([[(513, 4), (514, 4)], Break("block")])
        log.play([])
        log.play([[(514, 4)]])
        log.take(Break("block"))
        session = saved_parents(log.parents, 2)
        log.stream.flush()
        units = np.fromfile(log.stream.file.path, np.uint16).tolist()
        log.stream.file.close()
    first = [*whole(4, 1), 254 << 8 | 255, *whole(259, 256), *whole(258, 2), *whole(513, 3), 4]
    level = [*whole(513, 4), 1 << 8 | 4]
    assert units[: 6 * 4] == [*first, pad, pad]
    assert units[6 * 4 :] == [*whole(513, 4), pad, pad, pad, *level, pad, pad, *whole(514, 4), pad, pad, pad]
    assert (session.streams[0].words, session.ends, session.starts) == (10, ((7, 9),), (((0, 0), (6, 6), (7, 8)),))


def test_a_batch_of_whole_entries_that_is_larger_than_a_block_gets_one_that_holds_it() -> None:
    log = Log().play([[(-place, 1) for place in range(1000)], [(1 - place * 1000, 1) for place in range(1000)]])
    assert held(log.stream, log.levels[:-1]) == words_of(log.levels[:-1])


def test_an_entry_takes_two_bytes() -> None:
    log = Log(block_words=1 << 20)
    for first in range(0, 40_000, 40):
        log.add([(ordinal // 3 * 2, ordinal % 7) for ordinal in range(first, first + 40)])
    log.take(Break("level"))
    assert log.stream.levels[0] * f.WORD_BYTES < 2.01 * 40_000


def entries_of(units: list[int]) -> list[int]:
    """The entries that units say, as far as they are a log."""
    found: list[int] = []
    place = 0
    while place < len(units):
        unit, place = units[place], place + 1
        if unit == 0xFFFF and place + 4 <= len(units):
            found.append(sum(units[place + number] << 16 * number for number in range(4)))
            place += 4
        elif unit < 0xFF00 and place > 1:
            before = found[-1] if found else 0
            found.append((unit & 255) << 48 | (before + (unit >> 8)) % (1 << 48))
        elif unit != 0xFF00:
            break
    return found


ANY_UNITS = st.lists(st.one_of(UNITS, st.integers(0, 0xFFFF), st.integers(0, 0xFEFF)), min_size=4, max_size=40)


@given(ANY_UNITS, st.booleans(), st.integers(0, 0xFFFF))
def test_whatever_words_are_read_nothing_beyond_them_is(units: list[int], whole: bool, behind: int) -> None:
    units = ([0xFFFF] if whole else []) + units
    units = units[: len(units) // 4 * 4]
    memory = Memory(len(units) // 4 + 2)
    memory.array.view(np.uint16)[:] = [*units, *[behind] * 8]
    expected = entries_of(units)
    for index in range(len(units) + 1):
        control = after_storing("parent", FIRST=memory.address, COUNT=len(units) // 4, PLACE=index)
        assert (control[s.PLACE] < 0) == (index < len(expected))
        if index < len(expected):
            assert control[s.RESULT] == signed(expected[index])


@pytest.mark.parametrize("size", [0, 3, 8, 20])
def test_a_file_that_was_cut_off_while_the_run_went_on_is_damaged(size: int) -> None:
    with run_folder() as directory:
        log = Log(directory.file).play([[(7 * place, 1) for place in range(40)], Break("block"), Break("spill")])
        path = log.stream.file.path
        path.write_bytes(path.read_bytes()[:size])
        with pytest.raises(SystemFault, match="the parent of a state is not in it") as caught:
            log.stream.entry(0, 39)
        assert (caught.value.code, str(path) in str(caught.value)) == ("KMC551", True)
        log.stream.file.close()


@pytest.mark.parametrize("unit", [0, 0xFF00, 0xFF01, 0xFFFF])
def test_a_saved_stream_that_is_no_log_is_damaged(unit: int, tmp_path: Path) -> None:
    path = tmp_path / "parents-0-0"
    np.full(8, unit, np.uint16).tofile(path)
    stream = SavedStream(MappedFile(path), Extent(path.name, 0, 2, 0), ends=(8,), starts=((0, 0),))
    with pytest.raises(SystemFault, match="the parent of a state is not in it") as caught:
        stream.entry(0, 7)
    assert caught.value.code == "KMC551"
