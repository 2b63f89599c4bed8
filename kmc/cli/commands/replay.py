"""`kmc replay`: take the steps of a saved trace again, by the spec as it is now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kmc.cli.modules.module_argument import is_trace_of_module
from kmc.cli.options.shared_options import debug_option, json_option
from kmc.cli.saved.replayed import Replay
from kmc.cli.saved.saved_runs import recorded_spec
from kmc.cli.saved.trace_place import TracePlace, trace_place
from kmc.cli.text.console import say, show
from kmc.cli.text.explanation import report_with_debug
from kmc.errors import ExitStatus
from kmc.trace.files import read_trace
from kmc.unexplained import Unexplained, try_explaining

if TYPE_CHECKING:
    from kmc.reference.recurrence import RecordedFailure
    from kmc.story.parts.story import Why
    from kmc.story.retaken import Retaken
    from kmc.trace.untyped_trace import TraceFile

_EPILOG = """\b
Examples:
  kmc replay last                                the newest trace in .kmc/runs
  kmc replay .kmc/runs/kraft-restarts-20261120-231948
  kmc replay trace.itf.json --model standard      with the constants of that model
  kmc replay tlc-dump.json --spec kraft           a trace of TLC
  kmc replay last --pytest test_leaders.py        keep it as a regression test

