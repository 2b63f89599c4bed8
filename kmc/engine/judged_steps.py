"""The steps of single states as the kernels of a model give them, with all that is judged of them, for a comparison."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from kmc.engine.behaviour_graph.state_order import ATOMS_MAX
from kmc.engine.compiled_model import CompiledModel
from kmc.engine.layout.frontier import UNSIGNED, signed
from kmc.engine.native.memory import Words
from kmc.invariants.kinds import Role
from kmc.invariants.properties import Predicate
from kmc.runtime.blocks import SLACK_WORDS, RowBatch


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
            spec.names.actions[found.actions[step]].partition("(")[0],
            int(found.times[step]),
            int(found.fingerprints[step]),
            found.rows[step],
            None if min(outside[step], step_outside[step]) < 0 else not (outside[step] or step_outside[step]),
            _names(model.predicates(Role.CHECKED, 1), int(broken[step])),
            _names(model.predicates(Role.CHECKED, 2), int(step_broken[step])),
        )
        for step in range(len(found))
    ]


def is_inside(compiled: CompiledModel, row: Words) -> bool | None:
    """Return whether a row satisfies all constraints on states; None where the kernel fails."""
    outside = int(compiled.spec.outside(RowBatch.of([row]))[0])
    return None if outside < 0 else not outside


def broken_in(compiled: CompiledModel, row: Words) -> tuple[str, ...] | None:
    """Return the names of properties of states that fail in a row; None where the kernel fails."""
    return _names(compiled.model.predicates(Role.CHECKED, 1), int(compiled.spec.check(RowBatch.of([row]))[0]))


def atom_values(compiled: CompiledModel, count: int, *rows: Words) -> list[bool] | None:
    """Return the truth of the atoms of temporal properties in a row, or of those of a step; None where one fails."""
    spec = compiled.spec
    name = "atoms" if len(rows) == 1 else "step_atoms"
    padded = [array("Q", [*(word & UNSIGNED for word in row.tolist()), *[0] * SLACK_WORDS]) for row in rows]
    values: list[bool] = []
    for ordinal in range(-(-count // ATOMS_MAX)):
        mask = signed(spec.module.call(spec.kernels[f"{name}_{ordinal}"], [(words, 0) for words in padded]))
        if mask < 0:
            return None
        values += [bool(mask >> bit & 1) for bit in range(min(ATOMS_MAX, count - len(values)))]
    return values


def _names(predicates: Sequence[Predicate], mask: int) -> tuple[str, ...] | None:
    if mask < 0:
        return None
    return tuple(one.name for bit, one in enumerate(predicates) if mask >> bit & 1)
