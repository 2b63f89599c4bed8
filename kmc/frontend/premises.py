"""The premises of invariants: conditions without which a part of an invariant says nothing.

`not p or q`, `all(q for x in S if p)`, `q if p else True` and `if not p: return True` have the premise `p`. Its
function is the invariant cut off at that place: it evaluates what the invariant evaluates up to there, in the same
order, and is true if the premise is. So it never needs a value that the invariant does not need. A premise of constants
alone is a switch of the model, and none here.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar

from kmc.frontend.rewrite import rewritten
from kmc.invariants.properties import Invariant, InvariantPremise
from kmc.lang.tree import MADE, body_of, definition_of, names_in, parameters, placed_like, yields
from kmc.spec.places import span_of

DEPTH_MAX = 8
"""The number of helpers that call each other and are followed to a premise."""

PREMISES_MAX = 16
"""The greatest number of premises of one invariant: the first ones, the outer before the inner."""

_INVERSE: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.NotEq: ast.Eq, ast.NotIn: ast.In, ast.IsNot: ast.Is}

_Node = TypeVar("_Node", bound=ast.AST)


@dataclass(frozen=True, slots=True)
class _Site:
    """A premise at `place`: the premises `above` it must be true before it is evaluated."""

    number: int
    above: tuple[int, ...]
    place: ast.expr
    text: str
    path: str


_Reached = tuple[_Site, ast.expr]
"""A premise, and the condition "it is evaluated, and is true" in the place of an expression."""

_ReachedInBody = tuple[_Site, list[ast.stmt]]
"""A premise, and the statements that return whether it is evaluated and true, in the place of a body."""


def premises_of(invariants: Sequence[Invariant], root: Path, at_most: int) -> tuple[InvariantPremise, ...]:
    """The premises of invariants of the spec at `root`, the first `at_most` of all.

    An invariant whose file has changed since it was loaded has none.
    """
    found = (premise for invariant in invariants for premise in _of_one(invariant, root))
    return tuple(premise for premise, _ in zip(found, range(at_most), strict=False))


def _of_one(invariant: Invariant, root: Path) -> Iterator[InvariantPremise]:
    function = invariant.function
    if not isinstance(function, FunctionType):
        return
    reader = _Reader(function, count())
    names: dict[int, str] = {}
    for (site, made), number in zip(reader.functions(()), range(1, PREMISES_MAX + 1), strict=False):
        names[site.number] = f"{invariant.name}, premise {number}"
        span = span_of(site.place, site.path)
        yield InvariantPremise(
            names[site.number],
            made,
            span,
            site.text,
            invariant.name,
            f"{os.path.relpath(span.path, root.parent)}:{span.line}",
            tuple(names[outer] for outer in site.above if outer in names),
        )


class _Reader:
    """The premises in one function; `numbers` counts those of the whole invariant, `depth` the helpers around it."""

    def __init__(self, function: FunctionType, numbers: Iterator[int], depth: int = 0) -> None:
        self._function = function
        self._numbers = numbers
        self._depth = depth
        self._path = function.__code__.co_filename
        self._calls: dict[str, Any] = {}
        self._locals: set[str] = set()
        self._variable: set[str] = set()

    def functions(self, above: tuple[int, ...]) -> Iterator[tuple[_Site, Callable[..., bool]]]:
        """The premises, each with the function that says whether it is evaluated and true."""
        definition = definition_of(self._function)
        if definition is None or self._function.__closure__ or yields(definition):
            return
        names = (node for node in ast.walk(definition) if isinstance(node, ast.Name))
        self._locals = {*(node.id for node in names if isinstance(node.ctx, ast.Store)), *parameters(definition.args)}
        self._variable = _variable_names(definition)
        for site, body in self._in_body(body_of(definition), above):
            yield site, _function_of(self._function, _with_body(definition, body), self._calls)

    def _site(self, place: ast.expr, text: str, above: tuple[int, ...]) -> _Site:
        return _Site(next(self._numbers), above, place, text, self._path)

    def _reads_locals(self, *nodes: ast.AST) -> bool:
        return any(not self._locals.isdisjoint(names_in(node)) for node in nodes)

    def _in_body(self, body: Sequence[ast.stmt], above: tuple[int, ...]) -> Iterator[_ReachedInBody]:
        """The premises in statements, up to the first loop, which a function of a state has only inside helpers."""
        before: list[ast.stmt] = []
        for position, statement in enumerate(body):
            match statement:
                case ast.Return(value=ast.expr() as value):
                    for site, reached in self._in_expression(value, above):
                        yield site, [*before, _returning(reached, statement)]
                    return
                case ast.If():
                    for site, inner in self._in_branches(statement, body[position + 1 :], above):
                        yield site, [*before, *inner]
                        if site.place is statement.test:
                            above = (*above, site.number)
                case ast.For() | ast.While():
                    return
            before.append(_never_reached(statement))

    def _in_branches(
        self, statement: ast.If, after: Sequence[ast.stmt], above: tuple[int, ...]
    ) -> Iterator[_ReachedInBody]:
        """The premises in an `if`, whose own test is one if the function is true without it, or else."""
        test, no = statement.test, _constant(False, statement.test)
        is_read = self._reads_locals(test)
        if is_read and after and not statement.orelse and _is_true(statement.body):
            site = self._site(test, _negation_text(test), above)
            yield site, [_if(test, [_returning(no, test)]), _returning(_constant(True, test), test)]
            return
        if is_read and not statement.orelse and _is_true(after):
            site = self._site(test, ast.unparse(test), above)
            yield site, [_returning(test, test)]
            above = (*above, site.number)
        last = _returning(no, test)
        for site, inner in self._in_body(statement.body, above):
            yield site, [_if(test, [*inner, last]), last]
        for site, inner in self._in_body(statement.orelse, above):
            yield site, [_if(test, [last]), *inner, last]

    def _in_expression(self, node: ast.expr, above: tuple[int, ...]) -> Iterator[_Reached]:
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                for position, value in enumerate(values):
                    for site, reached in self._in_expression(value, above):
                        yield site, _all_of([*values[:position], reached], node)
            case ast.BoolOp(op=ast.Or(), values=values):
                yield from self._in_alternatives(node, values, above)
            case ast.IfExp():
                yield from self._in_choice(node, above)
            case ast.Call(func=ast.Name(id="all" | "any" as word), args=[ast.GeneratorExp() as each]):
                yield from self._in_quantifier(each, above, of_all=word == "all")
            case ast.Call(func=ast.Name(id=name)) if name not in self._locals:
                yield from self._in_helper(node, self._function.__globals__.get(name), above)

    def _in_alternatives(self, node: ast.expr, values: list[ast.expr], above: tuple[int, ...]) -> Iterator[_Reached]:
        """`not p or q`: the premise is that all negated operands before the last one are false."""
        negated = [position for position, value in enumerate(values[:-1]) if _is_negation(value)]
        if negated and self._reads_locals(*(values[position] for position in negated)):
            text = " and ".join(_negation_text(values[position]) for position in negated)
            site = self._site(values[negated[0]], text, above)
            yield site, _all_of([_not(value) for value in values[: negated[-1] + 1]], node)
            above = (*above, site.number)
        for position, value in enumerate(values):
            for site, reached in () if position in negated else self._in_expression(value, above):
                yield site, _all_of([*map(_not, values[:position]), reached], node)

    def _in_choice(self, node: ast.IfExp, above: tuple[int, ...]) -> Iterator[_Reached]:
        """`q if p else True`, `True if p else q`."""
        test = node.test
        for is_body, other in ((True, node.orelse), (False, node.body)):
            if _is_constant_true(other) and self._reads_locals(test):
                text = ast.unparse(test) if is_body else _negation_text(test)
                site = self._site(test, text, above)
                yield site, _all_of([test if is_body else _not(test)], node)
                above = (*above, site.number)
        for site, reached in self._in_expression(node.body, above):
            yield site, _all_of([test, reached], node)
        for site, reached in self._in_expression(node.orelse, above):
            yield site, _all_of([_not(test), reached], node)

    def _in_quantifier(self, each: ast.GeneratorExp, above: tuple[int, ...], *, of_all: bool) -> Iterator[_Reached]:
        """`all(q for x in S if p)`: the premise is that some `x` in `S` satisfies `p`."""
        conditions = [condition for generator in each.generators for condition in generator.ifs]
        collections = [g for g in each.generators if not self._variable.isdisjoint(names_in(g.iter))]
        if of_all and (conditions or collections):
            site = self._site(conditions[0] if conditions else collections[0].iter, _quantified_text(each), above)
            yield site, _any(_constant(True, each), each)
            above = (*above, site.number)
        for site, reached in self._in_expression(each.elt, above):
            yield site, _any(reached, each)

    def _in_helper(self, call: ast.Call, helper: object, above: tuple[int, ...]) -> Iterator[_Reached]:
        is_of_spec = isinstance(helper, FunctionType) and "__kmc_set__" in helper.__globals__
        if not is_of_spec or self._depth == DEPTH_MAX:
            return
        assert isinstance(helper, FunctionType)
        for site, made in _Reader(helper, self._numbers, self._depth + 1).functions(above):
            name = f"{helper.__name__}_{site.number}"
            self._calls[name] = made
            reached = placed_like(ast.Call(_name(name, call.func), call.args, call.keywords), call)
            yield site, reached


def _variable_names(definition: ast.FunctionDef) -> set[str]:
    """The names of a function whose values may depend on its parameters: the others have constant values."""
    bound: list[tuple[ast.AST, ast.AST]] = []
    for node in ast.walk(definition):
        match node:
            case ast.comprehension(target=target, iter=value) | ast.For(target=target, iter=value):
                bound.append((target, value))
            case ast.Assign(targets=targets, value=value):
                bound += [(target, value) for target in targets]
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
                bound.append((target, value))
    variable = {node.name for node in ast.walk(definition) if isinstance(node, ast.FunctionDef)}
    variable |= set(parameters(definition.args))
    before = -1
    while before < len(variable):
        before = len(variable)
        depending = [target for target, value in bound if not variable.isdisjoint(names_in(value))]
        variable.update(name for target in depending for name in names_in(target))
    return variable


def _function_of(function: FunctionType, made: ast.FunctionDef, calls: dict[str, Any]) -> Callable[..., bool]:
    """The function whose tree is `made`, in the place of `function`; `calls` are the functions made for helpers."""
    module = compile(rewritten(ast.Module([deepcopy(made)], [])), function.__code__.co_filename, "exec")
    (code,) = (const for const in module.co_consts if isinstance(const, CodeType) and const.co_name == made.name)
    names = {**function.__globals__, **calls} if calls else function.__globals__
    result = FunctionType(code, names, made.name, function.__defaults__)
    result.__kwdefaults__ = function.__kwdefaults__
    setattr(result, MADE, made)
    return result


def _with_body(definition: ast.FunctionDef, body: list[ast.stmt]) -> ast.FunctionDef:
    """A function with other statements, and without its decorators and annotations, which have been executed."""
    made = copy(definition)
    made.args, made.body = deepcopy(definition.args), deepcopy(body)
    made.decorator_list, made.returns = [], None
    for argument in (*made.args.args, *made.args.kwonlyargs):
        argument.annotation = None
    return made


class _NoReturns(ast.NodeTransformer):
    """Each `return` becomes `return False`; functions inside keep theirs."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Return(self, node: ast.Return) -> ast.Return:
        return _returning(placed_like(ast.Constant(False), node), node)


