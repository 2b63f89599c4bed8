"""Specs and models: how a spec package declares itself, is loaded, and is bound to the constants of a model.

A spec package writes `from kmc.spec import spec`. Everything else here is for kmc's own layers above.
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
