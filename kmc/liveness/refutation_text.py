"""Why a formula is false of a behaviour, in one sentence that names what the behaviour lacks.

States are counted from 1, as in a trace. The sentence follows the formula from the outside: the first part of a
conjunction that fails, the first state from which something stays away for ever.
"""

from __future__ import annotations

from kmc.liveness.formula_text import text_of
from kmc.liveness.formulas import (
    Always,
    And,
    Eventually,
    ForAll,
    Formula,
    Implies,
    LeadsTo,
    Not,
    Or,
    ThereExists,
    parts_of,
)
from kmc.liveness.lasso_semantics import EndlessBehaviour
from kmc.liveness.negation import is_of_states, is_of_steps

_CASES_MAX = 3


def why_false(behaviour: EndlessBehaviour, formula: Formula, position: int = 0) -> str:
    """Why a formula is false of a behaviour from a position on; a clause without a full stop."""
    match formula:
        case Always(part):
            return _why_not_always(behaviour, part, position)
        case Eventually(part):
            return _why_not_eventually(behaviour, part, position)
        case LeadsTo(premise, goal):
            begin = next(
                at
                for at in _from(behaviour, position)
                if behaviour.satisfies(premise, at) and not behaviour.satisfies(Eventually(goal), at)
            )
            if text_of(goal) == f"not {text_of(premise)}":
                return f"{_true(premise, begin)} and in every state from there on"
            return f"{_true(premise, begin)}, and {_quoted(goal)} in no state from there on"
        case And() | ForAll():
            return why_false(
                behaviour, next(p for p in parts_of(formula) if not behaviour.satisfies(p, position)), position
            )
        case Or() | ThereExists() if not is_of_states(formula):
            cases = [why_false(behaviour, part, position) for part in parts_of(formula)]
            rest = len(cases) - _CASES_MAX
            return "; ".join(cases[:_CASES_MAX]) + (f"; and so on in {rest} more cases" if rest > 0 else "")
        case Implies(premise, conclusion) if not is_of_states(formula):
            return f"{_true(premise, position)}, and {why_false(behaviour, conclusion, position)}"
        case Not(part):
            return _why_true(behaviour, part, position)
        case _ if not is_of_states(formula):
            return f"{_quoted(formula)} is false from state {position + 1} on"
        case _:
            return f"{_quoted(formula)} is false in state {position + 1}"


def _why_true(behaviour: EndlessBehaviour, formula: Formula, position: int) -> str:
    """In which states it is seen that a formula is true of a behaviour from a position on."""
    match formula:
        case Not(part):
            return why_false(behaviour, part, position)
        case Eventually(Always(part)) | Always(Eventually(Always(part))) if is_of_states(part):
            begin = next(at for at in _from(behaviour, position) if behaviour.satisfies(Always(part), at))
            return f"{_quoted(part)} is true in every state from state {begin + 1} on"
        case Always(Eventually(part)) if is_of_states(part):
            again = next(at for at in _from(behaviour, behaviour.loop) if behaviour.satisfies(part, at))
            return f"{_quoted(part)} is true in state {again + 1}, again and again"
        case Eventually(part) if is_of_states(part):
            return _true(part, next(at for at in _from(behaviour, position) if behaviour.satisfies(part, at)))
        case Always(Eventually(part)) | Eventually(part) if is_of_steps(part):
            is_endless = isinstance(formula, Always)
            positions = _from(behaviour, behaviour.loop if is_endless else position)
            at = next(at for at in positions if behaviour.changes(at) and behaviour.takes(part, at))
            return f"{_step(behaviour, at)} is {_quoted(part)}{', again and again' if is_endless else ''}"
        case Always(part) if is_of_states(part):
            since = f" from state {position + 1} on" if position else ""
            return f"{_quoted(part)} is true in every state{since}"
        case And() | ForAll() if not is_of_states(formula) and len(parts_of(formula)) <= _CASES_MAX:
            return " and ".join(_why_true(behaviour, part, position) for part in parts_of(formula))
        case Or() | ThereExists() if not is_of_states(formula):
            true = next(part for part in parts_of(formula) if behaviour.satisfies(part, position))
            return _why_true(behaviour, true, position)
        case _:
            return _true(formula, position)


def _why_not_always(behaviour: EndlessBehaviour, part: Formula, position: int) -> str:
    if is_of_steps(part):
        at = next(at for at in _from(behaviour, position) if behaviour.changes(at) and not behaviour.takes(part, at))
        return f"{_step(behaviour, at)} is not {_quoted(part)}"
    at = next(at for at in _from(behaviour, position) if not behaviour.satisfies(part, at))
    return why_false(behaviour, part, at)


def _why_not_eventually(behaviour: EndlessBehaviour, part: Formula, position: int) -> str:
    begin = min(position, behaviour.loop)
    since = f" from state {begin + 1} on" if begin else ""
    if is_of_steps(part):
        return f"no step{since} is {_quoted(part)}"
    if is_of_states(part):
        return f"{_quoted(part)} is true in no state{since}"
    # Whatever is temporal is as true in the cycle as it is later.
    return f"{why_false(behaviour, part, behaviour.loop)}, again and again"


def _step(behaviour: EndlessBehaviour, at: int) -> str:
    last = at + 1 == len(behaviour.states)
    return f"the step from state {at + 1} to state {behaviour.loop + 1 if last else at + 2}"


def _from(behaviour: EndlessBehaviour, position: int) -> range:
    """The positions that are then or later; in the cycle, all of it."""
    return range(min(position, behaviour.loop), len(behaviour.states))


def _true(formula: Formula, position: int) -> str:
    if not is_of_states(formula):
        return f"{_quoted(formula)} is true" + (f" from state {position + 1} on" if position else "")
    return f"{_quoted(formula)} is true in state {position + 1}"


def _quoted(formula: Formula) -> str:
    """The text of a formula, marked where it is more than a name."""
    text = text_of(formula)
    return text if text.isidentifier() else f"`{text}`"
