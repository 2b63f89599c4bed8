"""The states of a trace file as states of a module."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from kmc.checking.modules.checked_module import CheckedModule
from kmc.errors import TraceError
from kmc.lang.tla import Tla
from kmc.tla.resolved.search_level import LEVEL_VARIABLE
from kmc.tla.run.program import State
from kmc.tla.values.texts import value_of_tree
from kmc.trace.untyped_trace import TraceFile


def recorded_states(module: CheckedModule, file: TraceFile) -> tuple[State, ...]:
    """Return the states of a trace; TraceError KMC441 if its variables are not those of the module.

    Any values are a state: TLA+ has no types. A trace of TLC has no level, which is the number of the state in it.
    """
    refuse_ambiguous(file)
    alias = file.about.get("alias")
    where = f"in {file.shown_path}" if alias is None else f"{file.shown_path} has the fields of ALIAS {alias}"
    model = module.program.model
    levels = ({LEVEL_VARIABLE: level} if model.has_level else {} for level in count(1))
    return tuple(
        state_of_trees(module, {**level, **step.variables}, where)
        for level, step in zip(levels, file.steps, strict=False)
    )


def refuse_ambiguous(file: TraceFile) -> None:
    """Raise TraceError KMC442 for a trace whose format does not distinguish sets from sequences."""
    if file.ambiguous:
        message = f"{file.shown_path} is JSON of TLC, which does not distinguish sets from sequences"
        raise TraceError("KMC442", message, help="give the trace.itf.json of a run of kmc")


def state_of_trees(module: CheckedModule, variables: Mapping[str, Tla], where: str) -> State:
    """Return the state with these values of variables; TraceError KMC441 if they are not those of the module."""
    names = module.program.model.variables
    if variables.keys() != set(names):
        message = f"the variables are {', '.join(variables)}, and {module.model.spec.name} has {', '.join(names)}"
        help = "name another module, or check without ALIAS and take that trace"
        raise TraceError("KMC441", message, help=help, notes=(where,))
    return tuple(value_of_tree(variables[name]) for name in names)
