"""Facts: conditions that are true in a state and make a property fail, as clauses of a sentence with the values that
they name.

Invariant: every fact in a story has been evaluated anew (`reproduced`), from the text of its expressions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

from kmc.errors import KmcError
from kmc.lang.maps import MapValue
from kmc.lang.naming import with_article
from kmc.lang.records import Record
from kmc.lang.seqs import SeqValue
from kmc.story.explain.scopes import Context, Label, Wording
from kmc.story.parts.story import ComparedValue

_SHORT = 160
_DIFFERENCE_SHOWN_MAX = 60
_CLAUSES_MAX = 5

_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.Lt: ast.GtE,
    ast.Gt: ast.LtE,
    ast.In: ast.NotIn,
    ast.Is: ast.IsNot,
}
_OPPOSITES |= {other: one for one, other in _OPPOSITES.items()}
_ORDERS: dict[type[ast.cmpop], str] = {
    ast.Lt: "less than",
    ast.LtE: "at most",
    ast.Gt: "more than",
    ast.GtE: "at least",
}
_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}
_SUBSETS: dict[type[ast.cmpop], str] = {
    ast.Lt: "a proper subset of",
    ast.LtE: "a subset of",
    ast.Gt: "a proper superset of",
    ast.GtE: "a superset of",
}


@dataclass(frozen=True, slots=True)
class NamedValue:
    """An expression under its bindings, its name for people, and its value."""

    name: Label
    shown: str
    node: ast.expr
    scope: Context
    value: Any

    @property
    def is_literal(self) -> bool:
        """Whether the expression says its own value."""
        return self.name.literal or self.name.text == self.shown


@dataclass(frozen=True, slots=True)
class Fact:
    """The expression `node` has a truth value, said as a `clause`; `values` are those that decide it.

    A fact without a clause only shows values. A `premise` gives the condition under which the property applies. A
    `weak` fact says little beside others; `is_change`: a place has another value after the step, or not.
    """

    node: ast.expr
    scope: Context
    truth: bool
    clause: str
    values: tuple[NamedValue, ...] = field(default=())
    premise: bool = False
    weak: bool = False
    is_change: bool = False


def reproduced(facts: Iterable[Fact]) -> Iterator[Fact]:
    """The facts that are true, and whose values are so, when their texts are evaluated anew."""
    for fact in facts:
        claims = [(fact.node, fact.scope, fact.truth), *((v.node, v.scope, v.value) for v in fact.values)]
        if all(_evaluates(*claim) for claim in claims):
            yield fact


def with_local_names(facts: Iterable[Fact], wording: Wording) -> list[Fact]:
    """The facts, each followed by the values of the local names of the property that it uses, where none gives them."""
    fact_list = list(facts)
    known = {value.name.text for fact in fact_list for value in fact.values}
    extended: list[Fact] = []
    for fact in fact_list:
        extended.append(fact)
        for name in dict.fromkeys(re.findall(r"\w+", fact.clause)):
            bound = fact.scope.bound.get(name)
            # `condition is <lambda>` explains nothing.
            if bound is None or isinstance(bound.value, FunctionType):
                continue
            if bound.label == Label(name) and name not in known:
                known.add(name)
                value = named_value(ast.Name(name, ast.Load()), fact.scope, wording)
                extended.append(Fact(ast.Constant(True), fact.scope, True, f"{name} is {_short(value)}", (value,)))
    return extended


def _evaluates(node: ast.expr, scope: Context, value: Any) -> bool:
    try:
        return bool(scope.reads(ast.unparse(node)) == value)
    except (KmcError, ArithmeticError, LookupError, NameError, TypeError, ValueError, AttributeError):
        return False


def named_value(node: ast.expr, scope: Context, wording: Wording) -> NamedValue:
    """An expression with its value and name."""
    value = scope.value(node)
    label = wording.label(node, scope) or Label(wording.text(node, scope))
    return NamedValue(label, wording.value(value), node, scope, value)


def truth_fact(node: ast.expr, scope: Context, truth: bool, wording: Wording) -> Fact:
    """The fact that applies to any condition: that it is true or false."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[instance, ast.Name(id=kind)]):
            value = named_value(instance, scope, wording)
            text = f"{value.name.text} is {'' if truth else 'not '}{with_article(kind)}"
            return Fact(node, scope, truth, text, (value,))
    value = named_value(node, scope, wording)
    # A reader knows the value of a constant from the model.
    is_constant = isinstance(node, ast.Name) and node.id not in scope.bound
    return Fact(node, scope, truth, f"{value.name.text} is {wording.value(truth)}", (value,), weak=is_constant)


