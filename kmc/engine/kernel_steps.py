"""The steps of a spec as its compiled kernels give them, for a comparison with TLA+.

The comparison covers the whole step: a state is encoded, its row expanded, every successor decoded. Kernels for this
purpose number instances of actions, so the arguments are those that the kernel chose.
"""

from __future__ import annotations

from collections.abc import Iterator

from kmc.actions.action import instances_of
from kmc.compiler.compile_spec import compile_spec
from kmc.engine.assumed_integers import widened
from kmc.errors import InternalError
from kmc.frontend.binding import without_properties
from kmc.frontend.loader import Spec
from kmc.lang.assumed_range import NARROWEST, AssumedRange, AssumedRangeLeft, assuming
from kmc.lang.records import State
from kmc.reference.conformance.edges import CountedStep, StepsOf, interpreted_steps
from kmc.runtime.blocks import RowBatch, Words
from kmc.runtime.codec import decode_row, encode_row
from kmc.runtime.kernel_errors import require_assumed


def compiled_steps(spec: Spec) -> StepsOf:
    """The steps of a state by compiled kernels; SpecError at the author's line for a construct that is not compiled."""
    kernels = _Kernels(spec)

    def steps(state: State) -> Iterator[CountedStep]:
        return iter(kernels.steps(state))

    return steps


class _Kernels:
    """The kernels of a spec, in the range that holds the integers without declared bounds of all states so far."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._model = without_properties(spec)
        self._instances = instances_of(spec.actions)
        self._interpreted = interpreted_steps(spec)
        self._compile(NARROWEST)

    def _compile(self, assumed: AssumedRange) -> None:
        self._assumed = assumed
        with assuming(assumed):
            self._compiled = compile_spec(self._model, instances=True)

    def steps(self, state: State) -> list[CountedStep]:
        """Return the steps of a state; kernels are compiled again for integers that leave their range."""
        while True:
            try:
                with assuming(self._assumed):
                    return self._steps(state)
            except AssumedRangeLeft as left:
                self._compile(widened(self._assumed, left))

    def _steps(self, state: State) -> list[CountedStep]:
        compiled = self._compiled
        row = compiled.row_of(encode_row(state))
        if self._state_of(row) != state:
            raise InternalError(
                "KMC926", "a state does not come back from its row", help="compare with --engine python"
            )
        expanded = compiled.expand_block(RowBatch.of([row]))
        for number in expanded.errors.tolist():
            require_assumed(number)
        if len(expanded.failed):
            # A kernel has no words for its error: the interpreter finds it again.
            list(self._interpreted(state))
            raise InternalError("KMC921", "a compiled check fails where the interpreter finds no error")
        found = zip(expanded.actions, expanded.times, expanded.rows, strict=True)
        return [(*self._instances[at], self._state_of(successor), int(times)) for at, times, successor in found]

    def _state_of(self, row: Words) -> State:
        return decode_row(self._compiled.words_of(row), self._spec.state_class)