def _never_reached(statement: ast.stmt) -> ast.stmt:
    """A statement before the one with the premise; if it ends the function, the premise is not evaluated."""
    changed: ast.stmt = _NoReturns().visit(deepcopy(statement))
    return changed


def _returning(value: ast.expr, place: ast.AST) -> ast.Return:
    return placed_like(ast.Return(value), place)


def _if(test: ast.expr, body: list[ast.stmt]) -> ast.If:
    return placed_like(ast.If(test, body, []), test)


def _name(name: str, place: ast.AST) -> ast.Name:
    return placed_like(ast.Name(name, ast.Load()), place)


def _constant(value: bool, place: ast.AST) -> ast.Constant:
    return placed_like(ast.Constant(value), place)


def _not(value: ast.expr) -> ast.expr:
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        return value.operand
    return placed_like(ast.UnaryOp(ast.Not(), value), value)


def _all_of(values: list[ast.expr], place: ast.AST) -> ast.expr:
    return values[0] if len(values) == 1 else placed_like(ast.BoolOp(ast.And(), values), place)


def _any(condition: ast.expr, each: ast.GeneratorExp) -> ast.Call:
    """Some choice of a comprehension satisfies a condition."""
    generators = placed_like(ast.GeneratorExp(condition, each.generators), each)
    return placed_like(ast.Call(_name("any", each), [generators], []), each)