def chosen_branch(node: ast.expr, scope: Context) -> ast.expr:
    """The branch of a conditional expression that has its value; any other expression itself."""
    while isinstance(node, ast.IfExp):
        node = node.body if scope.value(node.test) else node.orelse
    return node


def compared_fact(node: ast.Compare, scope: Context, truth: bool, wording: Wording) -> Fact:
    """A comparison of two values, in words."""
    operator = type(node.ops[0])
    operands = (chosen_branch(operand, scope) for operand in (node.left, node.comparators[0]))
    left, right = (named_value(operand, scope, wording) for operand in operands)
    if isinstance(left.value, frozenset) and operator in _SUBSETS:
        clause = f"{_is(left)}, {'' if truth else 'not '}{_SUBSETS[operator]} {_which(right)}"
    else:
        operator = operator if truth else _OPPOSITES[operator]
        clause = _clause(operator, left, right, wording)
    is_trivial = (left.is_literal and right.is_literal) or left.name == right.name
    # Membership in a function concerns its keys alone.
    is_of_keys = isinstance(right.value, MapValue)
    is_weak = is_trivial or is_of_keys or (operator in (ast.NotEq, ast.IsNot) and right.value is None)
    values = tuple(v for v in (left, right) if not v.is_literal and not (v is right and is_of_keys))
    clause = "" if is_trivial else clause
    return Fact(node, scope, truth, clause, values, weak=is_weak, is_change=_same_place(left, right))


def clauses_of(facts: Sequence[Fact]) -> list[str]:
    """The clauses of a sentence: the facts that decide, without those that say little beside them."""
    distinct = list({fact.clause: fact for fact in reversed(facts) if fact.clause}.values())[::-1]
    strong = [fact for fact in distinct if not _says_little(fact)] or distinct
    for fact in [f for f in strong if f.is_change]:
        others = {value.name.text for other in strong if other is not fact for value in other.values}
        if {value.name.text for value in fact.values} <= others:
            strong.remove(fact)
    if len(strong) > _CLAUSES_MAX:
        strong = [fact for fact in strong if not fact.premise] or strong
    told_more = [fact.clause for fact in strong]
    # `state of s1 is Leader` says nothing beside `state of s1 is Leader, not Dead`.
    clauses = [one for one in told_more if not any(other.startswith(f"{one}, not ") for other in told_more)]
    more = len(clauses) - _CLAUSES_MAX
    return [*clauses[:_CLAUSES_MAX], f"and {more} more"] if more > 0 else clauses


def compared_values(facts: Iterable[Fact]) -> tuple[ComparedValue, ...]:
    """The values of some facts, each expression once."""
    shown: dict[str, str] = {}
    for fact in facts:
        for value in fact.values:
            shown.setdefault(value.name.text, value.shown)
    return tuple(ComparedValue(expression, value) for expression, value in shown.items())


def _says_little(fact: Fact) -> bool:
    """Whether a premise only says which value is excluded, or that a value stays."""
    if fact.weak or not isinstance(fact.node, ast.Compare):
        return fact.weak
    operator = type(fact.node.ops[0])
    is_different = (operator in (ast.NotEq, ast.IsNot)) is fact.truth and operator in (
        ast.Eq,
        ast.NotEq,
        ast.Is,
        ast.IsNot,
    )
    return fact.premise and ((is_different and not fact.is_change and len(fact.values) < 2) or _stays(fact))


def _stays(fact: Fact) -> bool:
    return fact.is_change and len({value.shown for value in fact.values}) == 1


def _clause(operator: type[ast.cmpop], left: NamedValue, right: NamedValue, wording: Wording) -> str:
    if operator in (ast.Eq, ast.Is):
        return _equal(left, right)
    if operator in (ast.NotEq, ast.IsNot):
        return _different(left, right, wording)
    if operator in (ast.In, ast.NotIn):
        return _contained(left, right, is_in=operator is ast.In)
    if _same_place(left, right):
        return _moved(left, right)
    if left.value == right.value:
        return _equal(left, right)
    if left.is_literal and not right.is_literal:
        # A sentence about the place, not about the number: `0 < st.n` is "n is 1, more than 0".
        left, right, operator = right, left, _MIRRORED[operator]
    return f"{_is(left)}, {_ORDERS[operator]} {_which(right)}"


