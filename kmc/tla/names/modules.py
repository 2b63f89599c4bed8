r"""Modules with their names bound: declarations, definitions, instances.

A module is resolved once for each instance of it that differs in what is substituted. A module without constants and
variables has one instance for all. The root module and what it extends are resolved in order, so that a definition
that is used before it exists is an error; what is instantiated is resolved as far as it is used.
"""

from __future__ import annotations

from pathlib import Path

from kmc.errors import Span, SpecError, did_you_mean
from kmc.tla.names.builtins import LANGUAGE, STANDARD_MODULES, BuiltinOperator, Profile
from kmc.tla.names.expressions import ExpressionResolver
from kmc.tla.names.library import ModuleLibrary
from kmc.tla.names.references import profile_of
from kmc.tla.names.replacements import Replacements
from kmc.tla.names.scopes import (
    DefinitionEntity,
    Entity,
    InstanceContext,
    InstanceEntity,
    ModuleEntity,
    NameScope,
    VariableEntity,
    first_place,
    is_same,
)
from kmc.tla.resolved.levels import level_of
from kmc.tla.resolved.model import Assumption
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    BoundExpr,
    Expression,
    LambdaExpr,
    NameBinding,
    OperatorDefinition,
    OperatorReferenceExpr,
)
from kmc.tla.syntax.references import simple_name
from kmc.tla.syntax.tree import (
    ArgumentSyntax,
    AssumptionSyntax,
    DeclarationSyntax,
    DefinitionSyntax,
    ExpressionSyntax,
    FunctionDefinitionSyntax,
    InstanceSyntax,
    ModuleSyntax,
    NameSyntax,
    OperatorSymbolSyntax,
    ParameterSyntax,
    SubstitutionSyntax,
    TheoremSyntax,
    UnitSyntax,
)


