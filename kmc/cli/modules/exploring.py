"""`kmc explore X.tla`: the module to walk, from its `.cfg` file or from a trace of it."""

from __future__ import annotations

from pathlib import Path

from kmc.checking.modules.check_module import (
    ModuleRequest,
    load_runnable_module,
    refuse_false_assumption,
    require_behaviour,
)
from kmc.checking.modules.checked_module import CheckedModule
from kmc.cli.modules.module_argument import configuration_of, saved_sets
from kmc.cli.modules.traced import module_of_trace
from kmc.cli.saved.saved_runs import recorded_spec
from kmc.cli.saved.trace_place import TracePlace
from kmc.explorer.ground import Ground
from kmc.explorer.modules.module_opening import module_ground_at, module_ground_of, refuse_other_module
from kmc.trace.files import pick


def module_to_explore(
    spec: str | None, model: str | None, sets: tuple[str, ...], place: TracePlace | None, watched: tuple[str, ...]
) -> tuple[Ground, tuple[str, ...]]:
    """Return the module at a path, or that of a trace, and the words that choose it on a command line.

    Raises as `load_runnable_module`, CommandLineError KMC699 for a trace that does not say where its module is, and
    TraceError KMC444 or KMC441 for one of another module.
    """
    if place is None:
        assert spec is not None, "without a trace, a module is named"
        module = load_runnable_module(ModuleRequest(Path(spec), configuration_of(spec, model), sets))
        return module_ground_of(module, watched), _words(spec, module, sets)
    file, number = pick(place.where)
    folder = place.path.parent
    if spec is not None:
        refuse_other_module(file, Path(spec).stem)
    path = spec or recorded_spec(folder)
    if path is not None and (model is not None or sets):
        module = load_runnable_module(ModuleRequest(Path(path), configuration_of(path, model), sets))
    else:
        module = module_of_trace(file, folder, spec, model, option="")
        refuse_false_assumption(module)
        require_behaviour(module)
        sets = saved_sets(module.program.model.configuration)
    return module_ground_at(module, file, number, watched), _words(path or module.model.spec.name, module, sets)


def _words(path: str, module: CheckedModule, sets: tuple[str, ...]) -> tuple[str, ...]:
    configuration = module.program.model.configuration
    beside = configuration_of(path, None)
    is_other = configuration is not None and (beside is None or Path(configuration) != beside)
    chosen = (configuration,) if is_other and configuration is not None else ()
    return (path, *chosen, *(word for text in sets for word in ("--set", text)))
