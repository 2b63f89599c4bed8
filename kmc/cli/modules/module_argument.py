"""The argument SPEC where it is a TLA+ module, its `.cfg` file, and the options that modules do not have."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import click
from click.core import ParameterSource

from kmc.checking.request import Engine
from kmc.errors import CommandLineError
from kmc.frontend.shipped import is_there

SUFFIX = ".tla"

_SHARED = ("sets", "timeout", "memory", "deadlock", "as_json", "trace_mode", "width", "run_dir", "no_run_dir", "quiet")
CHECK_OPTIONS = frozenset(
    (*_SHARED, "max_depth", "max_states", "bounded_ok", "keep_going", "strict", "output", "junit", "levels")
)
NATIVE_OPTIONS = frozenset((*CHECK_OPTIONS, "engine", "threads", "fingerprint_bits"))
SIMULATE_OPTIONS = frozenset((*_SHARED, "seed", "depth", "number"))


def is_module(word: str | None) -> bool:
    """Return whether a SPEC is a TLA+ module: a path that ends with `.tla`."""
    return word is not None and Path(word).suffix == SUFFIX


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


def engine_of(context: click.Context) -> str:
    """Return the engine that checks a module: the interpreter, unless the command line names another one."""
    is_given = context.get_parameter_source("engine") is ParameterSource.COMMANDLINE
    return str(context.params["engine"]) if is_given else Engine.PYTHON.value


def refuse_other_options(context: click.Context, known: Collection[str]) -> None:
    """Raise CommandLineError KMC697 for an option on the command line that does not apply to modules."""
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if isinstance(parameter, click.Option)
        and parameter.name not in known
        and parameter.name not in ("debug", "color")
        and context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        and not (parameter.name == "engine" and context.params.get("engine") == "python")
    ]
    if given:
        raise CommandLineError(
            "KMC697",
            f"{' and '.join(given)} cannot be used with a TLA+ module{_why_not(given)}",
            help="leave it out" if len(given) == 1 else "leave them out",
        )


def _why_not(given: Collection[str]) -> str:
    """Return why options of the native engine do not apply, where it was not chosen."""
    is_native = any(option in ("--threads", "--fingerprint-bits") for option in given)
    return ", which the interpreter runs on one thread without --engine native" if is_native else ""
