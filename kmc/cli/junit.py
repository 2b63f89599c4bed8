"""A result as a JUnit report: a test case for each property, for the exploration itself, and what `--strict` asks.

Invariant: a report has a failure or an error exactly when the check does not exit 0. A test case that passed says in
its name how far it was checked, unless that was everything, and in its output in how many states. The output of the
suite is the verdict in one line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

from kmc.cli.conclusion import conclusion, constraints_text, cut_sentence, odds_clause, reproduce_line, scope_text
from kmc.cli.outcome import Outcome
from kmc.cli.render_errors import error_text
from kmc.cli.verdict_line import verdict_line
from kmc.errors import ExitStatus, KmcError
from kmc.invariants.kinds import Role, of_role
from kmc.reference.refutation_lines import refutation_lines
from kmc.result import Bound, PropertyVerdict, Verdict, Violation
from kmc.spec.model import Model

AS_EXPECTED = ", as expected"
NOT_ENDED = "the check did not end: its process was killed, or is still at work"
EXPLORATION = "every reachable state is explored"
_FORBIDDEN = {code: None for code in range(32) if code not in (9, 10, 13)}


@dataclass(frozen=True, slots=True)
class TestCase:
    """One test case; `outcome` is None when it passed, and `text` is its output then.

    `of` is its class, where that is not the suite, and `seconds` what it took, where that is known.
    """

    name: str
    outcome: Literal["failure", "error", "skipped"] | None = None
    message: str = ""
    text: str = ""
    of: str = ""
    seconds: float | None = None


def junit_text(outcome: Outcome) -> str:
    """The report of a check that has a result."""
    model = outcome.chosen.model
    found = [*_properties(outcome), _exploration(outcome), *_deadlock(outcome)]
    if outcome.options.expect and not outcome.unexpected:
        found = [_as_expected(case) for case in found]
    cases = [*found, *_strict(outcome), *_expected(outcome)]
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
    case = TestCase(EXPLORATION, "error", text.splitlines()[0], text)
    name = class_name(spec)
    return suite_text(f"{name}.{model}" if model else name, [case], 0.0)


def junit_begun(spec: str, model: str | None) -> str:
    """The report that stands while a check runs, and that remains if its process is killed."""
    name = class_name(spec)
    return suite_text(f"{name}.{model}" if model else name, [TestCase(EXPLORATION, "error", NOT_ENDED)], 0.0)


def class_name(typed: str) -> str:
    """The class name of a spec in a report: its `spec_title` without dots, which would divide packages."""
    return spec_title(typed).replace(".", "_") or "specs"


def spec_title(typed: str) -> str:
    """The name of a spec, or of a folder of specs, as it was typed: the last part of its path, also of `.`."""
    path = Path(typed)
    return (path.resolve() if path.name in ("", "..") else path).name


def told_in(report: str) -> tuple[str, str]:
    """The verdict in one line, and what went wrong or was expected to, that a report of `junit_text` tells."""
    suite = ElementTree.fromstring(report)
    told: dict[str, None] = {}
    for case in suite.iter("testcase"):
        for detail in (case.find("failure"), case.find("error")):
            if detail is not None:
                told[detail.text or f"{case.get('name')}: {detail.get('message')}"] = None
        if case.get("name", "").endswith(AS_EXPECTED):
            told[case.findtext("system-out", "")] = None
    return suite.findtext("system-out") or next(iter(told), "").partition("\n")[0], "\n\n".join(told)


def _properties(outcome: Outcome) -> Iterator[TestCase]:
    for prop in outcome.result.properties:
        yield _property(outcome, prop)


def _property(outcome: Outcome, prop: PropertyVerdict) -> TestCase:
    match prop.verdict:
        case "violated":
            return TestCase(prop.name, "failure", f"{prop.name} is violated", _last_words(outcome))
        case "not refuted":
            return TestCase(prop.name, "skipped", "not refuted by the behaviors that were looked at, which are not all")
        case "not checked" if outcome.result.is_unsearched:
            return TestCase(prop.name, "skipped", "the time ran out while the spec was loaded and compiled")
        case "not checked":
            return TestCase(prop.name, "skipped", "this search did not check temporal properties")
        case _:
            return _passed(outcome, prop.name, "holds")


def _passed(outcome: Outcome, name: str, claim: str) -> TestCase:
    """A test case of what was true in all states that were checked, and only of those."""
    result, model = outcome.result, outcome.chosen.model
    said = f"{claim} {scope_text(result, model)}"
    limits = (odds_clause(result), cut_sentence(result, model))
    return TestCase(name + _scope(outcome), text="; ".join(filter(None, (said, *limits))))


def _scope(outcome: Outcome) -> str:
    """How far the check went, for the name of a test case; "" if that was every reachable state."""
    result, model = outcome.result, outcome.chosen.model
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


def _last_words(outcome: Outcome) -> str:
    """The counterexample as the terminal shows it, and what to type next."""
    return "\n".join([*_counterexample(outcome), *conclusion(outcome)])


def _counterexample(outcome: Outcome) -> Iterator[str]:
    violation = outcome.result.violation
    if outcome.told is not None:
        yield from outcome.told.report
    elif violation is not None:
        yield from (f"State {number}: <{step.label}>" for number, step in enumerate(violation.trace.steps, 1))
        yield from _closing(violation)
        yield from refutation_lines(violation)


def _closing(violation: Violation) -> Iterator[str]:
    """How the behavior goes on for ever, in TLC's words."""
    cycle = violation.refutation.cycle if violation.refutation is not None else None
    if cycle is not None and cycle.closing is None:
        yield f"State {len(violation.trace) + 1}: Stuttering"
    elif cycle is not None and cycle.closing is not None:
        yield f"Back to state {cycle.back_to}: <{cycle.closing.label}>"


