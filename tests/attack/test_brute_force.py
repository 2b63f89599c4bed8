"""The brute force is right where TLC has counted, knows nothing of kmc, and agrees with kmc on drawn specs."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from attack.checks import SOME, WAYS, SpecChecks
from attack.drawing import drawn
from attack.drawn_spec import DrawnSpec
from attack.known_cases import KNOWN
from attack.oracle import Meaning, Search
from attack.page_specs import BAG, LOGS, PAIRS

HERE = Path(__file__).parent
JUDGES = {
    f"attack.{name}"
    for name in [
        "values",
        "expressions",
        "drawn_spec",
        "drawn_terms",
        "drawing",
        "oracle",
        "lasso_judge",
        "itf_states",
        "shrinking",
        "known_cases",
    ]
}
OTHERS = {"networkx", *sys.stdlib_module_names}


def imports_of(module: str) -> set[str]:
    """The modules that a module of the attack imports."""
    tree = ast.parse((HERE / f"{module.removeprefix('attack.')}.py").read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
    return found


@pytest.mark.parametrize("module", sorted(JUDGES))
def test_what_judges_kmc_shares_no_code_with_it(module: str) -> None:
    assert [name for name in imports_of(module) if name not in JUDGES and name.split(".")[0] not in OTHERS] == []


@pytest.mark.parametrize(
    ("spec", "generated", "distinct"),
    [
        pytest.param(BAG, 1327, 581, id="bag"),
        pytest.param(PAIRS, 73, 8, id="pairs"),
        pytest.param(LOGS, 29, 16, id="logs"),
    ],
)
def test_the_brute_force_counts_what_tlc_counts(spec: DrawnSpec, generated: int, distinct: int) -> None:
    answer = Search(Meaning(spec), keep_going=False).run()
    assert (answer.generated, answer.distinct) == (generated, distinct)


def test_a_seed_draws_the_same_spec_again() -> None:
    assert drawn(7) == drawn(7) != drawn(8)


def told(spec: DrawnSpec, folder: Path, *ways: str) -> list[str]:
    """What is wrong with a spec on the ways to search of these names."""
    chosen = [way for way in (*WAYS, *SOME) if way.name in ways]
    return [str(found) for found in SpecChecks(spec, folder).differences(chosen)]


@pytest.mark.parametrize("spec", [pytest.param(PAIRS, id="pairs"), pytest.param(LOGS, id="logs")])
def test_kmc_reads_a_drawn_spec_as_the_brute_force_does(tmp_path: Path, spec: DrawnSpec) -> None:
    assert told(spec, tmp_path, "interpreter", "1 thread") == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_the_interpreter_agrees_with_the_brute_force_on_drawn_specs(tmp_path: Path, seed: int) -> None:
    assert told(drawn(seed), tmp_path, "interpreter", "interpreter, going on") == []


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_all_searches_are_right_where_one_was_wrong(tmp_path: Path, name: str) -> None:
    assert told(KNOWN[name], tmp_path, *(way.name for way in (*WAYS, *SOME))) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_all_searches_agree_with_the_brute_force_on_drawn_specs(tmp_path: Path, seed: int) -> None:
    assert told(drawn(seed), tmp_path, *(way.name for way in WAYS)) == []
