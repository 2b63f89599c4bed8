"""Which promises fall without which rule: every mutant, asked for every promise; `make mechanisms` writes the results.

A mutant of a manifest switches one rule off. Here it is checked for all promises of specs/promises.toml at once, within
its own bounds and a limit on states, and for each promise the length of the shortest counterexample is found: a
search that goes on after violations says which promises fall, and searches of 1, 2, 3, ... levels say where first.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.source_tree import ROOT

import kmc
from kmc.errors import KmcError
from kmc.frontend.shipped import manifest_of, shipped_specs
from kmc.model_files.model_file import ModelFile

PROMISES = ROOT / "specs" / "promises.toml"
RESULTS = ROOT / "results" / "mechanisms.json"
MOST_STATES = 400_000
"""A search ends with the first level that has so many: a promise that has not fallen is kept within that bound."""

MOST_INTERPRETED = 3_000
"""The same for the models that are not compiled."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A promise to users: the head of its column, what it means, and the property of each spec that says it."""

    key: str
    title: str
    meaning: str
    properties: Mapping[str, str]


def read_promises(path: Path = PROMISES) -> list[Promise]:
    """The promises in the order of the file."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return [Promise(key, **table) for key, table in tables.items()]


def fallen(result: kmc.CheckResult) -> set[str]:
    """The properties that a search which went on has refuted."""
    return {name for name, verdict in result.properties.items() if verdict == "violated"}


def lengths(spec: str, mutant: ModelFile, properties: Sequence[str]) -> dict[str, Any]:
    """How many states refute each property, and the bound up to which the others hold."""
    wanted: dict[str, Any] = {"properties": list(properties), "keep_going": True, "deadlock": False, "memory": "8G"}
    try:
        whole = kmc.check(spec, mutant.name, **wanted, max_states=MOST_STATES)
    except KmcError as error:
        if error.code != "KMC811":
            raise
        wanted["engine"] = "python"
        whole = kmc.check(spec, mutant.name, **wanted, max_states=MOST_INTERPRETED)
    open_ones = fallen(whole)
    found: dict[str, int] = {}
    levels = 0
    while open_ones:
        levels += 1
        assert levels <= whole.depth + 1, (spec, mutant.name, open_ones)
        for name in fallen(kmc.check(spec, mutant.name, **wanted, max_depth=levels)) & open_ones:
            found[name] = levels + 1  # a search of some levels looks at what lies one step behind them
            open_ones.remove(name)
    return {
        "falls": {name: found[name] for name in properties if name in found},
        "distinct": whole.distinct,
        "depth": whole.depth,
        "whole": whole.to_dict()["left"] == 0 and not mutant.constraints and not mutant.action_constraints,
    }


def rows(chosen: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each mutant of each spec that a promise names."""
    promises = read_promises()
    specs = dict.fromkeys(spec for promise in promises for spec in promise.properties)
    for spec in specs:
        manifest = manifest_of(shipped_specs()[spec])
        if manifest is None or (chosen and spec not in chosen):
            continue
        asked = [promise.properties[spec] for promise in promises if spec in promise.properties]
        for mutant in manifest.mutants.values():
            print(f"{spec} {mutant.name}", flush=True)
            yield {"spec": spec, "mutant": mutant.name, **lengths(spec, mutant, asked)}


def main() -> None:
    """Run the mutants, all of them or those of some specs, and write what each costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="*", help="default: every spec that a promise names")
    chosen: Sequence[str] = parser.parse_args().specs
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))["rows"] if RESULTS.is_file() else []
    found = list(rows(chosen))
    others = [row for row in kept if chosen and row["spec"] not in chosen]
    RESULTS.write_text(json.dumps({"most_states": MOST_STATES, "rows": [*others, *found]}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
