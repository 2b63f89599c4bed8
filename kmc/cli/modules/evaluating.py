"""`kmc eval X.tla EXPR`: the value of an expression of TLA+ in an initial state of a module."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from kmc.checking.modules.check_module import ModuleRequest, load_module
from kmc.checking.modules.value_order import value_key
from kmc.cli.modules.module_argument import configuration_of
from kmc.cli.text.console import say, show, stderr
from kmc.errors import ExitStatus
from kmc.lang.tla import text
from kmc.tla.names.loading import parse_expression
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
        shown = {
            "expression": words[-1],
            "value": itf_value(tree),
            "spec": module.model.spec.name,
            "model": module.model.name,
            "trace_file": None,
            "state": None,
            "initial": len(states),
        }
        say(json.dumps(shown, indent=2))
        return ExitStatus.OK
    if len(states) > 1:
        show([f"Evaluated in the first of {len(states)} initial states."], stderr())
    say(text(tree))
    return ExitStatus.OK
