"""One measured search in a process of its own: `python -m kmc.bench.job REQUEST ANSWER`, both files of JSON.

Each run has its own process, so the peak of resident memory belongs to this run alone. A smaller search comes first and
is not measured: after it, code is compiled, files are read and the processor's clock is up.
"""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kmc.bench.machine import load_average
from kmc.compiler.view_order import fingerprint_order
from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_spec_root
from kmc.model_files.cfg import read_cfg
from kmc.process import memory_bytes, peak_memory_bytes
from kmc.reference.search import Search as Interpreter
from kmc.result import Limits, Result, Verdict

if TYPE_CHECKING:
    from kmc.engine.layout.search_outcome import SearchOutcome

PYTHON, NATIVE = "python", "native"
WARM_UP_SHARE = 50


@dataclass(frozen=True, slots=True)
class Request:
    """The run of a benchmark: the spec at `root` with the model file `cfg`, to the end of the first level beyond
    `states`.
    """

    root: str
    cfg: str
    engine: str
    threads: int
    states: int
    memory_bytes: int


def main(request_path: str, answer_path: str) -> None:
    """Run the request and write its costs."""
    request = Request(**json.loads(Path(request_path).read_text(encoding="utf-8")))
    model = bind(find_spec_root(request.root), read_cfg(Path(request.cfg)))
    if request.engine == NATIVE:
        measured = _in_range(model, request)
    else:
        measured = measured_interpreter(
            lambda limits: Interpreter(model, limits, view_order=fingerprint_order).run(),
            request.states,
            request.memory_bytes,
        )
    # Without paths, because results are published.
    asked = {name: value for name, value in asdict(request).items() if name not in ("root", "cfg")}
    Path(answer_path).write_text(json.dumps({**asked, **measured}), encoding="utf-8")


class Clock:
    """Wall time and CPU time of this process since it was made."""

    def __init__(self) -> None:
        self._load = load_average()
        self._usage = resource.getrusage(resource.RUSAGE_SELF)
        self._wall = time.monotonic()

    def read(self) -> dict[str, Any]:
        """Seconds by kind, with the load before and after."""
        wall, usage = time.monotonic() - self._wall, resource.getrusage(resource.RUSAGE_SELF)
        user, system = usage.ru_utime - self._usage.ru_utime, usage.ru_stime - self._usage.ru_stime
        return {
            "seconds": wall,
            "cpu_seconds": user + system,
            "user_seconds": user,
            "system_seconds": system,
            "load_before": self._load,
            "load_after": load_average(),
        }


def _in_range(model: Model, request: Request) -> dict[str, Any]:
    """Measure a search on the native engine, with the range of the integers without declared bounds, if it has any."""
    from kmc.engine.assumed_integers import nothing_noted, searched_in_range
    from kmc.frontend.unbounded_integers import has_unbounded_integers
    from kmc.lang.assumed_range import assumed_range

    def measured(_: Limits) -> dict[str, Any]:
        figures = _native(model, request)
        return {**figures, "integers": str(assumed_range())} if has_unbounded_integers(model.spec) else figures

    return searched_in_range(model, None, None, Limits(), nothing_noted, measured)


def _native(model: Model, request: Request) -> dict[str, Any]:
    from kmc.bench.temporal_job import TimedVerdicts
    from kmc.engine.compiled_model import PackedGrowthWatch, compile_model
    from kmc.engine.layout.search_outcome import Settings
    from kmc.engine.optimised_kernels import kernels_in_words
    from kmc.engine.search.breadth_first import Search
    from kmc.reference.states.initial import initial_states
    from kmc.reference.temporal.accepted_problem import accepted_problem

    model = model.searched
    problem = accepted_problem(model)
    verdicts = None if problem is None else TimedVerdicts(model, problem)
    compiled = compile_model(model) if verdicts is None else verdicts.compiled
    initial = [compiled.record(state) for state in initial_states(model)]

    def searched(states: int) -> SearchOutcome:
        limits = Limits(states=states, memory_bytes=request.memory_bytes)
        settings = Settings(request.threads, limits, model.deadlock)
        if verdicts is not None:
            return verdicts.searched(initial, settings)
        # As `kmc check` searches: with the watch for what grows without bound.
        return Search(compiled.kernels, initial, settings, watch=PackedGrowthWatch(compiled)).run()

    searched(max(1, request.states // WARM_UP_SHARE))
    before = memory_bytes()
    clock = Clock()
    outcome = searched(request.states)
    spent = clock.read()
    average = average_bytes_per_state(outcome.growths, outcome.distinct, outcome.table_bytes)
    return {
        **spent,
        "generated": outcome.generated,
        "distinct": outcome.distinct,
        "levels": list(outcome.levels),
        "findings": len(outcome.findings),
        "stopped": outcome.stopped.value if outcome.stopped else None,
        "interrupted": outcome.interrupted,
        "table_bytes": outcome.table_bytes,
        "rows_bytes": outcome.rows_bytes,
        "frontier_bytes_max": outcome.frontier_bytes_max,
        "growths": [list(growth) for growth in outcome.growths],
        "table_bytes_per_state_average": average,
        "memory_bytes_before": before,
        "peak_memory_bytes": peak_memory_bytes(),
        "compile_seconds": compiled.compile_seconds,
        "kernels": kernels_in_words(compiled),
        **({} if verdicts is None else {"temporal": verdicts.figures}),
    }


def average_bytes_per_state(growths: Sequence[tuple[int, int]], distinct: int, table_bytes: int) -> float:
    """The bytes of the table for each state in it, on average over the states as they came, from its first growth on.

    `growths`: the states that were there, and the bytes of the table afterwards. While a table of S bytes fills from a
    to b states, the mean of S/n is S * ln(b/a) / (b - a).
    """
    steps = [(states, size) for states, size in growths if 0 < states < distinct]
    if not steps:
        return table_bytes / max(1, distinct)
    ends = [*(states for states, _ in steps[1:]), distinct]
    total = sum(size * math.log(end / states) for (states, size), end in zip(steps, ends, strict=True))
    return total / (distinct - steps[0][0])


def measured_interpreter(search: Callable[[Limits], Result], states: int, memory: int) -> dict[str, Any]:
    """Measure a search by an interpreter for this number of states in `memory` bytes; a smaller one comes first."""
    search(Limits(states=max(1, states // WARM_UP_SHARE)))
    before = memory_bytes()
    clock = Clock()
    result = search(Limits(states=states, memory_bytes=memory))
    spent = clock.read()
    return {
        **spent,
        "generated": result.counters.generated,
        "distinct": result.counters.distinct,
        "levels": list(result.levels),
        "findings": 0 if result.violation is None else 1,
        "stopped": result.bound.value if result.bound else None,
        "interrupted": result.verdict is Verdict.INTERRUPTED,
        "memory_bytes_before": before,
        "peak_memory_bytes": peak_memory_bytes(),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
