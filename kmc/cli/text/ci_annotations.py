"""A result as annotations of hosted CI: workflow commands of GitHub Actions, which other services read too.

    ::error file=specs/kraft/properties.py,line=40,title=kmc kraft restarts::NoIllegalState fails ...

Invariant: an annotation is one line, whatever a spec's texts contain; a check that exits 0 has no error among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from kmc.checking.outcome import Outcome
from kmc.checking.result_warnings import missed_texts, warning_texts
from kmc.checking.verdict_line import verdict_line
from kmc.cli.reports.check_report import CheckReport
from kmc.cli.reports.model_run import ModelRun, State
from kmc.cli.text.conclusion import reproduce_line
from kmc.error_text import error_text, shown_path
from kmc.errors import ExitStatus, KmcError, Span
from kmc.frontend.model import Model
from kmc.result import Violation

GITHUB = "github"
_PROPERTY_ESCAPES = {"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"}
_TEXT_ESCAPES = {"%": "%25", "\r": "%0D", "\n": "%0A"}


def result_annotations(report: CheckReport) -> Iterator[str]:
    """The annotations of a check that has a result: why it does not exit 0, at the property's line, and warnings."""
    outcome = report.outcome
    model, violation = outcome.model, outcome.result.violation
    title = " ".join(dict.fromkeys(("kmc", model.spec.name, model.name)))
    is_failed = outcome.status is not ExitStatus.OK
    if is_failed:
        lines = [verdict_line(outcome), *_why(outcome), reproduce_line(report)]
        yield _line("error", title, "\n".join(lines), _place(model, violation) if violation is not None else None)
    missed = frozenset(missed_texts(outcome)) if outcome.request.acceptance.strict else frozenset()
    for text in warning_texts(outcome):
        yield _line("error" if text in missed else "warning", title, text)


def failure_annotation(error: Exception | KeyboardInterrupt, spec: str | None, model: str | None) -> str:
    """The annotation of a check that has no result because `error` ended it."""
    title = " ".join(filter(None, ("kmc", spec, model)))
    match error:
        case KeyboardInterrupt():
            return _line("error", title, "interrupted")
        case KmcError():
            return _line("error", title, error_text(error), error.span)
        case _:
            return _line("error", title, repr(error))


def annotations_of_all(runs: Sequence[ModelRun]) -> Iterator[str]:
    """The annotations of `kmc check --all`: an error for each model that is not as its manifest expects."""
    for run in runs:
        title = f"kmc {run.choice.spec} {run.choice.name}"
        if run.state is State.UNEXPECTED:
            yield _line("error", title, "\n".join(filter(None, (run.summary, run.text))))
        elif run.state is State.NOT_CHECKED:
            yield _line("warning", title, f"not checked: {run.summary}")


def _why(outcome: Outcome) -> Iterator[str]:
    """The explanation of the failure; nothing where the counterexample could not be explained."""
    if outcome.explained is not None:
        yield from outcome.explained.report


def _place(model: Model, violation: Violation) -> Span | None:
    """The place where the failing property is declared, or where the spec cannot be evaluated."""
    if violation.error is not None:
        return violation.error.span
    declared = chain(model.spec.properties.values(), model.temporal)
    return next((prop.span for prop in declared if prop.name == violation.name), None)


def _line(level: str, title: str, text: str, span: Span | None = None) -> str:
    location = [] if span is None else [f"file={_escaped(shown_path(span.path))}", f"line={span.line}"]
    return f"::{level} {','.join([*location, f'title={_escaped(title)}'])}::{_escaped(text.rstrip(), _TEXT_ESCAPES)}"


def _escaped(text: str, escapes: Mapping[str, str] = _PROPERTY_ESCAPES) -> str:
    return "".join(escapes.get(letter, letter) for letter in text)
