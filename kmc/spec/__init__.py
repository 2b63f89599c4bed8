"""The imports of a spec package: `from kmc.spec import spec`, and the words of temporal formulas.

`declare` collects the declarations of the decorators, `variables` is the table of TLA+ variables. Loading, checking and
binding are in `kmc.frontend`.
"""

from kmc.liveness.vocabulary import (
    FAIR_ACTIONS,
    NEXT,
    always,
    always_eventually,
    and_,
    enabled,
    eventually,
    eventually_always,
    for_all,
    iff,
    implies,
    leads_to,
    not_,
    or_,
    steps,
    strong_fairness,
    there_exists,
    weak_fairness,
)
from kmc.spec.declare import STRONG, WEAK, spec

__all__ = [
    "FAIR_ACTIONS",
    "NEXT",
    "STRONG",
    "WEAK",
    "always",
    "always_eventually",
    "and_",
    "enabled",
    "eventually",
    "eventually_always",
    "for_all",
    "iff",
    "implies",
    "leads_to",
    "not_",
    "or_",
    "spec",
    "steps",
    "strong_fairness",
    "there_exists",
    "weak_fairness",
]
