"""The reads of fields in the text of a model: where, under which tests of their record, and for which field's sake.

A read for a field's sake is inside of that field's new value: `me.set(votes=me.votes | {j})` reads `votes` for `votes`.
Any other read decides something: a guard, a property, a choice. Invariant: each read that a step or a property can make
is recorded, under no more tests than there are, as far as fields are read by name. A record that is compared as a whole
reads all of its fields, which is not seen here; so what follows from these reads is tried on states before it is said.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kmc.compiler.checks.unread.conditions import (
    NO_FACTS,
    SOME,
    UNTESTED,
    Facts,
    Tested,
    Values,
    both,
    compared,
    either,
)
from kmc.compiler.checks.unread.names import (
    MISSING,
    AnyOfMeanings,
    Anything,
    GivenExpression,
    Local,
    Meaning,
    NameMeanings,
    bound,
    called,
    home_of,
)
from kmc.compiler.values.scope import is_spec_function, syntax
from kmc.lang.recursion import result_type
from kmc.lang.tree import body_of, operation_of
from kmc.lang.types import RecordMeta

_CALLS_MAX = 100_000
_TRUTHS: Values = frozenset({False, True})


class TooManyReads(Exception):
    """The text of a model calls too many functions in too many ways to be looked through quickly."""


@dataclass(frozen=True, slots=True)
class FieldRead:
    """A read of a field: for the sake of which other field (None: it decides something), and what is known of its
    record there, as values of other fields.
    """

    name: str
    sake: str | None
    known: frozenset[tuple[str, Values]]


@dataclass(frozen=True, slots=True)
class FieldsWritten:
    """Fields that one expression sets together; `constants` are the values of those that it sets to constants, `known`
    what is known of the record before. A new record sets all of its fields.
    """

    names: frozenset[str]
    constants: frozenset[tuple[str, Values]]
    known: frozenset[tuple[str, Values]]


@dataclass(slots=True)
class Reads:
    """All reads and writes of fields that were found, and the pairs of fields that are compared with each other."""

    fields: frozenset[str]
    domains: dict[str, Values]
    read: set[FieldRead] = field(default_factory=set)
    written: set[FieldsWritten] = field(default_factory=set)
    compared: set[tuple[str, str]] = field(default_factory=set)
    _seen: set[object] = field(default_factory=set)

    def function(self, function: Callable[..., Any]) -> None:
        """Record what an action or a property reads. Raises TooManyReads."""
        node, home = syntax(function), home_of(function)
        self._body(node, called(node, None, home, home), NO_FACTS, None)

    def _body(self, node: ast.FunctionDef | ast.Lambda, names: NameMeanings, facts: Facts, sake: str | None) -> None:
        """Walk through a function with the meanings of its parameters; what it returns is for the sake of a field."""
        texts = tuple(names.text(ast.Name(id=name)) for name in names.local)
        key = id(node), texts, frozenset(facts.items()), sake
        if key in self._seen:
            return
        if len(self._seen) > _CALLS_MAX:
            raise TooManyReads
        self._seen.add(key)
        if isinstance(node, ast.Lambda):
            self._walk(node.body, names, facts, sake)
        else:
            self._statements(body_of(node), names, facts, sake)

    def _statements(
        self, body: Sequence[ast.stmt], names: NameMeanings, facts: Facts, sake: str | None
    ) -> tuple[NameMeanings, Facts] | None:
        """Walk through statements; the names and facts behind them, None if control never falls off their end."""
        for node in body:
            match node:
                case ast.Return(value=value):
                    self._walk(value, names, facts, sake)
                    return None
                case ast.Continue() | ast.Break() | ast.Raise():
                    return None
                case ast.If(test=test, body=then, orelse=otherwise):
                    after = self._if(test, then, otherwise, names, facts, sake)
                    if after is None:
                        return None
                    names, facts = after
                case ast.Assert(test=test) | ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[test])):
                    self._walk(test, names, facts, None)
                    tested = self._tested(test, names)
                    if tested.truth is False:
                        return None
                    facts = both(facts, tested.holding)
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        names = _assigned(target, value, names)
                case ast.AnnAssign(target=target, value=value) if value is not None:
                    names = _assigned(target, value, names)
                case ast.AugAssign(target=target):
                    names = _assigned(target, operation_of(node), names)
                case ast.For(target=target, iter=whole, body=inner):
                    self._walk(whole, names, facts, sake)
                    after = self._statements(inner, bound(target, names), facts, sake)
                    names = names if after is None else names.joined(after[0])
                case ast.FunctionDef(name=name):
                    names = names.with_names(**{name: Local(node, names)})
                case _:
                    for child in ast.iter_child_nodes(node):
                        if isinstance(child, ast.expr):
                            self._walk(child, names, facts, sake)
        return names, facts

    def _if(
        self,
        test: ast.expr,
        then: Sequence[ast.stmt],
        otherwise: Sequence[ast.stmt],
        names: NameMeanings,
        facts: Facts,
        sake: str | None,
    ) -> tuple[NameMeanings, Facts] | None:
        tested = self._tested(test, names)
        ends = []
        if tested.truth is None:
            self._walk(test, names, facts, sake)
        for truth, body, added in ((True, then, tested.holding), (False, otherwise, tested.failing)):
            if tested.truth in (None, truth):
                end = self._statements(body, names, both(facts, added), sake)
                ends += [] if end is None else [end]
        if len(ends) < 2:
            return ends[0] if ends else None
        (first, known), (second, other) = ends
        return first.joined(second), either(known, other)

    def _walk(self, node: ast.expr | None, names: NameMeanings, facts: Facts, sake: str | None) -> None:
        """Record the reads of an expression, which is evaluated for the sake of a field, or decides something."""
        match node:
            case None | ast.Constant():
                pass
            case ast.Name(id=name):
                self._named(name, names, facts, sake)
            case ast.Attribute(value=inner, attr=name):
                if names.constant(node) is MISSING:
                    if name in self.fields:
                        self.read.add(FieldRead(name, sake, self._known(names.text(inner), facts)))
                    self._walk(inner, names, facts, sake)
            case ast.Call():
                self._call(node, names, facts, sake)
            case ast.Lambda():
                self._body(node, called(node, None, names, names), facts, sake)
            case ast.BoolOp(op=operator, values=values):
                for value in values:
                    self._walk(value, names, facts, sake)
                    tested = self._tested(value, names)
                    facts = both(facts, tested.holding if isinstance(operator, ast.And) else tested.failing)
            case ast.IfExp(test=test, body=yes, orelse=no):
                tested = self._tested(test, names)
                if tested.truth is None:
                    self._walk(test, names, facts, sake)
                if tested.truth is not False:
                    self._walk(yes, names, both(facts, tested.holding), sake)
                if tested.truth is not True:
                    self._walk(no, names, both(facts, tested.failing), sake)
            case ast.GeneratorExp() | ast.SetComp() | ast.ListComp():
                inside, facts = self._generators(node.generators, names, facts, sake)
                self._walk(node.elt, inside, facts, sake)
            case ast.DictComp(key=key, value=value):
                inside, facts = self._generators(node.generators, names, facts, sake)
                self._walk(key, inside, facts, sake)
                self._walk(value, inside, facts, sake)
            case _:
                if isinstance(node, ast.Compare):
                    self._compare(node)
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self._walk(child, names, facts, sake)

    def _generators(
        self, generators: Iterable[ast.comprehension], names: NameMeanings, facts: Facts, sake: str | None
    ) -> tuple[NameMeanings, Facts]:
        for generator in generators:
            self._walk(generator.iter, names, facts, sake)
            names = bound(generator.target, names)
            for condition in generator.ifs:
                self._walk(condition, names, facts, sake)
                facts = both(facts, self._tested(condition, names).holding)
        return names, facts

    def _named(self, name: str, names: NameMeanings, facts: Facts, sake: str | None) -> None:
        meaning = names.local.get(name)
        if meaning is not None:
            self._meant(meaning, facts, sake)
            return
        function: Any = names.globals.get(name)
        if is_spec_function(function):  # given to a word of the language, which may call it with anything
            node, home = syntax(function), home_of(function)
            self._body(node, called(node, None, home, home), facts, sake)

    def _meant(self, meaning: Meaning, facts: Facts, sake: str | None) -> None:
        match meaning:
            case GivenExpression(node, names):
                key = id(node), names, frozenset(facts.items()), sake
                if key not in self._seen:
                    self._seen.add(key)
                    self._walk(node, names, facts, sake)
            case Local(node, names):
                self._body(node, called(node, None, names, names), facts, sake)
            case AnyOfMeanings(meanings):
                for each in meanings:
                    self._meant(each, facts, sake)
            case Anything():
                pass

    def _call(self, node: ast.Call, names: NameMeanings, facts: Facts, sake: str | None) -> None:
        match node.func:
            case ast.Attribute(value=record, attr="set") if node.keywords:
                self._written(node, record, names, facts)
                self._walk(record, names, facts, sake)
                self._fields_given(node, names, facts)
                return
            case ast.Name(id="require"):
                sake = None
            case ast.Attribute(value=inner):
                self._walk(inner, names, facts, sake)
        function = names.constant(node.func)
        if isinstance(function, RecordMeta):
            self._written(node, None, names, facts)
            self._fields_given(node, names, facts, tuple(function.fields))
        elif result_type(function) is not None:  # its next level may be given anything
            assert function is not None
            node_, home = syntax(function), home_of(function)
            self._body(node_, called(node_, None, home, home), facts, sake)
            for value in (*node.args, *(keyword.value for keyword in node.keywords)):
                self._walk(value, names, facts, sake)
        elif is_spec_function(function):
            syntax_, home = syntax(function), home_of(function)
            self._body(syntax_, called(syntax_, node, names, home), facts, sake)
        elif isinstance(node.func, ast.Name) and isinstance(local := names.local.get(node.func.id), Local):
            self._body(local.node, called(local.node, node, names, local.names), facts, sake)
        else:
            if isinstance(node.func, ast.Name):
                self._named(node.func.id, names, facts, sake)
            for value in (*node.args, *(keyword.value for keyword in node.keywords)):
                self._walk(value, names, facts, sake)

    def _fields_given(self, node: ast.Call, names: NameMeanings, facts: Facts, order: Sequence[str] = ()) -> None:
        for name, value in zip(order, node.args, strict=False):
            self._walk(value, names, facts, name)
        for keyword in node.keywords:
            self._walk(keyword.value, names, facts, keyword.arg)

    def _written(self, node: ast.Call, record: ast.expr | None, names: NameMeanings, facts: Facts) -> None:
        given = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
        constants = set()
        for name, value in given.items():
            domain, values = self.domains.get(name), self._constants(value, names)
            if domain is not None and values is not None:
                constants.add((name, frozenset(one if one in domain else SOME for one in values)))
        known = frozenset() if record is None else self._known(names.text(record), facts)
        every = self.fields if record is None else frozenset(given)
        self.written.add(FieldsWritten(every, frozenset(constants), known))

    def _constants(self, node: ast.expr, names: NameMeanings) -> Values | None:
        """The constants that an expression may be; None if it may be something else."""
        if isinstance(node, ast.IfExp):
            yes, no = self._constants(node.body, names), self._constants(node.orelse, names)
            return None if yes is None or no is None else yes | no
        value = names.constant(node)
        return None if value is MISSING or value.__hash__ is None else frozenset({value})

    def _compare(self, node: ast.Compare) -> None:
        match node:
            case ast.Compare(left=ast.Attribute(attr=left), comparators=[ast.Attribute(attr=right)]):
                if left in self.fields and right in self.fields:
                    self.compared |= {(left, right), (right, left)}

    def _known(self, record: str, facts: Facts) -> frozenset[tuple[str, Values]]:
        return frozenset((name, values) for (text, name), values in facts.items() if text == record)

    def _tested(self, node: ast.expr, names: NameMeanings) -> Tested:
        """The facts that a condition adds."""
        constant = names.constant(node)
        if isinstance(constant, bool):
            return Tested(NO_FACTS, NO_FACTS, constant)
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self._tested(operand, names)
                return Tested(inner.failing, inner.holding, None if inner.truth is None else not inner.truth)
            case ast.BoolOp(op=operator, values=values):
                return _connected(isinstance(operator, ast.And), [self._tested(value, names) for value in values])
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                return self._comparison(left, operator, right, names)
            case ast.Attribute(value=record, attr=name) if self.domains.get(name) == _TRUTHS:
                return compared(ast.Eq(), (names.text(record), name), self.domains[name], [True])
            case ast.Name(id=name) if isinstance(meaning := names.local.get(name), GivenExpression):
                return self._tested(meaning.node, meaning.names)
            case ast.Call():
                return self._answer(node, names)
        return UNTESTED

    def _comparison(self, left: ast.expr, operator: ast.cmpop, right: ast.expr, names: NameMeanings) -> Tested:
        first, second = names.constant(left), names.constant(right)
        if (
            first is not MISSING
            and second is not MISSING
            and isinstance(operator, ast.Eq | ast.Is | ast.NotEq | ast.IsNot)
        ):
            return Tested(NO_FACTS, NO_FACTS, (first == second) is isinstance(operator, ast.Eq | ast.Is))
        if second is MISSING and not isinstance(operator, ast.In | ast.NotIn):
            left, second = right, first
        while isinstance(left, ast.Name) and isinstance(meaning := names.local.get(left.id), GivenExpression):
            left, names = meaning.node, meaning.names
        if second is MISSING or not isinstance(left, ast.Attribute) or left.attr not in self.domains:
            return UNTESTED
        several = isinstance(operator, ast.In | ast.NotIn)
        if several and not isinstance(second, tuple | frozenset):
            return UNTESTED
        values = second if several else [second]
        if any(value.__hash__ is None for value in values):
            return UNTESTED
        return compared(operator, (names.text(left.value), left.attr), self.domains[left.attr], values)

    def _answer(self, node: ast.Call, names: NameMeanings) -> Tested:
        """The facts of a condition that a function of one expression decides."""
        function = names.constant(node.func)
        if not is_spec_function(function) or result_type(function) is not None:
            return UNTESTED
        inner = syntax(function)
        inside = called(inner, node, names, home_of(function))
        if isinstance(inner, ast.Lambda):
            return self._tested(inner.body, inside)
        match body_of(inner):
            case [ast.Return(value=value)] if value is not None:
                return self._tested(value, inside)
        return UNTESTED


def _assigned(target: ast.expr, value: ast.expr, names: NameMeanings) -> NameMeanings:
    """The names after an assignment. Each of several targets may be all of the value."""
    assigned = [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]
    return names.with_names(**dict.fromkeys(assigned, GivenExpression(value, names)))


def _connected(is_and: bool, parts: Sequence[Tested]) -> Tested:
    """The facts of a conjunction or disjunction."""
    parts = [part for part in parts if part.truth is not is_and]  # such a part changes nothing
    if not parts:
        return Tested(NO_FACTS, NO_FACTS, is_and)
    if any(part.truth is not None for part in parts):
        return Tested(NO_FACTS, NO_FACTS, not is_and)
    all_of, one_of = NO_FACTS, parts[0].failing if is_and else parts[0].holding
    for part in parts:
        all_of = both(all_of, part.holding if is_and else part.failing)
        one_of = either(one_of, part.failing if is_and else part.holding)
    return Tested(all_of, one_of) if is_and else Tested(one_of, all_of)
