"""TLC's golden cases as models of the shipped specs, for every test that compares counts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kmc.errors import Span
from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_spec_root
from kmc.model_files.model_file import Assignment, ModelFile, Word
from kmc.model_files.raw_values import ModelValue, Raw, RawSet
from kmc.result import Result

FOLDER = Path(__file__).parents[2] / "data" / "golden"
LARGE = 100_000
"""A case with more distinct states runs with `make golden` only."""

SMALL = 12_000
"""A case with fewer distinct states takes a search a second."""

# TLC gives no count of them.
_SMALL_VIOLATIONS = {"kraft-3"}

SPECS = ("kraft", "kip_996", "kip_996_draft")

_HERE = Span("golden case", 1)
_SYMMETRY = {"Server": "symmServers", "Value": "symmValues"}


@dataclass(frozen=True, slots=True)
class GoldenCase:
    """One case: what TLC was asked, and what it answered."""

    id: str
    spec: str
    asked: dict[str, Any]
    expect: dict[str, Any]

    def model(self) -> Model:
        """The case as a model of the shipped spec."""
        symmetry = self.asked["symmetry"]
        file = ModelFile(
            name=self.id,
            path=_HERE.path,
            constants=tuple(Assignment(name, _raw(value), _HERE) for name, value in self.asked["constants"].items()),
            invariants=tuple(Word(name, _HERE) for name in self.asked["invariants"]),
            symmetry=(Word(_SYMMETRY[symmetry], _HERE),) if symmetry else (),
            view=Word("view", _HERE) if self.asked["view"] else None,
            check_deadlock=False,
            max_depth=self.asked["levels"],
        )
        return bind(find_spec_root(self.spec), file)


def _raw(value: Any) -> Raw:
    return RawSet(tuple(ModelValue(name) for name in value)) if isinstance(value, list) else value


def golden_cases(spec: str) -> list[GoldenCase]:
    """All golden cases of a spec."""
    return [
        GoldenCase(case["id"], case["spec"], case, case["expect"])
        for case in json.loads((FOLDER / f"{spec}.json").read_text())
    ]


def all_golden_cases() -> list[GoldenCase]:
    """Those of all shipped specs."""
    return [case for spec in SPECS for case in golden_cases(spec)]


def is_small(case: GoldenCase) -> bool:
    """Whether a search in shards takes a second."""
    return case.id in _SMALL_VIOLATIONS or bool(case.expect.get("distinct", SMALL) < SMALL)


def smallest_case(spec: str) -> str:
    """The id of the case of a spec with the fewest distinct states, which takes both engines seconds."""
    counted = [case for case in golden_cases(spec) if "distinct" in case.expect]
    return min(counted, key=lambda case: int(case.expect["distinct"])).id


def outcome(result: Result, expect: dict[str, Any]) -> dict[str, Any]:
    """What the result says under the keys of `expect`; of actions that it does not list, those that fired."""
    found: dict[str, Any] = {
        "result": result.verdict.value,
        "generated": result.counters.generated,
        "distinct": result.counters.distinct,
        "depth": result.counters.depth,
        "left": result.counters.left,
        "initial": result.initial,
        "unreached_goals": list(result.unreached),
        "vacuous": list(dict.fromkeys(vacuity.name for vacuity in result.vacuous)),
        "generated_by_action": {
            action: states
            for action, states in result.generated_by_action.items()
            if states or action in expect.get("generated_by_action", {})
        },
    }
    if result.violation is not None:
        found |= {"invariant": result.violation.name, "trace_length": len(result.violation.trace)}
    return {key: found.get(key) for key in expect}
