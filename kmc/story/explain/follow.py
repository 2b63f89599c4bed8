"""Following a condition to the facts that decide it: the conjunct and the member that fail, and the values compared.

`Follower.follow` goes down an expression that has been evaluated: into the first failing part of `and` and `all`, the
witness of `or` and `any`, the chosen branch of a conditional, and functions of the spec. It ends at comparisons and at
every construct that it does not know; those are the facts. All facts together imply the truth value of the condition,
given the bindings; `instance` are the members that were chosen on the way, the least in display order.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from kmc.errors import KmcError
from kmc.lang.tree import names_in, yields
from kmc.story.explain.facts import Fact, NamedValue, compared_fact, named_value, truth_fact
from kmc.story.explain.functions import let, of_call, scope_of, source_of
from kmc.story.explain.scopes import EVALUATION_FAILURES, Binding, Context, Wording, members

_CALLS_MAX = 8
"""The number of nested calls that are followed."""

_MEMBERS_MAX = 200
"""The number of members of a quantifier that are examined one by one, to say why none of them does."""

_LISTED_MAX = 6
"""The greatest number of facts that are listed one by one."""


class Unusual(Exception):
    """A function has a form that cannot be followed."""


FAILURES = (Unusual, *EVALUATION_FAILURES, OSError, RecursionError, SyntaxError)
"""The errors that following a condition may raise; the explanation is then shorter. An explanation never fails."""


class Follower:
    """Follows the conditions of one spec; `files` are its sources."""

    def __init__(self, wording: Wording, files: Collection[str]) -> None:
        self.instance: dict[str, Binding] = {}
        self._wording = wording
        self._files = files
        self._depth = 0

    def follow(self, node: ast.expr, scope: Context, truth: bool, *, premise: bool = False) -> list[Fact]:
        """The facts that make an expression true, or false."""
        facts = self._facts(node, scope, truth, premise)
        return [replace(fact, premise=True) for fact in facts] if premise else facts

    def _facts(self, node: ast.expr, scope: Context, truth: bool, premise: bool) -> list[Fact]:
        match node:
            case ast.BoolOp(op=operator, values=values):
                return self._junction(values, scope, truth, isinstance(operator, ast.And), premise)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.follow(operand, scope, not truth, premise=premise)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                chosen = bool(scope.value(test))
                branch = self.follow(body if chosen else orelse, scope, truth, premise=premise)
                return [*self.follow(test, scope, chosen, premise=True), *branch]
            case ast.Compare(ops=[_, _, *_]):
                return self._junction(_links(node), scope, truth, True, premise)
            case ast.Compare():
                return self._compared(node, scope, truth)
            case ast.Call(func=ast.Name(id="any" | "all" as name), args=[ast.GeneratorExp() as generator]):
                return self._quantified(node, generator, scope, truth, name == "any", premise)
            case ast.Call():
                return self._called(node, scope, truth, premise)
            case ast.Name(id=name) if name in scope.bound and scope.bound[name].meaning is not None:
                meaning, around = scope.bound[name].meaning or (node, scope)
                return self.follow(meaning, around, truth, premise=premise)
            case ast.Constant():
                return []
            case _:
                return [truth_fact(node, scope, truth, self._wording)]

    def _junction(
        self, operands: Sequence[ast.expr], scope: Context, truth: bool, is_and: bool, premise: bool
    ) -> list[Fact]:
        """The first part of a false `and`, or of a true `or`, that decides; else all parts."""
        if truth is not is_and:
            decides = next((operand for operand in operands if bool(scope.value(operand)) is truth), operands[-1])
            return self.follow(decides, scope, truth, premise=premise)
        facts: list[Fact] = []
        for operand in operands:
            # `not a or b` is an implication, and so is `a or b` to a reader: what comes first says when.
            asks = not is_and and operand is not operands[-1]
            facts += self.follow(operand, scope, truth, premise=premise or asks)
        return facts

    def _quantified(
        self, node: ast.expr, generator: ast.GeneratorExp, scope: Context, truth: bool, is_any: bool, premise: bool
    ) -> list[Fact]:
        if truth is is_any:
            elements = self._members(generator, scope)
            witness = next((member for member in elements if bool(member.value(generator.elt)) is truth), None)
            if witness is None:
                return [truth_fact(node, scope, truth, self._wording)]
            if not premise:
                self._note(generator, witness)
            facts: list[Fact] = []
            for comprehension in generator.generators:
                facts += self._bounds(comprehension.iter, witness)
                for condition in comprehension.ifs:
                    facts += self.follow(condition, witness, True, premise=True)
            return [*facts, *self.follow(generator.elt, witness, truth, premise=premise)]
        member_facts = self._each(generator, scope, truth)
        if premise:
            return [replace(fact, clause="") for fact in member_facts]
        return member_facts or [self._none(node, generator, scope, truth)]

    def _note(self, generator: ast.GeneratorExp, witness: Context) -> None:
        for comprehension in generator.generators:
            for name in names_in(comprehension.target):
                self.instance.setdefault(name, witness.bound[name])

    def _members(self, generator: ast.GeneratorExp, scope: Context) -> Iterator[Context]:
        """The scopes of all members of a quantifier, the least first."""
        yield from self._chosen(generator.generators, scope)

    def _chosen(self, generators: Sequence[ast.comprehension], scope: Context) -> Iterator[Context]:
        if not generators:
            yield scope
            return
        first, *rest = generators
        for bindings in members(first.target, first.iter, scope, self._wording):
            inner = scope.binding(bindings)
            if all(inner.value(condition) for condition in first.ifs):
                yield from self._chosen(rest, inner)

    def _bounds(self, collection: ast.expr, scope: Context) -> Iterator[Fact]:
        """The values that bound a range."""
        match collection:
            case (
                ast.Call(func=ast.Name(id="range"), args=[*_, ast.BinOp(left=bound, op=ast.Add())])
                | ast.Call(func=ast.Name(id="range"), args=[*_, bound])
            ):
                value = named_value(bound, scope, self._wording)
                if not value.is_literal:
                    yield Fact(ast.Constant(True), scope, True, "", (value,))

    def _each(self, generator: ast.GeneratorExp, scope: Context, truth: bool) -> list[Fact]:
        """Explain why no member of `any` does, or that all members of `all` do: the facts of each, if they are few.

        Of many, those that come closest are enough: they pass most conjuncts.
        """
        contexts = list(islice(self._members(generator, scope), _MEMBERS_MAX + 1))
        if not contexts or len(contexts) > _MEMBERS_MAX:
            return []
        if isinstance(generator.elt, ast.Compare) and not self._is_of_lanes(generator, contexts):
            return []
        match generator.elt:
            case ast.BoolOp(op=ast.And(), values=parts) if not truth and len(contexts) > _LISTED_MAX:
                failing = [_first_false(parts, member) for member in contexts]
                contexts = [m for m, at in zip(contexts, failing, strict=True) if at == max(failing)]
        facts: list[Fact] = []
        for member in contexts:
            for fact in self._member_facts(generator.elt, member, truth):
                if fact.clause not in [other.clause for other in facts] or not fact.clause:
                    facts.append(fact)
        if len([fact for fact in facts if fact.clause]) <= _LISTED_MAX:
            return facts
        return self._briefly(generator, contexts, truth) if self._is_of_lanes(generator, contexts) else []

    def _briefly(self, generator: ast.GeneratorExp, contexts: Sequence[Context], truth: bool) -> list[Fact]:
        """One clause for each of a few processes."""
        if len(contexts) > _LISTED_MAX:
            return []
        facts: list[Fact] = []
        for member in contexts:
            clauses = [fact for fact in self._member_facts(generator.elt, member, truth) if fact.clause]
            facts += [f for f in clauses if not f.premise and not f.weak][:1] or clauses[:1]
        return facts

    def _member_facts(self, node: ast.expr, member: Context, truth: bool) -> list[Fact]:
        """The facts of one of several members, which is not the instance that fails."""
        instance = dict(self.instance)
        try:
            return self.follow(node, member, truth)
        finally:
            self.instance = instance

    def _is_of_lanes(self, generator: ast.GeneratorExp, contexts: Sequence[Context]) -> bool:
        names = [name for comprehension in generator.generators for name in names_in(comprehension.target)]
        return any(self._wording.is_lane(contexts[0].bound[name]) for name in names)

    def _none(self, node: ast.expr, generator: ast.GeneratorExp, scope: Context, truth: bool) -> Fact:
        """One fact for all members: that none does, or that all do."""
        collections = [c.iter for c in generator.generators]
        values = tuple(self._values(collections, scope))
        targets = " and ".join(ast.unparse(c.target).strip("()") for c in generator.generators)
        first = values[0].name.text if values else self._wording.text(collections[0], scope)
        condition = self._wording.text(generator.elt, scope)
        names = {c.target.id for c in generator.generators if isinstance(c.target, ast.Name)}
        match generator.elt:
            case ast.Compare(
                left=ast.Attribute(value=ast.Name(id=name), attr=attr), ops=[ast.Eq()], comparators=[other]
            ):
                if name in names:
                    condition = f"{attr} {self._wording.text(other, scope)}"
        if not values:
            does = "every" if truth else "no"
            return Fact(node, scope, truth, f"{does} {targets} in {first} has {condition}", (), weak=truth)
        if not truth:
            if values and len(generator.generators) == 1 and not _is_filled(values[0].value):
                return Fact(node, scope, truth, f"{first} is empty", values)
            return Fact(node, scope, truth, f"{first} has no {targets} with {condition}", values)
        return Fact(node, scope, truth, f"every {targets} in {first} has {condition}", values, weak=True)

    def _values(self, collections: Iterable[ast.expr], scope: Context) -> Iterator[NamedValue]:
        for collection in collections:
            match collection:
                case ast.Call(func=ast.Attribute(value=base, attr="items" | "values" | "offsets")):
                    collection = base
            try:
                value = named_value(collection, scope, self._wording)
            except NameError:
                # The collection depends on another quantifier.
                continue
            if not value.is_literal:
                yield value

    def _compared(self, node: ast.Compare, scope: Context, truth: bool) -> list[Fact]:
        """A comparison, and the members of the sets that it names, where a comprehension made them."""
        fact = compared_fact(node, scope, truth, self._wording)
        facts: list[Fact] = []
        for inner in ast.walk(node):
            meaning = scope.bound[inner.id].meaning if isinstance(inner, ast.Name) and inner.id in scope.bound else None
            match meaning:
                case ast.SetComp(elt=elt, generators=generators), around:
                    only = scope.value(node.left) if inner is node.comparators[0] else None
                    are_many = isinstance(node.ops[0], ast.Gt | ast.GtE) is truth
                    facts += self._of_comprehension(elt, generators, around, only, are_many)
        clear = bool(facts) and isinstance(node.ops[0], ast.LtE) and truth
        return [replace(fact, clause="") if clear else fact, *facts]

    def _of_comprehension(
        self, elt: ast.expr, generators: Sequence[ast.comprehension], scope: Context, only: Any, are_many: bool
    ) -> Iterator[Fact]:
        """The members of a set comprehension, with clauses for those in `only`.

        For a filter: why its members are in it if they `are_many`, else why the others are not.
        """
        contexts = list(islice(self._chosen(generators, scope), _LISTED_MAX + 1))
        if len(contexts) > _LISTED_MAX:
            return
        for member in contexts:
            value = named_value(elt, member, self._wording)
            if not value.is_literal:
                is_told = isinstance(only, frozenset) and value.value in only
                clause = f"{value.name.text} is {value.shown}" if is_told else ""
                yield Fact(ast.Constant(True), member, True, clause, (value,))
        if isinstance(elt, ast.Name) and len(generators) == 1 and generators[0].ifs:
            first = generators[0]
            for bound in islice(members(first.target, first.iter, scope, self._wording), _LISTED_MAX):
                member = scope.binding(bound)
                failing = next((c for c in first.ifs if not member.value(c)), None)
                if failing is not None and not are_many:
                    yield from self._member_facts(failing, member, False)
                elif failing is None and are_many:
                    for condition in first.ifs:
                        yield from self._member_facts(condition, member, True)

    def _called(self, node: ast.Call, scope: Context, truth: bool, premise: bool) -> list[Fact]:
        call = of_call(node, scope, self._wording)
        definition = source_of(call[0], self._files) if call is not None else None
        if call is None or definition is None or yields(definition) or self._depth >= _CALLS_MAX:
            return [truth_fact(node, scope, truth, self._wording)]
        function, given = call
        instance = dict(self.instance)
        self._depth += 1
        try:
            return self.body(definition, scope_of(function, given, self._wording), truth, premise=premise)
        except Unusual:
            self.instance = instance
            return [truth_fact(node, scope, truth, self._wording)]
        finally:
            self._depth -= 1

    def body(self, definition: ast.FunctionDef, scope: Context, truth: bool, *, premise: bool = False) -> list[Fact]:
        """The facts for which a function returns True, or False; raises Unusual if they cannot be determined."""
        facts: list[Fact] = []
        statements = list(definition.body)
        while statements:
            statement = statements.pop(0)
            match statement:
                case ast.Expr(value=ast.Constant()) | ast.Pass():
                    continue
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    scope = scope.binding({name: let(value, name, scope, self._wording)})
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    scope = scope.binding({name: let(value, name, scope, self._wording)})
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                    scope = scope.binding(self.unpacked(targets, value, scope))
                case ast.If(test=test, body=body, orelse=orelse):
                    taken = bool(scope.value(test))
                    asked = self.follow(test, scope, taken, premise=True)
                    facts += asked if taken else [replace(fact, weak=True) for fact in asked]
                    statements = [*(body if taken else orelse), *statements]
                case ast.Return(value=ast.expr() as value):
                    if scope.value(value) is not truth:
                        raise Unusual
                    return [*facts, *self.follow(value, scope, truth, premise=premise)]
                case _:
                    raise Unusual
        raise Unusual

    def unpacked(self, targets: Sequence[ast.expr], value: ast.expr, scope: Context) -> dict[str, Binding]:
        """The names that are bound to the parts of a value."""
        if isinstance(value, ast.Tuple):
            pairs = zip(targets, value.elts, strict=True)
            return {_name(target): let(element, _name(target), scope, self._wording) for target, element in pairs}
        elements: Sequence[Any] = scope.value(value)
        return {
            _name(t): Binding(element, self._wording.of_value(element, _name(t)))
            for t, element in zip(targets, elements, strict=True)
        }


def _name(target: ast.expr) -> str:
    if not isinstance(target, ast.Name):
        raise Unusual
    return target.id


def _links(node: ast.Compare) -> list[ast.expr]:
    """`a < b < c` as `a < b` and `b < c`."""
    operands = [node.left, *node.comparators]
    return [
        ast.copy_location(ast.Compare(operands[i], [operator], [operands[i + 1]]), node)
        for i, operator in enumerate(node.ops)
    ]


def _first_false(operands: Sequence[ast.expr], scope: Context) -> int:
    return next((at for at, operand in enumerate(operands) if scope.value(operand) is False), len(operands))


def _is_filled(value: Any) -> bool:
    try:
        return len(value) > 0
    except (TypeError, KmcError):
        return True
