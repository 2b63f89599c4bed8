"""The end of a check's output: what was proved, or why nothing was, and the next command to type."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from kmc.cli.console import size_in_words
from kmc.cli.fingerprint_width import odds_text
from kmc.cli.memory_need import need_lines
from kmc.cli.model_text import given_constants_text, listing
from kmc.cli.outcome import Outcome
from kmc.cli.progress_text import growing_fields
from kmc.cli.render_errors import shown_path
from kmc.cli.saved_runs import ITF_NAME, PAGE_NAME, disk_bytes
from kmc.cli.search_scale import scale_of
from kmc.invariants.kinds import Role, of_role
from kmc.process import available_bytes, memory_bytes
from kmc.result import Bound, Result, Verdict
from kmc.spec.model import Model

_CUT_SHORT = (Bound.DEPTH, Bound.STATES, Bound.TIME, Bound.MEMORY)


def conclusion(outcome: Outcome) -> Iterator[str]:
    """What was proved, where the run was saved, and for a failure the command that reproduces it."""
    result, model = outcome.result, outcome.chosen.model
    match result.verdict:
        case Verdict.OK:
            yield _proof(result, model)
        case Verdict.BOUND_REACHED:
            yield _bounded(outcome)
        case Verdict.INTERRUPTED:
            yield (
                f"Nothing is proved: the search was interrupted at level {result.counters.depth}, and "
                f"{result.counters.left:,} of the states found were left on queue."
            )
        case _:
            if outcome.chosen.kind is not None:
                yield f"{outcome.chosen.kind.capitalize()}: {model.file.title}"
    yield from saved_line(outcome)
    yield from _endless_lines(outcome)
    if outcome.memory_need is not None:
        anew = tuple(_without_outputs(outcome.options.words, "--memory"))
        yield from need_lines(outcome.memory_need, result.levels, memory_bytes() + available_bytes(), anew)
        if outcome.resume is None:
            yield f"Begin again: {shlex.join(['kmc', *anew, '--memory', outcome.memory_need.size])}"
    if outcome.resume is not None:
        yield f"Resume: {outcome.resume}"
    if result.violation is not None:
        if outcome.trace_path is not None:
            yield from trace_hints(outcome.trace_path, has_page=not outcome.explanation_warnings)
            yield f"Walk on from it: {explore_command(outcome.options.spec, outcome.trace_path)}"
        yield reproduce_line(outcome)


def reproduce_line(outcome: Outcome) -> str:
    """The command that gives this result again."""
    return f"Reproduce: {command_again(outcome.options.words)}"


def command_again(words: Sequence[str]) -> str:
    """The command line of a check or a simulation, without where and how its result was written."""
    return shlex.join(["kmc", *_without_outputs(words)])


def explore_command(spec: str | None, trace: Path) -> str:
    """The command that walks on from a saved trace of this spec."""
    return shlex.join(filter(None, ["kmc", "explore", spec, "--trace", shown_path(trace)]))


def _endless_lines(outcome: Outcome) -> Iterator[str]:
    """What grows in a search that was cut short, and what to do."""
    result = outcome.result
    was_cut = result.verdict is Verdict.INTERRUPTED or result.bound in _CUT_SHORT
    if was_cut and result.counters.growing and scale_of(outcome.options, outcome.chosen).expected is None:
        text = ", ".join(growing_fields(result.counters.growing))
        yield f"{text[:1].upper()}{text[1:]}. Bound it in the spec or by a constraint, or give --max-depth N."


def saved_line(outcome: Outcome) -> Iterator[str]:
    """Where the run was saved, if it was."""
    if outcome.folder is not None:
        yield f"Saved: {shown_path(outcome.folder)}{_size_clause(outcome)}"


def _size_clause(outcome: Outcome) -> str:
    """What the folder of a run that can be resumed takes: ` (84 MB on disk)`; files in a storage are not counted."""
    if outcome.resume is None or outcome.folder is None or outcome.options.storage is not None:
        return ""
    size = disk_bytes(outcome.folder)
    return f" ({size_in_words(size)} on disk)" if size else ""


def _without_outputs(words: Sequence[str], *options: str) -> Iterator[str]:
    """The words without these options, and without those that say where and how the result is written."""
    valued = ("--junit", *options)
    before = ""
    for word in words:
        is_left_out = before in valued or word.partition("=")[0] in ("--json", "--quiet", "--debug", *valued)
        if not is_left_out:
            yield word
        before = word


def trace_hints(path: Path, *, has_page: bool) -> Iterator[str]:
    """The commands and the page that show more of a saved trace."""
    where = path.parent if path.name == ITF_NAME else path
    yield f"Show the trace: {shlex.join(['kmc', 'trace', shown_path(where)])}"
    yield "  with --changes, --step N, --table, --chart or --full for more of it"
    if has_page:
        yield f"Open in a browser: {shown_path(path.with_name(PAGE_NAME))}"


def constraints_text(model: Model) -> str:
    """The names of the constraints and action constraints: `Small`, `Small or Slow`."""
    return " or ".join(constraint.name for constraint in model.predicates(Role.BOUNDING))


def cut_sentence(result: Result, model: Model) -> str:
    """The number of generated states that a constraint kept from being expanded; "" for zero."""
    if result.cut == 0:
        return ""
    counted = "1 generated state was" if result.cut == 1 else f"{result.cut:,} generated states were"
    return f"{counted} outside of {constraints_text(model)}: checked, but not expanded."


def scope_text(result: Result, model: Model) -> str:
    """The states in which a property was checked, such as "in the 2 states of levels 1 to 2"."""
    within = _within(result, model)
    match result.verdict, result.bound:
        case _ if result.is_whole:
            return f"in all {_states(result, model)} reachable{within}"
        case Verdict.BOUND_REACHED, Bound.DEPTH:
            return f"in the {_states(result, model)} of levels 1 to {result.counters.depth}{within}"
        case Verdict.BOUND_REACHED, Bound.START:
            return f"in the {_states(result, model)} that the given state reaches{within}"
        case _:
            explored = result.counters.distinct - result.counters.left
            return f"in the {_counted(explored, model)} explored{within}"


def odds_clause(result: Result) -> str:
    """The odds that a state was missed because it shared a fingerprint; "" where states are compared by value."""
    if result.fingerprint_bits == 0:
        return ""
    return f"odds of a missed state at most {odds_text(result.collision_bound)}"


def _proof(result: Result, model: Model) -> str:
    levels = f"all {result.counters.depth} levels" if result.counters.depth > 1 else "one level"
    size = f"{_states(result, model)}, {levels}"
    bounds = "; ".join(filter(None, (given_constants_text(model.spec), size, odds_clause(result))))
    where = f"in every state reachable within these bounds ({bounds}){_within(result, model)}"
    return f"Proved: {where}, {_claims(result, model)}."


def _within(result: Result, model: Model) -> str:
    return f" without breaking {constraints_text(model)}" if result.cut else ""


def _states(result: Result, model: Model) -> str:
    return _counted(result.counters.distinct, model)


def _counted(states: int, model: Model) -> str:
    text = f"{states:,} state{'' if states == 1 else 's'}"
    reductions = (["symmetry"] if model.symmetry else []) + (["view"] if model.view else [])
    return text + (f" up to {listing(reductions)}" if reductions else "")


def _claims(result: Result, model: Model) -> str:
    claims = []
    for kind in of_role(Role.CHECKED):
        held = [prop.name for prop in model.of(kind)]
        if held:
            verb = "holds" if len(held) == 1 else "hold"
            claims.append(f"every step satisfies {listing(held)}" if kind.states == 2 else f"{listing(held)} {verb}")
    claims += _temporal_claims(result)
    if model.deadlock:
        claims.append("there is no deadlock")
    return listing(claims) if claims else "every action can be evaluated, and no more: the model names no property"


def _temporal_claims(result: Result) -> Iterator[str]:
    fair = "fair " if result.fairness else ""
    held = [prop.name for prop in result.properties if prop.verdict == "holds" and prop.is_temporal]
    if held:
        yield f"every {fair}behavior satisfies {listing(held)}"
    not_refuted = [prop.name for prop in result.properties if prop.verdict == "not refuted"]
    if not_refuted:
        yield f"no {fair}behavior among these states violates {listing(not_refuted)}"


def _bounded(outcome: Outcome) -> str:
    result, model = outcome.result, outcome.chosen.model
    counters = result.counters
    match result.bound:
        case Bound.DEPTH:
            scope = scope_text(result, model)
            return f"Nothing is proved beyond level {counters.depth}: {scope}{_odds(result)}, {_claims(result, model)}."
        case Bound.START:
            return (
                f"Proved from the given state ({outcome.options.start}) only: in the {_states(result, model)} that it "
                f"reaches{_within(result, model)}{_odds(result)}, {_claims(result, model)}. Nothing is said about the "
                f"model as a whole."
            )
        case Bound.CONSTRAINT:
            return (
                f"{_proof(result, model)} Not proved: what behaviors do that leave {constraints_text(model)}, so no "
                f"temporal property is proved."
            )
        case _ if result.is_unsearched:
            return (
                "Nothing is proved: the time ran out while the spec was loaded and compiled, before the first state. "
                "Give it more time, or keep the cache of compiled code (docs/ci.md)."
            )
        case Bound.TIME if counters.left == 0:
            unchecked = listing([prop.name for prop in result.properties if prop.verdict == "not checked"])
            return f"{_proof(result, model)} Not proved: {unchecked}, since the time for lassos ran out."
        case Bound.NOT_CHECKED:
            unchecked = listing([prop.name for prop in model.temporal])
            reason = "since this search does not check temporal properties"
            return f"{_proof(result, model)} Not proved: {unchecked}, {reason}."
        case _:
            return (
                f"Nothing is proved: the search stopped at level {counters.depth}, and {counters.left:,} of the states "
                f"found were left on queue; {scope_text(result, model)}{_odds(result)}, {_claims(result, model)}."
            )


def _odds(result: Result) -> str:
    clause = odds_clause(result)
    return f" ({clause})" if clause else ""
