"""What the functions of the Python API take: checked before anything runs, with errors that name the argument."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kmc.cli.model_choice import changed, start_state
from kmc.errors import CommandLineError, Span
from kmc.lang.modelfile import Word, is_name
from kmc.result import Counters, Limits
from kmc.spec.model import Model, resolve

ENGINES = ("native", "python")
THREADS_MAX = 64
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_PROPERTIES = "properties=[...]"


@dataclass(frozen=True, slots=True)
class CheckArguments:
    """How `kmc.check` searches."""

    engine: str
    threads: int | None
    fingerprint_bits: int
    limits: Limits
    keep_going: bool
    progress: Callable[[Counters], None] | None

    def __post_init__(self) -> None:
        _one_of("engine", self.engine, ENGINES)
        _one_of("fingerprint_bits", self.fingerprint_bits, (64, 128))
        if self.threads is not None:
            whole_number("threads", self.threads, 1, THREADS_MAX)
        if self.progress is not None and not callable(self.progress):
            raise unsuitable("progress", self.progress, "a function of kmc.result.Counters", "progress=print")


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


def start_of(model: Model, start: Any) -> tuple[Any, tuple[str, ...]]:
    """The given first state, a state of the spec or `FILE#N`, and a warning where another model made its trace."""
    if start is None:
        return None, ()
    if isinstance(start, str | Path):
        return start_state(str(start), model)
    return own_state(model, start), ()


def own_state(model: Model, state: Any) -> Any:
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
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([a-z]+)", value) if isinstance(value, str) else None
    if found is None or found[2] not in _SECONDS or not float(found[1]):
        raise unsuitable("timeout", value, "a number of seconds, or a duration", 'timeout="10m"')
    return float(found[1]) * _SECONDS[found[2]]


def _bytes(value: object) -> int | None:
    if value is None:
        return None
    if type(value) is int and value > 0:
        return value
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([KMGT]?)(?:i?B)?", value) if isinstance(value, str) else None
    if found is None or not float(found[1]):
        raise unsuitable("memory", value, "a number of bytes, or a size", 'memory="2G"')
    return int(float(found[1]) * _BYTES[found[2]])
