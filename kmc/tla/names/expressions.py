r"""Expressions with their names bound: syntax and a scope to the resolved tree."""

from __future__ import annotations

from abc import abstractmethod
from typing import assert_never

from kmc.errors import Span, SpecError
from kmc.tla.names.references import Explicit, ReferenceResolver
from kmc.tla.names.scopes import BindingEntity, DefinitionEntity, InstanceContext, NameScope
from kmc.tla.names.selectors import PartSelection, select
from kmc.tla.resolved.nodes import (
    AngleActionExpr,
    BooleanExpr,
    BoundExpr,
    BoundRange,
    BoxActionExpr,
    BuiltinExpr,
    CaseExpr,
    ChooseExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    ExceptExpr,
    ExceptUpdate,
    Expression,
    FairnessExpr,
    FieldAccessExpr,
    FunctionApplicationExpr,
    FunctionConstructorExpr,
    FunctionSetExpr,
    IfExpr,
    LetExpr,
    NameBinding,
    NumberExpr,
    ProductExpr,
    QuantifiedExpr,
    RecordExpr,
    RecordSetExpr,
    RecursiveFunctionExpr,
    SetEnumerationExpr,
    SetFilterExpr,
    SetMapExpr,
    StringExpr,
    TupleExpr,
    UnboundedExpr,
)
from kmc.tla.syntax.tree import (
    ApplicationSyntax,
    BooleanSyntax,
    BoundSyntax,
    CaseSyntax,
    ChooseSyntax,
    DecimalSyntax,
    DefinitionSyntax,
    ExceptSyntax,
    ExpressionSyntax,
    FairnessSyntax,
    FieldSyntax,
    FunctionDefinitionSyntax,
    FunctionSetSyntax,
    FunctionSyntax,
    IfSyntax,
    InfixSyntax,
    JunctionSyntax,
    LabelSyntax,
    LetSyntax,
    NameSyntax,
    NumberSyntax,
    PostfixSyntax,
    PrefixSyntax,
    PreviousSyntax,
    ProductSyntax,
    QuantifierSyntax,
    RecordSetSyntax,
    RecordSyntax,
    ReferenceSyntax,
    SetFilterSyntax,
    SetMapSyntax,
    SetSyntax,
    StringSyntax,
    SubscriptedSyntax,
    TupleSyntax,
    UnboundedSyntax,
    UnitSyntax,
    UpdateSyntax,
)

_PREVIOUS = "@"


