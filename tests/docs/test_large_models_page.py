"""The page about large models is true: its table of engines has the figures of `results/benchmarks/`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kmc.checking.collision_odds import WIDE_BYTES_PER_STATE, odds_text

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "large_models.md").read_text(encoding="utf-8")
CHECKS = ("kip_996-large-shards", "kraft-corrected_whole-shards")
WAYS = {
    "in memory": "in memory",
    "4 shards on threads": "`--shards 4`",
    "8 shards on threads": "`--shards 8`",
    "4 shards on local-cluster[2,1,2048], by files": "`--spark`, two workers of one core",
}
GB = 1 << 30


def rows() -> Iterator[str]:
    """The rows of the table, from the results."""
    for name in CHECKS:
        found: dict[str, Any] = json.loads((ROOT / "results" / "benchmarks" / f"{name}.json").read_text("utf-8"))
        for way, shown in WAYS.items():
            if way in found["ways"]:
                yield row(found["ways"][way], f"`{' '.join(found['check'])}`", found["distinct"], shown)


def row(measured: dict[str, Any], model: str, states: int, way: str) -> str:
    """One row: a model, how it was checked, and what that took."""
    memory, shards = measured["peak_memory_bytes"], measured["shards"]
    disk = f"{shards['disk_bytes'] / GB:.1f} GB" if shards else ""
    each = f"{memory / states:.0f}" if shards is None else f"{shards['disk_bytes'] / states:.0f}"
    seconds = f"{measured['seconds']:.1f}"
    return f"| {model} | {states:,} | {way} | {seconds} | {memory / GB:.1f} GB | {disk} | {each} |"


def test_the_table_of_engines_has_the_figures_of_the_results() -> None:
    table = PAGE.partition("\n| model | states | engine |")[2].partition("\n\n")[0]
    assert table.splitlines()[2:] == list(rows())


def test_the_largest_graph_has_the_figures_of_its_result() -> None:
    found = json.loads((ROOT / "results" / "kraft.json").read_text("utf-8"))["models"]["twelve_restarts"]
    text = " ".join(PAGE.partition("The largest whole graph so far")[2].partition("\n\n")[0].split())
    figures = (
        f"{found['distinct']:,} states in {found['depth']} levels",
        f"{found['cpu_seconds']:,.0f} CPU seconds on {'two' if found['machine']['cores'] == 2 else '?'} cores",
        f"{found['seconds'] / 60:.0f} minutes",
        f"the {found['machine']['memory_bytes'] / GB:.1f} GB of its machine",
        f"{found['peak_memory_bytes'] / GB:.1f} GB of memory",
        f"{found['shards']['disk_bytes'] / GB:.1f} GB of disk",
        f"at most {odds_text(found['collision_bound'])}",
        f"take some {found['distinct'] * WIDE_BYTES_PER_STATE / GB:.0f} GB",
        found["command"].partition(" --threads")[0].replace("kmc check", "kmc report").removesuffix(" --engine native"),
    )
    assert [words for words in figures if words not in text] == []
