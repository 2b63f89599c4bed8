"""`kmc.check_module`: a check of a TLA+ module as the command line makes it, without its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path

from kmc.api.arguments import argument_name, engine_of, limits_of, require_function
from kmc.api.check_result import CheckedResult
from kmc.api.checking import ONE_NATIVE_CHECK
from kmc.api.error_notes import explained
from kmc.checking.modules.check_module import ModuleRequest
from kmc.checking.modules.check_module import check_module as check_request
from kmc.checking.request import Engine
from kmc.lang.tla import Tla
from kmc.result import Counters, Verdict


class ModuleCheckResult(CheckedResult):
    """The result of a check of a TLA+ module."""

    @cached_property
    def counterexample(self) -> tuple[Mapping[str, Tla], ...]:
        """The states of the counterexample, each a value for every variable (or field of ALIAS); empty without one."""
        return () if self.trace_file is None else tuple(step.variables for step in self.trace_file.steps)


@explained
def check_module(
    module: str | Path,
    configuration: str | Path | None = None,
    *,
    constants: Mapping[str, object] | None = None,
    engine: str | None = None,
    threads: int | None = None,
    max_depth: int | None = None,
    max_states: int | None = None,
    timeout: float | str | None = None,
    memory: int | str | None = None,
    deadlock: bool | None = None,
    keep_going: bool = False,
    progress: Callable[[Counters], None] | None = None,
) -> ModuleCheckResult:
    """Explore all states of a TLA+ module with the model in a `.cfg` file, and test its properties in each.

    Without `configuration`, the `.cfg` file is the one of the module's name beside it. `constants` are values by name,
    as Python numbers, booleans and sets, or as text of TLA+. With `engine="native"`, the module is translated and
    compiled, and searched on `threads` threads; with `engine="python"`, it is interpreted. Without either, the
    interpreter hands a large model over to the native engine, and goes on where that cannot take it. The other
    arguments are those of `kmc.check`. Nothing is saved. Raises KmcError for mistakes in the arguments, the module or
    the model, and KeyboardInterrupt after Ctrl-C; a violation is part of the result.
    """
    require_function(progress)
    request = ModuleRequest(
        Path(module),
        None if configuration is None else Path(configuration),
        tuple(f"{name}={_text(value)}" for name, value in (constants or {}).items()),
        limits_of(max_depth, max_states, timeout, memory),
        deadlock,
        keep_going,
        naming=argument_name,
        engine=engine_of(engine or Engine.PYTHON.value, threads),
        hands_over=engine is None,
        threads=threads,
    )
    with nullcontext() if engine == Engine.PYTHON.value else ONE_NATIVE_CHECK:
        outcome = check_request(request, progress)
    if outcome.result.verdict is Verdict.INTERRUPTED:
        raise KeyboardInterrupt
    return ModuleCheckResult(outcome)


def _text(value: object) -> str:
    """Return a value of Python as a `.cfg` file writes it; a text is TLA+ already."""
    match value:
        case bool():
            return str(value).upper()
        case set() | frozenset():
            return "{" + ", ".join(sorted(map(_text, value))) + "}"
        case _:
            return str(value)
