"""The states of a trace file as states of a module."""

from __future__ import annotations

from collections.abc import Mapping

from kmc.checking.modules.checked_module import CheckedModule
from kmc.errors import TraceError
from kmc.lang.tla import Tla
from kmc.tla.run.program import State
from kmc.tla.values.texts import value_of_tree
from kmc.trace.untyped_trace import TraceFile


def recorded_states(module: CheckedModule, file: TraceFile) -> tuple[State, ...]:
    """Return the states of a trace; TraceError KMC441 if its variables are not those of the module.

    Any values are a state: TLA+ has no types.
    """
    refuse_ambiguous(file)
    alias = file.about.get("alias")
    where = f"in {file.shown_path}" if alias is None else f"{file.shown_path} has the fields of ALIAS {alias}"
    return tuple(state_of_trees(module, step.variables, where) for step in file.steps)


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
