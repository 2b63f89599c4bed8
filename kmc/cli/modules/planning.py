"""`kmc plan X.tla`: the first levels of a module, and what a check of all of it needs of the interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from kmc.bench.growth import Forecast, forecast
from kmc.checking.modules.check_module import ModuleRequest, load_runnable_module, search_module
from kmc.checking.modules.module_search import ENGINE, ModuleSearch
from kmc.checking.request import Engine
from kmc.checking.surroundings import Surroundings
from kmc.cli.modules.module_argument import configuration_of
from kmc.cli.text.console import stderr
from kmc.cli.text.progress import Progress, StatusLine
from kmc.frontend.model import Model
from kmc.process import available_bytes, memory_bytes
from kmc.result import Limits, Result, Verdict

_FAILED = (Verdict.VIOLATION, Verdict.LIVENESS, Verdict.DEADLOCK, Verdict.ASSERTION, Verdict.ERROR)


def module_estimate(given: Mapping[str, Any], sample: int) -> dict[str, Any]:
    """Explore the first levels of a module until they have `sample` states, and return the estimate of `kmc plan`."""
    spec, model = given["spec"], given["model"]
    module = load_runnable_module(ModuleRequest(Path(spec), configuration_of(spec, model), given["sets"]))
    before = memory_bytes()
    with StatusLine(stderr(), quiet=given["quiet"]) as line:
        line.update(f"Exploring up to {sample:,} states of {module.model.spec.name}.")
        # Temporal properties are judged after a search, and do not change the number of states.
        search = ModuleSearch(replace(module, temporal=()), Limits(states=sample), progress=Progress(line))
        result = search.run()
    if result.verdict is Verdict.INTERRUPTED:
        raise KeyboardInterrupt
    has_failed = result.verdict in _FAILED
    growth = forecast(result.levels, None, ended=has_failed or result.bound is None)
    state_bytes = max(0, memory_bytes() - before) / max(1, result.counters.distinct)
    words = [word for text in given["sets"] for word in ("--set", text)]
    return {
        "spec": module.model.spec.name,
        "model": module.model.name,
        "engine": ENGINE,
        "sample": {
            "states": result.counters.distinct,
            "levels": len(result.levels),
            "seconds": round(result.counters.seconds, 3),
            "threads": 1,
            "findings": int(has_failed),
        },
        "forecast": asdict(growth),
        "row_bytes": None,
        "expected_states": None,
        "needs": [_needs(states, result, before, state_bytes) for states in ends(growth)],
        "unread": None,
        "available_memory_bytes": available_bytes(),
        "check": ["kmc", "check", *filter(None, [spec, model]), *words],
    }


@dataclass(frozen=True, slots=True)
class NativeSample:
    """The first levels of a module on the native engine, on so many threads, and the command of a whole check."""

    model: Model
    sample: dict[str, Any]
    growth: Forecast
    threads: int
    check: list[str]


def native_sample(given: Mapping[str, Any], states: int, threads: int, memory: int) -> NativeSample:
    """Explore the first levels of a module on the native engine until they have so many states, or fill the memory.

    Types that hold all values of these states stay in the cache, so that a check of the module begins with them.
    """
    spec, model = given["spec"], given["model"]
    limits = Limits(states=states, memory_bytes=memory)
    request = ModuleRequest(
        Path(spec), configuration_of(spec, model), given["sets"], engine=Engine.NATIVE, limits=limits, threads=threads
    )
    module = load_runnable_module(request)
    with StatusLine(stderr(), quiet=given["quiet"]) as line:
        line.update(f"Exploring up to {states:,} states of {module.model.spec.name}.")
        result = search_module(request, module, Surroundings(progress=Progress(line), note=line.note))
    if result.verdict is Verdict.INTERRUPTED:
        raise KeyboardInterrupt
    has_failed = result.verdict in _FAILED
    counters = result.counters
    sample = {
        "levels": list(result.levels),
        "distinct": counters.distinct,
        "seconds": counters.seconds,
        "findings": int(has_failed),
        "rows_bytes": result.rows_bytes,
    }
    words = [word for text in given["sets"] for word in ("--set", text)]
    return NativeSample(
        module.model,
        sample,
        forecast(result.levels, None, ended=has_failed or result.bound is None),
        threads,
        ["kmc", "check", *filter(None, [spec, model]), *words, "--engine", "native"],
    )


def ends(growth: Forecast) -> list[int]:
    """Return the least and the largest number of states that are expected."""
    return sorted({growth.states_low, growth.states_high or growth.states_low})


def _needs(states: int, result: Result, before: int, state_bytes: float) -> dict[str, Any]:
    seconds = states * result.counters.seconds / max(1, result.counters.distinct)
    return {
        "states": states,
        "memory_bytes": round(before + states * state_bytes),
        "disk_bytes": None,
        "kept_bytes": None,
        "seconds_by_cores": {"1": round(seconds, 1)},
    }
