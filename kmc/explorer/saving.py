"""The path that a person has walked, saved as a trace, and the commands that go on from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from kmc.errors import SystemFault
from kmc.explorer.judging import JudgedOutcome
from kmc.explorer.session import ExplorerSession
from kmc.invariants.kinds import Role
from kmc.result import Verdict
from kmc.trace.itf import itf_text
from kmc.trace.untyped_trace import GIVEN, TraceFile

_EXPLORED = "explored"
"""The status of a trace at whose end nothing fails."""


@dataclass(frozen=True, slots=True)
class SavingPlace:
    """The folder for traces, and the words on the command line that choose the spec and the model.

    `of_trace` are those that choose them for a command on a trace that does not say it itself. `replays` is whether
    `kmc replay` knows such traces.
    """

    folder: Path
    chosen: Sequence[str]
    of_trace: Sequence[str] = ()
    replays: bool = True


def walked_trace(session: ExplorerSession) -> TraceFile:
    """The path from an initial state to the current one, with the properties that fail there."""
    ground = session.ground
    path = session.tree.path(session.tree.at)
    trace = session.tree.trace()
    states = [step.state for step in trace.steps]
    before = states[-2] if len(states) > 1 else None
    failed = [each for each in ground.explored.judged(before, states[-1]) if each.outcome is JudgedOutcome.FAILS]
    is_given = ground.about.get("start") == GIVEN and path[0].number == 0
    if not failed:
        return ground.explored.trace_file(trace, _EXPLORED, None, is_start_given=is_given)
    of_step = failed[0].name in {each.name for each in ground.model.predicates(Role.CHECKED, 2)}
    verdict = Verdict.LIVENESS if of_step else Verdict.VIOLATION
    return ground.explored.trace_file(trace, verdict.value, failed[0].name, is_start_given=is_given)


def save_walk(session: ExplorerSession, place: SavingPlace, now: datetime) -> Path:
    """Write the path as ITF to a new file; SystemFault KMC591 where that fails."""
    model = session.ground.model
    text = itf_text(walked_trace(session))
    stem = f"{model.spec.name}-{Path(model.name).stem}-{now:%Y%m%d-%H%M%S}"
    try:
        place.folder.mkdir(parents=True, exist_ok=True)
        for attempt in range(1, 1000):
            path = place.folder / (f"{stem}.itf.json" if attempt == 1 else f"{stem}-{attempt}.itf.json")
            try:
                with path.open("x", encoding="utf-8") as file:
                    file.write(text)
            except FileExistsError:
                continue
            return path
    except OSError as error:
        raise SystemFault(
            "KMC591",
            f"the trace cannot be saved in {place.folder}: {error.strerror}",
            help="start kmc explore with --save-dir DIR, or download the trace",
        ) from None
    raise SystemFault("KMC591", f"{place.folder} has too many traces of this second", help="save it again")


def commands_from(path: Path, length: int, place: SavingPlace, watched: Sequence[str] = ()) -> list[list[str]]:
    """The next commands to type, each as its words; those that can show what is `watched` along the path do."""
    shown = [word for text in watched for word in ("--show", text)]
    return [
        ["kmc", "trace", str(path), *(place.of_trace if shown else ()), *shown],
        *([["kmc", "replay", str(path)]] if place.replays else []),
        ["kmc", "explore", *place.chosen, "--from", str(path), *shown],
        ["kmc", "check", *place.chosen, "--from", f"{path}#{length}"],
        ["kmc", "simulate", *place.chosen, "--from", f"{path}#{length}"],
    ]
