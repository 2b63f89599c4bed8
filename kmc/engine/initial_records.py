"""The initial states of a model as rows: few are made by the interpreter, many by a kernel.

The interpreter needs some 100 us for an initial state, a kernel a small part of that. So if there are many, `init` is
compiled like an action without parameters, and applied to one initial state, of which it keeps nothing. If the compiler
refuses `init` or a check fails in it, the interpreter takes over; it also has the words for an error.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

from kmc.actions.action import Action, Fairness
from kmc.budget import polled
from kmc.compiler.compile_spec import compile_spec
from kmc.engine.compiled_model import CompiledModel
from kmc.engine.layout.frontier import PackedState
from kmc.errors import SpecError
from kmc.frontend.model import Model
from kmc.invariants.kinds import KINDS
from kmc.reference.states.initial import each_initial_state
from kmc.runtime.blocks import RowBatch
from kmc.spec.declare import definition_span

FEW = 2000
"""Compiling lasts about as long as the interpreter needs for so many."""


def initial_records(model: Model, compiled: CompiledModel, few: int = FEW) -> list[PackedState]:
    """The initial states, as often as `init` yields them; EvaluationError at the author's place, as the interpreter's.

    Beyond the first `few`, they are made by a kernel where `init` compiles.
    """
    states = each_initial_state(model)
    records = [compiled.record(state) for state in islice(states, few)]
    following = next(states, None)
    if following is None:
        return records
    made = _compiled_records(model, compiled, records[0])
    if made is not None:
        return made
    return [*records, compiled.record(following), *map(compiled.record, polled(states))]


def _compiled_records(model: Model, compiled: CompiledModel, first: PackedState) -> list[PackedState] | None:
    """The initial states that the kernel of `init` makes; None if `init` does not compile, or fails."""
    spec = model.spec
    init = Action(
        "init", spec.init_name, spec.init, (), None, None, Fairness.NONE, definition_span(spec.init), "",
        abstractions=spec.abstractions,
    )  # fmt: skip
    nothing: dict[str, Any] = {kind.field: () for kind in KINDS}
    plain = replace(model, spec=replace(spec, actions=(init,), other_actions=()), temporal=(), **nothing)
    try:
        kernels = compile_spec(plain, fingerprint_bits=128 if compiled.kernels.wide else 64)
    except SpecError:
        return None
    expanded = kernels.expand_block(RowBatch.of([first.row]))
    if len(expanded.failed):
        return None
    fingerprints = expanded.fingerprints.tolist()
    return [
        PackedState(fingerprint, 0, row)
        for fingerprint, row, times in polled(zip(fingerprints, expanded.rows, expanded.times.tolist(), strict=True))
        for _ in range(times)
    ]
