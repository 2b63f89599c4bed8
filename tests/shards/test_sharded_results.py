"""A sharded search has the native engine's result, for any number of shards, tasks and threads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.oracles.results import CASES, TINY, told
from support.specs.shipped import shipped_model
from support.specs.small import COUNTER, model_of

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.layout.search_outcome import Settings
from kmc.result import Bound, Limits
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import ExpandTask, LevelSource
from kmc.shards.on_one_machine import sharded
from kmc.shards.sharded_search import ShardedSearch

SMALL = Sharding(1, task_rows=3, segment_rows=2, slice_chunks=1, slots_min=8, piece=3, batch=2, chunk_rows=2)
"""So that small models too are cut into several tasks of several segments, and runs into pieces."""


ALL = 1 << 40
"""Bytes of older levels to keep: all of them. With none, a trace takes another search."""

# The width of fingerprints, threads, the bytes of older levels, and how the state space is divided.
WAYS = (
    (64, 1, ALL, SMALL),
    (64, 3, 0, replace(SMALL, shards=4)),
    (64, 1, ALL, Sharding(64, shards_first=64)),
    (64, 2, 0, replace(SMALL, shards=16, shards_first=1, shard_states=3, shard_states_max=3)),
    (128, 2, 0, replace(SMALL, shards=3)),
)


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_small_spec_has_one_result(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    limits = case.limits or Limits()
    model = model_of(tmp_path, case.source, case.cfg)
    wanted = told(check_native(model, limits, keep_going=case.keep_going, settings=TINY))
    for bits, threads, history, sharding in WAYS:
        directory = RunDirectory.created(tmp_path, {})
        result = check_native(
            model,
            limits,
            threads=threads,
            keep_going=case.keep_going,
            settings=Settings(history_bytes=history),
            fingerprint_bits=bits,
            directory=directory,
            search_of=sharded(sharding),
        )
        directory.discard()
        assert told(result) == wanted, f"{bits} bits, {threads} threads, {history} bytes, {sharding}"


@pytest.mark.usefixtures("rows")
@pytest.mark.usefixtures("compiled_once")
def test_a_view_with_fingerprints_of_128_bits_has_one_result(tmp_path: Path) -> None:
    case = CASES["a violating state is refused and stored, under a view"]
    model = model_of(tmp_path, case.source, case.cfg)
    directory = RunDirectory.created(tmp_path, {})
    search_of = sharded(replace(SMALL, shards=3))
    result = check_native(
        model,
        case.limits or Limits(),
        keep_going=case.keep_going,
        fingerprint_bits=128,
        directory=directory,
        search_of=search_of,
    )
    wanted = check_native(model, case.limits or Limits(), keep_going=case.keep_going, fingerprint_bits=128)
    assert told(result) == told(wanted)


@pytest.mark.usefixtures("rows")
@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("limits", [Limits(states=10), Limits(seconds=0)])
def test_a_search_that_a_limit_ends_finds_the_trace(limits: Limits, tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER, "CONSTANT Limit = 50 INVARIANT BelowTwo CHECK_DEADLOCK FALSE")
    directory = RunDirectory.created(tmp_path, {})
    result = check_native(model, limits, keep_going=True, directory=directory, search_of=sharded(SMALL))
    wanted = check_native(model, limits, keep_going=True)
    assert (told(result), result.bound) == (told(wanted), wanted.bound)


@pytest.mark.slow
@pytest.mark.usefixtures("rows")
@pytest.mark.usefixtures("compiled_once")
@pytest.mark.parametrize("limit", ["depth", "states"])
def test_a_limit_at_an_edge_is_named_only_where_it_cuts(limit: str, tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER, "CONSTANT Limit = 9 CHECK_DEADLOCK FALSE")
    counters = check_native(model, Limits()).counters
    last = counters.depth if limit == "depth" else counters.distinct
    bounds = []
    for number in (1, last - 1, last, last + 1):
        limits, directory = Limits(**{limit: number}), RunDirectory.created(tmp_path, {})
        result = check_native(model, limits, directory=directory, search_of=sharded(SMALL))
        assert told(result) == told(check_native(model, limits)), number
        bounds.append(result.bound)
        directory.discard()
    assert bounds[0] is not None
    assert bounds[-1] is None


@pytest.mark.usefixtures("rows")
@pytest.mark.usefixtures("compiled_once")
def test_a_limit_within_the_level_beyond_the_bound_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = shipped_model("die_hard", "smoke")
    directory = RunDirectory.created(tmp_path, {})
    make_level = ShardedSearch._make_level

    def stopped_afterwards(search: ShardedSearch, source: LevelSource, tasks: list[ExpandTask], *, store: bool) -> bool:
        made = make_level(search, source, tasks, store=store)
        if not store:
            search._stop(Bound.TIME)
        return made

    monkeypatch.setattr(ShardedSearch, "_make_level", stopped_afterwards)
    result = check_native(model, Limits(depth=4), keep_going=True, directory=directory, search_of=sharded(SMALL))
    assert (result.bound, result.counters.depth) == (Bound.TIME, 4)


@pytest.mark.slow
@pytest.mark.usefixtures("rows", "compiled_once")
@pytest.mark.parametrize("shards", [1, 4, 64])
def test_a_golden_case_has_its_counts(shards: int, tmp_path: Path) -> None:
    model = shipped_model("kraft", "smoke")
    directory = RunDirectory.created(tmp_path, {})
    result = check_native(model, Limits(), threads=2, directory=directory, search_of=sharded(Sharding(shards)))
    assert (result.counters.generated, result.counters.distinct, result.counters.depth) == (23_167, 10_468, 30)
    assert told(result) == told(check_native(model, Limits()))


@pytest.mark.usefixtures("compiled_once")
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_small_spec_has_one_result_when_its_search_goes_on_in_other_shards(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    model = model_of(tmp_path, case.source, case.cfg)
    limits = case.limits or Limits()
    wanted = told(check_native(model, limits, keep_going=case.keep_going, settings=TINY))
    for bits, depth, history in ((64, 2, 0), (128, 3, ALL)):
        directory = RunDirectory.created(tmp_path, {})
        for shards, bound in ((4, depth), (3, depth + 1), (5, None)):
            given = limits if bound is None else replace(limits, depth=min(bound, limits.depth or bound))
            result = check_native(
                model,
                given,
                keep_going=case.keep_going,
                settings=Settings(history_bytes=history),
                fingerprint_bits=bits,
                directory=directory,
                search_of=sharded(replace(SMALL, shards=shards)),
            )
            if directory.ended:
                break
            directory.close()
            directory = RunDirectory.opened(tmp_path)
        directory.discard()
        if bound is None:
            assert told(result) == wanted, f"{bits} bits, cut at level {depth}"
        else:
            # It ended at a failure beyond the bound, with fewer counts, or before the bound.
            assert (result.violation is not None and not case.keep_going) or told(result) == wanted
