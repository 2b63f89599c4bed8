"""The benchmark of a module: runs of the interpreter in fresh processes, in the form of `kmc.bench.measured_runs`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kmc.bench.figures import figures
from kmc.bench.machine import commit, load_average, machine
from kmc.bench.measured_runs import PYTHON_STATES, Tell, checked_run, without_folders
from kmc.bench.processes import run_module
from kmc.checking.modules.check_module import ModuleRequest, load_runnable_module
from kmc.checking.modules.module_job import MeasuredModule
from kmc.process import available_bytes

_MEMORY_SHARE = 0.9


def measure_module(
    path: Path, configuration: Path | None, states: int | None, runs: int, words: Sequence[str], tell: Tell
) -> dict[str, Any]:
    """Measure the interpreter on a module up to so many states, reporting each run to `tell`.

    Raises the KmcError of a module that does not load, and SystemFault when memory is short or a run fails.
    """
    model = load_runnable_module(ModuleRequest(path, configuration)).model
    title = model.spec.name if model.name == model.spec.name else f"{model.spec.name}-{model.name}"
    asked = MeasuredModule(
        str(path.resolve()),
        None if configuration is None else str(configuration.resolve()),
        (),
        states or PYTHON_STATES,
        int(available_bytes() * _MEMORY_SHARE),
    )
    began = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "load_before": load_average()}
    measured = []
    with TemporaryDirectory(prefix="kmc-bench-") as name:
        request = Path(name) / "request.json"
        request.write_text(json.dumps(asdict(asked)), encoding="utf-8")
        for attempt in range(runs):
            tell(f"run {attempt + 1} of {runs} of the interpreter")
            ran = run_module("kmc.checking.modules.module_job", [str(request)], f"a run of {title}", Path(name))
            measured.append(checked_run(ran))
    return {
        "benchmark": title,
        "description": f"the TLA+ module {model.spec.name} in the interpreter",
        "digest": model.digest,
        "states_asked": asked.states,
        "command": ["kmc", *map(without_folders, words)],
        **began,
        "load_after": load_average(),
        "commit": commit(),
        "machine": machine(),
        "starts": None,
        "figures": {},
        "scaling": {},
        "python": figures(measured),
        "tlc": None,
        "ratios": None,
        "without_temporal": None,
        "temporal": None,
        "runs": measured,
    }