class ModuleResolver(ExpressionResolver):
    """The modules of a model."""

    def __init__(self, library: ModuleLibrary, replacements: Replacements) -> None:
        self._library = library
        self._replacements = replacements
        self._root_context = InstanceContext(is_eager=True)
        self._shared: dict[str, NameScope] = {}
        self._open: list[str] = []
        self.variables: list[VariableEntity] = []
        self.constants: list[DefinitionEntity] = []
        self.assumptions: list[Assumption] = []
        self.definitions: list[OperatorDefinition] = []
        """All definitions that were resolved, in the order in which they were complete."""
        self.warnings: list[str] = []

    def root(self) -> NameScope:
        """Resolve the root module and return its scope."""
        scope = self._module(self._library.root, self._root_context, None)
        for name, entity in list(scope.names.items()):
            if isinstance(entity, DefinitionEntity) and entity.name == name and not entity.is_statement:
                self.definition_of(entity, entity.place)
        return scope

    # Modules

    def _module(self, syntax: ModuleSyntax, context: InstanceContext, around: NameScope | None) -> NameScope:
        """Return the scope of a module in an instance, resolved once for it."""
        known = context.modules.get(syntax.name)
        if known is not None:
            return known
        scope = context.modules[syntax.name] = NameScope(context, syntax.name, around)
        self._open.append(syntax.name)
        if around is None:
            scope.names.update(LANGUAGE)
        for name in syntax.extends:
            self._extend(name, scope)
        self.units(syntax.units, scope)
        self._open.pop()
        return scope

    def _extend(self, name: NameSyntax, scope: NameScope) -> None:
        inner = scope.inner_module(name.text)
        if inner is not None:
            extended = self._module(inner.syntax, scope.context, inner.scope)
        elif self._library.is_builtin(name.text):
            extended = self._builtin_module(name.text)
        else:
            extended = self._library_module(self._library.module(name), scope.context)
        self._import(extended, name.place, scope, is_local=False)
        scope.declared |= extended.declared

    def _library_module(self, syntax: ModuleSyntax, context: InstanceContext) -> NameScope:
        # What root extends is resolved with it, in order; a module without parameters is the same in all instances.
        if context is self._root_context or self._library.parameters(syntax):
            return self._module(syntax, context, None)
        shared = self._root_context.modules.get(syntax.name) or self._shared.get(syntax.name)
        if shared is None:
            shared = self._shared[syntax.name] = self._module(syntax, InstanceContext(), None)
        return shared

    def _builtin_module(self, name: str) -> NameScope:
        known = self._shared.get(name)
        if known is None:
            known = self._shared[name] = NameScope(InstanceContext(), name)
            standard = STANDARD_MODULES[name]
            for extended in standard.extends:
                known.exported.update(self._builtin_module(extended).exported)
                known.unreplaced.update(self._builtin_module(extended).unreplaced)
            for operator in standard.operators.values():
                entity = self._replacements.replacement(name, operator.name, operator.profile, known)
                known.exported[operator.name] = entity or operator
                if entity is not None:
                    self._keep(operator.name, operator, operator.profile, known)
        return known

    def _keep(self, name: str, entity: Entity, profile: Profile, scope: NameScope) -> None:
        """Keep a definition of a module that the file replaces, for copies; `X <- [M] Y` replaces it in copies, too."""
        if self._replacements.scoped(scope.module, name, profile, scope) is None:
            scope.unreplaced[name] = entity

    def _import(self, given: NameScope, place: Span, scope: NameScope, is_local: bool, is_copy: bool = False) -> None:
        """Make the names that a module gives known in a scope; of two definitions, the first one holds, as in TLC."""
        # The root module has what it and the modules that it extends import; of what is LOCAL, its own only.
        is_of_root = scope.context is self._root_context and (not is_local or scope.module == self._library.root.name)
        for name, entity in given.exported.items():
            if given.context is not scope.context and name in given.declared:
                continue  # an instance gives no constants and variables: the module around it has its own
            original = given.unreplaced.get(name)
            if is_copy:
                original = original or entity
                entity = (is_of_root and self._replaced_in_root(name, original, scope)) or original
            known = scope.lookup(name)
            if known is None:
                # `Nat <- [M] Y` replaces a name in M only: what M gives to others stays as it is.
                replaced = self._replacements.scoped(scope.module, name, profile_of(entity), scope)
                scope.names[name] = replaced or entity
            elif not any(is_same(known, one) for one in (entity, given.exported[name], original) if one is not None):
                first = first_place(known, entity)
                if first is not None:
                    self._warn_of_second(name, first, place)
                    continue
                self.declare(name, entity, place, scope)
            if not is_local:
                scope.exported[name] = entity
                if original is not None and original is not entity:
                    scope.unreplaced[name] = original

    def _replaced_in_root(self, name: str, entity: Entity, scope: NameScope) -> Entity | None:
        if not isinstance(entity, DefinitionEntity | BuiltinOperator):
            return None
        return self._replacements.of_root(name, profile_of(entity), scope)

    def _warn_of_second(self, name: str, first: Span, place: Span) -> None:
        here, there = (f"{Path(one.path).name}:{one.line}" for one in (place, first))
        self.warnings.append(f"{here} brings another definition of '{name}'; the one at {there} holds, as in TLC.")

    # Units

    def units(self, units: tuple[UnitSyntax, ...], scope: NameScope) -> None:
        """Resolve the units of a module or of a LET in their scope."""
        for unit in units:
            match unit:
                case DeclarationSyntax():
                    self._declaration(unit, scope)
                case DefinitionSyntax() | FunctionDefinitionSyntax():
                    self._definition(unit, scope)
                case InstanceSyntax():
                    self._instance_unit(unit, scope)
                case AssumptionSyntax():
                    self._assumption(unit, scope)
                case ModuleSyntax():
                    scope.inner_modules[unit.name] = ModuleEntity(unit, scope)
                case TheoremSyntax(name=name, statement=statement):
                    self._statement(name, statement, unit.place, scope)
        for entity in scope.names.values():
            # An instance may have an operator of the scope around it that is defined further down.
            if not isinstance(entity, DefinitionEntity) or entity.scope is not scope:
                continue
            if entity.is_recursive and entity.syntax is None:
                message = f"'{entity.name}' is declared RECURSIVE and not defined"
                raise SpecError("KMC017", message, entity.place, "define it in the same module or LET")

    def _add(self, name: str, entity: Entity, place: Span, scope: NameScope, is_local: bool = False) -> None:
        self.declare(name, entity, place, scope)
        if not is_local:
            scope.exported[name] = entity

    def _declaration(self, unit: DeclarationSyntax, scope: NameScope) -> None:
        for name in unit.names:
            if unit.kind != "RECURSIVE":
                scope.declared.add(name.name)
                if self._is_declared_again(unit.kind, name, scope):
                    continue
            match unit.kind:
                case "RECURSIVE":
                    self._recursive(name, scope)
                case "CONSTANT":
                    self._add(name.name, self._constant(name, scope), name.place, scope)
                case "VARIABLE":
                    self._add(name.name, self._variable(name, scope), name.place, scope)

    def _is_declared_again(self, kind: str, name: ParameterSyntax, scope: NameScope) -> bool:
        """Return whether a name of the root module is declared twice; the first declaration holds, as in TLC."""
        known = scope.lookup(name.name)
        if scope.context is not self._root_context:
            return False
        if kind == "VARIABLE":
            is_same = isinstance(known, VariableEntity)
        else:
            is_same = known in self.constants and profile_of(known) == (0,) * name.arity
        if is_same:
            place = name.place
            where = f"{Path(place.path).name}:{place.line}"
            self.warnings.append(f"{where} declares '{name.name}' again; the first declaration holds, as in TLC.")
        return is_same

    def _constant(self, name: ParameterSyntax, scope: NameScope) -> Entity:
        if scope.context is not self._root_context:
            return self._substituted(name, scope)
        entity = self._replacements.constant(name.name, (0,) * name.arity, name.place, scope)
        if entity not in self.constants:
            self.constants.append(entity)
        return entity

    def _variable(self, name: ParameterSyntax, scope: NameScope) -> Entity:
        if scope.context is not self._root_context:
            return self._standing_in(name, self._substituted(name, scope), scope)
        for declared in self.variables:
            if declared.name == name.name:
                return declared  # TLC knows variables by name: two modules that root extends may declare one
        entity = VariableEntity(name.name, len(self.variables), name.place)
        self.variables.append(entity)
        return entity

    def _recursive(self, name: ParameterSyntax, scope: NameScope) -> None:
        entity = DefinitionEntity(name.name, (0,) * name.arity, name.place, scope.module, scope, is_recursive=True)
        entity.definition = self._new_definition(entity)
        self._add(name.name, entity, name.place, scope)

    def _statement(self, name: str | None, statement: ExpressionSyntax | None, place: Span, scope: NameScope) -> None:
        """Make a theorem or an assumption with a name known by it."""
        if name is not None and statement is not None:
            syntax = DefinitionSyntax(name, (), statement, place=place)
            entity = DefinitionEntity(name, (), place, scope.module, scope, syntax, is_statement=True)
            self._add(name, entity, place, scope)

    def _assumption(self, unit: AssumptionSyntax, scope: NameScope) -> None:
        self._statement(unit.name, unit.condition, unit.place, scope)
        if scope.context is self._root_context:
            condition = self.expression(unit.condition, scope)
            # TLC evaluates no AXIOM: it may quantify over all functions, as induction does.
            if not unit.is_axiom:
                self.assumptions.append(Assumption(unit.name, condition, unit.place))

    def defined_place(self, name: str, scope: NameScope) -> Span | None:
        """Return where the module of a scope declares or defines a name, None if it does not."""
        syntax = self._library.root
        for unit in syntax.units if syntax.name == scope.module else ():
            match unit:
                case DeclarationSyntax(names=names):
                    for declared in names:
                        if declared.name == name:
                            return declared.place
                case DefinitionSyntax() | FunctionDefinitionSyntax() | InstanceSyntax() if unit.name == name:
                    return unit.place
        return None

    # Definitions

    def _definition(self, unit: DefinitionSyntax | FunctionDefinitionSyntax, scope: NameScope) -> None:
        profile = tuple(parameter.arity for parameter in unit.parameters) if isinstance(unit, DefinitionSyntax) else ()
        replaced = None
        if scope.context.local_definitions is None:
            replaced = self._replacements.replacement(scope.module, unit.name, profile, scope)
        forward = scope.names.get(unit.name)
        if replaced is not None:
            self._add(unit.name, replaced, unit.place, scope, unit.is_local)
            original = DefinitionEntity(unit.name, profile, unit.place, scope.module, scope, unit)
            self._keep(unit.name, original, profile, scope)
            return
        if isinstance(forward, DefinitionEntity) and forward.is_recursive and forward.syntax is None:
            if len(forward.profile) != len(profile):
                message = f"'{unit.name}' has other parameters than its RECURSIVE declaration"
                raise SpecError("KMC017", message, unit.place, "declare it with the same number of parameters")
            entity = forward
            # RECURSIVE F(_, _) says how many parameters F has, and not which of them are operators.
            entity.profile, entity.syntax = profile, unit
        else:
            entity = DefinitionEntity(unit.name, profile, unit.place, scope.module, scope, unit)
            self._add(unit.name, entity, unit.place, scope, unit.is_local)
        if scope.context.is_eager:
            self.definition_of(entity, unit.place)

    def _new_definition(self, entity: DefinitionEntity) -> OperatorDefinition:
        context = entity.context
        return OperatorDefinition(
            context.prefix + entity.name,
            context.implicit,
            None,
            entity.place,
            entity.module,
            recursive=entity.is_recursive,
            is_local=context.local_definitions is not None,
        )

    def definition_of(self, entity: DefinitionEntity, place: Span) -> OperatorDefinition:
        """Return the definition of an entity, resolved unless it is being resolved and recursive."""
        if entity.definition is not None and (entity.state == "complete" or entity.is_recursive):
            if entity.state == "new" and entity.syntax is not None:
                self._resolve(entity, entity.syntax)
            return entity.definition
        if entity.state == "open":
            message = f"'{entity.name}' is defined by itself"
            raise SpecError("KMC018", message, place, f"write RECURSIVE {entity.name} before its definition")
        assert entity.syntax is not None
        return self._resolve(entity, entity.syntax)

    def _resolve(
        self, entity: DefinitionEntity, syntax: DefinitionSyntax | FunctionDefinitionSyntax
    ) -> OperatorDefinition:
        definition = entity.definition = entity.definition or self._new_definition(entity)
        definition.place, definition.comment = syntax.place, syntax.comment
        entity.state = "open"
        inner = entity.scope.child()
        if isinstance(syntax, FunctionDefinitionSyntax):
            body = self.function_body(syntax, inner)
        else:
            own = tuple(
                self.bind(NameSyntax(parameter.name, place=parameter.place), inner, parameter.arity)
                for parameter in syntax.parameters
            )
            definition.parameters = (*entity.context.implicit, *own)
            body = self.expression(syntax.body, inner)
        self._complete(definition, body, entity.context)
        entity.state = "complete"
        return definition

    def _complete(self, definition: OperatorDefinition, body: Expression, context: InstanceContext) -> None:
        definition.body = body
        definition.level = level_of(body)
        self.definitions.append(definition)
        if context.local_definitions is not None:
            context.local_definitions.append(definition)

    # Instances

    def _instance_unit(self, unit: InstanceSyntax, scope: NameScope) -> None:
        outer = scope.child()
        parameters = tuple(
            self.bind(NameSyntax(parameter.name, place=parameter.place), outer, parameter.arity)
            for parameter in unit.parameters
        )
        module = self._instance(unit, outer, parameters)
        if unit.name is None:
            is_copy = unit.is_local or self._is_copied(unit, outer)
            self._import(module, unit.place, scope, is_local=unit.is_local, is_copy=is_copy)
        else:
            entity = InstanceEntity(unit.name, parameters, module.instance_scope(), unit.place)
            self._add(unit.name, entity, unit.place, scope, unit.is_local)

    def _is_copied(self, unit: InstanceSyntax, outer: NameScope) -> bool:
        """Return whether an instance without a name has definitions of its own: what is substituted is in them."""
        if outer.inner_module(unit.module.text) is not None:
            return True
        return not self._library.is_builtin(unit.module.text) and self._library.has_parameters(unit.module)

    def _instance(self, unit: InstanceSyntax, outer: NameScope, parameters: tuple[NameBinding, ...]) -> NameScope:
        """Return the scope of the module that a unit instantiates."""
        name = unit.module
        inner = outer.inner_module(name.text)
        if inner is None and self._library.is_builtin(name.text):
            self._check_substitutions(unit, frozenset())
            return self._builtin_module(name.text)
        syntax = inner.syntax if inner is not None else self._library.module(name)
        if syntax.name in self._open:
            message = f"the module '{syntax.name}' is instantiated in itself"
            raise SpecError("KMC007", message, name.place, "remove the INSTANCE")
        declared = self._library.parameters(syntax)
        self._check_substitutions(unit, declared)
        if inner is None and not declared:
            return self._library_module(syntax, InstanceContext())
        around = outer.context
        context = InstanceContext(
            f"{around.prefix}{unit.name}!" if unit.name is not None else around.prefix,
            (*around.implicit, *parameters),
            around.local_definitions,
            outer=outer,
            substitutions={given.name: given for given in unit.substitutions},
            place=unit.place,
        )
        return self._module(syntax, context, inner.scope if inner is not None else None)

    @staticmethod
    def _check_substitutions(unit: InstanceSyntax, declared: frozenset[str]) -> None:
        seen: set[str] = set()
        for given in unit.substitutions:
            if given.name not in declared:
                message = f"the module '{unit.module.text}' does not declare '{given.name}'"
                raise SpecError("KMC020", message, given.place, did_you_mean(given.name, declared))
            if given.name in seen:
                message = f"'{given.name}' is substituted twice"
                raise SpecError("KMC020", message, given.place, "keep one of the two")
            seen.add(given.name)

    def _substituted(self, name: ParameterSyntax, scope: NameScope) -> Entity:
        """Return what is substituted for a constant or a variable of an instance."""
        context = scope.context
        given = context.substitutions.get(name.name)
        assert context.outer is not None
        if given is None:
            found = context.outer.lookup(name.name)
            if found is None:
                message = f"the instance of '{scope.module}' gives no value to '{name.name}'"
                help_line = f"write WITH {name.name} <- ..., or define {name.name} before the INSTANCE"
                raise SpecError("KMC019", message, context.place, help_line)
            return self._fitting(found, name, context.place or name.place)
        entity = self._plain_entity(given.value, context.outer)
        if entity is not None:
            return self._fitting(entity, name, given.place)
        return self._substituted_definition(name, given, scope)

    def _standing_in(self, name: ParameterSyntax, found: Entity, scope: NameScope) -> Entity:
        """Return the entity that replaces a variable of an instance: a definition, or one variable of the model.

        Variables of an instance have next values of their own below ENABLED, also where a constant or one variable of
        the model is substituted for several of them.
        """
        context = scope.context
        match found:
            case VariableEntity() if found not in context.variables:
                context.variables.append(found)
                return found
            case DefinitionEntity(context=where, syntax=None) if where is context:
                pass
            case _:  # a name: it may be that of other things too
                value = self.apply(found, None, {}, scope, name.place)
                found = DefinitionEntity(name.name, (), name.place, scope.module, scope)
                found.definition = self._new_definition(found)
                self._complete(found.definition, value, context)
                found.state = "complete"
        if found.definition is not None:
            context.stand_ins.append(found.definition)
        return found

    @staticmethod
    def _fitting(entity: Entity, name: ParameterSyntax, place: Span) -> Entity:
        """Return an entity that has as many parameters as the constant or variable that it is substituted for."""
        if profile_of(entity) != (0,) * name.arity or isinstance(entity, InstanceEntity):
            needed = f"an operator of {name.arity} parameters" if name.arity else "a value"
            message = f"what is substituted for '{name.name}' is not {needed}"
            raise SpecError("KMC012", message, place, "substitute something with the same parameters")
        return entity

    def _plain_entity(self, value: ArgumentSyntax, outer: NameScope) -> Entity | None:
        """Return what a value that is nothing but a name means, else None."""
        if isinstance(value, OperatorSymbolSyntax):
            return self.entity(value.symbol, value.place, outer)
        name = simple_name(value)
        return self.entity(name.text, name.place, outer) if name is not None else None

    def _substituted_definition(self, name: ParameterSyntax, given: SubstitutionSyntax, scope: NameScope) -> Entity:
        context = scope.context
        assert context.outer is not None
        value = self.argument(name.name, name.arity, given.value, context.outer)
        entity = DefinitionEntity(name.name, (0,) * name.arity, given.place, scope.module, scope)
        definition = entity.definition = self._new_definition(entity)
        match value:
            case LambdaExpr(parameters=own, body=body):
                definition.parameters = (*context.implicit, *own)
            case OperatorReferenceExpr(operator=OperatorDefinition() as operator):
                own = tuple(NameBinding(f"x{at + 1}", given.place) for at in range(name.arity))
                definition.parameters = (*context.implicit, *own)
                arguments = tuple(BoundExpr(binding, place=given.place) for binding in own)
                body = ApplyExpr(operator, arguments, place=given.place)
            case OperatorReferenceExpr():
                raise AssertionError("a plain name is substituted as it is")
            case _:
                body = value
        self._complete(definition, body, context)
        entity.state = "complete"
        return entity
