"""Prints what the search finds in models with many failures at one depth; run by test_search_failures.py.

Run as `search_report.py FOLDER`, which gets the specs; two runs print the same, whatever the seed of Python's hashes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from support.specs.small import BALLOT, model_of

from kmc.compiler.view_order import fingerprint_order
from kmc.reference.search import Search
from kmc.result import Limits
from kmc.spec.variables import encode_state

THREE = "CONSTANT Server = {n1, n2, n3}"
TWO = "CONSTANT Server = {n1, n2}"
UP_TO_THREE_LEVELS = Limits(depth=3)

CASES = {
    "many states violate": (f"{THREE} INVARIANTS Below NoThreeFromOne", None, False),
    "many steps violate": (f"{THREE} PROPERTY SmallSteps", None, False),
    "violations outside a constraint": (f"{THREE} CONSTRAINT Small INVARIANT Below", None, False),
    "violations beyond the bound": (f"{THREE} INVARIANT NoThreeFromOne", UP_TO_THREE_LEVELS, False),
    "two asserts fail in one state": (f"{THREE} TrustOne = 2 TrustTwo = 2", None, False),
    "asserts fail and the search goes on": (f"{TWO} TrustOne = 2 TrustTwo = 2", None, True),
    "violations under symmetry": (f"{THREE} SYMMETRY servers INVARIANTS Below NoThreeFromOne", None, False),
    "unstored violations under symmetry": (f"{THREE} SYMMETRY servers CONSTRAINT Small INVARIANT Below", None, True),
    "violations under a view": (f"{TWO} VIEW forgetful INVARIANTS Below NoThreeFromOne", None, True),
    "steps refused": (f"{TWO} ACTION_CONSTRAINT NotTwice INVARIANT NoThreeFromOne", None, True),
}


def report(folder: Path, cfg: str, limits: Limits | None, keep_going: bool) -> list[str]:
    """What is found, without times and memory."""
    model = model_of(folder, BALLOT, cfg)
    result = Search(model, limits, keep_going=keep_going, view_order=fingerprint_order).run()
    counters = result.counters
    lines = [
        f"{result.verdict} {counters.generated} {counters.distinct} {counters.left} {result.levels}",
        f"{result.generated_by_action} {result.properties} {result.unreached}",
    ]
    violation = result.violation
    if violation is not None:
        lines.append(f"{violation.name} {violation.error!r}")
        lines += [f"{s.label} {encode_state(s.state, model.spec.variables)}" for s in violation.trace.steps]
    return lines


if __name__ == "__main__":
    for name, case in CASES.items():
        print(name, *report(Path(sys.argv[1]), *case), sep="\n")
