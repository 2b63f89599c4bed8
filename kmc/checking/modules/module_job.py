"""One measured search of a module in a process of its own: the interpreter's, as `kmc.bench.job` measures a spec's.

`python -m kmc.checking.modules.module_job REQUEST ANSWER`, both files of JSON. A smaller search comes first.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from kmc.bench.job import measured_interpreter
from kmc.checking.modules.check_module import ModuleRequest, load_runnable_module
from kmc.checking.modules.module_search import ModuleSearch


@dataclass(frozen=True, slots=True)
class MeasuredModule:
    """The run of a module with a `.cfg` file, to the end of the first level beyond `states`."""

    module: str
    configuration: str | None
    sets: tuple[str, ...]
    states: int
    memory_bytes: int


def main(request_path: str, answer_path: str) -> None:
    """Run the request and write its costs."""
    asked = MeasuredModule(**json.loads(Path(request_path).read_text(encoding="utf-8")))
    # Without paths, because results are published.
    about = {name: value for name, value in asdict(asked).items() if name not in ("module", "configuration")}
    Path(answer_path).write_text(json.dumps({**about, **_measured(asked)}), encoding="utf-8")


def _measured(asked: MeasuredModule) -> dict[str, Any]:
    path = Path(asked.configuration) if asked.configuration is not None else None
    module = load_runnable_module(ModuleRequest(Path(asked.module), path, tuple(asked.sets)))
    module = replace(module, temporal=())
    return measured_interpreter(lambda limits: ModuleSearch(module, limits).run(), asked.states, asked.memory_bytes)


if __name__ == "__main__":
    main(*sys.argv[1:])
