"""`kmc.simulate`: random behaviours of a model, checked as they are generated."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from kmc.api.arguments import limits_of, model_as_asked, start_of, unsuitable, whole_number
from kmc.api.error_notes import explained
from kmc.api.found_violation import ViolationFound
from kmc.api.loaded_spec import LoadedSpec, as_loaded
from kmc.api.result_views import lines_html
from kmc.checking.counterexample import Counterexample, counterexample
from kmc.frontend.model import Model
from kmc.lang.records import State
from kmc.reference.random_walks import SimulationCounters, SimulationResult
from kmc.reference.simulation import simulate as run_behaviours

_SEEDS = 2**31


class RandomBehaviours(ViolationFound):
    """The result of a simulation. It proves nothing: it sees some behaviours, not all."""

    def __init__(
        self,
        spec: LoadedSpec,
        model: Model,
        details: SimulationResult,
        example: Counterexample | None,
        *,
        given_start: bool,
    ) -> None:
        super().__init__(model, example, given_start=given_start)
        self._spec = spec
        self._details = details

    @property
    def spec(self) -> LoadedSpec:
        """The spec with the constants of this model: the states of the trace are its states."""
        return self._spec

    @property
    def ok(self) -> bool:
        """Whether all requested behaviours were generated and none violates a property."""
        return self._violation is None and self._details.bound is None

    @property
    def details(self) -> SimulationResult:
        """All figures, as `kmc.reference.random_walks.SimulationResult` describes them."""
        return self._details

    @property
    def seed(self) -> int:
        """The seed: the same behaviours again, on every machine."""
        return self._details.seed

    def assert_ok(self) -> None:
        """AssertionError with the trace and the reason, if a behaviour violates a property."""
        __tracebackhide__ = True
        if self._violation is not None:
            raise AssertionError(str(self))

    def __str__(self) -> str:
        counters, bound = self._details.counters, self._details.bound
        ended = f" The limit on {bound.value} was reached." if bound is not None else ""
        lines = list(self._violation_lines()) or [f"No error has been found.{ended} Nothing is proved."]
        run = f"{counters.behaviours} behaviours, {counters.generated} states generated, seed {self.seed}."
        return "\n".join([*lines, run])

    def __repr__(self) -> str:
        told = f"violates {self.violated or self._violation.verdict.value}" if self._violation else "no violation"
        return f"<simulation of {self.model.spec.name} {self.model.name}: {told}, seed {self.seed}>"

    def _repr_html_(self) -> str | None:
        if self._explanation is None:
            return None
        return self._explanation.page or lines_html(self._explanation.lines)


@explained
def simulate(
    spec: LoadedSpec | str | Path,
    model: str | Path | None = None,
    *,
    seed: int | None = None,
    depth: int = 100,
    number: int = 100,
    timeout: float | str | None = None,
    memory: int | str | None = None,
    properties: list[str] | None = None,
    deadlock: bool | None = None,
    start: State | str | Path | None = None,
    progress: Callable[[SimulationCounters], None] | None = None,
) -> RandomBehaviours:
    """Run `number` random behaviours of at most `depth` states, and test the properties in all states they meet.

    A `seed` gives the same behaviours each time. The other arguments are those of `kmc.check`. Raises KmcError, and
    KeyboardInterrupt after Ctrl-C.
    """
    limits = limits_of(None, None, timeout, memory)
    whole_number("depth", depth, 1)
    whole_number("number", number, 1)
    if seed is not None and type(seed) is not int:
        raise unsuitable("seed", seed, "a whole number", "seed=7")
    loaded = as_loaded(spec, model)
    asked = model_as_asked(loaded.model, properties, deadlock, None)
    first, _ = start_of(asked, start)
    details = run_behaviours(
        asked,
        seed=random.SystemRandom().randrange(_SEEDS) if seed is None else seed,
        depth=depth,
        count=number,
        start=first,
        progress=progress,
        limits=limits,
    )
    if details.interrupted:
        raise KeyboardInterrupt
    example = counterexample(asked, details.violation, first) if details.violation is not None else None
    return RandomBehaviours(loaded, asked, details, example, given_start=start is not None)
