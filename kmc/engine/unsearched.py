"""The result of a check whose time or memory ran out before its search: a bound, no level, no verdict on anything."""

from __future__ import annotations

from kmc.budget import BudgetSpent, MemorySpent
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role
from kmc.process import memory_bytes, peak_memory_bytes
from kmc.result import Bound, Counters, PropertyVerdict, Result, Verdict


def unsearched(
    model: Model, engine: str, compile_seconds: float, fingerprint_bits: int, spent: BudgetSpent | None = None
) -> Result:
    """The result of a check whose budget was spent before its search began: its time, unless `spent` says otherwise."""
    checked = [PropertyVerdict(prop.name, "not checked") for prop in model.predicates(Role.CHECKED)]
    temporal = [PropertyVerdict(prop.name, "not checked", is_temporal=True) for prop in model.temporal]
    return Result(
        verdict=Verdict.BOUND_REACHED,
        counters=Counters(0, 0, 0, 0, 0.0, memory_bytes()),
        initial=0,
        levels=(),
        generated_by_action={},
        properties=(*checked, *temporal),
        violation=None,
        bound=Bound.MEMORY if isinstance(spent, MemorySpent) else Bound.TIME,
        unreached=(),
        never_fired=(),
        collision_bound=0.0,
        cpu_seconds=0.0,
        peak_memory_bytes=peak_memory_bytes(),
        engine=engine,
        compile_seconds=compile_seconds,
        fingerprint_bits=fingerprint_bits,
        compiled_anew=True,
    )