def _equal(left: NamedValue, right: NamedValue) -> str:
    if right.is_literal or left.is_literal:
        variable, other = (left, right) if right.is_literal else (right, left)
        return f"{variable.name.text} is {_short(other)}"
    if _same_place(left, right):
        return f"{_place(left)} stays {_short(left)}"
    if left.name.path == right.name.path and left.name.owner and right.name.owner and left.name.when == right.name.when:
        path = f"{left.name.when} {left.name.path}".strip()
        return f"{left.name.owner} and {right.name.owner} have the same {path}, {_short(left)}"
    return f"{left.name.text} and {right.name.text} are both {_short(left)}"


def _different(left: NamedValue, right: NamedValue, wording: Wording) -> str:
    if right.is_literal:
        return _is(left) + ("" if right.value is None else f", not {right.shown}")
    if left.is_literal:
        return f"{_is(right)}, not {left.shown}"
    left, right = _first_difference(left, right, wording)
    if _same_place(left, right):
        old, new = (left, right) if left.name.when == "old" else (right, left)
        return f"{_place(left)} changes from {_short(old)} to {_short(new)}"
    return f"{_is(left)}, but {_is(right)}"


def _moved(left: NamedValue, right: NamedValue) -> str:
    old, new = (left, right) if left.name.when == "old" else (right, left)
    if old.value == new.value:
        return f"{_place(left)} stays {old.shown}"
    return f"{_place(left)} {'falls' if new.value < old.value else 'rises'} from {old.shown} to {new.shown}"


def _first_difference(left: NamedValue, right: NamedValue, wording: Wording) -> tuple[NamedValue, NamedValue]:
    """The first part in which two long values of one form differ; the values themselves if they are short."""
    while len(left.shown) + len(right.shown) > _DIFFERENCE_SHOWN_MAX:
        difference = _differing_part(left.value, right.value)
        if difference is None:
            break
        left, right = (
            replace(v, name=wording.part(v.name, difference[0]), shown=wording.value(value), value=value)
            for v, value in ((left, difference[1]), (right, difference[2]))
        )
    return left, right


def _differing_part(left: Any, right: Any) -> tuple[str | int, Any, Any] | None:
    """The first field of two records, or element of two sequences of one length, that differs, with both values."""
    if isinstance(left, Record) and type(left) is type(right):
        return next(((n, v, getattr(right, n)) for n, v in left.items() if v != getattr(right, n)), None)
    if isinstance(left, SeqValue) and isinstance(right, SeqValue) and len(left) == len(right):
        pairs = enumerate(zip(left, right, strict=True), start=1)
        return next(((offset, one, other) for offset, (one, other) in pairs if one != other), None)
    return None


def _contained(left: NamedValue, right: NamedValue, *, is_in: bool) -> str:
    if left.is_literal and not right.is_literal:
        has = "contains" if is_in else "does not contain"
        if len(right.shown) <= _SHORT:
            return f"{_is(right)}, which {has} {left.shown}"
        return f"{right.name.text} {has} {left.shown}"
    collection = right.name.text if len(right.shown) > _SHORT else _which(right)
    return f"{_is(left)}, {'' if is_in else 'not '}in {collection}"


def _same_place(left: NamedValue, right: NamedValue) -> bool:
    """Whether this is one place before and after a step."""
    one, other = left.name, right.name
    return (one.path, one.owner) == (other.path, other.owner) and {one.when, other.when} == {"old", "new"}


def _place(value: NamedValue) -> str:
    return f"{value.name.path} of {value.name.owner}" if value.name.owner else value.name.path


def _is(value: NamedValue) -> str:
    return value.shown if value.is_literal else f"{value.name.text} is {_short(value)}"


def _which(value: NamedValue) -> str:
    return value.shown if value.is_literal else f"{value.name.text}, which is {_short(value)}"


def _short(value: NamedValue) -> str:
    return value.shown if len(value.shown) <= _SHORT else f"{value.shown[: _SHORT - 3]}..."
