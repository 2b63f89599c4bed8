"""`kmc eval` for modules: an expression of TLA+ in an initial state of a module, or in a state of its trace."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from kmc.checking.modules.check_module import ModuleRequest, load_module
from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.value_order import value_key
from kmc.cli.modules.module_argument import configuration_of
from kmc.cli.modules.traced import point_of_trace
from kmc.cli.saved.trace_place import TracePlace
from kmc.cli.saved.traced_model import no_state_follows
from kmc.cli.text.console import say, show, stderr
from kmc.errors import ExitStatus
from kmc.lang.tla import Tla, text
from kmc.tla.names.loading import parse_expression
from kmc.tla.resolved.levels import ACTION, level_of
from kmc.tla.values.texts import tree_of
from kmc.trace.itf import itf_value


def evaluate_in_module(words: Sequence[str], sets: tuple[str, ...], *, as_json: bool) -> int:
    """Print the value of the last word in the least initial state of the module that the first word names.

    A module without a behaviour has no state, so the expression has to be constant.
    """
    if len(words) not in (2, 3):
        raise click.UsageError("write kmc eval X.tla EXPR, or kmc eval X.tla X.cfg EXPR")
    path = configuration_of(words[0], words[1] if len(words) == 3 else None)
    module = load_module(ModuleRequest(Path(words[0]), path, sets))
    expression = parse_expression(module.program.model, words[-1])
    has_states = module.program.model.behaviour is not None
    states = sorted(set(module.initial_states()), key=value_key) if has_states else []
    tree = tree_of(module.program.evaluate(expression, states[0] if states else None))
    if as_json:
        _say_object(module, words[-1], tree, initial=len(states))
        return ExitStatus.OK
    if len(states) > 1:
        show([f"Evaluated in the first of {len(states)} initial states."], stderr())
    say(text(tree))
    return ExitStatus.OK


def evaluate_in_trace(
    place: TracePlace, written: str, spec: str | None, model: str | None, sets: tuple[str, ...], *, as_json: bool
) -> int:
    """Print the value of an expression in a state of a trace of a module; primes are read in the state after it."""
    if sets:
        raise click.UsageError("a trace has its own constants: leave out --set, or name a --model")
    point = point_of_trace(place, spec, model)
    module = point.module
    expression = parse_expression(module.program.model, written)
    if point.successor is None and level_of(expression) == ACTION:
        where = f"state {point.number} of {point.file}"
        raise no_state_follows(where, expression.place, "primes are of the state after it: ask in an earlier state")
    tree = tree_of(module.program.evaluate(expression, point.state, point.successor))
    if as_json:
        _say_object(module, written, tree, file=point.file, number=point.number)
    else:
        say(text(tree))
    return ExitStatus.OK


def _say_object(
    module: CheckedModule,
    written: str,
    tree: Tla,
    *,
    file: str | None = None,
    number: int | None = None,
    initial: int | None = None,
) -> None:
    shown = {
        "expression": written,
        "value": itf_value(tree),
        "spec": module.model.spec.name,
        "model": module.model.name,
        "trace_file": file,
        "state": number,
        "initial": initial,
    }
    say(json.dumps(shown, indent=2))