def _exploration(outcome: Outcome) -> TestCase:
    result = outcome.result
    words = "\n".join(conclusion(outcome))
    name = _exploration_name(outcome.chosen.model)
    match result.verdict:
        case Verdict.INTERRUPTED:
            return TestCase(name, "error", "interrupted", words)
        case Verdict.ERROR | Verdict.ASSERTION:
            error = result.violation.error if result.violation else None
            text = error_text(error) if error else result.verdict.value
            kind: Literal["failure", "error"] = "error" if result.verdict is Verdict.ERROR else "failure"
            return TestCase(name, kind, text.splitlines()[0], f"{text}\n{_last_words(outcome)}")
        case Verdict.BOUND_REACHED:
            bound = result.bound.value if result.bound else "bound"
            accepted = outcome.status is not ExitStatus.BOUND_REACHED
            return TestCase(name, "skipped" if accepted else "failure", f"bound reached: {bound}", words)
        case Verdict.OK:
            return TestCase(name, text="\n".join(filter(None, (words, cut_sentence(result, outcome.chosen.model)))))
        case _ if result.is_whole:
            return TestCase(name, text=words)  # lassos are searched when it has ended
        case _:
            return TestCase(name, "skipped", "a violation ended the exploration", words)


def _exploration_name(model: Model) -> str:
    constraints = constraints_text(model)
    return f"every state reachable without breaking {constraints} is explored" if constraints else EXPLORATION


def _deadlock(outcome: Outcome) -> Iterator[TestCase]:
    if outcome.result.verdict is Verdict.DEADLOCK:
        yield TestCase("no deadlock", "failure", "deadlock reached", _last_words(outcome))
    elif outcome.chosen.model.deadlock:
        yield _passed(outcome, "no deadlock", "none")


def _strict(outcome: Outcome) -> Iterator[TestCase]:
    result = outcome.result
    if not outcome.options.strict or result.verdict not in (Verdict.OK, Verdict.BOUND_REACHED):
        return
    for action in result.generated_by_action:
        failed = action in outcome.idle_actions
        yield TestCase(f"action {action} fires", "failure" if failed else None, "it never fired" if failed else "")
    for kind in of_role(Role.WITNESSED):
        for prop in outcome.chosen.model.of(kind):
            name, failed = f"{kind.name} {prop.name} is reached", prop.name in outcome.unreached
            yield TestCase(name, "failure" if failed else None, "never reached" if failed else "")


def _as_expected(case: TestCase) -> TestCase:
    """A test case of what fails and is expected to: it passed, and its output is the trace."""
    if case.outcome not in ("failure", "error"):
        return case
    return TestCase(f"{case.name}: {case.message}{AS_EXPECTED}", text=case.text)


def _expected(outcome: Outcome) -> Iterator[TestCase]:
    name, found = "the result is the expected one", list(outcome.differences)
    if outcome.options.expect and outcome.result.verdict is Verdict.INTERRUPTED:
        yield TestCase(name, "skipped", "interrupted")
        return
    if outcome.options.expect:
        found = list(outcome.unexpected)
    elif not found and (outcome.not_compared is not None or not outcome.chosen.model.file.expect):
        return
    # A violation has told with its trace what it concludes.
    more = [*conclusion(outcome), reproduce_line(outcome)] if found and outcome.result.violation is None else []
    yield TestCase(name, "failure" if found else None, found[0] if found else "", "\n".join([*found, *more]))


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
            detail.text = case.text.translate(_FORBIDDEN)
        elif case.text:
            ElementTree.SubElement(element, "system-out").text = case.text.translate(_FORBIDDEN)
    if output:
        ElementTree.SubElement(suite, "system-out").text = output.translate(_FORBIDDEN)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
