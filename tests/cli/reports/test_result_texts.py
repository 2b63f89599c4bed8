"""A result as text, as a JUnit report and as JSON, for every way in which a check can end; no search runs here.

The golden texts are in tests/data/results; KMC_UPDATE_GOLDEN=1 writes what is printed now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support.commands.golden_texts import assert_golden, golden_texts
from support.specs.small import COUNTER, model_of

from kmc import __version__
from kmc.checking.model_choice import ChosenModel
from kmc.checking.outcome import Outcome
from kmc.checking.request import Acceptance, CheckRequest
from kmc.checking.result_json import failure_json
from kmc.cli.options.check_options import CheckOptions
from kmc.cli.reports.check_report import CheckReport
from kmc.cli.text.conclusion import conclusion
from kmc.cli.text.junit import junit_failure, junit_text
from kmc.errors import EvaluationError, ExitStatus, ModelError, Span
from kmc.result import AssumedFairness, Bound, Counters, PropertyVerdict, Result, Trace, TraceStep, Verdict, Violation

SOURCE = (
    "from kmc.spec import always_eventually\n"
    + COUNTER
    + """
Seat = constant("Seat", IdentSet(symmetric=True), "Who sits there")


@spec.reachable
def Three(st):
    return st.n == 3


@spec.reachable
def Nine(st):
    return st.n == 9


@spec.action_property
def Grows(st, nxt):
    return nxt.n > st.n


@spec.liveness
def ThreeAgain():
    return always_eventually(lambda st: st.n == 3)


@spec.action_constraint
def Slow(st, nxt):
    return nxt.n <= st.n + 1


