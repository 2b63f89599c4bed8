"""The help for a name that a module uses and does not define: what its author meant, or where it should come from."""

from __future__ import annotations

from collections.abc import Iterable

from kmc.errors import Span
from kmc.near_words import nearest
from kmc.tla.names.builtins import modules_with

_OTHER_LANGUAGES = {
    "/": "division of integers is \\div, of the module Integers; neither TLC nor kmc evaluates real numbers",
    "&&": "'and' is /\\ in TLA+",
    "||": "'or' is \\/ in TLA+",
    "&": "'and' is /\\ in TLA+",
    "|": "'or' is \\/ in TLA+; a set of members with a condition is {x \\in S : P}",
    "%%": "the remainder is %, of the module Integers",
    "**": "a product is *, and a power is ^, of the module Integers",
    "++": "a union is \\cup, and a concatenation of sequences is \\o",
    "--": "the difference of sets is \\, and of numbers -",
    ":=": "a definition has the sign ==, and a step gives a variable its next value by x' = e",
}


def help_for_unknown(name: str, place: Span, known: Iterable[str], defined: Span | None) -> str:
    """Return the help for a name without a meaning; `defined` is where the module gives it one."""
    if defined is not None and defined.line > place.line:
        return f"its definition is in line {defined.line}: move it before this line"
    if name in _OTHER_LANGUAGES:
        return _OTHER_LANGUAGES[name]
    modules = modules_with(name)
    if modules:
        return f"it is an operator of the standard module {modules[0]}: write EXTENDS {modules[0]}"
    near = nearest(name, (other for other in known if other.isidentifier() == name.isidentifier()))
    if near is not None:
        return f"did you mean '{near}'?"
    return "declare or define it before this line, or extend the module that defines it"
