"""The sentences about what a result proves: for which states, within which bounds, with which collision probability."""

from __future__ import annotations

from collections.abc import Iterator

from kmc.checking.collision_odds import odds_text
from kmc.checking.level_trend import growing_fields
from kmc.checking.model_text import given_constants_text, listing
from kmc.checking.outcome import Outcome
from kmc.frontend.model import Model
from kmc.invariants.kinds import Role, of_role
from kmc.result import Bound, Result, Verdict

_CUT_SHORT = (Bound.DEPTH, Bound.STATES, Bound.TIME, Bound.MEMORY)
_UNSEARCHED = {
    Bound.TIME: "the time ran out while the spec was loaded and compiled",
    Bound.MEMORY: "the limit on memory was reached before the search",
    Bound.STATES: "the limit on states was reached before the search",
}
_SEARCH_ADVICE = {
    Bound.TIME: "Give it more time, or keep the cache of compiled code (docs/ci.md).",
    Bound.MEMORY: "Give it more memory.",
}


def proof_lines(outcome: Outcome) -> Iterator[str]:
    """The lines that state what was proved, or why nothing was; for a finding or a mutant that fails, the manifest's
    description of it.
    """
    result, model = outcome.result, outcome.model
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


def endless_lines(outcome: Outcome) -> Iterator[str]:
    """The lines that name the variables that grow in a search that was cut short, with advice."""
    result = outcome.result
    was_cut = result.verdict is Verdict.INTERRUPTED or result.bound in _CUT_SHORT
    if was_cut and result.counters.growing and outcome.request.expected_states is None:
        text = ", ".join(growing_fields(result.counters.growing))
        bound = outcome.request.naming("max-depth", "N")
        yield f"{text[:1].upper()}{text[1:]}. Bound it in the spec or by a constraint, or give {bound}."


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


def unsearched_text(result: Result) -> str:
    """Say why a check ended before a state was expanded: `the time ran out while the spec was loaded and compiled`.

    It is for results that are `is_unsearched` only. Initial states that were judged are counted.
    """
    why = _UNSEARCHED[result.bound] if result.bound is not None else "a limit was reached"
    distinct = result.counters.distinct
    if not distinct:
        return f"{why}, before the first state"
    return f"{why}; {distinct:,} initial state{'s were' if distinct > 1 else ' was'} found, and no step was taken"


def odds_clause(result: Result) -> str:
    """The odds that a state was missed because it shared a fingerprint; "" where states are compared by value."""
    if result.fingerprint_bits == 0:
        return ""
    return f"odds of a missed state at most {odds_text(result.collision_bound)}"


def _proof(result: Result, model: Model) -> str:
    if not result.initial:
        return "Proved: the assumptions of the module, with these constants. It has no behavior to explore."
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
    reductions += [abstraction.name for abstraction in model.abstractions]
    return text + (f" up to {listing(reductions)}" if reductions else "")


def _claims(result: Result, model: Model) -> str:
    claims = []
    for kind in of_role(Role.CHECKED):
        held = [_held(prop.name, result) for prop in model.of(kind)]
        if held:
            verb = "holds" if len(held) == 1 else "hold"
            claims.append(f"every step satisfies {listing(held)}" if kind.states == 2 else f"{listing(held)} {verb}")
    claims += _temporal_claims(result)
    if model.deadlock:
        claims.append("there is no deadlock")
    return listing(claims) if claims else "every action can be evaluated, and no more: the model names no property"


def _held(name: str, result: Result) -> str:
    """The name of a property that holds, with a word where it could not fail."""
    is_temporal = any(prop.name == name and prop.is_temporal for prop in result.properties)
    of_it = [each for each in result.vacuous if each.name == name or (is_temporal and each.is_of_all)]
    if not of_it:
        return name
    return f"{name} (in part vacuously)" if all(each.is_of_part for each in of_it) else f"{name} (vacuously)"


def _temporal_claims(result: Result) -> Iterator[str]:
    fair = "fair " if result.fairness else ""
    held = [_held(prop.name, result) for prop in result.properties if prop.verdict == "holds" and prop.is_temporal]
    if held:
        yield f"every {fair}behavior satisfies {listing(held)}"
    not_refuted = [prop.name for prop in result.properties if prop.verdict == "not refuted"]
    if not_refuted:
        yield f"no {fair}behavior among these states violates {listing(not_refuted)}"


def _bounded(outcome: Outcome) -> str:
    result, model = outcome.result, outcome.model
    counters = result.counters
    match result.bound:
        case Bound.DEPTH:
            scope = scope_text(result, model)
            return f"Nothing is proved beyond level {counters.depth}: {scope}{_odds(result)}, {_claims(result, model)}."
        case Bound.START:
            return (
                f"Proved from the given state ({outcome.request.start_name}) only: in the {_states(result, model)} "
                f"that it reaches{_within(result, model)}{_odds(result)}, {_claims(result, model)}. "
                f"Nothing is said about the model as a whole."
            )
        case Bound.CONSTRAINT:
            return (
                f"{_proof(result, model)} No temporal property is proved: behaviors that leave "
                f"{constraints_text(model)} were not followed."
            )
        case Bound.TIME | Bound.MEMORY | Bound.STATES if result.is_unsearched:
            larger = f"Give a larger {outcome.request.naming('max-states')}."
            return f"Nothing is proved: {unsearched_text(result)}. {_SEARCH_ADVICE.get(result.bound, larger)}"
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
