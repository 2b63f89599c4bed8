"""The result of a check: one object from which text, JSON and JUnit are rendered, whatever engine made it.

Counters count as TLC's do: `generated` with duplicates and initial states, `distinct` modulo symmetry and view, `left`
found and not yet expanded, `depth` the largest level, an initial state being level 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from kmc.errors import ExitStatus, KmcError


class Verdict(Enum):
    """The verdict of a check; the values are those of `kmc check --json`."""

    OK = "ok"
    BOUND_REACHED = "bound reached"
    VIOLATION = "violation"
    DEADLOCK = "deadlock"
    ASSERTION = "assertion"
    LIVENESS = "liveness"
    ERROR = "error"
    INTERRUPTED = "interrupted"


class Bound(Enum):
    """The bound that ended a check which found nothing: a limit, or a property that was not checked.

    CONSTRAINT: a constraint cut steps, and temporal properties speak of behaviours that take them.
    """

    DEPTH = "depth"
    STATES = "states"
    TIME = "time"
    MEMORY = "memory"
    CONSTRAINT = "constraint"
    NOT_CHECKED = "temporal property not checked"
    START = "from a given state"


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop: levels, distinct states (at the end of a level), seconds, bytes of resident memory."""

    depth: int | None = None
    states: int | None = None
    seconds: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class TraceStep:
    """A state of a trace and the step that led to it; the first has no action. Arguments by parameter name."""

    state: Any
    action: str | None = None
    label: str = "Initial predicate"
    arguments: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """A finite run of a spec, shown to a person; not empty."""

    steps: tuple[TraceStep, ...]

    def __len__(self) -> int:
        return len(self.steps)


class HowMet(Enum):
    """The way in which a cycle meets a condition of fairness."""

    TAKEN = "taken"
    DISABLED = "disabled"
    NEVER_ENABLED = "never enabled"


@dataclass(frozen=True, slots=True)
class FairnessMet:
    """The reason why a cycle is fair by the condition `name`, one of a `group`.

    `state` is the number of a state of the trace, counted from 1: the one that the step taken leads to, or one in which
    no such step is enabled; None if that is so in the whole cycle.
    """

    name: str
    group: str
    strong: bool
    how: HowMet
    state: int | None


@dataclass(frozen=True, slots=True)
class Cycle:
    """The infinite continuation of a behaviour: from the last state of its trace back to state number `back_to`.

    `closing` is that step, or None where the behaviour stutters in its last state. `fairness` says for each condition
    of the specification why the cycle is fair.
    """

    back_to: int
    closing: TraceStep | None
    fairness: tuple[FairnessMet, ...]


@dataclass(frozen=True, slots=True)
class Refutation:
    """The refutation of a temporal property by a behaviour: `instance` is `v = v1`, or empty, and `why` is a sentence.

    Without a `cycle`, every continuation of the trace refutes it.
    """

    instance: str
    why: str
    cycle: Cycle | None


@dataclass(frozen=True, slots=True)
class AssumedFairness:
    """A condition of fairness of the specification: `WF_vars(BecomeLeader(n1))`, one of the `group` BecomeLeader."""

    name: str
    group: str
    strong: bool


@dataclass(frozen=True, slots=True)
class CutFairness:
    """A constraint drops steps of a condition of fairness, `name` of `group`; `state` is the first that has one."""

    name: str
    group: str
    state: str


@dataclass(frozen=True, slots=True)
class Vacuity:
    """The reason why a verdict on the property `name` says nothing, as a sentence without a dot.

    If it `is_of_all` temporal properties, `name` is the specification that no behaviour satisfies. If it `is_of_part`,
    the other parts of the property say something.
    """

    name: str
    why: str
    is_of_all: bool = False
    is_of_part: bool = False


@dataclass(frozen=True, slots=True)
class Violation:
    """The failure, and the trace that shows it. `name` is the property, or None for deadlock and errors.

    `is_step` distinguishes an action property (exit status 13) from an invariant (12), and `is_of_beginning` a property
    of initial states (13). `refutation` belongs to a temporal property.
    """

    verdict: Verdict
    name: str | None
    trace: Trace
    error: KmcError | None = None
    is_step: bool = False
    is_of_beginning: bool = False
    refutation: Refutation | None = None

    @property
    def exit_status(self) -> ExitStatus:
        """TLC's exit status for the failure; never 0."""
        match self.verdict:
            case Verdict.VIOLATION:
                return ExitStatus.LIVENESS if self.is_step or self.is_of_beginning else ExitStatus.SAFETY
            case Verdict.DEADLOCK:
                return ExitStatus.DEADLOCK
            case Verdict.ASSERTION:
                return ExitStatus.ASSERTION
            case Verdict.LIVENESS:
                return ExitStatus.LIVENESS
            case _:
                return self.error.exit_status if self.error is not None else ExitStatus.INTERNAL


