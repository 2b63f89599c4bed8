"""The arguments of the Python API: checked before anything runs, with errors that name the argument."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from kmc.checking.model_choice import changed, start_state
from kmc.checking.request import Engine
from kmc.errors import CommandLineError, Span
from kmc.frontend.binding import resolve
from kmc.frontend.model import Model
from kmc.lang.records import State
from kmc.model_files.model_file import Word, is_name
from kmc.result import Limits

THREADS_MAX = 64
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_PROPERTIES = "properties=[...]"


_ARGUMENTS = {
    "set": "constants",
    "deadlock": "deadlock=True",
    "no-deadlock": "deadlock=False",
    "from": "start",
    "continue": "keep_going",
    "expect": "assert_expected",
}
"""The arguments that have other names than the options of the command line."""


def argument_name(option: str, value: object = None) -> str:
    """An option of the command line as an argument of `kmc.check`: `max_depth`, `engine="python"`."""
    name = _ARGUMENTS.get(option, option.replace("-", "_"))
    if value is None:
        return name
    return f"{name}={value}" if str(value).isdecimal() or str(value).isupper() else f'{name}="{value}"'


def width_of(fingerprint_bits: int) -> Literal[64, 128]:
    """The width of fingerprints; CommandLineError KMC690 for another than 64 or 128 bits."""
    _one_of("fingerprint_bits", fingerprint_bits, (64, 128))
    return 128 if fingerprint_bits == 128 else 64


def engine_of(engine: str, threads: int | None) -> Engine:
    """The engine by its name; CommandLineError KMC690 for another, or for a number of threads that cannot be."""
    _one_of("engine", engine, [known.value for known in Engine])
    if threads is not None:
        whole_number("threads", threads, 1, THREADS_MAX)
    return Engine(engine)


def require_function(progress: object) -> None:
    """CommandLineError KMC690 unless `progress` can be called, or is None."""
    if progress is not None and not callable(progress):
        raise unsuitable("progress", progress, "a function of kmc.result.Counters", "progress=print")


def limits_of(max_depth: int | None, max_states: int | None, timeout: float | str | None, memory: object) -> Limits:
    """The limits of a search; durations in seconds or as "10m", sizes in bytes or as "2G"."""
    for name, value in (("max_depth", max_depth), ("max_states", max_states)):
        if value is not None:
            whole_number(name, value, 1)
    return Limits(max_depth, max_states, _seconds(timeout), _bytes(memory))


def model_as_asked(
    model: Model, properties: Sequence[str] | None, deadlock: bool | None, max_depth: int | None
) -> Model:
    """The model with these properties instead of its own, this deadlock check and this level bound."""
    if properties is not None:
        if isinstance(properties, str) or not all(map(_is_word, properties)):
            raise unsuitable("properties", properties, "a list of names", 'properties=["TypeOK"]')
        words = tuple(Word(name, Span(_PROPERTIES, 1)) for name in dict.fromkeys(properties))
        model = resolve(model.spec, replace(model.file, invariants=(), properties=words))
    if deadlock not in (None, True, False):
        raise unsuitable("deadlock", deadlock, "True or False", "deadlock=False")
    return changed(model, deadlock, max_depth)


def _is_word(name: object) -> bool:
    return isinstance(name, str) and is_name(name)


def start_of(model: Model, start: State | str | Path | None) -> tuple[State | None, tuple[str, ...]]:
    """The given first state, a state of the spec or `FILE#N`, and a warning where another model made its trace."""
    if start is None:
        return None, ()
    if isinstance(start, str | Path):
        return start_state(str(start), model)
    return own_state(model, start), ()


def own_state(model: Model, state: State) -> State:
    """The state, if it is one of this execution of the spec; else CommandLineError KMC691."""
    expected: type = model.spec.state_class
    if type(state) is expected:
        return state
    if type(state).__name__ == expected.__name__:
        advice = "states of two models differ; use result.spec, or spec.with_model(...), for states of that model"
        raise CommandLineError("KMC691", f"this state is not one of {model.spec.name} {model.name}", help=advice)
    found = type(state).__name__
    raise CommandLineError("KMC691", f"this is a {found}, not a state of {model.spec.name}", help="pass a spec.State")


def whole_number(name: str, value: object, least: int, most: int | None = None) -> None:
    """CommandLineError KMC690 unless `value` is a number in this range."""
    if type(value) is int and least <= value and (most is None or value <= most):
        return
    wanted = f"a whole number from {least}" + (f" to {most}" if most is not None else "")
    raise unsuitable(name, value, wanted, f"{name}={least}")


def unsuitable(name: str, value: object, wanted: str, example: str) -> CommandLineError:
    """The error for an argument of a value that it cannot have."""
    return CommandLineError("KMC690", f"{name} is {value!r}, not {wanted}", help=f"for example {example}")


def _one_of(name: str, value: object, known: Iterable[object]) -> None:
    if value not in known:
        listed = list(known)
        raise unsuitable(name, value, " or ".join(map(repr, listed)), f"{name}={listed[-1]!r}")


def _seconds(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([a-z]+)", value) if isinstance(value, str) else None
    if match is None or match[2] not in _SECONDS or not float(match[1]):
        raise unsuitable("timeout", value, "a number of seconds, or a duration", 'timeout="10m"')
    return float(match[1]) * _SECONDS[match[2]]


def _bytes(value: object) -> int | None:
    if value is None:
        return None
    if type(value) is int and value > 0:
        return value
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([KMGT]?)(?:i?B)?", value) if isinstance(value, str) else None
    if match is None or not float(match[1]):
        raise unsuitable("memory", value, "a number of bytes, or a size", 'memory="2G"')
    return int(float(match[1]) * _BYTES[match[2]])
