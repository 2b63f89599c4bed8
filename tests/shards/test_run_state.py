"""Where a sharded search stands: all that it needs is named, and is the same when it was saved."""

from __future__ import annotations

import json
from dataclasses import replace

from kmc.engine.files.run_manifest import Snapshot
from kmc.shards.files.frontier_file import FrontierFile
from kmc.shards.files.range_files import RangeBlock
from kmc.shards.files.section_files import SectionFile
from kmc.shards.files.word_files import WordFile
from kmc.shards.level.noted_steps import NotedSteps
from kmc.shards.level.run_state import LevelFiles, NotedLevel, RunState, Traffic, restored_state
from kmc.shards.level.tasks import Effort, Merged, SortedRun

FILE = FrontierFile("rows-a", 3, 900, 800, 7, (5, 6), 11)
OTHER = FrontierFile("rows-b", 4, 90, 80, 2, (1,), 12)
STATE = RunState(
    shards=2,
    dictionary=WordFile("words-a", 8, 1),
    met=WordFile("words-b", 9, 2),
    levels={
        1: LevelFiles((FILE,), (RangeBlock("bits-a", 10, 0, 10), RangeBlock("bits-b", 11, 0, 11))),
        2: LevelFiles((FILE, OTHER), (None, RangeBlock("bits-c", 12, 0, 5), RangeBlock("bits-c", 12, 5, 7))),
    },
    runs=((SortedRun("run-a", 20, 3, 1, 5),), (SortedRun("run-b", 30, 4, 1, 6), SortedRun("run-c", 40, 5, 2, 7))),
    digest=99,
    traffic=Traffic(1, 2, 3, 4, 5, 6),
)

STEPS = (NotedSteps(3, SectionFile("sources-a", 1, 2, 1, 8), SectionFile("steps-a", 3, 4, 1, 9)),)
SNAPSHOT = Snapshot(
    levels=(),
    generated=(1, 2),
    failed=(0,),
    cut=0,
    stored=3,
    expanded=1,
    rows_words=9,
    reached=0,
    reachable_asked=0,
    findings=(),
    counted=(0,),
    met=0,
    seconds=0.0,
    cpu_seconds=0.0,
)


def merged(received: int, distinct: int, written_bytes: int) -> Merged:
    effort = Effort(0.0, 0.0, ("here", 1))
    return Merged(0, None, 1, received, 0, distinct, 0, (), (), written_bytes, effort)


def test_all_files_are_named() -> None:
    names = {"words-a", "words-b", "rows-a", "rows-b", "bits-a", "bits-b", "bits-c", "run-a", "run-b", "run-c"}
    assert STATE.names == names


def test_the_files_of_a_level_are_named_and_measured() -> None:
    assert STATE.levels[1].names == {"rows-a", "bits-a", "bits-b"}
    assert STATE.levels[1].bytes == (900 + 10 + 11) * 8
    # Two shards have their bits in one file.
    assert STATE.levels[2].names == {"rows-a", "rows-b", "bits-c"}
    assert STATE.levels[2].bytes == (900 + 90 + 12) * 8


def test_all_files_are_measured() -> None:
    assert STATE.bytes == (8 + 9 + 20 + 30 + 40 + 900 + 10 + 11 + 900 + 90 + 12) * 8


def test_at_first_nothing_is_known() -> None:
    state = RunState(1, STATE.dictionary, STATE.met)
    assert (state.digest, state.names, state.bytes) == (0, frozenset({"words-a", "words-b"}), 17 * 8)


COUNTED = replace(SNAPSHOT, levels=(20, 20), stored=STATE.fingerprints)


def test_what_is_saved_is_restored() -> None:
    assert restored_state(json.loads(json.dumps(STATE.as_json())), COUNTED) == STATE


def test_a_search_that_ended_earlier_has_the_levels_until_then() -> None:
    noted = tuple(NotedLevel(SNAPSHOT, digest, steps=STEPS) for digest in (10, 20))
    state = replace(STATE, noted=noted, runs=())
    ended = state.ended_at(1)
    assert list(ended.levels) == [1]
    assert (ended.digest, ended.counted_levels) == (10, 1)
    assert ended.noted == (replace(noted[0], steps=()),)
    without = replace(state, levels={2: state.levels[2]}).ended_at(1)
    assert dict(without.levels) == {}
    kept = replace(ended, runs=STATE.runs)
    counted = replace(COUNTED, levels=(STATE.fingerprints,))
    assert restored_state(json.loads(json.dumps(kept.as_json())), counted) == kept


def test_traffic_adds_up() -> None:
    level = (merged(10, 7, 100), merged(20, 9, 200))
    assert Traffic().and_of(level, 1000, 16) == Traffic(30, 16, 2, 480, 1000, 300)
    assert STATE.traffic.and_of(level, 1000, 16) == Traffic(31, 18, 5, 484, 1005, 306)