@dataclass(frozen=True, slots=True)
class PropertyVerdict:
    """One property: its verdict, and the number of states or steps that violated it (--continue).

    The verdict is "holds" or "violated"; of a temporal property also "not refuted", where the search left out some
    behaviours, and "not checked", where it ended before. Where there was no search, nothing is checked.
    """

    name: str
    verdict: str
    violations: int = 0
    is_temporal: bool = False


@dataclass(frozen=True, slots=True)
class LevelInWork:
    """The level that a search in shards makes at some moment; its figures are those of the tasks that have ended.

    `done` of `tasks` have ended in a `phase`: "expand", "merge", or "check" where all accepted states of the level are
    judged once more. `new` are the states that merged shards have accepted. `task_skew` is the time of the longest task
    of the phase over the median, None while few have ended.
    """

    level: int
    phase: str
    done: int
    tasks: int
    new: int
    task_skew: float | None


@dataclass(frozen=True, slots=True)
class FilesInWork:
    """Tasks on the files of a search in shards between two levels: `done` of `tasks` have ended. `title` says what they
    do.
    """

    title: str
    done: int
    tasks: int


@dataclass(frozen=True, slots=True)
class LookingBack:
    """The progress of another search that makes the rows of older levels again: at `level`, on its way to `last`."""

    level: int
    last: int


@dataclass(frozen=True, slots=True)
class ShardProgress:
    """The traffic and storage of a search in shards at some moment; the level in work counts as far as its tasks ended.

    `shard_skew` is the size of the largest shard over the mean. `next_level_bytes` is the predicted size of the next
    level on a disk with `free_bytes`, if that is known. `looking_back` is set once the search has ended with a
    counterexample that needs another search. `files_in_work` are tasks between levels. On Spark, `is_job` is whether
    the level in work is a job and not made in the driver, and `executors` is the number of executors while a job runs
    on a cluster.
    """

    sent_bytes: int
    written_bytes: int
    disk_bytes: int
    shard_skew: float
    fingerprint_bits: int
    level: LevelInWork | None = None
    files_in_work: FilesInWork | None = None
    next_level_bytes: int | None = None
    free_bytes: int | None = None
    looking_back: LookingBack | None = None
    executors: int | None = None
    is_job: bool | None = None


@dataclass(frozen=True, slots=True)
class GrowingVariable:
    """An integer of the states that grows with the levels: its largest value up to `level`; its type allows `bound`."""

    name: str
    value: int
    bound: int
    level: int