class ExpressionResolver(ReferenceResolver):
    """Expressions; the units of a LET are resolved by a subclass."""

    @abstractmethod
    def units(self, units: tuple[UnitSyntax, ...], scope: NameScope) -> None:
        """Resolve the definitions of a LET in their scope."""

    def expression(self, node: ExpressionSyntax, scope: NameScope) -> Expression:
        """Resolve an expression."""
        place = node.place
        match node:
            case ReferenceSyntax():
                return self.reference(node, scope)
            case InfixSyntax() | PrefixSyntax() | PostfixSyntax():
                return self._operation(node, scope)
            case NumberSyntax(value=number):
                return NumberExpr(number, place=place)
            case StringSyntax(value=text):
                return StringExpr(text, place=place)
            case BooleanSyntax(value=truth):
                return BooleanExpr(truth, place=place)
            case DecimalSyntax(text=text):
                return BuiltinExpr(text, (), "Reals", place=place)
            case PreviousSyntax():
                return self._previous(place, scope)
            case JunctionSyntax(operator="/\\", items=items):
                return ConjunctionExpr(self._all(items, scope), place=place)
            case JunctionSyntax(items=items):
                return DisjunctionExpr(self._all(items, scope), place=place)
            case IfSyntax(condition=condition, then=then, otherwise=otherwise):
                return IfExpr(*self._three(condition, then, otherwise, scope), place=place)
            case CaseSyntax():
                return self._case(node, scope)
            case LetSyntax():
                return self._let(node, scope)
            case LabelSyntax(body=body):
                return self.expression(body, self._labelled_scope(node, scope))
            case ChooseSyntax() | QuantifierSyntax() | UnboundedSyntax() | SetFilterSyntax() | SetMapSyntax():
                return self._binder(node, scope)
            case FunctionSyntax(bounds=bounds, body=body):
                ranges, inner = self._ranges(bounds, scope)
                return FunctionConstructorExpr(ranges, self.expression(body, inner), place=place)
            case FairnessSyntax(kind=kind, subscript=subscript, action=action):
                parts = self.expression(subscript, scope), self.expression(action, scope)
                return FairnessExpr(kind, *parts, scope.context.all_stand_ins(), place=place)
            case SubscriptedSyntax(kind=kind, action=action, subscript=subscript):
                parts = self.expression(action, scope), self.expression(subscript, scope)
                return BoxActionExpr(*parts, place=place) if kind == "[" else AngleActionExpr(*parts, place=place)
            case _:
                return self._collection(node, scope)

    def _collection(
        self,
        node: SetSyntax
        | TupleSyntax
        | ProductSyntax
        | FunctionSetSyntax
        | ApplicationSyntax
        | RecordSyntax
        | RecordSetSyntax
        | FieldSyntax
        | ExceptSyntax,
        scope: NameScope,
    ) -> Expression:
        place = node.place
        match node:
            case SetSyntax(items=items):
                return SetEnumerationExpr(self._all(items, scope), place=place)
            case TupleSyntax(items=items):
                return TupleExpr(self._all(items, scope), place=place)
            case ProductSyntax(sets=sets):
                return ProductExpr(self._all(sets, scope), place=place)
            case FunctionSetSyntax(domain=domain, codomain=codomain):
                return FunctionSetExpr(*self._all((domain, codomain), scope), place=place)
            case ApplicationSyntax(function=function, arguments=arguments):
                applied = self.expression(function, scope)
                return FunctionApplicationExpr(applied, self._argument(arguments, scope), place=place)
            case RecordSyntax(fields=fields):
                return RecordExpr(self._fields(fields, scope), place=place)
            case RecordSetSyntax(fields=fields):
                return RecordSetExpr(self._fields(fields, scope), place=place)
            case FieldSyntax(record=record, name=name):
                return FieldAccessExpr(self.expression(record, scope), name, place=place)
            case ExceptSyntax(function=function, updates=updates):
                updated = self.expression(function, scope)
                return ExceptExpr(updated, tuple(self._update(update, scope) for update in updates), place=place)
            case _:
                assert_never(node)

    def _all(self, items: tuple[ExpressionSyntax, ...], scope: NameScope) -> tuple[Expression, ...]:
        return tuple(self.expression(item, scope) for item in items)

    def _three(
        self, first: ExpressionSyntax, second: ExpressionSyntax, third: ExpressionSyntax, scope: NameScope
    ) -> tuple[Expression, Expression, Expression]:
        return self.expression(first, scope), self.expression(second, scope), self.expression(third, scope)

    # Operators

    def _operation(self, node: InfixSyntax | PrefixSyntax | PostfixSyntax, scope: NameScope) -> Expression:
        if isinstance(node, InfixSyntax) and node.operator in ("/\\", "\\/"):
            items = self._all(_chain(node), scope)
            kind = ConjunctionExpr if node.operator == "/\\" else DisjunctionExpr
            return kind(items, place=node.place)
        operands = (node.left, node.right) if isinstance(node, InfixSyntax) else (node.operand,)
        where = node.operator_place if isinstance(node, InfixSyntax) else node.place
        entity = self.entity(node.operator, where, scope, node.operator.rstrip("."))
        return self.apply(entity, operands, {}, scope, node.place)

    # Binders

    def _ranges(self, bounds: tuple[BoundSyntax, ...], scope: NameScope) -> tuple[tuple[BoundRange, ...], NameScope]:
        """Resolve bounds, and return the scope in which their names are known; the sets do not know them."""
        inner = scope.child()
        ranges: list[BoundRange] = []
        domains = [self.expression(bound.domain, scope) for bound in bounds]
        for bound, domain in zip(bounds, domains, strict=True):
            bindings = tuple(self.bind(name, inner) for name in bound.names)
            groups = (bindings,) if bound.is_pattern else tuple((binding,) for binding in bindings)
            ranges += [BoundRange(group, domain, bound.is_pattern, place=bound.place) for group in groups]
        return tuple(ranges), inner

    def _binder(
        self, node: ChooseSyntax | QuantifierSyntax | UnboundedSyntax | SetFilterSyntax | SetMapSyntax, scope: NameScope
    ) -> Expression:
        place = node.place
        match node:
            case QuantifierSyntax(kind=kind, bounds=bounds, body=body):
                ranges, inner = self._ranges(bounds, scope)
                return QuantifiedExpr(kind, ranges, self.expression(body, inner), place=place)
            case SetMapSyntax(bounds=bounds, body=body):
                ranges, inner = self._ranges(bounds, scope)
                return SetMapExpr(self.expression(body, inner), ranges, place=place)
            case SetFilterSyntax(bound=bound, condition=condition):
                (range_,), inner = self._ranges((bound,), scope)
                return SetFilterExpr(range_, self.expression(condition, inner), place=place)
            case UnboundedSyntax():
                return self._unbounded(node, scope)
            case ChooseSyntax(names=names, domain=domain, body=body) if domain is not None:
                bound = BoundSyntax(names, domain, node.is_pattern, place=place)
                (range_,), inner = self._ranges((bound,), scope)
                return ChooseExpr(range_, None, self.expression(body, inner), place=place)
            case ChooseSyntax(names=names, body=body):
                if node.is_pattern:
                    help_line = "write CHOOSE <<x, y>> \\in S: ..."
                    raise SpecError("KMC014", "CHOOSE of a tuple needs a set", place, help_line)
                inner = scope.child()
                binding = self.bind(names[0], inner)
                return ChooseExpr(None, binding, self.expression(body, inner), place=place)
            case _:
                assert_never(node)

    def _unbounded(self, node: UnboundedSyntax, scope: NameScope) -> UnboundedExpr:
        inner = scope.child()
        bindings = tuple(self.bind(name, inner) for name in node.names)
        return UnboundedExpr(node.kind, bindings, self.expression(node.body, inner), place=node.place)

    def function_body(self, node: FunctionDefinitionSyntax, scope: NameScope) -> Expression:
        r"""Resolve `f[x \in S] == body`: a constructor, or a recursive function if the body reads `f`."""
        itself = BindingEntity(NameBinding(node.name, node.place))
        ranges, inner = self._ranges(node.bounds, scope)
        inner.names[node.name] = itself
        body = self.expression(node.body, inner)
        if not itself.is_used:
            return FunctionConstructorExpr(ranges, body, place=node.place)
        return RecursiveFunctionExpr(itself.binding, ranges, body, place=node.place)

    # Branches and local definitions

    def _case(self, node: CaseSyntax, scope: NameScope) -> CaseExpr:
        arms = tuple(
            (self.expression(condition, scope), self.expression(value, scope)) for condition, value in node.arms
        )
        other = self.expression(node.other, scope) if node.other is not None else None
        return CaseExpr(arms, other, place=node.place)

    def _let(self, node: LetSyntax, scope: NameScope) -> LetExpr:
        context = InstanceContext(local_definitions=[], is_eager=True, outer=scope)
        inner = scope.child(context)
        self.units(node.units, inner)
        body = self.expression(node.body, inner)
        return LetExpr(tuple(context.local_definitions or ()), body, place=node.place)

    def _labelled_scope(self, node: LabelSyntax, scope: NameScope) -> NameScope:
        """Return the scope, KMC008 if a parameter of the label is not bound around it."""
        for name in node.parameters:
            self.entity(name.text, name.place, scope)
        return scope

    def selected(self, selection: PartSelection, explicit: Explicit, scope: NameScope) -> Expression:
        """Resolve the part of a definition that selectors choose: the definition with this part as its body."""
        entity = selection.entity
        syntax = entity.syntax if isinstance(entity, DefinitionEntity) else None
        if not isinstance(syntax, DefinitionSyntax) or not isinstance(entity, DefinitionEntity):
            message = f"'{selection.step.name}' has no parts to select"
            raise SpecError("KMC010", message, selection.place, "a '!' follows an instance or a definition")
        body = select(syntax.body, selection.selectors)
        shown = "!".join((syntax.name, *(selector.name for selector in selection.selectors)))
        part = DefinitionSyntax(shown, syntax.parameters, body, place=body.place)
        chosen = DefinitionEntity(shown, entity.profile, body.place, entity.module, entity.scope, part)
        return self.apply(chosen, selection.step.arguments, explicit, scope, selection.place)

    # Functions and records

    def _argument(self, arguments: tuple[ExpressionSyntax, ...], scope: NameScope) -> Expression:
        resolved = self._all(arguments, scope)
        if len(resolved) == 1:
            return resolved[0]
        return TupleExpr(resolved, place=_around(resolved[0].place, resolved[-1].place))

    def _fields(
        self, fields: tuple[tuple[NameSyntax, ExpressionSyntax], ...], scope: NameScope
    ) -> tuple[tuple[str, Expression], ...]:
        seen: dict[str, NameSyntax] = {}
        for name, _ in fields:
            if name.text in seen:
                message = f"the field '{name.text}' occurs twice in a record"
                raise SpecError("KMC015", message, name.place, "write each field once")
            seen[name.text] = name
        return tuple((name.text, self.expression(value, scope)) for name, value in fields)

    def _update(self, node: UpdateSyntax, scope: NameScope) -> ExceptUpdate:
        path: list[Expression] = []
        for part in node.path:
            if isinstance(part, NameSyntax):
                path.append(StringExpr(part.text, place=part.place))
            else:
                path.append(self._argument(part, scope))
        inner = scope.child()
        previous = BindingEntity(NameBinding(_PREVIOUS, node.place))
        inner.names[_PREVIOUS] = previous
        value = self.expression(node.value, inner)
        return ExceptUpdate(tuple(path), value, previous.binding, place=node.place)

    def _previous(self, place: Span, scope: NameScope) -> BoundExpr:
        entity = scope.lookup(_PREVIOUS)
        if not isinstance(entity, BindingEntity):
            raise SpecError("KMC016", "'@' is used outside of an EXCEPT", place, "write the old value itself")
        entity.is_used = True
        return BoundExpr(entity.binding, place=place)


def _chain(node: InfixSyntax) -> tuple[ExpressionSyntax, ...]:
    """Return the items of a chain of one operator: `a`, `b`, `c` of `(a op b) op c`."""
    items: list[ExpressionSyntax] = []
    part: ExpressionSyntax = node
    while isinstance(part, InfixSyntax) and part.operator == node.operator:
        items.append(part.right)
        part = part.left
    return (part, *reversed(items))


def _around(first: Span, last: Span) -> Span:
    return Span(first.path, first.line, first.column, last.end_line, last.end_column)
