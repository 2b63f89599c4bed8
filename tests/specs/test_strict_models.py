"""Every shipped model that comes out as its manifest says passes `kmc check --expect --strict` too.

Quick models are checked here. What a search of the others found is in `results/`, for the same text of spec and model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import kmc

from kmc.frontend.shipped import manifest_of, shipped_specs

RESULTS = Path(__file__).parents[2] / "results"
QUICK_STATES = 60
SLOW_STATES = 500
COMPLETE = ("ok", "bound reached")
"""Of a search that a violation ended, `--strict` asks nothing."""


def _manifest(spec: str) -> Any:
    manifest = manifest_of(shipped_specs()[spec])
    assert manifest is not None
    return manifest


def _records(spec: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((RESULTS / f"{spec}.json").read_text())["models"]
    return found


def _quick() -> list[Any]:
    found = []
    for spec in shipped_specs():
        for name, file in _manifest(spec).entries.items():
            expect = file.expect or {}
            distinct = expect.get("distinct", SLOW_STATES)
            if distinct < SLOW_STATES and expect["result"] in COMPLETE:
                marks = pytest.mark.slow if distinct > QUICK_STATES else ()
                found.append(pytest.param(spec, name, marks=marks, id=f"{spec}-{name}"))
    return found


@pytest.mark.parametrize(("spec", "name"), _quick())
def test_a_quick_model_passes_when_checked(spec: str, name: str) -> None:
    ran = kmc("check", spec, name, "--expect", "--strict", "--engine", "python", "--no-run-dir", "--quiet")
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.splitlines()[-1].startswith(f"EXPECTED {spec} {name}: ")


@pytest.mark.parametrize("spec", shipped_specs())
def test_the_manifest_names_what_does_not_happen_in_each_model(spec: str) -> None:
    """By the recorded results: the manifest names each idle action and each unreached reachable property."""
    records, missed = _records(spec), []
    for name, file in _manifest(spec).entries.items():
        record = records[name]
        if record["result"] not in COMPLETE:
            continue
        never = {action for action, states in record["generated_by_action"].items() if states == 0}
        said = (file.expect or {}).get("unreached_goals", [])
        if never != {word.text for word in file.never_fires}:
            missed.append(f"{name}: never_fires = {sorted(never)}")
        if record["unreached_goals"] != said:
            missed.append(f"{name}: unreached_goals = {record['unreached_goals']}")
    assert not missed
