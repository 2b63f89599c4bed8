"""kmc: an exhaustive model checker for specs written in immutable, typed Python.

The Python API (`kmc.load`, `kmc.check`, ...) is described in `kmc.api`. Each name is imported when it is used first, so
that `import kmc` costs nothing; no layer reaches another by way of the root.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kmc.api.check_result import CheckResult
    from kmc.api.checking import check
    from kmc.api.loaded_spec import LoadedSpec, load
    from kmc.api.module_checking import ModuleCheckResult, check_module
    from kmc.api.simulating import RandomBehaviours, simulate
    from kmc.api.stepping import evaluate, initial_states, literal, successors
    from kmc.api.trace_states import StepTaken, TraceStates
    from kmc.errors import KmcError, ModelWarning

__version__ = "0.2.0"

__all__ = [
    "CheckResult",
    "KmcError",
    "LoadedSpec",
    "ModelWarning",
    "ModuleCheckResult",
    "RandomBehaviours",
    "StepTaken",
    "TraceStates",
    "__version__",
    "check",
    "check_module",
    "evaluate",
    "initial_states",
    "literal",
    "load",
    "simulate",
    "successors",
]

_HOMES = {
    "CheckResult": "kmc.api.check_result",
    "KmcError": "kmc.errors",
    "LoadedSpec": "kmc.api.loaded_spec",
    "ModelWarning": "kmc.errors",
    "ModuleCheckResult": "kmc.api.module_checking",
    "RandomBehaviours": "kmc.api.simulating",
    "StepTaken": "kmc.api.trace_states",
    "TraceStates": "kmc.api.trace_states",
    "check": "kmc.api.checking",
    "check_module": "kmc.api.module_checking",
    "evaluate": "kmc.api.stepping",
    "initial_states": "kmc.api.stepping",
    "literal": "kmc.api.stepping",
    "load": "kmc.api.loaded_spec",
    "simulate": "kmc.api.simulating",
    "successors": "kmc.api.stepping",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'kmc' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
