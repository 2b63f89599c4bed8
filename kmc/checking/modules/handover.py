"""The handover of a module from the interpreter of TLA+ to the native engine, once its model turns out to be large.

A small model is checked before a compiler has begun; a large one is searched some hundred times as fast from its
beginning again. Invariant: a handover costs no result. Where the native engine refuses the module, fails, or runs out
of time before it has got as far, the interpreter goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_search import ModuleSearch
from kmc.checking.surroundings import Surroundings
from kmc.errors import KmcError, SpecError
from kmc.process import available_bytes, memory_bytes
from kmc.result import Bound, Limits, Result
from kmc.unexplained import Unexplained, try_explaining

HANDOVER_STATES = 10_000
"""The number of distinct states at which a level is the last one of the interpreter: it takes a second or a few."""

_OUT_OF_RESOURCES = (Bound.TIME, Bound.MEMORY)

_PREPARING_SECONDS = 60.0
_PREPARING_TIMES = 3
"""A translation may take so many seconds, or so many times as long as the interpreter took until the handover."""

NativeCheck = Callable[[Limits, Limits], Result]
"""Searches the module on the native engine within limits, and within others until then; KmcError where it cannot."""


class _TakenOver(Exception):
    """The result of the native engine, which ends the search of the interpreter."""

    def __init__(self, result: Result) -> None:
        super().__init__()
        self.result = result


class HandedOverSearch(ModuleSearch):
    """One run over a module that the native engine takes over before a level is expanded, if it can."""

    def __init__(
        self,
        module: CheckedModule,
        limits: Limits,
        native: NativeCheck,
        *,
        keep_going: bool,
        around: Surroundings,
    ) -> None:
        super().__init__(module, limits, keep_going=keep_going, progress=around.progress)
        self._native: NativeCheck | None = native
        self._note = around.note

    def run(self) -> Result:
        """Explore as `ModuleSearch` does, or return the result of the native engine."""
        try:
            return super().run()
        except _TakenOver as taken:
            return taken.result

    def _level_begins(self) -> None:
        # Many initial states say nothing about the rest: some modules have no step that leads to another one.
        if self._native is None or len(self.graph.states) < HANDOVER_STATES or len(self.graph.levels) < 2:
            return
        native, self._native = self._native, None
        count = len(self.graph.states)
        self._note(
            f"{count:,} states: the native engine begins again, compiled. --engine python keeps the interpreter."
        )
        result = self._searched(native)
        if result is None:
            return
        if result.bound not in _OUT_OF_RESOURCES or result.counters.distinct >= count:
            raise _TakenOver(result)
        self._note(f"The interpreter goes on: {_shortage(result)}.")

    def _searched(self, native: NativeCheck) -> Result | None:
        """Return the result of the native engine; None, with a note that says why, where it has none."""
        passed = time.monotonic() - self._began
        left = None if self._limits.seconds is None else max(0.0, self._limits.seconds - passed)
        limits, preparing = replace(self._limits, seconds=left), self._preparing(passed)
        try:
            result = try_explaining(lambda: native(limits, preparing), passing=(KmcError,))
        except KmcError as error:
            place = f" ({Path(error.span.path).name}:{error.span.line})" if error.span is not None else ""
            why = error.message if isinstance(error, SpecError) else f"the native engine fails: {error}"
            self._note(f"The interpreter goes on: {why}{place}.")
            return None
        if isinstance(result, Unexplained):
            self._note(f"The interpreter goes on. {result.sentence('The native engine')}")
            return None
        return result

    def _preparing(self, passed: float) -> Limits:
        """Return the limits until the native search begins, when so many seconds have passed.

        Half of the memory is left for the interpreter, whose heap keeps what a translation took.
        """
        limit, taken = self._limits.memory_bytes, memory_bytes()
        room = available_bytes() if limit is None else max(0, limit - taken)
        return Limits(seconds=max(_PREPARING_SECONDS, _PREPARING_TIMES * passed), memory_bytes=taken + room // 2)


def _shortage(result: Result) -> str:
    """Say what the native engine lacked."""
    bound = result.bound.value if result.bound is not None else "something"
    if result.is_unsearched:
        return f"translating and compiling the module takes too much {bound}"
    return f"the native engine has reached the limit on {bound}"
