"""Errors that occur for every value that an expression can have: the errors that evaluating it would raise.

The errors are made by the operation itself, on a sample of each kind, so that they are those of a state that reaches
the line. Invariant: an error is raised only where all alternatives of kinds fail.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import islice, product
from typing import Any, NoReturn

from kmc.compiler.checks.kinds.kind import Kind, Kinds, any_of, elements, in_words, may_be_equal, may_be_in, sample
from kmc.errors import EvaluationError, SpecError
from kmc.lang.admission import advice_on_value
from kmc.lang.domains import describe
from kmc.lang.errors.python_errors import in_words as python_in_words
from kmc.lang.guards import advice_on_condition
from kmc.lang.showing import shown
from kmc.lang.types import MapType, SeqType, SetType, Type
from kmc.spec.places import span_of

# Errors that depend on kinds only. What depends on the value, such as a division by 0, shows when it is evaluated.
_OF_KINDS = {f"KMC{number}" for number in (206, 212, 215, 223, 224, 225, 230, 235, 241, 243, 246, 247, 248, 250, 255)}
_COMBINATIONS_MAX = 64


def refuse(error: EvaluationError, node: ast.AST, path: str) -> NoReturn:
    """Raise `error` at its place, as one of a spec that does not load."""
    raise SpecError(error.code, error.message, span_of(node, path), error.help, error.notes)


def attempted(operation: Callable[..., object], *operands: Kinds) -> EvaluationError | None:
    """The error of an operation that fails for all kinds of its operands; None if it may succeed."""
    if not all(operands):
        return None
    first: EvaluationError | None = None
    choices = [sorted(kinds, key=_order) for kinds in operands if kinds]
    for combination in islice(product(*choices), _COMBINATIONS_MAX):
        error = _error(operation, combination)
        if error is None:
            return None
        first = first or error
    return first


def _order(kind: Kind) -> tuple[bool, str, str]:
    return kind.word == "None", kind.word, getattr(kind.of, "__name__", "")


def _error(operation: Callable[..., object], kinds: tuple[Kind, ...]) -> EvaluationError | None:
    try:
        operation(*map(sample, kinds))
    except EvaluationError as error:
        if error.code == "KMC250":  # which Bool it is depends on the state
            return EvaluationError(error.code, "this operand is a Bool, not a number", help=error.help)
        return error if error.code in _OF_KINDS else None
    except (TypeError, AttributeError) as error:
        mistake = python_in_words(error)
        return mistake if mistake.code in _OF_KINDS else None
    except Exception:  # of the sample, not of its kind
        return None
    return None


def not_stored(kinds: Kinds, declared: Type, owner: str, node: ast.AST) -> EvaluationError | None:
    """The error of a value that is never in the domain of its field or parameter."""
    if not kinds or may_be_in(kinds, declared):
        return None
    words = {kind.word for kind in kinds}
    match declared:
        case SetType(element) if words == {"set"}:
            return not_stored(elements(kinds), element, owner, _element_of(node))
        case SeqType(element, _) if words == {"seq"}:
            return not_stored(elements(kinds), element, owner, _element_of(node))
        case MapType(_, value, _) if words == {"map"} and not may_be_in(any_of(k.parts[1] for k in kinds), value):
            return not_stored(any_of(kind.parts[1] for kind in kinds), value, owner, _element_of(node))
    advice = advice_on_value(_sample(kinds), declared)
    return EvaluationError("KMC201", f"{owner}: {_shown(node, kinds)} is not in {describe(declared)}", help=advice)


def _element_of(node: ast.AST) -> ast.AST:
    """The only element that a literal or a comprehension has in the text; else the node itself."""
    match node:
        case ast.SetComp(elt=element) | ast.ListComp(elt=element) | ast.DictComp(value=element):
            return element
        case ast.Set(elts=[element]) | ast.List(elts=[element]) | ast.Dict(values=[element]):
            return element
        case _:
            return ast.Pass()


def not_a_condition(kinds: Kinds, node: ast.AST) -> EvaluationError | None:
    """The error of a condition that is never a Bool."""
    if not kinds or any(kind.word == "Bool" for kind in kinds):
        return None
    advice = advice_on_condition(None if Kind("None") in kinds else _sample(kinds))
    return EvaluationError("KMC249", f"this condition is {_shown(node, kinds)}, not a Bool", help=advice)


def not_a_key(kinds: Kinds, keys: Kinds, node: ast.AST, owner: ast.expr) -> EvaluationError | None:
    """The error of a key that is never one of a map's."""
    if not kinds or not keys or may_be_equal(kinds, keys):
        return None
    shown, wanted = _shown(node, kinds), in_words(keys)
    advice = f"the keys of this map are of another kind: {wanted}"
    if any(kind.word == "set" for kind in keys) and all(kind.word == "tuple" for kind in kinds):
        advice = "write pair(a, b)"
    return EvaluationError("KMC226", f"{shown} is never a key of '{ast.unparse(owner)}'", help=advice)


def _sample(kinds: Kinds) -> Any:
    return sample(min(kinds, key=_order)) if kinds else None


def _shown(node: ast.AST, kinds: Kinds) -> str:
    """A value as its author wrote it if it is a literal, else its kind."""
    if isinstance(node, ast.Dict) and not node.keys:
        return "the empty map"
    return shown(node.value) if isinstance(node, ast.Constant) else in_words(kinds)