\b
Exit status: 0 all steps hold, and the recorded failure, if there is one, occurs;
10 a step no longer holds, or the failure no longer occurs; 2 wrong command line;
75, 76 evaluating the spec fails; 150 the spec, 151 the trace or the model is wrong.
"""


@click.command("replay", epilog=_EPILOG, short_help="Replay a saved trace against the spec as it is now.")
@click.argument("trace")
@click.option("--spec", metavar="SPEC", help="The spec, where the trace does not name it or another one is meant.")
@click.option("--model", metavar="MODEL", help="Take the constants of this model, not those of the trace.")
@click.option("--property", "prop", metavar="NAME", help="Ask whether this property fails at the end of the trace.")
@click.option(
    "--pytest", "test_file", metavar="FILE", type=click.Path(dir_okay=False), help="Write a regression test for pytest."
)
@click.option(
    "--expect",
    type=click.Choice(["fixed", "violation"]),
    default="fixed",
    show_default=True,
    help="The regression test passes if the failure no longer occurs, or if it still does.",
)
@json_option
@debug_option
def replay_trace(
    trace: str,
    spec: str | None,
    model: str | None,
    prop: str | None,
    test_file: str | None,
    expect: str,
    as_json: bool,
) -> int:
    """Take the steps of TRACE again, one by one, by the spec as it is now.

    TRACE is a file of kmc, TLC (-dumpTrace json) or Apalache, the folder of a run, or `last` for the newest run with a
    trace. The replay stops at the first step that no longer holds, and says why. If all hold, it says whether what the
    trace was saved for still fails. Actions that the trace does not name are found by trying all. The spec may be a
    TLA+ module.
    """
    place = trace_place(trace)
    if place.step is not None:
        raise click.UsageError(f"a trace is replayed whole: leave out #{place.step}")
    recorded = read_trace(place.path)
    if is_trace_of_module(recorded, spec):
        if test_file is not None:
            raise click.UsageError("--pytest writes a test of a spec in Python: leave it out for a TLA+ module")
        # Imported here: the interpreter of modules is not needed for specs in Python.
        from kmc.cli.modules.replaying import replay_in_module

        replay = replay_in_module(place, recorded, spec, model, prop)
    else:
        replay = _replay_in_spec(place, recorded, spec, model, prop, test_file, is_fixed=expect == "fixed")
    if as_json:
        say(json.dumps(_object(replay), indent=2))
    else:
        show(_lines(replay))
        show(_written(Path(test_file)) if test_file is not None else ())
    replayed = replay.retaken
    return ExitStatus.OK if replayed.stop is None and replayed.shows is not False else ExitStatus.ASSUMPTION


def _replay_in_spec(
    place: TracePlace,
    recorded: TraceFile,
    spec: str | None,
    model: str | None,
    prop: str | None,
    test_file: str | None,
    *,
    is_fixed: bool,
) -> Replay:
    """The replay by a spec in Python; a regression test of it is written to `test_file`, if one is given."""
    # Imported here: the interpreter is not needed to list the commands.
    from kmc.cli.saved.traced_model import model_of_trace, recorded_failure
    from kmc.story.retaken import retake

    bound = model_of_trace(recorded, spec or recorded_spec(place.path.parent), model)
    failure = recorded_failure(recorded, prop)
    retaken = retake(recorded, bound, failure)
    if test_file is not None:
        from kmc.cli.saved.regression_file import write_regression_test

        write_regression_test(Path(test_file), recorded, bound, failure, retaken, is_fixed=is_fixed)

    def reason(failed: RecordedFailure) -> tuple[str, ...]:
        # Imported here: only a trace that replays has a story.
        from kmc.story.explain.why import why
        from kmc.story.recorded_violation import recorded_violation

        violation = recorded_violation(bound, failed, retaken)
        return () if violation is None else tuple(_why(why(bound, violation)))

    return Replay(recorded, bound.spec.name, bound.name, failure, retaken, reason)


def _written(test: Path) -> Iterator[str]:
    """The line with the path of the regression test; with advice if pytest would not find the file by itself."""
    yield f"Regression test: {test}"
    if not any(fnmatch(test.name, pattern) for pattern in ("test_*.py", "*_test.py")):
        yield "pytest collects only test_*.py and *_test.py by itself: name this file when you run it."


def _lines(replay: Replay) -> Iterator[str]:
    file, retaken, failure = replay.file, replay.retaken, replay.failure
    total = len(file.steps)
    of_model = f", model {replay.model}" if replay.model else ""
    yield f"Replay of {file.path}: {total} state{'' if total == 1 else 's'}, spec {replay.spec}{of_model}."
    yield from retaken.notes
    yield ""
    if retaken.stop is not None:
        held = len(retaken.steps)
        if held:
            yield f"State{'s' if held > 1 else ''} 1{f' to {held}' if held > 1 else ''}: as recorded."
        yield retaken.stop.sentence
        yield from (f"  {line}" for line in retaken.stop.details)
        return
    cycle = ", and the cycle closes" if retaken.closing is not None else ""
    yield f"All {total} states are reached as recorded{cycle}." if total > 1 else "State 1 is an initial state."
    yield _verdict(failure, retaken)
    if failure is None:
        return
    explained = try_explaining(lambda: replay.reason(failure))
    if isinstance(explained, Unexplained):
        yield f"Warning: {explained.warning(report_with_debug(), 'kmc cannot say why it fails: the explanation')}"
    else:
        yield from explained


def _why(explained: Why) -> Iterator[str]:
    """The property's docstring, and the sentence on what makes it false."""
    yield from (f"  {line}" for line in explained.doc.splitlines() if line.strip())
    yield f"  {explained.sentence}"


def _verdict(failure: RecordedFailure | None, replayed: Retaken) -> str:
    if failure is None:
        return "The trace does not say that anything fails."
    where = "in this behavior" if replayed.loop is not None else f"in state {len(replayed.steps)}"
    if failure.name is None:
        return f"As recorded, {failure.sentence}." if replayed.shows else f"Not as recorded: {failure.absence}."
    return f"{failure.name} still fails {where}." if replayed.shows else f"{failure.name} holds {where} now."


def _object(replay: Replay) -> dict[str, Any]:
    retaken, failure, stop = replay.retaken, replay.failure, replay.retaken.stop
    return {
        "trace_file": replay.file.path,
        "spec": replay.spec,
        "model": replay.model,
        "trace_length": len(replay.file.steps),
        "states_replayed": len(retaken.steps),
        "result": "stopped" if stop else "replayed",
        "stopped_at": stop.number if stop else None,
        "reason": stop.reason.value if stop else None,
        "why": [stop.sentence, *stop.details] if stop else [],
        "property": failure.name if failure else None,
        "failure_shown": retaken.shows,
        "notes": list(retaken.notes),
    }