spec.symmetry("seats", Seat)
spec.view("all", drop=["n"])
"""
)
NOT_GIVEN: dict[str, Any] = {option.name: None for option in fields(CheckOptions)}
OPTIONS = CheckOptions(**{**NOT_GIVEN, "words": ("check", "the counter")})
RESULT = Result(
    verdict=Verdict.OK,
    counters=Counters(generated=5000, distinct=1000, left=30, depth=7, seconds=1.5, memory_bytes=10),
    initial=1,
    levels=(1, 2),
    generated_by_action={"Increase": 5, "Stop": 0},
    properties=(),
    violation=None,
    bound=None,
    unreached=(),
    never_fired=(),
    collision_bound=1e-9,
    cpu_seconds=2.0,
    peak_memory_bytes=3,
    engine="native",
    compile_seconds=0.25,
    fingerprint_bits=64,
)
ODDS = "odds of a missed state at most 1.0E-09"
CONCLUSIONS = "conclusions"


MakeReport = Callable[..., CheckReport]


@pytest.fixture
def report_of(tmp_path: Path) -> MakeReport:
    """Makes the outcome of a model of the counter: its `.cfg`, and what is not as in `RESULT`."""

    def make(cfg: str = "INVARIANT NotNegative", **changes: Any) -> CheckReport:
        model = model_of(tmp_path, SOURCE, f"CONSTANT Seat = {{a, b}} {cfg}")
        request = CheckRequest(ChosenModel(model, None))
        return CheckReport(OPTIONS, Outcome(request, replace(RESULT, **changes), (), None, (), ExitStatus.OK))

    return make


def judged(made: CheckReport, **changes: Any) -> CheckReport:
    """The report with these changes of its outcome."""
    return replace(made, outcome=replace(made.outcome, **changes))


def accepting(made: CheckReport, **changes: bool) -> CheckReport:
    """The report of a check that accepts other results."""
    return judged(made, request=replace(made.outcome.request, acceptance=Acceptance(**changes)))


def with_counters(**changes: Any) -> dict[str, Any]:
    """A change of the counters."""
    return {"counters": replace(RESULT.counters, **changes)}


DEPTH: dict[str, Any] = {"verdict": Verdict.BOUND_REACHED, "bound": Bound.DEPTH}
START: dict[str, Any] = {"verdict": Verdict.BOUND_REACHED, "bound": Bound.START}
AGAIN_HOLDS = (PropertyVerdict("ThreeAgain", "holds", is_temporal=True),)
UNCHECKED: dict[str, Any] = {"verdict": Verdict.BOUND_REACHED, "bound": Bound.NOT_CHECKED}
STATES: dict[str, Any] = {"verdict": Verdict.BOUND_REACHED, "bound": Bound.STATES}
PROVED: dict[str, tuple[str, dict[str, Any]]] = {
    "an invariant": ("INVARIANT NotNegative", {}),
    "two invariants and a property of steps": (
        "INVARIANTS NotNegative BelowTwo PROPERTY Grows CHECK_DEADLOCK FALSE",
        {},
    ),
    "nothing": ("CHECK_DEADLOCK FALSE", {}),
    "one state by value": (
        "INVARIANT NotNegative",
        {**with_counters(distinct=1, depth=1), "fingerprint_bits": 0},
    ),
    "two levels up to symmetry and view": (
        "INVARIANT NotNegative SYMMETRY seats VIEW all",
        with_counters(distinct=2, depth=2),
    ),
    "what a constraint cut": (
        "INVARIANT NotNegative CONSTRAINT AtMostTwo ACTION_CONSTRAINT Slow",
        {"cut": 4},
    ),
    "a constraint that cut nothing": ("INVARIANT NotNegative CONSTRAINT AtMostTwo", {}),
    "up to a level": ("INVARIANT NotNegative", DEPTH),
    "from a state": ("INVARIANT NotNegative CONSTRAINT AtMostTwo", {**START, "cut": 1}),
    "up to a number of states": ("INVARIANT NotNegative", {**STATES, "fingerprint_bits": 0}),
    "a temporal property under fairness": (
        "INVARIANT NotNegative PROPERTY ThreeAgain",
        {"properties": AGAIN_HOLDS, "fairness": (AssumedFairness("WF_vars(Increase)", "Increase", False),)},
    ),
    "a temporal property without fairness": (
        "PROPERTY ThreeAgain CHECK_DEADLOCK FALSE",
        {"properties": AGAIN_HOLDS},
    ),
    "a temporal property within a constraint": (
        "INVARIANT NotNegative PROPERTY ThreeAgain CONSTRAINT AtMostTwo CHECK_DEADLOCK FALSE",
        {
            "verdict": Verdict.BOUND_REACHED,
            "bound": Bound.CONSTRAINT,
            "cut": 1,
            "properties": (PropertyVerdict("ThreeAgain", "not refuted", is_temporal=True),),
        },
    ),
    "nothing of a temporal property": ("INVARIANT NotNegative PROPERTY ThreeAgain", UNCHECKED),
    "interrupted": ("INVARIANT NotNegative", {"verdict": Verdict.INTERRUPTED}),
}


@pytest.mark.parametrize("title", PROVED)
def test_the_conclusion_says_what_was_proved_and_in_which_states(title: str, report_of: MakeReport) -> None:
    cfg, changes = PROVED[title]
    assert_golden(CONCLUSIONS, title, conclusion(report_of(cfg, **changes)))


def violated(model_state: Any, verdict: Verdict, **more: Any) -> dict[str, Any]:
    """The changes of a result with a violation of two states."""
    steps = (TraceStep(model_state), TraceStep(model_state, "Increase", "Increase"))
    return {"verdict": verdict, "violation": Violation(verdict, more.pop("name", None), Trace(steps), **more)}


def test_a_conclusion_says_what_to_type_next(report_of: MakeReport) -> None:
    made = report_of(**violated(None, Verdict.VIOLATION, name="NotNegative"))
    assert_golden(CONCLUSIONS, "a violation", conclusion(made))
    saved = replace(
        made, folder=Path("runs/my run"), trace_path=Path("runs/my run/trace.itf.json"), resume="kmc check -r"
    )
    assert_golden(CONCLUSIONS, "a violation whose trace is saved", conclusion(saved))


def test_the_golden_conclusions_are_those_of_these_tests() -> None:
    assert list(golden_texts(CONCLUSIONS)) == [*PROVED, "a violation", "a violation whose trace is saved"]


def test_a_violation_of_a_finding_is_shown_with_its_title(report_of: MakeReport) -> None:
    made = report_of(**violated(None, Verdict.VIOLATION, name="NotNegative"))
    model = replace(made.outcome.model, file=replace(made.outcome.model.file, title="It was lost"))
    found = judged(made, request=CheckRequest(ChosenModel(model, "finding")))
    assert next(iter(conclusion(found))) == "Finding: It was lost"


Case = tuple[str, str, str, str]


def suite_of(text: str) -> tuple[dict[str, str], list[Case]]:
    """The attributes of a report and its cases: name, what it is, message, text."""
    assert text.startswith("<?xml version='1.0' encoding='utf-8'?>\n<testsuite ")
    assert text.endswith("</testsuite>\n")
    suite = ElementTree.fromstring(text.encode())
    cases = []
    for case in suite.iter("testcase"):
        assert case.get("classname") == "spec.model"
        parts = [(part.tag, part.get("message", ""), part.text or "") for part in case] or [("", "", "")]
        assert len(parts) == 1
        cases.append((case.get("name", ""), *parts[0]))
    return dict(suite.items()), cases


HELD = (PropertyVerdict("NotNegative", "holds"),)
OUT = "system-out"


def test_a_report_counts_its_cases(report_of: MakeReport) -> None:
    properties = (*HELD, PropertyVerdict("BelowTwo", "violated"), PropertyVerdict("Later", "not checked"))
    changes = violated(None, Verdict.VIOLATION, name="BelowTwo")
    attributes, cases = suite_of(junit_text(report_of(properties=properties, **changes)))
    assert attributes == {
        "name": "kmc.spec.model", "tests": "5", "failures": "1", "errors": "0", "skipped": "2", "time": "1.500",
    }  # fmt: skip
    last = "State 1: <Initial predicate>\nState 2: <Increase>\nReproduce: kmc check 'the counter'"
    reproduce = "Reproduce: kmc check 'the counter'"
    assert cases == [
        ("NotNegative as far as the search went", OUT, "", f"holds in the 970 states explored; {ODDS}"),
        ("BelowTwo", "failure", "BelowTwo is violated", last),
        ("Later", "skipped", "this search did not check temporal properties", ""),
        ("every reachable state is explored", "skipped", "a violation ended the exploration", reproduce),
        ("no deadlock as far as the search went", OUT, "", f"none in the 970 states explored; {ODDS}"),
    ]


@pytest.mark.parametrize(
    ("changes", "scope", "where"),
    [
        ({}, "", "in all 1,000 states reachable"),
        (UNCHECKED, "", "in all 1,000 states reachable"),
        (DEPTH, " in levels 1 to 7", "in the 1,000 states of levels 1 to 7"),
        (START, " from the given state", "in the 1,000 states that the given state reaches"),
        (STATES, " as far as the search went", "in the 970 states explored"),
    ],
)
def test_a_case_that_passed_says_how_far(
    changes: dict[str, Any], scope: str, where: str, report_of: MakeReport
) -> None:
    _, cases = suite_of(junit_text(report_of("INVARIANT NotNegative PROPERTY ThreeAgain", properties=HELD, **changes)))
    assert cases[0] == (f"NotNegative{scope}", OUT, "", f"holds {where}; {ODDS}")
    cfg = "INVARIANT NotNegative CONSTRAINT AtMostTwo PROPERTY ThreeAgain"
    _, cases = suite_of(junit_text(report_of(cfg, properties=HELD, cut=1200, **changes)))
    cut = "1,200 generated states were outside of AtMostTwo: checked, but not expanded."
    within = " without breaking AtMostTwo"
    assert cases[0] == (f"NotNegative{scope} within AtMostTwo", OUT, "", f"holds {where}{within}; {ODDS}; {cut}")


def exploration(made: CheckReport) -> Case:
    """The case of the exploration."""
    (found,) = (case for case in suite_of(junit_text(made))[1] if case[0].endswith("explored"))
    return found


WHOLE = "every reachable state is explored"


def test_the_exploration_is_a_case(report_of: MakeReport) -> None:
    made = report_of()
    assert exploration(made) == (WHOLE, OUT, "", "\n".join(conclusion(made)))
    cut = report_of("CONSTRAINT AtMostTwo", cut=1)
    sentence = "1 generated state was outside of AtMostTwo: checked, but not expanded."
    name = "every state reachable without breaking AtMostTwo is explored"
    assert exploration(cut) == (name, OUT, "", "\n".join([*conclusion(cut), sentence]))


def test_an_interrupted_exploration_is_an_error(report_of: MakeReport) -> None:
    made = report_of(verdict=Verdict.INTERRUPTED)
    assert exploration(made) == (WHOLE, "error", "interrupted", "\n".join(conclusion(made)))


def test_an_interrupted_check_has_a_skipped_case_for_what_is_expected(report_of: MakeReport) -> None:
    made = report_of(verdict=Verdict.INTERRUPTED)
    made = accepting(made, expect=True)
    name, *rest = suite_of(junit_text(made))[1][-1]
    assert (name, rest[:2]) == ("the result is the expected one", ["skipped", "interrupted"])


@pytest.mark.parametrize(("verdict", "tag"), [(Verdict.ERROR, "error"), (Verdict.ASSERTION, "failure")])
def test_an_exploration_that_an_error_ended_shows_the_error(verdict: Verdict, tag: str, report_of: MakeReport) -> None:
    error = EvaluationError("KMC290", "so it is", Span("spec.py", 3, 1))
    name, found, message, text = exploration(report_of(**violated(None, verdict, error=error)))
    assert (name, found, message) == (WHOLE, tag, "error[KMC290]: so it is")
    assert text.splitlines()[:2] == ["error[KMC290]: so it is", " --> spec.py:3:1"]
    assert text.endswith("\nState 2: <Increase>\nReproduce: kmc check 'the counter'")


@pytest.mark.parametrize(("status", "tag"), [(ExitStatus.BOUND_REACHED, "failure"), (ExitStatus.OK, "skipped")])
def test_a_bound_is_a_failure_unless_it_is_accepted(status: ExitStatus, tag: str, report_of: MakeReport) -> None:
    made = judged(report_of(**DEPTH), status=status)
    assert exploration(made) == (WHOLE, tag, "bound reached: depth", "\n".join(conclusion(made)))


def test_a_deadlock_is_a_case_where_it_is_asked_for(report_of: MakeReport) -> None:
    made = report_of(**violated(None, Verdict.DEADLOCK))
    last = "State 1: <Initial predicate>\nState 2: <Increase>\nReproduce: kmc check 'the counter'"
    assert suite_of(junit_text(made))[1][-1] == ("no deadlock", "failure", "deadlock reached", last)
    none = ("no deadlock", OUT, "", f"none in all 1,000 states reachable; {ODDS}")
    assert suite_of(junit_text(report_of()))[1][-1] == none
    assert [case[0] for case in suite_of(junit_text(report_of("CHECK_DEADLOCK FALSE")))[1]] == [WHOLE]


def strict(made: CheckReport) -> list[Case]:
    """The cases of a strict check behind those that every check has."""
    return suite_of(junit_text(accepting(made, strict=True)))[1][1:]


def test_a_strict_check_asks_for_every_action_and_reachable_property(report_of: MakeReport) -> None:
    cfg = "CHECK_DEADLOCK FALSE"
    wanted = [
        ("action Increase fires", "", "", ""),
        ("action Stop fires", "failure", "it never fired", ""),
        ("reachable Three is reached", "", "", ""),
        ("reachable Nine is reached", "failure", "never reached", ""),
    ]
    assert strict(report_of(cfg, never_fired=("Stop",), unreached=("Nine",))) == wanted
    assert strict(report_of(cfg, never_fired=("Stop",), unreached=("Nine",), **DEPTH)) == wanted
    assert strict(report_of(cfg, never_fired=("Stop",), verdict=Verdict.INTERRUPTED)) == []


def test_what_the_manifest_expects_is_a_case_where_it_was_compared(report_of: MakeReport) -> None:
    made = report_of("CHECK_DEADLOCK FALSE")
    model = replace(made.outcome.model, file=replace(made.outcome.model.file, expect={"distinct": 1}))
    compared = judged(made, request=CheckRequest(ChosenModel(model, None)))
    name = "the result is the expected one"
    assert suite_of(junit_text(compared))[1][1:] == [(name, "", "", "")]
    differs = judged(compared, differences=("distinct is 2, not 1", "depth is 3"))
    repeat = "Reproduce: kmc check 'the counter'"
    text = "\n".join(["distinct is 2, not 1", "depth is 3", *conclusion(differs), repeat])
    assert suite_of(junit_text(differs))[1][1:] == [(name, "failure", "distinct is 2, not 1", text)]
    assert suite_of(junit_text(judged(compared, not_compared="it was cut short")))[1][1:] == []


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyboardInterrupt(), "interrupted"),
        (ModelError("KMC345", "there is no 'x'"), "error[KMC345]: there is no 'x'"),
        (ValueError("what\x07"), "ValueError('what\\x07')"),
        (ModelError("KMC345", "a bell: \x07."), "error[KMC345]: a bell: ."),
    ],
)
def test_a_check_without_a_result_is_a_report_of_one_error(error: Any, message: str) -> None:
    text = junit_failure("spec", "model", error)
    attributes, ((name, tag, said, shown),) = suite_of(text)
    assert attributes["name"] == "kmc.spec.model"
    assert [attributes[key] for key in ("tests", "failures", "errors", "skipped", "time")] == [*"1010", "0.000"]
    assert (name, tag, said, shown.splitlines()[0]) == (WHOLE, "error", message, message)
    assert 'name="kmc.spec"' in junit_failure("spec", None, error)
    assert 'classname="our_lock"' in junit_failure("./specs/our_lock/", None, error)


def test_the_json_object_has_all_that_a_result_has(report_of: MakeReport) -> None:
    properties = (PropertyVerdict("NotNegative", "holds"), PropertyVerdict("BelowTwo", "violated", 4))
    cfg = "INVARIANT NotNegative CONSTRAINT AtMostTwo ACTION_CONSTRAINT Slow"
    made = report_of(cfg, properties=properties, unreached=("Nine",), never_fired=("Stop",), cut=6, **DEPTH)
    found = made.as_json
    wanted = {
        "result": "bound reached", "generated": 5000, "distinct": 1000, "depth": 7, "initial": 1, "left": 30,
        "generated_by_action": {"Increase": 5, "Stop": 0}, "levels": [1, 2],
        "invariant": None, "trace_length": None, "trace_file": None, "error": None,
        "constraints": ["AtMostTwo", "Slow"], "cut": 6, "bound": "depth",
        "properties": [
            {"name": "NotNegative", "verdict": "holds", "violations": 0},
            {"name": "BelowTwo", "verdict": "violated", "violations": 4},
        ],
        "unreached_goals": ["Nine"], "never_fired": ["Stop"], "collision_bound": 1e-9, "fingerprint_bits": 64,
        "seconds": 1.5, "cpu_seconds": 2.0, "compile_seconds": 0.25, "peak_memory_bytes": 3, "engine": "native",
        "spec": "spec", "model": "model", "digest": made.outcome.model.digest, "kmc_version": __version__,
        "resume": None, "differences": [], "exit_status": 0,
    }  # fmt: skip
    assert {key: found[key] for key in wanted} == wanted
    assert report_of().as_json["bound"] is None


def test_the_json_object_rounds_seconds_to_microseconds(report_of: MakeReport) -> None:
    counters = replace(RESULT.counters, seconds=1.23456789)
    found = report_of(counters=counters, cpu_seconds=2.0000019, compile_seconds=0.1234567).as_json
    assert (found["seconds"], found["cpu_seconds"], found["compile_seconds"]) == (1.234568, 2.000002, 0.123457)


def test_the_json_object_names_the_violation_and_its_trace(report_of: MakeReport) -> None:
    error = EvaluationError("KMC290", "so it is", Span("spec.py", 3, 4), "do so", ("and", "so on"))
    made = report_of(**violated(None, Verdict.ASSERTION, name="BelowTwo", error=error))
    found = replace(made, trace_path=Path("runs/trace.json")).as_json
    assert (found["invariant"], found["trace_length"], found["trace_file"]) == ("BelowTwo", 2, "runs/trace.json")
    shown = found["error"]
    assert shown.pop("text").startswith("error[KMC290]: so it is\n")
    assert shown == {
        "code": "KMC290", "message": "so it is", "path": "spec.py", "line": 3, "column": 4, "help": "do so",
        "notes": ["and", "so on"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("error", "result", "status", "code"),
    [
        (KeyboardInterrupt(), "interrupted", ExitStatus.INTERRUPTED, None),
        (ModelError("KMC345", "there is no 'x'"), "error", ModelError("KMC345", "").exit_status, "KMC345"),
        (ValueError("x"), "error", ExitStatus.INTERNAL, "KMC900"),
    ],
)
def test_a_check_without_a_result_has_the_same_keys(
    error: Any, result: str, status: ExitStatus, code: str | None, report_of: MakeReport
) -> None:
    found = failure_json(error, "spec", None, "native", "kmc check -r")
    assert found.keys() == report_of().as_json.keys()
    known = {"result", "engine", "spec", "kmc_version", "resume", "differences", "exit_status", "error"}
    known |= {"expected", "unexpected"}
    assert all(found[key] is None for key in found.keys() - known)
    assert (found["result"], found["exit_status"], found["resume"]) == (result, int(status), "kmc check -r")
    assert (found["engine"], found["spec"], found["kmc_version"]) == ("native", "spec", __version__)
    assert (found["error"] or {}).get("code") == code
    assert (found["differences"], found["expected"]) == ([], False)
    if code == "KMC900":
        assert found["error"]["message"] == "ValueError('x')"
    if code == "KMC345":
        assert (found["error"]["path"], found["error"]["line"], found["error"]["column"]) == (None, None, None)
