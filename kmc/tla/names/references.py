r"""Names in expressions: what they refer to, and their application to arguments.

A definition of an instance has the instance's parameters before its own. A reference from inside of the instance passes
them on, and one from outside, `I(e)!Op(a)`, gives them their values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from kmc.errors import Span, SpecError
from kmc.tla.names.builtins import BuiltinOperator, Profile
from kmc.tla.names.scopes import BindingEntity, DefinitionEntity, Entity, InstanceEntity, NameScope, VariableEntity
from kmc.tla.names.selectors import PartSelection
from kmc.tla.names.unknown_names import help_for_unknown
from kmc.tla.resolved.nodes import (
    AlwaysExpr,
    ApplyExpr,
    Argument,
    BoundExpr,
    BuiltinExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    EnabledExpr,
    EventuallyExpr,
    Expression,
    LambdaExpr,
    LeadsToExpr,
    NameBinding,
    OperatorDefinition,
    OperatorReferenceExpr,
    PrimeExpr,
    ProductExpr,
    UnchangedExpr,
    VariableExpr,
)
from kmc.tla.syntax.tree import (
    ArgumentSyntax,
    ExpressionSyntax,
    LambdaSyntax,
    NameSyntax,
    OperatorSymbolSyntax,
    ReferenceSyntax,
    StepSyntax,
)

Explicit = dict[NameBinding, Argument]
"""The values of the parameters of instances that a reference names."""


class ReferenceResolver(ABC):
    """References and applications; expressions and definitions are resolved by subclasses."""

    @abstractmethod
    def expression(self, node: ExpressionSyntax, scope: NameScope) -> Expression:
        """Resolve an expression."""

    @abstractmethod
    def definition_of(self, entity: DefinitionEntity, place: Span) -> OperatorDefinition:
        """Return the definition of an entity, resolved unless it is being resolved and recursive."""

    def entity(self, name: str, place: Span, scope: NameScope, shown: str = "") -> Entity:
        """Return what a name means, KMC008 if it means nothing."""
        found = scope.lookup(name)
        if found is None:
            help_line = help_for_unknown(name, place, scope.all_names(), self.defined_place(name, scope))
            raise SpecError("KMC008", f"'{shown or name}' is not defined", place, help_line)
        return found

    @abstractmethod
    def defined_place(self, name: str, scope: NameScope) -> Span | None:
        """Return where the module of a scope declares or defines a name, None if it does not."""

    def bind(self, name: NameSyntax, scope: NameScope, arity: int = 0) -> NameBinding:
        """Bind a name in a scope; what it meant outside is hidden, where SANY reports an error."""
        binding = NameBinding(name.text, name.place, arity)
        scope.names[name.text] = BindingEntity(binding)
        return binding

    def declare(self, name: str, entity: Entity, place: Span, scope: NameScope) -> None:
        """Give a name a meaning in a scope, KMC009 if it has another one already; a LET may hide those outside."""
        is_let = scope.context.local_definitions is not None
        found = scope.names.get(name) if is_let else scope.lookup(name)
        if found is not None:
            raise _twice(name, found, place)
        scope.names[name] = entity

    # References

    def reference(self, node: ReferenceSyntax, scope: NameScope) -> Expression:
        """Resolve a name with its arguments."""
        entity, explicit, step, selectors = self._target(node, scope)
        if selectors:
            return self.selected(PartSelection(entity, step, selectors, node.place), explicit, scope)
        return self.apply(entity, step.arguments, explicit, scope, node.place)

    @abstractmethod
    def selected(self, selection: PartSelection, explicit: Explicit, scope: NameScope) -> Expression:
        """Resolve the part of a definition that selectors choose."""

    def _target(
        self, node: ReferenceSyntax, scope: NameScope
    ) -> tuple[Entity, Explicit, StepSyntax, tuple[StepSyntax, ...]]:
        """Return what the names of a reference lead to, and the selectors behind them."""
        explicit: Explicit = {}
        where = scope
        shown = ""
        for at, step in enumerate(node.steps):
            shown += step.name
            entity = self.entity(step.name, step.place, where, shown)
            if not isinstance(entity, InstanceEntity):
                return entity, explicit, step, node.steps[at + 1 :]
            self._instance_arguments(entity, step, explicit, scope)
            where = entity.scope
            shown += "!"
        last = node.steps[-1]
        message = f"'{last.name}' is an instance, not a value"
        raise SpecError("KMC010", message, last.place, f"name one of its definitions, as in {last.name}!Op")

    def _instance_arguments(
        self, entity: InstanceEntity, step: StepSyntax, explicit: Explicit, scope: NameScope
    ) -> None:
        profile = tuple(binding.arity for binding in entity.parameters)
        arguments = self.arguments(entity.name, profile, step.arguments, scope, step.place)
        explicit.update(zip(entity.parameters, arguments, strict=True))

    def apply(
        self,
        entity: Entity,
        arguments: tuple[ArgumentSyntax, ...] | None,
        explicit: Explicit,
        scope: NameScope,
        place: Span,
    ) -> Expression:
        """Apply what a name means to arguments, as a person wrote them."""
        match entity:
            case InstanceEntity(name=name):
                raise SpecError("KMC010", f"'{name}' is an instance, not a value", place, f"write {name}!Op")
            case VariableEntity(name=name):
                self.arguments(name, (), arguments, scope, place)
                return VariableExpr(name, entity.index, place=place)
            case BindingEntity(binding=binding):
                entity.is_used = True
                profile = (0,) * binding.arity
                resolved = self.arguments(binding.name, profile, arguments, scope, place)
                return ApplyExpr(binding, resolved, place=place) if profile else BoundExpr(binding, place=place)
            case DefinitionEntity():
                resolved = self.arguments(entity.name, entity.profile, arguments, scope, place)
                return self.apply_definition(entity, explicit, resolved, place)
            case BuiltinOperator(name=name, profile=profile):
                made = builtin(entity, self.arguments(name, profile, arguments, scope, place), place)
                if isinstance(made, EnabledExpr):
                    return replace(made, stand_ins=scope.context.all_stand_ins())
                return made

    def apply_definition(
        self, entity: DefinitionEntity, explicit: Explicit, arguments: tuple[Argument, ...], place: Span
    ) -> ApplyExpr:
        """Apply a definition to resolved arguments, behind the parameters of its instance."""
        implicit = tuple(explicit.get(binding) or _passed_on(binding, place) for binding in entity.context.implicit)
        return ApplyExpr(self.definition_of(entity, place), (*implicit, *arguments), place=place)

    def apply_resolved(
        self, entity: DefinitionEntity | BuiltinOperator, arguments: tuple[Argument, ...], place: Span
    ) -> Expression:
        """Apply a definition or a built-in operator to resolved arguments."""
        if isinstance(entity, BuiltinOperator):
            return builtin(entity, arguments, place)
        return self.apply_definition(entity, {}, arguments, place)

    # Arguments

    def arguments(
        self, name: str, profile: Profile, given: tuple[ArgumentSyntax, ...] | None, scope: NameScope, place: Span
    ) -> tuple[Argument, ...]:
        """Resolve the arguments of an operator, KMC011 if their number is not that of its parameters."""
        found = given or ()
        if len(found) != len(profile):
            takes = f"{len(profile)} argument{'s' if len(profile) != 1 else ''}" if profile else "no arguments"
            message = f"'{name}' takes {takes}, and gets {len(found)}"
            help_line = "give each parameter one argument"
            if not profile:
                help_line = (
                    f"a function is applied in brackets, {name}[...]; an operator has parameters, {name}(a) == ..."
                )
            raise SpecError("KMC011", message, place, help_line)
        return tuple(
            self.argument(name, arity, argument, scope) for arity, argument in zip(profile, found, strict=True)
        )

    def argument(self, name: str, arity: int, given: ArgumentSyntax, scope: NameScope) -> Argument:
        """Resolve one argument: a value, or for a parameter such as `F(_, _)` an operator."""
        if arity == 0:
            if isinstance(given, LambdaSyntax | OperatorSymbolSyntax):
                message = f"'{name}' needs a value here, not an operator"
                raise SpecError("KMC012", message, given.place, "apply the operator to its arguments")
            return self.expression(given, scope)
        if isinstance(given, LambdaSyntax):
            return self._lambda(name, arity, given, scope)
        return self._operator_argument(name, arity, given, scope)

    def _lambda(self, name: str, arity: int, given: LambdaSyntax, scope: NameScope) -> LambdaExpr:
        if len(given.parameters) != arity:
            raise _wrong_operator(name, arity, f"a LAMBDA of {len(given.parameters)}", given.place)
        inner = scope.child()
        parameters = tuple(self.bind(parameter, inner) for parameter in given.parameters)
        return LambdaExpr(parameters, self.expression(given.body, inner), place=given.place)

    def _operator_argument(
        self, name: str, arity: int, given: ExpressionSyntax | OperatorSymbolSyntax, scope: NameScope
    ) -> Argument:
        explicit: Explicit = {}
        if isinstance(given, OperatorSymbolSyntax):
            entity = self.entity(given.symbol, given.place, scope)
        elif isinstance(given, ReferenceSyntax) and given.steps[-1].arguments is None:
            entity, explicit, _, selectors = self._target(given, scope)
            if selectors:
                raise _wrong_operator(name, arity, "a part of an expression", given.place)
        else:
            raise _wrong_operator(name, arity, "a value", given.place)
        profile = profile_of(entity)
        if profile != (0,) * arity:
            raise _wrong_operator(name, arity, f"one of {len(profile)}" if profile else "a value", given.place)
        return self._operator(entity, explicit, given.place)

    def _operator(self, entity: Entity, explicit: Explicit, place: Span) -> Argument:
        match entity:
            case BindingEntity(binding=binding):
                entity.is_used = True
                return OperatorReferenceExpr(binding, place=place)
            case DefinitionEntity() if not entity.context.implicit:
                return OperatorReferenceExpr(self.definition_of(entity, place), place=place)
            case DefinitionEntity(profile=profile):
                # The parameters of the instance come first: only an application can give them.
                parameters = tuple(NameBinding(f"x{at + 1}", place) for at in range(len(profile)))
                values = tuple(BoundExpr(parameter, place=place) for parameter in parameters)
                return LambdaExpr(parameters, self.apply_definition(entity, explicit, values, place), place=place)
            case BuiltinOperator(name=name):
                return OperatorReferenceExpr(name, place=place)
            case _:
                raise AssertionError("values and instances have no parameters")


def profile_of(entity: Entity) -> Profile:
    """Return the arities of the parameters of what a name means."""
    match entity:
        case BindingEntity(binding=binding):
            return (0,) * binding.arity
        case DefinitionEntity(profile=profile) | BuiltinOperator(profile=profile):
            return profile
        case _:
            return ()


def builtin(operator: BuiltinOperator, arguments: tuple[Argument, ...], place: Span) -> Expression:
    """Return the node of an operator of the language or of a standard module."""
    values: tuple[Expression, ...] = tuple(value for value in arguments if isinstance(value, Expression))
    match operator.name, values:
        case "'", (body,):
            return PrimeExpr(body, place=place)
        case "UNCHANGED", (body,):
            return UnchangedExpr(body, place=place)
        case "ENABLED", (body,):
            return EnabledExpr(body, place=place)
        case "[]", (body,):
            return AlwaysExpr(body, place=place)
        case "<>", (body,):
            return EventuallyExpr(body, place=place)
        case "~>", (left, right):
            return LeadsToExpr(left, right, place=place)
        case "/\\", items:
            return ConjunctionExpr(items, place=place)
        case "\\/", items:
            return DisjunctionExpr(items, place=place)
        case "\\X", sets:
            return ProductExpr(sets, place=place)
        case name, _:
            return BuiltinExpr(name, arguments, operator.module, place=place)


def _passed_on(binding: NameBinding, place: Span) -> Argument:
    """Return the value of a parameter of an instance, for another definition of the instance."""
    return OperatorReferenceExpr(binding, place=place) if binding.arity else BoundExpr(binding, place=place)


def _twice(name: str, found: Entity, place: Span) -> SpecError:
    match found:
        case BindingEntity(binding=NameBinding(place=first)):
            where = f"{first.path}:{first.line}"
        case BuiltinOperator(module=module):
            where = f"module {module}" if module else "the language"
        case VariableEntity(place=first) | DefinitionEntity(place=first) | InstanceEntity(place=first):
            where = f"{first.path}:{first.line}"
    notes = (f"its first meaning is in {where}",)
    return SpecError("KMC009", f"'{name}' has a meaning here already", place, "choose another name", notes)


def _wrong_operator(name: str, arity: int, found: str, place: Span) -> SpecError:
    parameters = f"{arity} parameter{'s' if arity != 1 else ''}"
    message = f"'{name}' needs an operator of {parameters} here, not {found}"
    return SpecError("KMC012", message, place, "name an operator of this many parameters, or write a LAMBDA")
