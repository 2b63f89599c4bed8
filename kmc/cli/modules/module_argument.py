"""The argument SPEC where it is a TLA+ module, its `.cfg` file, and the options that modules do not have."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from kmc.errors import CommandLineError
from kmc.frontend.shipped import is_there
from kmc.trace.untyped_trace import TLA, TraceFile

if TYPE_CHECKING:
    from kmc.cli.options.check_options import CheckOptions

SUFFIX = ".tla"
_SET = "\\* --set "
_SAVED_MODEL = "model.cfg"
_INTERPRETER = "python"

_SHARED = (
    "sets",
    "start",
    "timeout",
    "memory",
    "deadlock",
    "as_json",
    "trace_mode",
    "width",
    "run_dir",
    "no_run_dir",
    "quiet",
)
_OF_SHARDS = frozenset(("shards", "processes", "spark", "exchange", "thin_rows", "spark_settings"))
_OF_CHECK = ("max_depth", "max_states", "bounded_ok", "keep_going", "strict", "output", "junit", "levels")
CHECK_OPTIONS = frozenset((*_SHARED, *_OF_CHECK, *_OF_SHARDS))
_OF_NATIVE = ("threads", "fingerprint_bits", "save_every")
HANDOVER_OPTIONS = CHECK_OPTIONS | frozenset(_OF_NATIVE)
NATIVE_OPTIONS = (CHECK_OPTIONS - {"start"}) | {"engine", "resume", *_OF_NATIVE} | _OF_SHARDS
BENCH_OPTIONS = frozenset(("states", "runs", "out", "as_json", "quiet"))
NATIVE_BENCH_OPTIONS = BENCH_OPTIONS | {"engine", "threads", "no_starts", "class_path", "tlc_seconds"}
CONFORM_OPTIONS = frozenset(("limit", "as_json"))
PLAN_OPTIONS = frozenset(("sets", "sample", "as_json", "quiet"))
NATIVE_PLAN_OPTIONS = PLAN_OPTIONS | {"engine", "threads"}
SIMULATE_OPTIONS = frozenset((*_SHARED, "seed", "depth", "number"))


def is_module(word: str | None) -> bool:
    """Return whether a SPEC is a TLA+ module: a path that ends with `.tla`."""
    return word is not None and Path(word).suffix == SUFFIX


def is_trace_of_module(file: TraceFile, spec: str | None) -> bool:
    """Return whether a trace is one of a TLA+ module; a `spec` that is given decides."""
    return is_module(spec) if spec is not None else file.about.get("language") == TLA


def saved_sets(model: str | None) -> tuple[str, ...]:
    """Return the values of constants that the command line of a run gave: its saved model has them as comments."""
    if model is None or Path(model).name != _SAVED_MODEL or not is_there(Path(model).is_file):
        return ()
    lines = Path(model).read_text(encoding="utf-8").splitlines()
    return tuple(line.removeprefix(_SET) for line in lines if line.startswith(_SET))


def configuration_of(module: str, model: str | None) -> Path | None:
    """Return the `.cfg` file: the given one, else that of the module's name beside it, as TLC takes it.

    None if there is none. Raises CommandLineError KMC696 for one that is given and does not exist.
    """
    if model is None:
        beside = Path(module).with_suffix(".cfg")
        return beside if is_there(beside.is_file) else None
    path = Path(model)
    if not is_there(path.is_file):
        message = f"there is no model file '{model}' for {Path(module).name}"
        raise CommandLineError("KMC696", message, help=f"write the path of its .cfg file: kmc check {module} FILE.cfg")
    return path


def with_engine_of_module(context: click.Context, options: CheckOptions) -> CheckOptions:
    """Return the options with the engine that checks a module: the one that an option names or needs.

    Else it is the interpreter, which hands a large model over. Raises CommandLineError KMC697 for an option that does
    not apply.
    """

    def is_given(option: str) -> bool:
        return context.get_parameter_source(option) is ParameterSource.COMMANDLINE

    if is_given("engine") or any(map(is_given, ("resume", *_OF_SHARDS))):
        refuse_other_options(context, CHECK_OPTIONS if options.engine == _INTERPRETER else NATIVE_OPTIONS)
        return options
    refuse_other_options(context, HANDOVER_OPTIONS)
    return replace(options, engine=_INTERPRETER, hands_over=not is_given("start"))


def refuse_other_options(context: click.Context, known: Collection[str]) -> None:
    """Raise CommandLineError KMC697 for an option on the command line that does not apply to modules."""
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if isinstance(parameter, click.Option)
        and parameter.name not in known
        and parameter.name not in ("debug", "color")
        and context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        and not (parameter.name == "engine" and context.params.get("engine") == _INTERPRETER)
    ]
    if given:
        raise CommandLineError(
            "KMC697",
            f"{' and '.join(given)} cannot be used with a TLA+ module{_why_not(given)}",
            help=_way_on(given),
        )


def _way_on(given: Collection[str]) -> str:
    """Return what to do: states that are kept, or in a storage, are of specs in Python, which modules translate to."""
    if any(option in ("--keep-states", "--storage") for option in given):
        return "translate the module and check that spec: kmc translate X.tla DIR, and kmc check ./DIR with the options"
    return "leave it out" if len(given) == 1 else "leave them out"


def _why_not(given: Collection[str]) -> str:
    """Return why options of the native engine do not apply, where it was not chosen."""
    is_native = any(option in ("--threads", "--fingerprint-bits", "--save-every") for option in given)
    return ", which the interpreter runs on one thread without --engine native" if is_native else ""
