"""A result as one JSON object, with the keys that a manifest's expected results have too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kmc import __version__
from kmc.error_text import error_text
from kmc.errors import ExitStatus, KmcError
from kmc.frontend.model import Model
from kmc.result import PropertyVerdict, Refutation, Result, ShardFigures, Verdict, Violation

if TYPE_CHECKING:
    from kmc.story.parts.story import Story, StoryStep, Why


UNEXPLAINED: Mapping[str, Any] = MappingProxyType({"why": None, "trace": None, "notes": None})
"""The keys of `story_json` where there is no violation, or no explanation of it."""


def result_json(
    result: Result, model: Model, trace_file: str | None, explanation: Mapping[str, Any] = UNEXPLAINED
) -> dict[str, Any]:
    """The object of `kmc check --json`, without the fields that the command line adds (exit status, differences).

    `explanation` is the `story_json` of the violation.
    """
    counters = result.counters
    violation = result.violation
    return {
        "result": result.verdict.value,
        "generated": counters.generated,
        "distinct": counters.distinct,
        "depth": counters.depth,
        "initial": result.initial,
        "left": counters.left,
        "generated_by_action": dict(result.generated_by_action),
        "levels": list(result.levels),
        **violation_json(violation, trace_file, explanation),
        "constraints": [constraint.name for constraint in (*model.constraints, *model.action_constraints)],
        "abstractions": [abstraction.name for abstraction in model.abstractions],
        "cut": result.cut,
        "fairness": [asdict(fair) for fair in result.fairness],
        "cut_fairness": [asdict(cut) for cut in result.cut_fairness],
        "bound": result.bound.value if result.bound else None,
        "properties": [_property_json(prop) for prop in result.properties],
        "unreached_goals": list(result.unreached),
        "never_fired": list(result.never_fired),
        "vacuous": list(dict.fromkeys(vacuity.name for vacuity in result.vacuous)),
        "collision_bound": result.collision_bound,
        "fingerprint_bits": result.fingerprint_bits,
        "seconds": round(counters.seconds, 6),
        "cpu_seconds": round(result.cpu_seconds, 6),
        "compile_seconds": round(result.compile_seconds, 6),
        "peak_memory_bytes": result.peak_memory_bytes,
        "shards": _shards_json(result.shards),
        "engine": result.engine,
        "spec": model.spec.name,
        "spec_path": str(model.spec.root.resolve()),
        "model": model.name,
        "digest": model.digest,
        "kmc_version": __version__,
    }


def _shards_json(figures: ShardFigures | None) -> dict[str, Any] | None:
    """The traffic of a search in shards; the digest is text, because it has 64 bits."""
    return None if figures is None else {**asdict(figures), "digest": f"{figures.digest:016x}"}


def failure_json(
    error: Exception | KeyboardInterrupt, spec: str, model: str | None, engine: str, resume: str | None = None
) -> dict[str, Any]:
    """The object for a check that has no result because `error` ended it: the same keys, unknown ones null.

    A KeyboardInterrupt represents any signal; `resume` is the command that continues the run.
    """
    unknown = (
        "generated distinct depth initial left generated_by_action levels invariant trace_length trace_file "
        "counterexample why trace notes constraints abstractions cut fairness cut_fairness bound properties "
        "unreached_goals never_fired vacuous collision_bound fingerprint_bits seconds cpu_seconds compile_seconds "
        "peak_memory_bytes shards"
    )
    verdict, status = Verdict.ERROR, ExitStatus.INTERNAL
    shown: dict[str, Any] | None = {"code": "KMC900", "message": repr(error)}
    match error:
        case KeyboardInterrupt():
            verdict, status, shown = Verdict.INTERRUPTED, ExitStatus.INTERRUPTED, None
        case KmcError():
            status, shown = error.exit_status, error_json(error)
    return {
        "result": verdict.value,
        **dict.fromkeys(unknown.split()),
        "engine": engine,
        "spec": spec,
        "spec_path": None,
        "model": model,
        "digest": None,
        "kmc_version": __version__,
        "error": shown,
        "warnings": None,
        "resume": resume,
        "growing": None,
        "memory_needed_bytes": None,
        "differences": [],
        "expected": False,
        "unexpected": ["the check ended without a result"],
        "exit_status": int(status),
    }


def error_json(error: KmcError) -> dict[str, Any]:
    """An error as data: code, message, place, help, notes, and the text that a person would see."""
    span = error.span
    return {
        "code": error.code,
        "message": error.message,
        "path": span.path if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "help": error.help,
        "notes": list(error.notes),
        "text": error_text(error),
    }


def violation_json(
    violation: Violation | None, trace_file: str | None, explanation: Mapping[str, Any] = UNEXPLAINED
) -> dict[str, Any]:
    """The failure as data: property, reason, trace and error; all null if nothing failed."""
    return {
        "invariant": violation.name if violation else None,
        "trace_length": len(violation.trace) if violation else None,
        "trace_file": trace_file,
        "counterexample": _refutation_json(violation.refutation) if violation and violation.refutation else None,
        **explanation,
        "error": error_json(violation.error) if violation and violation.error else None,
    }


def story_json(story: Story) -> dict[str, Any]:
    """The reason of the failure, the steps in words, and notes about them. Values are texts, as people read them."""
    steps = [*story.steps, *([story.loop.closing] if story.loop is not None and story.loop.closing is not None else [])]
    return {
        "why": _why_json(story.why) if story.why is not None else None,
        "trace": [_step_json(story, step) for step in steps],
        "notes": list(story.notes),
    }


def _why_json(why: Why) -> dict[str, Any]:
    """The property in words, the instance that fails, and the values that decide."""
    return {
        "sentence": why.sentence,
        "property": why.property,
        "doc": why.doc or None,
        "place": why.place or None,
        "instance": [{"name": name, "value": value} for name, value in why.instance],
        "compared": [{"expression": compared.expression, "value": compared.value} for compared in why.compared],
    }


def _step_json(story: Story, step: StoryStep) -> dict[str, Any]:
    """A step: `state` is the number of the state that it leads to, one more than the last for the step that closes a
    cycle.
    """

    def briefs(messages: Iterable[int]) -> list[str]:
        return [story.message(message).brief for message in messages]

    return {
        "state": step.number,
        "label": step.label,
        "action": step.action,
        "arguments": dict(step.arguments),
        "actor": step.actor,
        "received": story.message(step.received).brief if step.received is not None else None,
        "sent": briefs(step.sent),
        "lost": briefs(step.lost),
        "changes": [
            {"path": list(change.path), "process": change.lane, "old": change.old, "new": change.new}
            for change in step.changes
        ],
        "matters": step.matters,
        **({"abstract": step.abstract} if step.abstract else {}),
    }


def _refutation_json(refutation: Refutation) -> dict[str, Any]:
    """The refutation of a temporal property as data. States are counted from 1; `back_to` is null for a finite
    prefix.
    """
    cycle = refutation.cycle
    return {
        "instance": refutation.instance or None,
        "why": refutation.why or None,
        "back_to": cycle.back_to if cycle else None,
        "closed_by": cycle.closing.label if cycle and cycle.closing else None,
        "stutters": cycle is not None and cycle.closing is None,
        "fair": [{**asdict(met), "how": met.how.value} for met in cycle.fairness] if cycle else [],
    }


def _property_json(prop: PropertyVerdict) -> dict[str, Any]:
    return {"name": prop.name, "verdict": prop.verdict, "violations": prop.violations}
