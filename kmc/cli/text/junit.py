"""A result as a JUnit report: a test case for each property, for the exploration itself, and the conditions of
`--strict`.

Invariant: a report has a failure or an error exactly when the check does not exit 0. A test case that passed gives in
its name the extent of its check, unless that was everything, and in its output the number of states. The output of the
suite is the verdict in one line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

from kmc.checking.outcome import Outcome
from kmc.checking.proof import constraints_text, cut_sentence, odds_clause, scope_text, unsearched_text
from kmc.checking.verdict_line import verdict_line
from kmc.cli.reports.check_report import CheckReport
from kmc.cli.text.conclusion import conclusion, reproduce_line
from kmc.error_text import error_text
from kmc.errors import ExitStatus, KmcError
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role, of_role
from kmc.liveness.refutation_lines import refutation_lines
from kmc.result import Bound, PropertyVerdict, Verdict, Violation

AS_EXPECTED = ", as expected"
NOT_ENDED = "the check did not end: its process was killed, or is still at work"
EXPLORATION = "every reachable state is explored"
_FORBIDDEN = {code: None for code in range(32) if code not in (9, 10, 13)}


@dataclass(frozen=True, slots=True)
class TestCase:
    """One test case; `outcome` is None when it passed, and `text` is its output then.

    `of` is its class, if that is not the suite, and `seconds` its duration, if that is known. `type` is the kind of
    failure or error: "violation", "liveness", "deadlock", "bound", "strict", the code of an error, ...
    """

    name: str
    outcome: Literal["failure", "error", "skipped"] | None = None
    message: str = ""
    text: str = ""
    of: str = ""
    seconds: float | None = None
    type: str = ""


def junit_text(report: CheckReport) -> str:
    """The report of a check that has a result."""
    outcome = report.outcome
    model = outcome.model
    cases = [*_properties(report), _exploration(report), *_deadlock(report)]
    if outcome.request.acceptance.expect and not outcome.unexpected:
        cases = [_as_expected(case) for case in cases]
    cases += [*_strict(outcome), *_expected(report)]
    name = f"{model.spec.name}.{model.name}"
    return suite_text(name, cases, outcome.result.counters.seconds, verdict_line(outcome))


def junit_failure(spec: str, model: str | None, error: Exception | KeyboardInterrupt) -> str:
    """The report of a check that has no result because `error`, or a signal, ended it."""
    match error:
        case KeyboardInterrupt():
            text = "interrupted"
        case KmcError():
            text = error_text(error)
        case _:
            text = repr(error)
    type_ = error.code if isinstance(error, KmcError) else type(error).__name__
    case = TestCase(EXPLORATION, "error", text.splitlines()[0], text, type=type_)
    name = class_name(spec)
    return suite_text(f"{name}.{model}" if model else name, [case], 0.0)


def junit_begun(spec: str, model: str | None) -> str:
    """The report that exists while a check runs, and that remains if its process is killed."""
    name = class_name(spec)
    return suite_text(
        f"{name}.{model}" if model else name, [TestCase(EXPLORATION, "error", NOT_ENDED, type="not ended")], 0.0
    )


def class_name(typed: str) -> str:
    """The class name of a spec in a report: its `spec_title` without dots, which would divide packages."""
    return spec_title(typed).replace(".", "_") or "specs"


def spec_title(typed: str) -> str:
    """The name of a spec, or of a folder of specs, as it was typed: the last part of its path, also of `.`."""
    path = Path(typed)
    return (path.resolve() if path.name in ("", "..") else path).name


def verdict_and_failures(report: str) -> tuple[str, str]:
    """The verdict in one line, and the failures in a report of `junit_text`, expected ones included."""
    suite = ElementTree.fromstring(report)
    failures: dict[str, None] = {}
    for case in suite.iter("testcase"):
        for detail in (case.find("failure"), case.find("error")):
            if detail is not None:
                failures[detail.text or f"{case.get('name')}: {detail.get('message')}"] = None
        if case.get("name", "").endswith(AS_EXPECTED):
            failures[case.findtext("system-out", "")] = None
    return suite.findtext("system-out") or next(iter(failures), "").partition("\n")[0], "\n\n".join(failures)


def _properties(report: CheckReport) -> Iterator[TestCase]:
    for prop in report.outcome.result.properties:
        yield _property(report, prop)


def _property(report: CheckReport, prop: PropertyVerdict) -> TestCase:
    outcome = report.outcome
    match prop.verdict:
        case "violated":
            return TestCase(prop.name, "failure", f"{prop.name} is violated", _last_words(report), type=_kind(outcome))
        case "not refuted":
            return TestCase(prop.name, "skipped", "not refuted by the behaviors that were looked at, which are not all")
        case "not checked" if outcome.result.is_unsearched:
            return TestCase(prop.name, "skipped", unsearched_text(outcome.result))
        case "not checked":
            return TestCase(prop.name, "skipped", "this search did not check temporal properties")
        case _:
            return _passed(outcome, prop.name, "holds")


def _kind(outcome: Outcome) -> str:
    """The kind of failure of a property: the one that ended the check, or a violation after which --continue
    went on.
    """
    violation = outcome.result.violation
    return "violation" if violation is None else violation.verdict.value


def _passed(outcome: Outcome, name: str, claim: str) -> TestCase:
    """A test case for a claim that was true in all states that were checked, and only in those."""
    result, model = outcome.result, outcome.model
    said = f"{claim} {scope_text(result, model)}"
    limits = (odds_clause(result), cut_sentence(result, model))
    return TestCase(name + _scope(outcome), text="; ".join(filter(None, (said, *limits))))


def _scope(outcome: Outcome) -> str:
    """The extent of the check, for the name of a test case; "" if that was every reachable state."""
    result, model = outcome.result, outcome.model
    within = f" within {constraints_text(model)}" if model.predicates(Role.BOUNDING) else ""
    match result.verdict, result.bound:
        case _ if result.is_whole:
            return within
        case Verdict.BOUND_REACHED, Bound.DEPTH:
            return f" in levels 1 to {result.counters.depth}{within}"
        case Verdict.BOUND_REACHED, Bound.START:
            return f" from the given state{within}"
        case _:
            return f" as far as the search went{within}"


def _last_words(report: CheckReport) -> str:
    """The counterexample as the terminal shows it, and the next command."""
    return "\n".join([*_counterexample(report.outcome), *conclusion(report)])


def _counterexample(outcome: Outcome) -> Iterator[str]:
    violation = outcome.result.violation
    if outcome.explained is not None:
        yield from outcome.explained.report
    elif violation is not None:
        yield from (f"State {number}: <{step.label}>" for number, step in enumerate(violation.trace.steps, 1))
        yield from _closing(violation)
        yield from refutation_lines(violation)


def _closing(violation: Violation) -> Iterator[str]:
    """The line on the infinite continuation of the behavior, in TLC's words."""
    cycle = violation.refutation.cycle if violation.refutation is not None else None
    if cycle is not None and cycle.closing is None:
        yield f"State {len(violation.trace) + 1}: Stuttering"
    elif cycle is not None and cycle.closing is not None:
        yield f"Back to state {cycle.back_to}: <{cycle.closing.label}>"


