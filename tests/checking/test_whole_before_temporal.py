"""Small modules are searched whole before a temporal property has a verdict, as by TLC; large ones end at a level."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import kmc

# A process may stop at once, so the property fails in the initial state; a deadlock lies seven levels further.
TEXT = """---- MODULE Walk ----
EXTENDS Naturals
VARIABLES x, y
vars == <<x, y>>
Init == x = 0 /\\ y = 0
Next == /\\ x < LAST
        /\\ x' = x + 1
        /\\ y' \\in 0..x
Spec == Init /\\ [][Next]_vars
Arrives == <>(x = 3)
===="""
ENGINES = [("--engine", "python"), ("--engine", "native"), ("--engine", "native", "--shards", "2")]


def found(folder: Path, *words: str, last: str = "7", deadlock: bool = False) -> dict[str, Any]:
    """Return what a check of the module finds."""
    (folder / "Walk.tla").write_text(TEXT.replace("LAST", last))
    (folder / "Walk.cfg").write_text(f"SPECIFICATION Spec\nPROPERTY Arrives\nCHECK_DEADLOCK {str(deadlock).upper()}\n")
    result: dict[str, Any] = json.loads(kmc("check", "Walk.tla", *words, "--quiet", "--json").stdout)
    return {name: result[name] for name in ("result", "generated", "distinct", "depth", "trace_length")}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_counts_are_those_of_the_whole_graph(
    engine: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # TLC's counts and verdicts.
    whole = {"generated": 1 + 1 + 2 * 1 + 3 * 2 + 4 * 3 + 5 * 4 + 6 * 5 + 7 * 6, "distinct": 29, "depth": 8}
    assert found(tmp_path, *engine) == {"result": "liveness", **whole, "trace_length": 1}
    assert found(tmp_path, *engine, deadlock=True)["result"] == "deadlock"


@pytest.mark.parametrize("engine", ENGINES[1:])
@pytest.mark.parametrize(("states", "depth"), [(0, 2), (3, 4), (4, 5), (28, 8), (29, 8), (1000, 8)])
def test_a_larger_search_ends_at_the_first_level_with_more_states(
    engine: tuple[str, ...], states: int, depth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("kmc.tla.temporal.module_problem.WHOLE_STATES", states)
    result = found(tmp_path, *engine)
    assert (result["result"], result["depth"], result["trace_length"]) == ("liveness", depth, 1)
