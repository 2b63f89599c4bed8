"""`kmc trace`: print a saved trace, or write it in another format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from kmc.cli.console import say, show
from kmc.cli.counterexample import trace_lines
from kmc.cli.model_choice import first_constants
from kmc.cli.options import debug_option, trace_option
from kmc.errors import CommandLineError, ExitStatus, did_you_mean
from kmc.lang.cfg_file import parse_cfg
from kmc.spec.loader import Spec, load_spec
from kmc.spec.shipped import find_spec_root
from kmc.trace.files import read_trace, resolved
from kmc.trace.itf import itf_text
from kmc.trace.tlc_json import tlc_json_text
from kmc.trace.untyped_trace import TraceFile

_EPILOG = """\b
Examples:
  kmc trace .kmc/runs/kraft-restarts-20261120-231948/trace.itf.json
  kmc trace trace.itf.json --trace changed --hide messages
  kmc trace trace.itf.json --only currentEpoch --only state
  kmc trace tlc-dump.json --spec kraft --format itf > trace.itf.json

`kmc check SPEC --from TRACE#5` starts at a state of a trace.
"""


@click.command(epilog=_EPILOG, short_help="Print a saved trace, in full or its changes, or convert it.")
@click.argument("file", type=click.Path(dir_okay=False))
@trace_option
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "itf", "tlc-json"]),
    default="text",
    show_default=True,
    help="The format to write.",
)
@click.option("--spec", metavar="SPEC", help="Read the values with the types of this spec; TLC's JSON needs them.")
@click.option("--only", metavar="VARIABLE", multiple=True, help="Show only this variable. Repeatable.")
@click.option("--hide", metavar="VARIABLE", multiple=True, help="Hide this variable. Repeatable.")
@debug_option
def trace(
    file: str, trace_mode: str, output: str, spec: str | None, only: tuple[str, ...], hide: tuple[str, ...]
) -> int:
    """Print the trace in FILE, in TLC's style; a star marks the changes of a step.

    FILE is an ITF or TLC JSON file that kmc, TLC (-dumpTrace json) or Apalache wrote; variables have their TLA+ names.
    """
    found = read_trace(file)
    if spec is not None:
        found = resolved(found, _spec_of(spec, found))
    found = chosen_variables(found, only, hide)
    match output:
        case "itf":
            say(itf_text(without_the_others(found)))
        case "tlc-json":
            say(tlc_json_text(without_the_others(found)))
        case _:
            show([_heading(found)])
            show(trace_lines(found, changed_only=trace_mode == "changed"))
    return ExitStatus.OK


def _spec_of(name: str, file: TraceFile) -> Spec:
    """The spec with the constants that its trace names, else with those of its first model."""
    root = find_spec_root(name)
    constants = file.about.get("constants") if file.about.get("spec") == root.stem else None
    assignments = parse_cfg(constants, file.shown_path).constants if constants else first_constants(root)
    return load_spec(root, assignments, allow_missing=True)


def chosen_variables(file: TraceFile, only: Sequence[str], hide: Sequence[str]) -> TraceFile:
    """The trace with the variables `only` (all if empty) except `hide`; CommandLineError if there are none (KMC604,
    KMC608).

    Its steps keep the hidden variables, so that a step that changes only these is not shown as stuttering.
    """
    for name in (*only, *hide):
        if name not in file.variables:
            raise CommandLineError(
                "KMC604", f"the trace has no variable '{name}'", help=did_you_mean(name, file.variables)
            )
    kept = tuple(name for name in file.variables if (not only or name in only) and name not in hide)
    if not kept:
        raise CommandLineError("KMC608", "no variable is left to show", help="hide fewer variables")
    return replace(file, variables=kept)


def without_the_others(file: TraceFile) -> TraceFile:
    """The trace whose steps have the variables that it names, and no others."""
    steps = tuple(replace(s, variables={name: s.variables[name] for name in file.variables}) for s in file.steps)
    return replace(file, steps=steps)


def _heading(file: TraceFile) -> str:
    about = file.about
    parts = [f"Trace of {about['spec']}" if "spec" in about else "Trace"]
    parts += [f"model {about['model']}"] if "model" in about else []
    parts += (
        [about["status"] + (f" of {about['property']}" if "property" in about else "")] if "status" in about else []
    )
    return f"{', '.join(parts)}: {len(file.steps)} state{'' if len(file.steps) == 1 else 's'}."
