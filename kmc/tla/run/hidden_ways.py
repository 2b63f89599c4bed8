"""Refusals of conjuncts whose ways to be true kmc cannot count as TLC does: they depend on what TLC has computed."""

from __future__ import annotations

from typing import NoReturn

from kmc.errors import Span, SpecError


def refuse_hidden_function(name: str, place: Span) -> NoReturn:
    """Raise SpecError KMC024 for a recursive function, as a conjunct, in an operator that its body applies."""
    _refuse(
        f"the recursive function {name} is not supported as a formula in an operator that it applies",
        place,
        "write the application in the function itself",
    )


def refuse_hidden_ways(place: Span) -> NoReturn:
    """Raise SpecError KMC024 for a conjunct that applies a function whose ways to be true kmc cannot count."""
    _refuse(
        "a function that an expression yields is not supported as a formula with several ways to be true",
        place,
        "add '= TRUE' to the application, which has one way, or apply the functions by their names",
    )


def refuse_function_argument(name: str, place: Span) -> NoReturn:
    """Raise SpecError KMC024 for a function of formulas as an argument, whose ways depend on what is computed first."""
    _refuse(
        f"the parameter {name} is not supported for a function of formulas with several ways to be true",
        place,
        f"add '= TRUE' to the applications of {name}, or let the operator do nothing with {name} but apply it",
    )


def refuse_read_formula(name: str, place: Span) -> NoReturn:
    """Raise SpecError KMC024 for a formula with several ways as an argument that is a conjunct and a value."""
    _refuse(
        f"the parameter {name} is not supported for a formula with several ways to be true, since its operator also "
        f"reads the value of {name}",
        place,
        f"pass '(...) = TRUE', which has one way, or let {name} be conjuncts of the operator only",
    )


def refuse_changed_argument(operator: str, name: str, place: Span) -> NoReturn:
    """Raise SpecError KMC024 for a recursive call with another argument that has to be compiled where it is used."""
    _refuse(
        f"the recursive operator {operator} is not supported with a parameter {name} that is a formula with several "
        "ways to be true or reads the next state, and that its recursive calls change",
        place,
        f"pass {name} on as it is, or apply {operator} to values of the first state",
    )


def _refuse(message: str, place: Span, advice: str) -> NoReturn:
    raise SpecError("KMC024", message, place, help=advice)