def _is_constant_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_true(body: Sequence[ast.stmt]) -> bool:
    """Return whether a body is the single statement `return True`."""
    match body:
        case [ast.Return(value=ast.expr() as value)]:
            return _is_constant_true(value)
        case _:
            return False


def _is_negation(node: ast.expr) -> bool:
    """Return whether an operand of `or` is written as the negation of a condition."""
    match node:
        case ast.UnaryOp(op=ast.Not()) | ast.Compare(ops=[ast.NotEq() | ast.NotIn() | ast.IsNot()]):
            return True
        case ast.Compare(ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return True
        case ast.Compare(left=ast.Call(func=ast.Name(id="len")), ops=[ast.Eq()], comparators=[ast.Constant(value=0)]):
            return True
        case _:
            return False


def _negation_text(node: ast.expr) -> str:
    """The negation of a condition as an author would write it."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return ast.unparse(operand)
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _INVERSE:
            return ast.unparse(ast.Compare(left, [_INVERSE[type(operator)]()], [right]))
        case ast.Compare(left=left, ops=[ast.Is()], comparators=[right]):
            return ast.unparse(ast.Compare(left, [ast.IsNot()], [right]))
        case ast.Compare(left=ast.Call(func=ast.Name(id="len")) as left, ops=[ast.Eq()], comparators=[right]):
            return ast.unparse(ast.Compare(left, [ast.Gt()], [right]))
        case _:
            return ast.unparse(ast.UnaryOp(ast.Not(), node))


def _quantified_text(each: ast.GeneratorExp) -> str:
    """`p for x in S`; `x in S` if there is no condition."""
    ranges = [f"{ast.unparse(item.target)} in {ast.unparse(item.iter)}" for item in each.generators]
    conditions = [ast.unparse(condition) for item in each.generators for condition in item.ifs]
    return (
        " ".join([" and ".join(conditions), *(f"for {text}" for text in ranges)]) if conditions else ", ".join(ranges)
    )
