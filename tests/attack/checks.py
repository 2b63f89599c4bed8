"""A drawn spec on every kind of search, each beside what the brute force says: verdict, counts, trace, lasso."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from shutil import rmtree
from typing import Any

from attack.drawn_spec import DrawnSpec
from attack.itf_states import SavedTrace, read_trace
from attack.kmc_runs import Run, resumable, run_here
from attack.lasso_judge import Judge
from attack.oracle import Answer, AssertFailed, Meaning, Search, Step
from attack.values import Rec

STATUS = {"assertion": 14, "deadlock": 11, "violation": 12, "liveness": 13, "bound reached": 20, "ok": 0}
TAUTOLOGY = 77
DEPTH_MAX = 1000


@dataclass(frozen=True)
class Way:
    """A way to search. With `resumed`, a first run ends after `depth` levels, and a second goes on with these words."""

    name: str
    words: tuple[str, ...]
    history: int | None = None
    keep_going: bool = False
    depth: int | None = None
    resumed: tuple[str, ...] | None = None


WAYS = (
    Way("interpreter", ("--engine", "python")),
    Way("1 thread", ("--threads", "1")),
    Way("2 threads", ("--threads", "2")),
    Way("1 shard", ("--shards", "1", "--threads", "1")),
    Way("5 shards, no history", ("--shards", "5", "--threads", "2"), history=0),
    Way("1 thread, going on", ("--threads", "1"), keep_going=True),
    Way("2 shards, going on, no history", ("--shards", "2", "--threads", "1"), history=0, keep_going=True),
)
SOME = (
    Way("5 shards", ("--shards", "5", "--threads", "2")),
    Way("1 shard, no history", ("--shards", "1", "--threads", "1"), history=0),
    Way("interpreter, going on", ("--engine", "python"), keep_going=True),
    Way("128 bits", ("--threads", "1", "--fingerprint-bits", "128")),
    Way("3 shards, 128 bits", ("--shards", "3", "--threads", "1", "--fingerprint-bits", "128"), history=0),
    Way("1 thread, resumed", ("--threads", "1"), depth=2, resumed=("--threads", "2")),
    Way("2 shards, resumed", ("--shards", "2", "--threads", "1"), depth=2, resumed=("--shards", "5"), history=0),
    Way("3 shards, resumed", ("--shards", "3", "--threads", "2"), depth=3, resumed=("--shards", "1", "--threads", "1")),
)
RARE = (Way("3 shards, 2 processes", ("--shards", "3", "--processes", "2")),)


@dataclass(frozen=True)
class Difference:
    """Something that kmc says otherwise than the brute force, or not an answer at all."""

    way: str
    command: str
    what: str
    expected: Any
    got: Any

    @property
    def kind(self) -> tuple[str, str]:
        """What makes two differences the same one, for a smaller spec."""
        found = re.search(r"KMC\d+|\w+Error", str(self.got))
        return self.what, found[0] if found else ""

    def __str__(self) -> str:
        return f"{self.way}: {self.what}: expected {self.expected!r}, got {self.got!r}\n    {self.command}"


def ways_of(chance: Random) -> list[Way]:
    """Return the ways to search one spec: those that every spec has, and some more."""
    return [*WAYS, *chance.sample(SOME, 3), *(RARE if chance.random() < 0.02 else ())]


class SpecChecks:
    """Runs one spec in a folder, and compares."""

    def __init__(self, spec: DrawnSpec, folder: Path) -> None:
        self.spec = spec
        self.folder = folder / "drawn"
        self.runs = 0
        self._root = folder
        self._answers: dict[tuple[bool, int | None], Answer] = {}
        self._judge = Judge(spec)
        self._shown: dict[bool, tuple[str, SavedTrace]] = {}
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "spec.py").write_text(spec.source(), encoding="utf-8")
        (self.folder / "models.toml").write_text(spec.manifest(), encoding="utf-8")

    def differences(self, ways: list[Way]) -> Iterator[Difference]:
        """Yield what is wrong, way after way."""
        for way in ways:
            yield from self._one(way)

    def answer(self, *, keep_going: bool, depth: int | None) -> Answer:
        """Return what the brute force says of a search."""
        key = keep_going, depth
        if key not in self._answers:
            early = self._judge.is_refuted_early if self.spec.temporal and not keep_going else None
            found = Search(Meaning(self.spec), keep_going=keep_going, is_refuted=early, depth=depth).run()
            if found.failure is None and self.spec.temporal:
                self._judge.settle(found)
            self._answers[key] = found
        return self._answers[key]

    def _one(self, way: Way) -> Iterator[Difference]:
        runs = self._root / "runs"
        rmtree(runs, ignore_errors=True)
        words = ["check", str(self.folder), "m", *way.words, *(["--continue"] if way.keep_going else [])]
        words += [] if way.depth is None else ["--max-depth", str(way.depth)]
        run = self._run(words, runs, way)
        answer = self.answer(keep_going=way.keep_going, depth=way.depth)
        found = list(self.compared(way, run, answer))
        yield from found
        folders = resumable(runs)
        if way.resumed is None or found or not folders or run.status != STATUS["bound reached"]:
            return
        deepest = self.spec.levels or DEPTH_MAX
        if way.depth is not None and way.depth > deepest:
            return  # it has already gone further than the model does
        longer = ["--max-depth", str(deepest)]
        run = self._run(["check", "--resume", str(folders[0]), *way.resumed, *longer], runs, way)
        yield from self.compared(replace(way, depth=None), run, self.answer(keep_going=way.keep_going, depth=None))

    def _run(self, words: list[str], runs: Path, way: Way) -> Run:
        self.runs += 1
        ending = [] if "--resume" in words else ["--run-dir", str(runs)]
        return run_here(*words, *ending, "--json", history=way.history)

    def compared(self, way: Way, run: Run, answer: Answer) -> Iterator[Difference]:
        """Yield what is wrong with a run, by the answer of the brute force."""
        command = "kmc " + " ".join(run.words) + ("" if way.history is None else "  # history_bytes=0")
        got = run.result
        if run.is_broken or got is None or (run.status not in STATUS.values()):
            if run.status != TAUTOLOGY or not self.spec.temporal:
                yield Difference(way.name, command, "no result", _expected(self.spec, answer)["result"], said(run))
            return
        wanted = _expected(self.spec, answer)
        for key, value in wanted.items():
            found = run.status if key == "status" else _got(got, key)
            if found != value:
                yield Difference(way.name, command, key, value, found)
                return
        if got["trace_file"] is not None:
            yield from self._traced(way, command, got, answer)

    def _traced(self, way: Way, command: str, got: dict[str, Any], answer: Answer) -> Iterator[Difference]:
        try:
            trace = read_trace(self.spec, Path(got["trace_file"]))
        except (KeyError, ValueError, StopIteration, OSError) as error:
            yield Difference(way.name, command, "trace file", "a trace of the spec", repr(error))
            return
        wrong = trace_fault(self.spec, self._judge, answer, trace, got["trace_length"])
        if wrong is not None:
            yield Difference(way.name, command, "trace", "a counterexample", wrong)
        key = way.keep_going or way.depth is not None
        first, known = self._shown.setdefault(key, (way.name, trace)) if way.depth is None else (way.name, trace)
        same = len(known.states) == len(trace.states) if answer.failure is None else known == trace
        if not same:
            yield Difference(way.name, command, "another trace", f"that of {first}: {known}", trace)


def said(run: Run) -> str:
    """Return the lines of a run without a result that say why, or its last ones."""
    result = run.result or {}
    if result.get("error"):
        return f"status {run.status}: {result['error']['code']}: {result['error']['message']}"
    lines = (run.err + run.out).strip().splitlines()
    told = [line for line in lines if line.startswith("error") or re.match(r"\w*(Error|Exception)\b", line)]
    return f"status {run.status}: " + " / ".join((told or lines)[-3:])


def _expected(spec: DrawnSpec, answer: Answer) -> dict[str, Any]:
    failure, bounded = answer.failure, answer.bounded or (bool(spec.temporal) and answer.cut > 0)
    invariant, status = None, None
    if failure is not None:
        result = ("assertion", "deadlock", "violation")[failure.kind]
        invariant = failure.name or None
        status = 13 if failure.name.startswith("Step") else None
    elif answer.temporal is not None:
        result, invariant = "violation" if answer.prefix else "liveness", answer.temporal
    else:
        result = "bound reached" if bounded else "ok"
    expected: dict[str, Any] = {
        "result": result,
        "status": STATUS[result] if status is None else status,
        "invariant": invariant,
        "generated": answer.generated,
        "distinct": answer.distinct,
        "depth": max(1, len(answer.levels)),
        "levels": answer.levels,
        "initial": answer.initial,
        "left": answer.left,
        "cut": answer.cut,
        "generated_by_action": {name: number for name, number in answer.by_action.items() if number},
        "unreached_goals": answer.unreached,
    }
    if failure is not None:
        expected["trace_length"] = failure.length
    if not (spec.dropped and (spec.constraints or answer.bounded)):
        # States that a view merges are checked one by one where they are not stored.
        expected["violations"] = {
            claim.name: answer.violations[claim.name] for claim in (*spec.invariants, *spec.steps)
        }
    if failure is None:
        expected["refuted"] = {prop.name: answer.refuted[prop.name] for prop in spec.temporal}
    return expected


def _got(got: dict[str, Any], key: str) -> Any:
    match key:
        case "generated_by_action":
            return {name: number for name, number in got[key].items() if number}
        case "unreached_goals":
            return sorted(got[key])
        case "violations":
            return {p["name"]: p["violations"] for p in got["properties"] if not p["name"].startswith("Live")}
        case "refuted":
            live = [p for p in got["properties"] if p["name"].startswith("Live")]
            return {p["name"]: p["verdict"] == "violated" for p in live}
    return got.get(key)


def trace_fault(spec: DrawnSpec, judge: Judge, answer: Answer, trace: SavedTrace, length: int) -> str | None:
    """Return what is wrong with a trace, or None where it is one of the spec and ends as the verdict says."""
    meaning, states = judge.meaning, list(trace.states)
    if len(states) != length:
        return f"{len(states)} states, not {length}"
    if states[0] not in meaning.initial():
        return "the first state is not initial"
    for number, (before, after) in enumerate(pairwise(states), start=2):
        if not any(step.target == after and step.action == trace.actions[number - 1] for step in meaning.steps(before)):
            return f"no step {trace.actions[number - 1]} leads to state {number}"
    if answer.failure is None:
        return _lasso_fault(judge, answer, trace)
    claims = {claim.name: claim.holds for claim in (*spec.invariants, *spec.steps)}
    match answer.failure.kind:
        case 0:
            return None if _steps(meaning, states[-1]) is None else "no assertion fails in the last state"
        case 1:
            return "the last state has a successor" if _steps(meaning, states[-1]) else None
    of_step = answer.failure.name in [claim.name for claim in spec.steps]
    ends = (states[-2], states[-1]) if of_step else (states[-1],)
    if of_step and states[-2] == states[-1]:
        return "the last step stutters"
    return f"{answer.failure.name} holds at the end" if meaning.holds(claims[answer.failure.name], *ends) else None


def _steps(meaning: Meaning, state: Rec) -> list[Step] | None:
    try:
        return meaning.steps(state)
    except AssertFailed:
        return None


def _lasso_fault(judge: Judge, answer: Answer, trace: SavedTrace) -> str | None:
    states = list(trace.states)
    if answer.prefix:
        return None if trace.loop is None else "a prefix that refutes needs no cycle"
    if trace.loop is None:
        return "a lasso has no cycle"
    stem, cycle = states[: trace.loop], states[trace.loop :]
    steps = [judge.meaning.steps(state) for state in cycle]
    if len(cycle) > 1 and not any(step.target == cycle[0] for step in steps[-1]):
        return "no step closes the cycle"
    return judge.refutes(str(answer.temporal), stem, cycle, steps)
