"""`kmc eval`: the value of an expression in a state of a saved trace, or in the initial state of a model."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from kmc.checking.model_choice import choose_model
from kmc.cli.modules.module_argument import is_module, is_trace_of_module
from kmc.cli.options.shared_options import debug_option, json_option, set_option
from kmc.cli.saved.saved_runs import ITF_NAME, recorded_spec
from kmc.cli.saved.trace_place import LAST, RUN_DIR, TracePlace, trace_place
from kmc.cli.saved.traced_model import model_of_trace, no_state_follows
from kmc.cli.text.console import say, show, stderr, stdout
from kmc.errors import ExitStatus
from kmc.frontend.model import Model
from kmc.frontend.shipped import is_there, manifest_of
from kmc.frontend.typed_expression import SUCCESSOR, Expression, expression, names_of
from kmc.lang.order import ordered
from kmc.lang.records import State
from kmc.lang.tla import PYTHON_NAMING, Tla
from kmc.reference.states.initial import initial_states
from kmc.trace.files import pick, pick_state, read_trace
from kmc.trace.itf import itf_value

_EPILOG = """\b
Examples:
  kmc eval last 'st.servers[n2]'                     in the last state of the newest trace
  kmc eval last#5 NoIllegalState                     a property
  kmc eval last#4 'nxt.servers[n2].state'            in the state after it
  kmc eval kraft restarts '{s for s in Server}'      in the initial state of a model
  kmc eval Lease.tla Lease.cfg 'term + 1'            in the initial state of a TLA+ module

