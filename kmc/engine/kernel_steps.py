"""The steps of a spec as its compiled kernels give them, for a comparison with TLA+.

The comparison covers the whole step: a state is encoded, its row expanded, every successor decoded. Kernels for this
purpose number instances of actions, so the arguments are those that the kernel chose.
"""

from __future__ import annotations

from collections.abc import Iterator

from kmc.actions.action import instances_of
from kmc.compiler.compile_spec import compile_spec
from kmc.errors import InternalError
from kmc.frontend.binding import without_properties
from kmc.frontend.loader import Spec
from kmc.lang.records import State
from kmc.reference.conformance.edges import CountedStep, StepsOf, interpreted_steps
from kmc.runtime.blocks import RowBatch, Words
from kmc.runtime.codec import decode_row, encode_row


def compiled_steps(spec: Spec) -> StepsOf:
    """The steps of a state by compiled kernels; SpecError at the author's line for a construct that is not compiled."""
    compiled = compile_spec(without_properties(spec), instances=True)
    instances = instances_of(spec.actions)
    interpreted = interpreted_steps(spec)

    def state_of(row: Words) -> State:
        return decode_row(compiled.words_of(row), spec.state_class)

    def steps(state: State) -> Iterator[CountedStep]:
        row = compiled.row_of(encode_row(state))
        if state_of(row) != state:
            raise InternalError(
                "KMC926", "a state does not come back from its row", help="compare with --engine python"
            )
        expanded = compiled.expand_block(RowBatch.of([row]))
        if len(expanded.failed):
            # A kernel has no words for its error: the interpreter finds it again.
            yield from interpreted(state)
            raise InternalError("KMC921", "a compiled check fails where the interpreter finds no error")
        for instance, times, successor in zip(expanded.actions, expanded.times, expanded.rows, strict=True):
            yield (*instances[instance], state_of(successor), int(times))

    return steps
