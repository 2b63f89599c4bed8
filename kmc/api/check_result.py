"""The result of `kmc.check`: figures, the verdict, the trace, and texts for people, tests and notebooks.

Invariant: texts and JSON are those of the command line, made by the same functions of `kmc.checking`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kmc.api.found_violation import ViolationFound
from kmc.api.loaded_spec import LoadedSpec
from kmc.api.result_views import table_html
from kmc.checking.outcome import Outcome
from kmc.checking.proof import endless_lines, proof_lines
from kmc.checking.result_text import count_lines, verdict_lines, warning_lines
from kmc.checking.result_warnings import warning_texts
from kmc.errors import ExitStatus
from kmc.result import Result, Verdict


class CheckedResult(ViolationFound):
    """The result of a check, of a Python spec or of a TLA+ module."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.model, outcome.example, given_start=outcome.request.start_name is not None)
        self._outcome = outcome

    @property
    def ok(self) -> bool:
        """Whether all reachable states were explored and everything holds; False where a bound ended the search."""
        return self.details.verdict is Verdict.OK

    @property
    def verdict(self) -> str:
        """The `result` of `kmc check --json`: "ok", "bound reached", "violation", "deadlock", "liveness", ..."""
        return self.details.verdict.value

    @property
    def details(self) -> Result:
        """All figures, as `kmc.result.Result` describes them."""
        return self._outcome.result

    @property
    def distinct(self) -> int:
        """The distinct states found."""
        return self.details.counters.distinct

    @property
    def generated(self) -> int:
        """The states generated, as TLC counts them."""
        return self.details.counters.generated

    @property
    def depth(self) -> int:
        """The largest level; an initial state has level 1."""
        return self.details.counters.depth

    @property
    def levels(self) -> tuple[int, ...]:
        """The distinct states of each level."""
        return self.details.levels

    @property
    def generated_by_action(self) -> Mapping[str, int]:
        """The states that each action generated."""
        return self.details.generated_by_action

    @property
    def properties(self) -> Mapping[str, str]:
        """The verdict of each property: "holds", "violated", "not refuted" or "not checked"."""
        return {prop.name: prop.verdict for prop in self.details.properties}

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings that weaken the result: actions that never fired, goals that were not reached, reads of a view.

        Also that a trace is shown plain, if a mistake in kmc keeps it from being explained.
        """
        explained = self._explanation
        plain = () if explained is None or explained.warning is None else (explained.warning,)
        return (*warning_texts(self._outcome), *plain)

    @property
    def differences(self) -> tuple[str, ...] | None:
        """The differences from the result that the manifest expects; None if nothing was compared."""
        return None if self._outcome.not_compared is not None else self._outcome.differences

    @property
    def exit_status(self) -> ExitStatus:
        """The exit status of `kmc check`."""
        return self._outcome.status

    def assert_ok(self, *, bounded_ok: bool = False, strict: bool = False) -> None:
        """AssertionError with the trace and the reason, unless all holds.

        A bound that ended the search fails too, unless `bounded_ok`. With `strict`, every action must have fired,
        every goal been reached, and no property hold vacuously.
        """
        __tracebackhide__ = True  # the report of a test ends at its own line
        is_missed = strict and self._outcome.is_missed
        if self.details.exit_status(bounded_ok=bounded_ok, strict=is_missed) is ExitStatus.OK:
            return
        notes = []
        if self.details.verdict is Verdict.BOUND_REACHED and not bounded_ok:
            notes = ["A bound ended the check, so nothing is proved; bounded_ok=True takes that for a success."]
        elif self._violation is None:
            notes = ["strict=True asks that every action fires, every goal is reached and every property can fail."]
        raise AssertionError("\n".join([str(self), *notes]))

    def assert_expected(self) -> None:
        """AssertionError unless the result is the one that the manifest expects, a violation included.

        If the manifest gives no figures, a finding or a mutant is expected to fail, and every other model to satisfy
        all of its properties within its own levels and constraints; see `kmc.checking.expectation`.
        """
        __tracebackhide__ = True
        unexpected = list(self._outcome.unexpected)
        if unexpected:
            # A violation comes first, since reports of tests show the first line only.
            last = unexpected if self._violation is not None and not self.model.file.expect else []
            raise AssertionError("\n".join([*([] if last else unexpected), *self._lines(), *last]))

    def to_dict(self) -> dict[str, Any]:
        """The object of `kmc check --json`."""
        figures = self._outcome.as_json()
        if self._explanation is None:
            return figures
        plain = [self._explanation.warning] if self._explanation.warning is not None else []
        return {**figures, **self._explanation.json, "warnings": [*figures["warnings"], *plain]}

    def to_json(self) -> str:
        """The text of `kmc check --json`."""
        return json.dumps(self.to_dict(), indent=2)

    def _lines(self) -> Iterator[str]:
        result = self.details
        if self._violation is not None:
            yield from self._violation_lines()
            yield from count_lines(result)
            yield from (line.text for line in warning_lines(self._outcome))
            return
        yield from (line.text for line in verdict_lines(self._outcome))
        yield from count_lines(result)
        yield from self._remarks()

    def _remarks(self) -> Iterator[str]:
        """The warnings come first, since each of them weakens the proof."""
        yield from (line.text for line in warning_lines(self._outcome))
        yield from proof_lines(self._outcome)
        yield from endless_lines(self._outcome)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __repr__(self) -> str:
        of = f"{self.model.spec.name} {self.model.name}"
        told = f"{self.verdict}: {self.violated}" if self.violated else self.verdict
        return f"<check of {of}: {told}, {self.distinct:,} distinct states>"

    def _repr_html_(self) -> str:
        if self._explanation is not None and self._explanation.page is not None:
            return self._explanation.page
        counters = self.details.counters
        rows = [
            ("distinct states", f"{counters.distinct:,}"),
            ("states generated", f"{counters.generated:,}"),
            ("levels", f"{counters.depth:,}"),
            ("seconds", f"{counters.seconds:.1f}"),
            *self.properties.items(),
        ]
        title = next(line.text for line in verdict_lines(self._outcome))
        remarks = [*self._remarks(), *(self._explanation.lines if self._explanation is not None else ())]
        return table_html(f"{self.model.spec.name} {self.model.name}: {title}", rows, remarks)


class CheckResult(CheckedResult):
    """The result of a check of a Python spec."""

    def __init__(self, spec: LoadedSpec, outcome: Outcome) -> None:
        super().__init__(outcome)
        self._spec = spec

    @property
    def spec(self) -> LoadedSpec:
        """The spec with the constants of this model: the states of the trace are its states."""
        return self._spec