def _exploration(report: CheckReport) -> TestCase:
    outcome = report.outcome
    result = outcome.result
    words = "\n".join(conclusion(report))
    name = _exploration_name(outcome.model)
    match result.verdict:
        case Verdict.INTERRUPTED:
            return TestCase(name, "error", "interrupted", words, type="interrupted")
        case Verdict.ERROR | Verdict.ASSERTION:
            error = result.violation.error if result.violation else None
            text = error_text(error) if error else result.verdict.value
            kind: Literal["failure", "error"] = "error" if result.verdict is Verdict.ERROR else "failure"
            type_ = error.code if error else result.verdict.value
            return TestCase(name, kind, text.splitlines()[0], f"{text}\n{_last_words(report)}", type=type_)
        case Verdict.BOUND_REACHED:
            bound = result.bound.value if result.bound else "bound"
            accepted = outcome.status is not ExitStatus.BOUND_REACHED
            return TestCase(name, "skipped" if accepted else "failure", f"bound reached: {bound}", words, type="bound")
        case Verdict.OK:
            return TestCase(name, text="\n".join(filter(None, (words, cut_sentence(result, outcome.model)))))
        case _ if result.is_whole:
            # Lassos are searched for when the search of the states has ended.
            return TestCase(name, text=words)
        case _:
            return TestCase(name, "skipped", "a violation ended the exploration", words)


