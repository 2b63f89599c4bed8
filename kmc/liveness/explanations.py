"""Why a lasso refutes a property, in one sentence, for the forms of formulas that are written most.

In a sentence, `{0}` stands for the number of the first state of the query's first phase, `{1}` of its second.
"""

from __future__ import annotations

from kmc.liveness.formula_text import text_of
from kmc.liveness.formulas import Always, Eventually, Fair, ForAll, Formula, Iff, Implies, LeadsTo, Not, Or, ThereExists
from kmc.liveness.lasso_queries import LassoQuery
from kmc.liveness.negation import is_of_states, is_of_steps


def why(formula: Formula, query: LassoQuery) -> str:
    """The sentence for a lasso that answers `query`, one of those of the negation of `formula`."""
    last = f"{{{len(query.phases) - 1}}}"
    match formula:
        case LeadsTo(premise, goal) if is_of_states(premise) and is_of_states(goal):
            return f"{_shown(premise)} holds in state {last}, and {_shown(goal)} in no state from there on"
        case Always(Eventually(part)) if is_of_states(part):
            return f"{_shown(part)} holds in no state of the cycle"
        case Always(Eventually(part)) if is_of_steps(part):
            return f"no step of the cycle is one of {_shown(part)}"
        case Eventually(Always(part)) if is_of_states(part):
            return f"{_shown(part)} fails again and again: in some state of the cycle"
        case Eventually(Always(part)) if is_of_steps(part):
            return f"steps other than {_shown(part)} are taken again and again"
        case Always(part) if is_of_states(part):
            return f"{_shown(part)} is false in state {last}"
        case Always(part) if is_of_steps(part):
            return f"the step to state {last} is not one of {_shown(part)}"
        case Eventually(part) if is_of_states(part):
            return f"{_shown(part)} holds in no state"
        case Eventually(part) if is_of_steps(part):
            return f"no step is one of {_shown(part)}"
        case Fair():
            return f"the behavior is not fair by {_shown(formula)}"
        case _ if is_of_states(formula):
            return f"{_shown(formula)} is false in state {{0}}"
        case Not() | Or() | Implies() | Iff() | ThereExists() | ForAll():
            return f"the behavior does not satisfy {_shown(formula)}"
        case _:
            return ""


def _shown(formula: Formula) -> str:
    """A formula in a sentence, none of whose braces stands for a number."""
    text = text_of(formula).replace("{", "{{").replace("}", "}}")
    return text if text.isidentifier() else f"`{text}`"
