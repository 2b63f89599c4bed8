"""Nothing depends on the sizes of buffers: however small they are, rows come back whole."""

from __future__ import annotations

import ctypes
import random
from dataclasses import replace

import pytest
from support.kernels.grid import Grid, point_of
from support.oracles.search import explore

from kmc.engine.layout import control_words as f
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.native.memory import words_at
from kmc.engine.search import worker
from kmc.engine.search.breadth_first import Search


def drawn_grid(chance: random.Random) -> Grid:
    """A model of rows of one size or another; `expand` fails on a row whose filler words are not its own."""
    grid = Grid(
        dims=chance.choice((2, 3)),
        size=chance.choice((3, 6)),
        pad=chance.choice((0, 1, 49, 60, 125, 900)),
        fan=chance.choice((0, 0, 300)),
        forgets=chance.random() < 0.3,
    )
    # A fan makes every level wide: thousands of states, and each of them is read back.
    return replace(grid, size=3) if grid.fan else grid


def drawn_settings(chance: random.Random) -> Settings:
    """How to search it."""
    return Settings(
        threads=chance.choice((1, 1, 2, 3)),
        deadlock=False,
        chunk_rows=chance.choice((1, 2, 7, 256)),
        batch=chance.choice((1, 3, 20, 128)),
        block_words=1 << chance.choice((7, 10, 20)),
        table_slots=2,
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_buffers_of_any_size_change_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    sizes = {place: chance.choice((8, 40, 200, 1 << 13)) for place in worker._OWN_WORDS}
    monkeypatch.setattr(worker, "_OWN_WORDS", sizes)
    grid = drawn_grid(chance)
    kernels = replace(grid.kernels, plain_words=chance.choice((1, 3, 12, 40)))
    search = Search(kernels, grid.initial, drawn_settings(chance))
    outcome, explored = search.run(), explore(grid)
    assert outcome.findings == ()
    assert outcome.generated == explored.generated
    records = [search.predecessors.kept(number + 1) for number in range(len(outcome.levels))]
    levels = [[point_of(record) for record in level] for level in records]
    assert [set(level) for level in levels] == explored.levels
    assert [len(level) for level in levels] == list(outcome.levels)
    for level in range(1, len(levels) if not grid.forgets else 1):
        targets = [record.fingerprint for record in records[level]]
        found = search.predecessors.steps_into(level, targets)
        steps = {(point_of(each.source), point_of(each.successor)) for steps in found.values() for each in steps}
        before, after = explored.levels[level - 1 : level + 1]
        assert steps == {(one, other) for one, other in explored.edges if one in before and other in after}


def test_the_codes_of_the_row_before_stay_when_the_out_buffer_grows() -> None:
    one = Search(Grid().kernels, Grid().initial)._maker.workers[0]
    codes = list(range(1, 8))
    (ctypes.c_uint16 * 7).from_address(one.thread.last_codes)[:] = [*codes]
    one.thread.last_count = 7
    before = one.thread.last_codes
    one.provide(f.NEED_OUT)
    assert one.thread.last_codes != before
    assert words_at(one.thread.last_codes, 2).view("u2")[:7].tolist() == codes
