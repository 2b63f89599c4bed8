"""`kmc.check`: a check as the command line makes it, without its files.

Invariant: every counterexample has been replayed by the interpreter before it is returned. Searches of the native
engine run one at a time within a process: each uses all threads, and all share the compiler of their loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from threading import RLock

from kmc.api.arguments import argument_name, engine_of, limits_of, model_as_asked, require_function, start_of, width_of
from kmc.api.check_result import CheckResult
from kmc.api.error_notes import explained
from kmc.api.loaded_spec import LoadedSpec, as_loaded
from kmc.checking.check import check as check_request
from kmc.checking.request import CheckRequest, Engine
from kmc.checking.surroundings import Surroundings
from kmc.lang.records import State
from kmc.result import Counters, Verdict

ONE_NATIVE_CHECK = RLock()


@explained
def check(
    spec: LoadedSpec | str | Path,
    model: str | Path | None = None,
    *,
    engine: str = "native",
    threads: int | None = None,
    max_depth: int | None = None,
    max_states: int | None = None,
    timeout: float | str | None = None,
    memory: int | str | None = None,
    properties: Sequence[str] | None = None,
    deadlock: bool | None = None,
    start: State | str | Path | None = None,
    keep_going: bool = False,
    fingerprint_bits: int = 64,
    progress: Callable[[Counters], None] | None = None,
) -> CheckResult:
    """Explore all states that a model can reach, and test its properties in each.

    `properties` replaces the model's invariants and properties. `start` is a state, or `FILE#N` of a saved trace.
    `timeout` is in seconds or "10m", `memory` in bytes or "2G". `progress` is called about once a second with the
    counters. Nothing is saved. Raises KmcError for mistakes in the arguments, the spec or the model, and
    KeyboardInterrupt after Ctrl-C; a violation is part of the result.
    """
    limits = limits_of(max_depth, max_states, timeout, memory)
    chosen_engine, width = engine_of(engine, threads), width_of(fingerprint_bits)
    require_function(progress)
    loaded = as_loaded(spec, model)
    chosen = replace(loaded.chosen, model=model_as_asked(loaded.model, properties, deadlock, max_depth))
    first, warnings = start_of(chosen.model, start)
    request = CheckRequest(
        chosen,
        limits,
        chosen_engine,
        threads,
        width,
        start=first,
        start_name=None if start is None else str(start) if isinstance(start, str | Path) else "a state",
        keep_going=keep_going,
        naming=argument_name,
        wider="kmc.check(..., fingerprint_bits=128)",
    )
    with ONE_NATIVE_CHECK if request.engine is Engine.NATIVE else nullcontext():
        outcome = check_request(request, Surroundings(progress=progress), warnings)
    if outcome.result.verdict is Verdict.INTERRUPTED:
        raise KeyboardInterrupt
    return CheckResult(loaded, outcome)