def _exploration_name(model: Model) -> str:
    constraints = constraints_text(model)
    return f"every state reachable without breaking {constraints} is explored" if constraints else EXPLORATION


def _deadlock(report: CheckReport) -> Iterator[TestCase]:
    outcome = report.outcome
    if outcome.result.verdict is Verdict.DEADLOCK:
        yield TestCase("no deadlock", "failure", "deadlock reached", _last_words(report), type="deadlock")
    elif outcome.model.deadlock:
        yield _passed(outcome, "no deadlock", "none")


def _strict(outcome: Outcome) -> Iterator[TestCase]:
    result = outcome.result
    if not outcome.request.acceptance.strict or result.verdict not in (Verdict.OK, Verdict.BOUND_REACHED):
        return
    for action in result.generated_by_action:
        yield _strict_case(f"action {action} fires", "it never fired" if action in outcome.idle_actions else "")
    for kind in of_role(Role.WITNESSED):
        for prop in outcome.model.of(kind):
            yield _strict_case(
                f"{kind.name} {prop.name} is reached", "never reached" * (prop.name in outcome.unreached)
            )
    for vacuity in outcome.vacuous:
        yield _strict_case(f"{vacuity.name} asks for something", vacuity.why)


def _strict_case(name: str, missed: str) -> TestCase:
    """A test case for a condition of `--strict`; `missed` is the reason why it is not met, and is empty if it is."""
    return TestCase(name, "failure" if missed else None, missed, type="strict")


def _as_expected(case: TestCase) -> TestCase:
    """A test case for an expected failure: it passed, and its output is the trace."""
    if case.outcome not in ("failure", "error"):
        return case
    return TestCase(f"{case.name}: {case.message}{AS_EXPECTED}", text=case.text)


def _expected(report: CheckReport) -> Iterator[TestCase]:
    outcome = report.outcome
    name, differences = "the result is the expected one", list(outcome.differences)
    if outcome.request.acceptance.expect and outcome.result.verdict is Verdict.INTERRUPTED:
        yield TestCase(name, "skipped", "interrupted")
        return
    if outcome.request.acceptance.expect:
        differences = list(outcome.unexpected)
    elif not differences and (outcome.not_compared is not None or not outcome.model.file.expect):
        return
    # A violation already has its conclusion beside its trace.
    more = [*conclusion(report), reproduce_line(report)] if differences and outcome.result.violation is None else []
    yield TestCase(
        name,
        "failure" if differences else None,
        differences[0] if differences else "",
        "\n".join([*differences, *more]),
        type="unexpected",
    )


def suite_text(name: str, cases: Sequence[TestCase], seconds: float, output: str = "") -> str:
    """A report with these test cases; `name` is the class of those that have none."""
    counts = {kind: sum(case.outcome == kind for case in cases) for kind in ("failure", "error", "skipped")}
    suite = ElementTree.Element(
        "testsuite",
        name=f"kmc.{name}",
        tests=str(len(cases)),
        failures=str(counts["failure"]),
        errors=str(counts["error"]),
        skipped=str(counts["skipped"]),
        time=f"{seconds:.3f}",
    )
    for case in cases:
        element = ElementTree.SubElement(suite, "testcase", classname=case.of or name, name=case.name)
        if case.seconds is not None:
            element.set("time", f"{case.seconds:.3f}")
        if case.outcome is not None:
            detail = ElementTree.SubElement(element, case.outcome, message=case.message.translate(_FORBIDDEN))
            if case.outcome != "skipped":
                detail.set("type", case.type or case.outcome)
            detail.text = case.text.translate(_FORBIDDEN)
        elif case.text:
            ElementTree.SubElement(element, "system-out").text = case.text.translate(_FORBIDDEN)
    if output:
        ElementTree.SubElement(suite, "system-out").text = output.translate(_FORBIDDEN)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
