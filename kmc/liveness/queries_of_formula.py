"""From a formula in negation normal form to queries: its behaviours, as phases and conditions on a cycle.

The rules, for a behaviour from its first state on:

- a predicate of states holds where the first phase is entered;
- []P is one phase of P states, [][A]_v one phase of A steps;
- <>F is a query of F, at once or after a phase of anything;
- the phases of a conjunction are those of its parts, interleaved in each possible way;
- [](P \\/ <>Q \\/ []R) holds if []<>Q does; if P holds until []R does, or for ever; or if one of these two holds after
  the last time that Q does.

They cover every formula of [] and <>, because only finitely often does such a formula change its truth along a
behaviour. The queries of a formula may share behaviours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from kmc.liveness.lasso_queries import (
    NO_STATES,
    NO_STEPS,
    AllStates,
    AllSteps,
    LassoQuery,
    Phase,
    Recurrence,
    Response,
    StateSet,
    StepSet,
)
from kmc.liveness.set_algebra import and_states, and_steps, from_states, not_states
from kmc.liveness.temporal_core import (
    TRUE,
    Box,
    Conjunction,
    Core,
    Diamond,
    Disjunction,
    Finally,
    Globally,
    Now,
    Settled,
    TooManyCases,
    all_,
    always_eventually,
    any_,
    globally,
    is_tail,
)

QUERIES_MAX = 128
"""A formula that needs more is refused: each is a search of its own."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """Phases, and what holds in the end: on the cycle, after some time."""

    phases: tuple[Phase, ...]
    end: tuple[Recurrence | Settled | Response, ...] = ()


def queries_of(core: Core) -> tuple[LassoQuery, ...]:
    """Queries that together are answered by the behaviours that satisfy `core`, and by no others."""
    queries = dict.fromkeys(query for draft in _drafts(core) for query in _finished(draft))
    return tuple(queries)


def _drafts(core: Core) -> list[_Draft]:
    match core:
        case Now(states):
            drafts = [_Draft((Phase(enters_at=states),))]
        case Box(steps):
            drafts = [_Draft((Phase(steps=steps),))]
        case Diamond(steps):
            drafts = [_Draft((Phase(), Phase(entered_by=steps)))]
        case Recurrence() | Settled() | Response():
            drafts = [_Draft((Phase(),), (core,))]
        case Finally(part):
            drafts = [late for draft in _drafts(part) for late in _at_any_time(draft)]
        case Globally(part):
            drafts = _always(part)
        case Conjunction(parts):
            drafts = [_Draft((Phase(),))]
            for part in parts:
                others = _drafts(part)
                drafts = _bounded(both for one in drafts for other in others for both in _conjoined(one, other))
        case Disjunction(parts):
            drafts = [draft for part in parts for draft in _drafts(part)]
        case _:
            assert_never(core)
    return _bounded(drafts)


def _bounded(drafts: Iterable[_Draft]) -> list[_Draft]:
    """Those that are not obviously empty, each once."""
    distinct: dict[_Draft, None] = {}
    for draft in drafts:
        if not any(map(_is_empty, draft.phases)):
            distinct[draft] = None
        if len(distinct) > QUERIES_MAX:
            raise TooManyCases
    return list(distinct)


def _is_empty(phase: Phase) -> bool:
    return and_states([phase.enters_at, phase.states]) == NO_STATES or phase.entered_by == NO_STEPS


def _at_any_time(draft: _Draft) -> Iterator[_Draft]:
    """Now, or after a phase of anything."""
    yield draft
    if draft.phases[0] != Phase():
        yield replace(draft, phases=(Phase(), *draft.phases))


def _always(part: Core) -> list[_Draft]:
    """[] of states, or of a disjunction of states and temporal formulas that are not tails."""
    alternatives = part.parts if isinstance(part, Disjunction) else (part,)
    states: StateSet = NO_STATES
    lasting: list[Core] = []
    awaited: list[Core] = []
    for one in alternatives:
        match one:
            case Now(chosen):
                states = chosen
            case Globally() | Box():
                lasting.append(one)
            case Finally(inside):
                awaited.append(inside)
            case Diamond():
                awaited.append(one)
            case _:
                raise AssertionError(one)
    drafts = list(_until_lasting(states, lasting))
    if awaited:
        drafts += _drafts(any_(map(always_eventually, awaited)))
        rest = globally(any_([Now(states) if states != NO_STATES else any_([]), *lasting]))
        drafts += [draft for one in awaited for draft in _after_the_last(one, rest)]
    return drafts


def _until_lasting(states: StateSet, lasting: Sequence[Core]) -> Iterator[_Draft]:
    """Only `states`, for ever or until one of `lasting` holds."""
    if states != NO_STATES:
        yield _Draft((Phase(states=states),))
    for core in lasting:
        for draft in _drafts(core):
            yield draft
            if states != NO_STATES:
                yield replace(draft, phases=(Phase(states=states), *draft.phases))


def _after_the_last(awaited: Core, rest: Core) -> Iterator[_Draft]:
    """`awaited` holds at some time, and `rest` from the next state on."""
    choices = _split(awaited)
    if isinstance(awaited, Diamond):
        del choices[1:]  # the step is taken at that time, and not later
    for states, steps, later in choices:
        entered_by = and_steps([from_states(states), steps])
        for draft in _drafts(all_([later, rest])):
            entered = replace(draft.phases[0], entered_by=entered_by)
            yield replace(draft, phases=(Phase(), entered, *draft.phases[1:]))


def _split(core: Core) -> list[tuple[StateSet, StepSet, Core]]:
    """The alternatives by which the formula can hold: a set for the state now, a set for the next changing step, and
    the formula from the state after that step on. One alternative suffices.
    """
    if is_tail(core):
        return [(AllStates(), AllSteps(), core)]
    match core:
        case Now(states):
            return [(states, AllSteps(), TRUE)]
        case Diamond(steps):
            return [(AllStates(), steps, TRUE), (AllStates(), AllSteps(), core)]
        case Box(steps):
            return [(AllStates(), steps, core)]
        case Finally(part):
            return [*_split(part), (AllStates(), AllSteps(), core)]
        case Globally(part):
            return [(states, steps, all_([later, core])) for states, steps, later in _split(part)]
        case Disjunction(parts):
            return [choices for part in parts for choices in _split(part)]
        case Conjunction(parts):
            choices: list[tuple[StateSet, StepSet, Core]] = [(AllStates(), AllSteps(), TRUE)]
            for part in parts:
                choices = [
                    (and_states([states, more]), and_steps([steps, taken]), all_([later, next_later]))
                    for states, steps, later in choices
                    for more, taken, next_later in _split(part)
                ]
            return choices
        case _:
            raise AssertionError(core)


def _conjoined(one: _Draft, other: _Draft) -> Iterator[_Draft]:
    """Both at once: each way in which their phases may follow each other."""
    end = tuple(dict.fromkeys((*one.end, *other.end)))
    first = _merged(one.phases[0], other.phases[0], True, True)
    for phases in _interleaved(one.phases, other.phases):
        yield _Draft((first, *phases), end)


def _interleaved(one: tuple[Phase, ...], other: tuple[Phase, ...]) -> Iterator[tuple[Phase, ...]]:
    """The phases that follow the first phases of both."""
    if len(one) == len(other) == 1:
        yield ()
    for here, there in ((True, False), (False, True), (True, True)):
        if len(one) > here and len(other) > there:
            left, right = one[here:], other[there:]
            for phases in _interleaved(left, right):
                yield (_merged(left[0], right[0], here, there), *phases)


def _merged(one: Phase, other: Phase, one_enters: bool, other_enters: bool) -> Phase:
    """A phase in both; a step into it is one into the phase that is entered, and stays in the one that is not."""
    return Phase(
        enters_at=and_states(phase.enters_at for phase, enters in ((one, one_enters), (other, other_enters)) if enters),
        states=and_states([one.states, other.states]),
        steps=and_steps([one.steps, other.steps]),
        entered_by=and_steps(
            phase.entered_by if enters else phase.steps for phase, enters in ((one, one_enters), (other, other_enters))
        ),
    )


def _finished(draft: _Draft) -> Iterator[LassoQuery]:
    """The queries of a draft: a condition on the end of the behaviour becomes a condition on the cycle if it is about
    states, and a phase if it is about steps.
    """
    recurrences: list[Recurrence] = []
    responses: list[Response] = []
    states: list[StateSet] = []
    steps: list[StepSet] = []
    for condition in draft.end:
        match condition:
            case Recurrence():
                recurrences.append(condition)
            case Response():
                responses.append(condition)
            case Settled():
                states.append(condition.states)
                steps.append(condition.steps)
    settled, taken = and_states(states), and_steps(steps)
    last = draft.phases[-1]
    if and_states([settled, last.states]) == NO_STATES:
        return
    if taken == AllSteps():
        if settled != AllStates():
            responses.append(Response(not_states(settled), Recurrence()))
        yield LassoQuery(draft.phases, tuple(recurrences), tuple(responses))
        return
    narrow = replace(last, states=and_states([last.states, settled]), steps=and_steps([last.steps, taken]))
    if not _is_empty(narrow):
        yield LassoQuery((*draft.phases[:-1], narrow), tuple(recurrences), tuple(responses))
    entered = Phase(states=narrow.states, steps=narrow.steps, entered_by=last.steps)
    yield LassoQuery((*draft.phases, entered), tuple(recurrences), tuple(responses))