@dataclass(frozen=True, slots=True)
class Counters:
    """TLC's counters at some moment, with the process's use of time and memory; `shards` of a search in shards.

    With `shards`, `distinct` and `depth` are those of whole levels. `activity` is the work after the search has ended,
    and empty before. `levels` are the sizes of the levels that are whole, `rows_bytes` those of all packed rows so far,
    0 if states are not packed. `growing` are the integers that seem to grow without bound. `lacking_bytes` are the
    bytes that the disk of the run lacks for a save of a search in memory, 0 if there is room.
    """

    generated: int
    distinct: int
    left: int
    depth: int
    seconds: float
    memory_bytes: int
    shards: ShardProgress | None = None
    activity: str = ""
    levels: tuple[int, ...] = ()
    rows_bytes: int = 0
    growing: tuple[GrowingVariable, ...] = ()
    lacking_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ShardFigures:
    """The traffic and storage of a search in shards.

    `shards` is the requested number; `shards_used` of them are in use at the end, since a search divides itself as it
    grows. `digest` is a sum over the fingerprints of all states: equal sets of states have equal digests. `candidates`
    are the fingerprints that were sent to their owners, in `sent_bytes`. `rows_bytes` and `runs_bytes` were written for
    the rows of levels and for runs of fingerprints with their answers; `stored_bytes` are the runs at the end, and
    `disk_bytes` all files at the end. `shard_skew` is the size of the largest shard over the mean; `task_skew` is the
    time of the longest expanding task of each level over the median, in all levels of several tasks, None without any.
    `levels_as_jobs` counts the levels that were jobs of Spark since the search began or was resumed, and `job_levels`
    are their numbers; the driver made those of fewer than `thin_rows` rows. All three are None elsewhere.
    """

    shards: int
    digest: int
    candidates: int
    sent_bytes: int
    rows_bytes: int
    runs_bytes: int
    stored_bytes: int
    shards_used: int
    disk_bytes: int = 0
    shard_skew: float = 1.0
    task_skew: float | None = None
    levels_as_jobs: int | None = None
    job_levels: tuple[int, ...] | None = None
    thin_rows: int | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """Everything that a check found out.

    `levels[k]` are the distinct states at level k + 1. `cpu_seconds` are those of the search, `compile_seconds` apart;
    `compiled_anew` is whether some of the code was not in the cache. `fingerprint_bits` is 0 if states are compared by
    value. `cut` counts the generated states outside of the constraints: their properties were checked, and they were
    not expanded. `fairness` is the assumption on behaviours if temporal properties were checked, and `cut_fairness` the
    part of it that a constraint may have falsified. `vacuous` are the properties that hold, and would of nearly any
    spec. `has_late_errors` says that evaluations failed behind the first level with a violation. `table_bytes` are
    those of the known states in memory, `rows_bytes` those of all packed rows; 0 in other searches.
    """

    verdict: Verdict
    counters: Counters
    initial: int
    levels: tuple[int, ...]
    generated_by_action: dict[str, int]
    properties: tuple[PropertyVerdict, ...]
    violation: Violation | None
    bound: Bound | None
    unreached: tuple[str, ...]
    never_fired: tuple[str, ...]
    collision_bound: float
    cpu_seconds: float
    peak_memory_bytes: int
    engine: str
    warnings: tuple[str, ...] = ()
    compile_seconds: float = 0.0
    fingerprint_bits: int = 0
    cut: int = 0
    shards: ShardFigures | None = None
    compiled_anew: bool = field(default=False, compare=False)
    table_bytes: int = field(default=0, compare=False)
    rows_bytes: int = field(default=0, compare=False)
    fairness: tuple[AssumedFairness, ...] = ()
    cut_fairness: tuple[CutFairness, ...] = ()
    vacuous: tuple[Vacuity, ...] = ()
    has_late_errors: bool = field(default=False, compare=False)

    @property
    def is_unsearched(self) -> bool:
        """Whether a limit ended the check before a state was expanded: while the spec was loaded and compiled.

        Initial states may have been found and judged; not one of their steps was followed.
        """
        is_cut = self.bound in (Bound.TIME, Bound.MEMORY, Bound.STATES)
        return is_cut and not any(self.generated_by_action.values()) and self.counters.left == self.counters.distinct

    @property
    def is_whole(self) -> bool:
        """Whether all states that the constraints allow were explored."""
        if self.violation is not None:
            # The search for most lassos begins when that for states has ended.
            is_complete = not self.counters.left and self.bound in (None, Bound.CONSTRAINT)
            return self.violation.refutation is not None and is_complete
        return self.verdict is Verdict.OK or self.bound in (Bound.CONSTRAINT, Bound.NOT_CHECKED)

    def exit_status(self, *, bounded_ok: bool = False, strict: bool = False) -> ExitStatus:
        """TLC's exit status; 20 for a bound unless `bounded_ok`; 10 under `strict` for actions that never fired and
        goals that never held.
        """
        if self.violation is not None:
            return self.violation.exit_status
        if self.verdict is Verdict.INTERRUPTED:
            return ExitStatus.INTERRUPTED
        if self.verdict not in (Verdict.OK, Verdict.BOUND_REACHED):
            return ExitStatus.INTERNAL
        if strict and (self.never_fired or self.unreached or self.vacuous):
            return ExitStatus.ASSUMPTION
        if self.verdict is Verdict.BOUND_REACHED and (not bounded_ok or self.bound is Bound.NOT_CHECKED):
            return ExitStatus.BOUND_REACHED
        return ExitStatus.OK


def without_claims(result: Result) -> Result:
    """The same result; where it `is_unsearched`, it says neither that a property holds nor that an action never fired.

    A verdict from the initial states alone would be worth nothing, and would be read as a verdict on all.
    """
    if not result.is_unsearched:
        return result
    unchecked = tuple(replace(prop, verdict="not checked") for prop in result.properties)
    return replace(result, properties=unchecked, unreached=(), never_fired=(), vacuous=())
