"""The steps of single states as the kernels of a model give them, with all that is judged of them, for a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kmc.engine.compiled_model import CompiledModel
from kmc.engine.native.memory import Words
from kmc.invariants.kinds import Role
from kmc.invariants.properties import Predicate
from kmc.runtime.blocks import RowBatch


@dataclass(frozen=True, slots=True)
class JudgedStep:
    """A step, which is generated `times` times: the title of its action, and its end with the fingerprint.

    `is_inside` is whether all constraints hold, `broken` are the names of properties of states that fail in the end,
    and `step_broken` those of properties of steps that it breaks. They are None where a kernel fails.
    """

    title: str
    times: int
    fingerprint: int
    row: Words
    is_inside: bool | None = None
    broken: tuple[str, ...] | None = None
    step_broken: tuple[str, ...] | None = None


def judged_steps(compiled: CompiledModel, row: Words) -> list[JudgedStep] | None:
    """Return the steps of a row; None where the kernel of the steps fails."""
    spec, model = compiled.spec, compiled.model
    block = RowBatch.of([row])
    found = spec.expand_block(block)
    if len(found.failed):
        return None
    if not len(found):
        return []
    outside, step_outside = spec.outside(found.rows), spec.step_outside(block, found.parents, found.rows)
    broken, step_broken = spec.check(found.rows), spec.step(block, found.parents, found.rows)
    return [
        JudgedStep(
            spec.names.actions[found.actions[step]],
            int(found.times[step]),
            int(found.fingerprints[step]),
            found.rows[step],
            None if min(outside[step], step_outside[step]) < 0 else not (outside[step] or step_outside[step]),
            _names(model.predicates(Role.CHECKED, 1), int(broken[step])),
            _names(model.predicates(Role.CHECKED, 2), int(step_broken[step])),
        )
        for step in range(len(found))
    ]


def is_inside(compiled: CompiledModel, row: Words) -> bool:
    """Return whether a row satisfies all constraints on states; False where the kernel fails."""
    return int(compiled.spec.outside(RowBatch.of([row]))[0]) == 0


def _names(predicates: Sequence[Predicate], mask: int) -> tuple[str, ...] | None:
    if mask < 0:
        return None
    return tuple(one.name for bit, one in enumerate(predicates) if mask >> bit & 1)
