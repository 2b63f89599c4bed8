r"""Actions and initial predicates as choices, walked as TLC walks them: conjunct by conjunct, with what is assigned.

`x' = e` gives x a value; a second `x' = e` is a test; `x' \in S` is a loop. A disjunction, IF, CASE or `\E` continues
with the rest of the action in each of its branches, so a step counts as often as TLC counts it. The rest is a
continuation, which writes its code anew in every branch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kmc.errors import Span, SpecError
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    BoundExpr,
    BoxActionExpr,
    BuiltinExpr,
    CaseExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    Expression,
    FunctionApplicationExpr,
    FunctionConstructorExpr,
    IfExpr,
    LetExpr,
    NameBinding,
    PrimeExpr,
    QuantifiedExpr,
    RecursiveFunctionExpr,
    TupleExpr,
    UnchangedExpr,
    VariableExpr,
)
from kmc.tla.run.formulas import may_branch
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import join
from kmc.tla.translate.formula_parts import is_computed, names_variables, variables_of
from kmc.tla.translate.iteration import choose, clauses_of
from kmc.tla.translate.joined_branches import joined_values
from kmc.tla.translate.lazy import is_total
from kmc.tla.translate.narrowing import Found, guard_or_never, operand
from kmc.tla.translate.recursion import is_recursive
from kmc.tla.translate.scope import (
    Delayed,
    Entry,
    LetScope,
    SpecLocal,
    TranslationScope,
    TypedSource,
    applied,
    expression_of,
    head,
)
from kmc.tla.translate.translation import Assigned, StateReading, Translation, WrittenLine
from kmc.tla.translate.ways import WayCounter

_INLINE_MAX = 60

Continue = Callable[[Assigned, int], None]


@dataclass(slots=True)
class ActionWriter:
    """Writes one action, or the initial predicate; `lines` are the result."""

    t: Translation
    lines: list[WrittenLine] = field(default_factory=list)
    _place: Span | None = None

    @property
    def _is_initial(self) -> bool:
        return self.t.reading is StateReading.INITIAL

    def _write(self, depth: int, text: str, place: Span) -> None:
        self.lines.append(WrittenLine(depth, text, place))

    def walk(self, node: Expression, scope: TranslationScope, assigned: Assigned, depth: int, rest: Continue) -> None:
        """Write every way to satisfy a formula, each followed by the rest."""
        self.t.assigned = assigned
        node, scope = self._opened(node, scope, depth)
        if not self._acts(node, scope):
            return self._guard(node, scope, assigned, depth, rest)
        match node:
            case ConjunctionExpr():
                self._conjuncts(node.items, scope, assigned, depth, rest)
            case DisjunctionExpr() | QuantifiedExpr(kind="\\E") if self._are_all(assigned):
                self._guard(node, scope, assigned, depth, rest)
            case DisjunctionExpr():
                for item in node.items:
                    self.walk(item, scope, assigned, depth, rest)
            case IfExpr() | CaseExpr():
                joined = self._joined(node, scope, assigned, depth)
                if joined is not None:
                    rest(joined, depth)
                elif isinstance(node, IfExpr):
                    self._if(node, scope, assigned, depth, rest)
                else:
                    self._case(node, scope, assigned, depth, rest)
            case QuantifiedExpr(kind="\\E"):
                self._choice(node, scope, assigned, depth, rest)
            case QuantifiedExpr():
                self._every(node, scope, assigned, depth, rest)
            case LetExpr():
                self.walk(node.body, self._let(node, scope, depth), assigned, depth, rest)
            case BuiltinExpr(operator="=" | "\\in"):
                self._assignment(node, scope, assigned, depth, rest)
            case BuiltinExpr(operator="=>"):
                self._implication(node, scope, assigned, depth, rest)
            case FunctionApplicationExpr() if self._splits(node, scope):
                self._ways(node, scope, assigned, depth, rest)
            case UnchangedExpr() if self._are_all(assigned) and not names_variables(node.body, scope):
                self._guard(node, scope, assigned, depth, rest)
            case UnchangedExpr():
                self._unchanged(node.body, scope, assigned, depth, rest, node.place)
            case BoxActionExpr() if self._are_all(assigned):
                unchanged = UnchangedExpr(node.subscript, place=node.place)
                either = DisjunctionExpr((node.action, unchanged), place=node.place)
                self._guard(either, scope, assigned, depth, rest)
            case BoxActionExpr():
                self.walk(node.action, scope, assigned, depth, rest)
                self._unchanged(node.subscript, scope, assigned, depth, rest, node.place)
            case _:
                self._guard(node, scope, assigned, depth, rest)

    # Names

    def _opened(self, node: Expression, scope: TranslationScope, depth: int) -> tuple[Expression, TranslationScope]:
        """Follow applications to the formula; an argument that is total becomes a local."""
        while True:
            if is_recursive(node, scope) or isinstance(node, FunctionApplicationExpr):
                self._splits(node, scope)
                return node, scope
            if isinstance(node, ApplyExpr):
                target = applied(node, scope)
                if isinstance(target, SpecLocal):
                    if target.origin is None or not self._splits(node, scope):
                        return node, scope
                    target = target.origin
                scope = self._with_locals(target.scope, node, depth)
                node = expression_of(target)
            elif isinstance(node, BoundExpr):
                entry = scope.entries.get(node.binding)
                origin = entry.origin if isinstance(entry, SpecLocal) else entry
                if not isinstance(origin, Delayed) or (isinstance(entry, SpecLocal) and not self._splits(node, scope)):
                    return node, scope
                node, scope = expression_of(origin), origin.scope
            elif isinstance(node, BuiltinExpr) and node.operator == "TLCEval":
                node = operand(node, 0)
            else:
                return node, scope

    def _refuse_hidden_ways(self, node: Expression, scope: TranslationScope) -> None:
        """Refuse a recursive operator or an applied function of formulas that might be true in several ways."""
        if is_recursive(node, scope) and may_branch(node):
            name = getattr(getattr(node, "operator", None), "name", "")
            raise refusal(f"the recursive operator {name}, which has several ways to be true,", node.place)
        if isinstance(node, FunctionApplicationExpr):
            function, home = self._origin(*head(node.function, scope))
            may_split = False
            if isinstance(function, FunctionConstructorExpr):
                may_split = not is_computed(self.t, node.function, function, home) and self._splits(function.body, home)
            if may_split:
                raise refusal("a function of formulas that have several ways to be true", node.place)

    def _with_locals(self, scope: TranslationScope, node: ApplyExpr, depth: int) -> TranslationScope:
        """Give arguments that are computed a local, so that they are not written at every use."""
        parameters = getattr(node.operator, "parameters", ())
        pairs: list[tuple[NameBinding, Entry]] = []
        for parameter in parameters:
            entry = scope.entries.get(parameter)
            if isinstance(entry, Delayed) and not parameter.arity:
                pairs.append((parameter, self._local(parameter.name, entry, depth)))
        return scope.bind(pairs)

    def _let(self, node: LetExpr, scope: TranslationScope, depth: int) -> TranslationScope:
        """Bind the definitions of a LET: locals where they may be evaluated at once, else delayed."""
        for definition in node.definitions:
            entry: Entry = LetScope(scope)
            if not definition.parameters and not definition.recursive and definition.body is not None:
                found = self._local(definition.name, Delayed(definition.body, scope), depth)
                entry = found if isinstance(found, SpecLocal) else entry
            scope = scope.bind(((definition, entry),))
        return scope

    def _local(self, name: str, delayed: Delayed, depth: int) -> Entry:
        """Write the value of an expression to a local if that is safe and worth it; else return it as it is."""
        inner, scope = head(delayed.expression, delayed.scope)
        if isinstance(inner, BoundExpr):
            entry = scope.entries.get(inner.binding)
            return entry if isinstance(entry, SpecLocal) else delayed
        is_plain = isinstance(inner, VariableExpr | ApplyExpr | TupleExpr) or self.t.constant(inner, scope) is not None
        has_primes = self.t.deep.has_primes(delayed.expression, delayed.scope)
        if is_plain or has_primes or self._is_initial or not is_total(self.t, inner, scope):
            return delayed
        code = self.t.value(inner, scope)
        is_lazy = not is_total(self.t, inner, scope, trusts_guards=False)
        if is_lazy and code.is_network:
            return delayed
        local, place = self.t.names.fresh(name), delayed.expression.place
        if not is_lazy:
            self._write(depth, f"{local} = {code.source}", place)
        else:
            # Guards that are after this line may be what makes sure that there is a value.
            self._write(depth, f"def {local}():", place)
            self._write(depth + 1, f"return {code.source}", place)
            local = f"{local}()"
        return SpecLocal(TypedSource(local, code.shape, code.is_network), delayed, is_lazy)

    # What a formula does

    def _acts(self, node: Expression, scope: TranslationScope) -> bool:
        """Return whether a formula assigns variables or has several ways to be true."""
        return self._assigns(node, scope) or self._splits(node, scope)

    def _assigns(self, node: Expression, scope: TranslationScope) -> bool:
        if self._is_initial:
            return self._assigns_initially(node, scope)
        return self.t.deep.has_primes(node, scope)

    def _assigns_initially(self, node: Expression, scope: TranslationScope) -> bool:
        node, scope = head(node, scope)
        match node:
            case BuiltinExpr(operator="=" | "\\in"):
                return self._target(operand(node, 0), scope) is not None
            case ConjunctionExpr() | DisjunctionExpr():
                return any(self._assigns_initially(item, scope) for item in node.items)
            case QuantifiedExpr(body=body) | LetExpr(body=body):
                return self._assigns_initially(body, scope)
            case IfExpr():
                return self._assigns_initially(node.then, scope) or self._assigns_initially(node.otherwise, scope)
            case CaseExpr():
                values = [value for _, value in node.arms] + ([node.other] if node.other is not None else [])
                return any(self._assigns_initially(value, scope) for value in values)
            case _:
                return False

    def _splits(self, node: Expression, scope: TranslationScope) -> bool:
        """Return whether TLC would count several ways in which a formula is true."""
        node, scope = self._origin(*head(node, scope))
        self._refuse_hidden_ways(node, scope)
        match node:
            case DisjunctionExpr() | QuantifiedExpr(kind="\\E"):
                return True
            case ConjunctionExpr():
                return any(self._splits(item, scope) for item in node.items)
            case QuantifiedExpr():
                return self._splits(node.body, scope)
            case IfExpr():
                return self._splits(node.then, scope) or self._splits(node.otherwise, scope)
            case CaseExpr():
                values = [value for _, value in node.arms] + ([node.other] if node.other is not None else [])
                return any(self._splits(value, scope) for value in values)
            case BuiltinExpr(operator="=>"):
                return self._splits(operand(node, 1), scope)
            case BoxActionExpr():
                return True
            case FunctionApplicationExpr():
                return self._is_counted(node, scope)
            case _:
                return False

    def _is_counted(self, node: FunctionApplicationExpr, scope: TranslationScope) -> bool:
        """Return whether a recursive function of formulas is applied, which TLC enumerates at every application."""
        function, _ = self._origin(*head(node.function, scope))
        if isinstance(function, BoundExpr):
            return getattr(self.t.recursions.get(function.binding), "counts_ways", False)
        if not isinstance(function, RecursiveFunctionExpr) or not may_branch(function.body):
            return False
        if self.t.deep.has_primes(node, scope):
            raise refusal("a function of formulas that have several ways to be true", node.place)
        return True

    def _origin(self, node: Expression, scope: TranslationScope) -> tuple[Expression, TranslationScope]:
        entry: Entry | None = None
        if isinstance(node, BoundExpr):
            entry = scope.entries.get(node.binding)
        elif isinstance(node, ApplyExpr):
            entry = scope.entries.get(node.operator)
        if isinstance(entry, SpecLocal) and entry.origin is not None:
            return head(entry.origin.expression, entry.origin.scope)
        return node, scope

    # Formulas

    def _guard(self, node: Expression, scope: TranslationScope, assigned: Assigned, depth: int, rest: Continue) -> None:
        self.t.assigned = assigned
        if isinstance(node, ConjunctionExpr):
            return self._conjuncts(node.items, scope, assigned, depth, rest)
        test, found = guard_or_never(self.t, node, scope)
        if found is None:
            self._write(depth, f"assert not ({test})", node.place)
            return None
        with self.t.narrowed(found):
            if test == "True":
                return rest(assigned, depth)
            if test == "False" and not self._is_initial:
                return self._write(depth, "pass", node.place)
            self._write(depth, f"if {test}:", node.place)
            rest(assigned, depth + 1)

    def _conjuncts(
        self, items: tuple[Expression, ...], scope: TranslationScope, assigned: Assigned, depth: int, rest: Continue
    ) -> None:
        if not items:
            return rest(assigned, depth)

        def others(assigned: Assigned, depth: int) -> None:
            self._conjuncts(items[1:], scope, assigned, depth, rest)

        self.walk(items[0], scope, assigned, depth, others)

    def _joined(
        self, node: IfExpr | CaseExpr, scope: TranslationScope, assigned: Assigned, depth: int
    ) -> Assigned | None:
        """Write the values that branches give to the same variables; None where the branches must be apart."""
        values = None if self._is_initial else joined_values(self.t, node, scope)
        if values is None or values.keys() & assigned.keys():
            return None
        if any(self.t.unchanged(index).is_network for index in values):
            return None  # compiled code has no network that is one of two
        before = len(self.lines)
        try:
            for index, value in values.items():
                assigned = self.t.assigned = {**assigned, index: self._kept(index, value, node.place, depth)}
        except SpecError:
            del self.lines[before:]  # the value of a branch may have a translation that the value of IF has not
            return None
        return assigned

    def _if(self, node: IfExpr, scope: TranslationScope, assigned: Assigned, depth: int, rest: Continue) -> None:
        test, found = guard_or_never(self.t, node.condition, scope)
        self._write(depth, f"if {test}:", node.place)
        self._under(found, node.then, scope, assigned, depth, rest)
        self._write(depth, "else:", node.place)
        self._branch(node.otherwise, scope, assigned, depth, rest)

    def _branch(
        self, node: Expression, scope: TranslationScope, assigned: Assigned, depth: int, rest: Continue
    ) -> None:
        before = len(self.lines)
        self.walk(node, scope, assigned, depth + 1, rest)
        if len(self.lines) == before:
            self._write(depth + 1, "pass", node.place)

    def _under(
        self,
        found: Found | None,
        node: Expression,
        scope: TranslationScope,
        assigned: Assigned,
        depth: int,
        rest: Continue,
    ) -> None:
        """Write a branch with what its condition says; None is of a condition that is never true."""
        if found is None:
            return self._write(depth + 1, "assert False", node.place)
        with self.t.narrowed(found):
            self._branch(node, scope, assigned, depth, rest)

    def _case(self, node: CaseExpr, scope: TranslationScope, assigned: Assigned, depth: int, rest: Continue) -> None:
        word = "if"
        for condition, value in node.arms:
            self.t.assigned = assigned
            test, found = guard_or_never(self.t, condition, scope)
            self._write(depth, f"{word} {test}:", condition.place)
            self._under(found, value, scope, assigned, depth, rest)
            word = "elif"
        self._write(depth, "else:", node.place)
        if node.other is not None:
            self._branch(node.other, scope, assigned, depth, rest)
        else:
            self._write(depth + 1, "assert False", node.place)

    def _choice(
        self, node: QuantifiedExpr, scope: TranslationScope, assigned: Assigned, depth: int, rest: Continue
    ) -> None:
        inside = clauses_of(self.t, node.ranges, scope)
        if inside is None:
            return self._write(depth, "pass", node.place)
        for clause in inside[1]:
            self._write(depth, f"{clause.text}:", node.place)
            depth += 1
        self.walk(node.body, inside[0], assigned, depth, rest)

    def _every(
        self, node: QuantifiedExpr, scope: TranslationScope, assigned: Assigned, depth: int, rest: Continue
    ) -> None:
        r"""Write `\A` as a conjunction over the elements of a constant set, as TLC takes it apart."""
        if not self.t.deep.has_primes(node.body, scope) and not self._splits(node.body, scope):
            return self._guard(node, scope, assigned, depth, rest)
        bound = node.ranges[0]
        elements = self.t.constant(*head(bound.domain, scope))
        if len(node.ranges) > 1 or len(bound.bindings) > 1 or bound.is_pattern or not isinstance(elements, frozenset):
            if not self._assigns_any(node.body, scope, assigned):
                write = self._ways if self._splits(node.body, scope) else self._guard
                return write(node, scope, assigned, depth, rest)
            raise refusal("an \\A that assigns variables over a set that varies", node.place)
        codes = [self.t.literal(value) for value in self.t.in_order(elements)]

        def element(index: int, assigned: Assigned, depth: int) -> None:
            if index == len(codes):
                return rest(assigned, depth)
            inner = scope.bind(((bound.bindings[0], SpecLocal(codes[index])),))
            self.walk(node.body, inner, assigned, depth, lambda now, at: element(index + 1, now, at))

        element(0, assigned, depth)

    def _ways(self, node: Expression, scope: TranslationScope, assigned: Assigned, depth: int, rest: Continue) -> None:
        """Write a guard that has several ways to be true as a loop over their number."""
        factors = WayCounter(self.t, self._splits).factors(node, scope)
        if self._are_all(assigned):
            return self._guard(node, scope, assigned, depth, rest)
        for level, ways in enumerate(factors):
            self._write(depth + level, f"for _ in range({ways}):", node.place)
        rest(assigned, depth + len(factors))

    def _assigns_any(self, node: Expression, scope: TranslationScope, assigned: Assigned) -> bool:
        return self.t.deep.has_primes(node, scope) and not self._are_all(assigned)

    def _are_all(self, assigned: Assigned) -> bool:
        """Return whether all variables have values: TLC then evaluates the conjuncts that are left, each in one way."""
        return len(assigned) == len(self.t.shapes)

    def _implication(
        self, node: BuiltinExpr, scope: TranslationScope, assigned: Assigned, depth: int, rest: Continue
    ) -> None:
        test, found = guard_or_never(self.t, operand(node, 0), scope)
        self._write(depth, f"if {test}:", node.place)
        self._under(found, operand(node, 1), scope, assigned, depth, rest)
        self._write(depth, "else:", node.place)
        before = len(self.lines)
        rest(assigned, depth + 1)
        if len(self.lines) == before:
            self._write(depth + 1, "pass", node.place)

    # Assignments

    def _target(self, node: Expression, scope: TranslationScope) -> int | None:
        """Return the variable that `x'`, or `x` in the initial predicate, names."""
        node, scope = head(node, scope)
        if not self._is_initial:
            if not isinstance(node, PrimeExpr):
                return None
            node, scope = head(node.body, scope)
        return node.index if isinstance(node, VariableExpr) else None

    def _assignment(
        self, node: BuiltinExpr, scope: TranslationScope, assigned: Assigned, depth: int, rest: Continue
    ) -> None:
        right = operand(node, 1)
        index = self._target(operand(node, 0), scope)
        if index is None or index in assigned:
            return self._guard(node, scope, assigned, depth, rest)
        if node.operator == "=":
            return rest({**assigned, index: self._kept(index, Delayed(right, scope), node.place, depth)}, depth)
        name, want = self.t.model.variables[index], self.t.shapes[index]
        chosen = choose(self.t, right, scope, name, want, is_statement=True)
        if chosen is None:
            return self._write(depth, "pass", node.place)
        for clause in chosen.clauses:
            self._write(depth, f"{clause.text}:", node.place)
            depth += 1
        binding = NameBinding("chosen", node.place)
        read = BoundExpr(place=node.place, binding=binding)
        value = Delayed(read, TranslationScope().bind(((binding, chosen.entry),)))
        rest({**assigned, index: self._kept(index, value, node.place, depth)}, depth)

    def _kept(self, index: int, value: Delayed, place: Span, depth: int) -> TypedSource:
        """Return the value of a variable: a local, unless the value is short and no state lacks it.

        TLC evaluates a value where it is assigned, and stops there even if a later conjunct is FALSE.
        """
        code = self.t.value(value.expression, value.scope, self.t.shapes[index])
        shape = self.t.grow(index, code.shape)
        is_short = len(code.source) <= _INLINE_MAX and " for " not in code.source
        if not is_short or not is_total(self.t, expression_of(value), value.scope, trusts_guards=False):
            local = self.t.names.fresh(self.t.model.variables[index])
            self._write(depth, f"{local} = {code.source}", place)
            code = TypedSource(local, code.shape, code.is_network)
        is_network = self.t.unchanged(index).is_network
        return TypedSource(code.source, join(shape, code.shape), is_network)

    def _unchanged(
        self, node: Expression, scope: TranslationScope, assigned: Assigned, depth: int, rest: Continue, place: Span
    ) -> None:
        """Keep variables; one that has a value already must be as before."""
        now = dict(assigned)
        for index in variables_of(self.t, node, scope):
            code = assigned.get(index)
            if index not in assigned:
                now[index] = None
            elif code is not None:
                self._write(depth, f"if {code.source} == {self.t.unchanged(index).source}:", place)
                depth += 1
        rest(now, depth)