\b
Exit status: 0 the expression has a value; 2 it is wrong, or the command line is;
75, 76 evaluating it fails; 150 the spec, 151 the trace or the model is wrong.
"""
_USAGE = "write kmc eval TRACE EXPR, or kmc eval SPEC [MODEL] EXPR"


@dataclass(frozen=True, slots=True)
class EvaluatedAt:
    """A state of a model, the state after it in the trace, None at the end, and where it is."""

    model: Model
    state: State
    successor: State | None
    file: str | None
    number: int | None
    initial: int = 1

    @property
    def sentence(self) -> str:
        """A phrase for the origin of the state."""
        if self.number is not None:
            return f"state {self.number} of {self.file}"
        return "the initial state" if self.initial == 1 else f"the first of {self.initial} initial states"


@click.command("eval", epilog=_EPILOG, short_help="Evaluate an expression in a state of a trace or of a model.")
@click.argument("words", metavar="TRACE[#N] | SPEC [MODEL] EXPR", nargs=-1)
@click.option("--spec", metavar="SPEC", help="The spec of the trace, where it is not known or another one is meant.")
@click.option("--model", metavar="MODEL", help="Take the constants of this model, not those of the trace.")
@set_option
@click.option(
    "--run-dir",
    metavar="DIR",
    default=RUN_DIR,
    show_default=True,
    type=click.Path(file_okay=False),
    help="Where `last` looks for runs.",
)
@json_option
@debug_option
def evaluate(
    words: tuple[str, ...], spec: str | None, model: str | None, sets: tuple[str, ...], run_dir: str, as_json: bool
) -> int:
    """Evaluate EXPR, an expression of the spec language, in a state.

    The state is number N of TRACE, by default the last one. TRACE is a file, the folder of a run, or `last` for the
    newest run with a trace. With SPEC and MODEL, it is the initial state.

    SPEC may be a TLA+ module: kmc eval X.tla X.cfg EXPR evaluates an expression of TLA+ in its initial state. In a
    trace of a module, primed variables are those of the state after it.

    EXPR may name what the spec's files define, the members of its sets (n1), the state (st), the state after it in the
    trace (nxt), and the fields of the state without `st.`. The name of a property says whether that holds.
    """
    if words and is_module(words[0]):
        if spec is not None or model is not None:
            raise click.UsageError("--spec and --model are for a trace: leave them out")
        # Imported here, because an expression about a spec in Python does not need the layer of TLA+.
        from kmc.cli.modules.evaluating import evaluate_in_module

        return evaluate_in_module(words, sets, as_json=as_json)
    if len(words) == 2 and _is_trace(words[0]):
        place = trace_place(words[0], run_dir)
        if is_trace_of_module(read_trace(place.path), spec):
            # Imported here, as above.
            from kmc.cli.modules.evaluating import evaluate_in_trace

            return evaluate_in_trace(place, words[1], spec, model, sets, as_json=as_json)
    point = _place(words, spec, model, sets, run_dir)
    asked = expression(point.model.spec, words[-1])
    if asked.needs_successor and point.successor is None:
        help_line = f"'{SUCCESSOR}' is the state after it: ask in an earlier state of a trace"
        raise no_state_follows(point.sentence, asked.place, help_line)
    tree = _tree(point.model, asked, asked.value(point.state, point.successor))
    if as_json:
        say(json.dumps(_object(point, asked, tree), indent=2))
        return ExitStatus.OK
    if point.initial > 1:
        show([f"Evaluated in {point.sentence}."], stderr())
    # Imported here, as every command loads this file.
    from kmc.story.parts.in_words import in_lines

    show(in_lines(tree, stdout().width))
    return ExitStatus.OK


def _place(
    words: tuple[str, ...], spec: str | None, model: str | None, sets: tuple[str, ...], run_dir: str
) -> EvaluatedAt:
    match words:
        case where, _ if _is_trace(where):
            if sets:
                raise click.UsageError("a trace has its own constants: leave out --set, or name a --model")
            return _in_trace(trace_place(where, run_dir), spec, model)
        case (_, _) | (_, _, _) if spec is not None:
            raise click.UsageError("--spec is for the trace of another spec: leave it out")
        case name, text:
            chosen = choose_model(name, model, sets).model
            manifest = manifest_of(chosen.spec.root)
            if manifest is not None and text in manifest.entries and text not in names_of(chosen.spec)[0]:
                raise click.UsageError(f"'{text}' is a model of {chosen.spec.name}: write the expression after it")
            return _initial(chosen)
        case name, of_manifest, _ if model is None:
            return _initial(choose_model(name, of_manifest, sets).model)
    raise click.UsageError(_USAGE)


def _is_trace(where: str) -> bool:
    """Whether a word is a trace; any other is a spec."""
    path = Path(where)
    if where == LAST or path.suffix == ".json" or is_there((path / ITF_NAME).is_file):
        return True
    return "#" in where and not is_there(path.exists)


def _in_trace(place: TracePlace, spec: str | None, model: str | None) -> EvaluatedAt:
    file, number = pick(place.where)
    bound = model_of_trace(file, spec or recorded_spec(place.path.parent), model)
    after = number + 1 if number < len(file.steps) else file.loop + 1 if file.loop is not None else None
    state = pick_state(f"{place.path}#{number}", bound.spec)
    successor = pick_state(f"{place.path}#{after}", bound.spec) if after is not None else None
    return EvaluatedAt(bound, state, successor, str(place.path), number)


def _initial(model: Model) -> EvaluatedAt:
    states = ordered(dict.fromkeys(initial_states(model)))
    return EvaluatedAt(model, states[0], None, None, None, len(states))


def _tree(model: Model, asked: Expression, value: Any) -> Tla:
    """The value for people; CommandLineError KMC643 where it is not a value of the spec language."""
    # Imported here, as every command loads this file.
    from kmc.story.parts.lanes import table_for_people

    # Fields as the expression names them, not as TLA+ does; identifiers as in views of traces.
    return asked.encoded(value, replace(PYTHON_NAMING, symbol=table_for_people(model.spec).naming.symbol))


def _object(point: EvaluatedAt, asked: Expression, tree: Tla) -> dict[str, Any]:
    return {
        "expression": asked.text,
        "value": itf_value(tree),
        "spec": point.model.spec.name,
        "model": point.model.name,
        "trace_file": point.file,
        "state": point.number,
        "initial": point.initial if point.number is None else None,
    }
