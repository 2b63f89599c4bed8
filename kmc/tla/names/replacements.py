r"""What a `.cfg` file puts in the place of constants and definitions: values, and other definitions by `<-`.

As in TLC, `X <- Y` replaces X wherever the root module's X is meant, in the modules that it extends too, and a built-in
operator such as `Nat` as well. An instance with parameters, a named one and a LOCAL one are copies: `I!X` is the X that
was there, and so is a name that LOCAL INSTANCE gives to another module. What X refers to in a copied module is that
module's own: replaced if the root module has that. `X <- [M] Y` replaces X of module M and of its instances. Y is a
definition of the root module, which is known at the end only: until then a replaced definition has no body.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from kmc.errors import ModelError, Span, did_you_mean
from kmc.model_files.model_file import Assignment, ModelFile, Substitution, same_name_model_value
from kmc.model_files.raw_values import (
    ModelValue,
    Raw,
    RawFunction,
    RawOperator,
    RawRecord,
    RawSequence,
    RawSet,
)
from kmc.tla.names.builtins import BuiltinOperator, Profile
from kmc.tla.names.references import ReferenceResolver, profile_of
from kmc.tla.names.scopes import DefinitionEntity, InstanceContext, NameScope
from kmc.tla.resolved.levels import parts_of
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BooleanExpr,
    BoundExpr,
    Expression,
    ModelValueExpr,
    NameBinding,
    NumberExpr,
    OperatorDefinition,
    OperatorReferenceExpr,
    RecordExpr,
    SetEnumerationExpr,
    StringExpr,
    TupleExpr,
)


@dataclass(slots=True)
class _Pending:
    """A replaced operator, which gets its body when the root module is complete."""

    definition: OperatorDefinition
    substitution: Substitution
    profile: Profile


class Replacements:
    """The values and the substitutions of a `.cfg` file.

    `root_modules` are the modules whose definitions the root module has: its own, those that it extends, and those of
    which it has instances that are not copies, built-in ones too.
    """

    def __init__(self, model: ModelFile, root_modules: frozenset[str]) -> None:
        self._path = model.path
        self._values = {(value.module, value.name): value for value in model.constants}
        self._substitutions = {(one.module, one.name): one for one in model.substitutions}
        self._root_modules = root_modules
        self._found: dict[tuple[str, str, str], DefinitionEntity] = {}
        self._used: set[tuple[str, str]] = set()
        self._pending: list[_Pending] = []

    def constant(self, name: str, profile: Profile, place: Span, scope: NameScope) -> DefinitionEntity:
        """Return the value of a declared constant, KMC361 if there is none."""
        found = self._replacement("", name, profile, scope)
        if found is None:
            shape = f"{name} <- Definition" if profile else f"{name} = VALUE"
            message = f"the constant '{name}' has no value"
            raise ModelError("KMC361", message, place, f"write {shape} under CONSTANTS in the .cfg file")
        return found

    def of_root(self, name: str, profile: Profile, scope: NameScope) -> DefinitionEntity | None:
        """Return what replaces a definition that the root module has by this name, None if nothing does."""
        return self._replacement("", name, profile, scope)

    def replacement(self, module: str, name: str, profile: Profile, scope: NameScope) -> DefinitionEntity | None:
        """Return what replaces the definition of a name in a module, None if nothing does."""
        scoped = self.scoped(module, name, profile, scope)
        if scoped is None and module in self._root_modules:
            return self._replacement("", name, profile, scope)
        return scoped

    def scoped(self, module: str, name: str, profile: Profile, scope: NameScope) -> DefinitionEntity | None:
        """Return what replaces a name in this module only, `X <- [M] Y`, None if nothing does."""
        return self._replacement(module, name, profile, scope)

    def _replacement(self, module: str, name: str, profile: Profile, scope: NameScope) -> DefinitionEntity | None:
        key = (module, name)
        value, substitution = self._values.get(key), self._substitutions.get(key)
        if value is None and substitution is None:
            return None
        self._used.add(key)
        cached = self._found.get((module, name, str(profile)))
        if cached is None:
            definition = self._valued(value, profile) if value is not None else None
            definition = definition or self._substituted(substitution, profile)
            own = NameScope(InstanceContext(), scope.module)
            cached = DefinitionEntity(name, profile, definition.place, scope.module, own, None, definition)
            cached.state = "complete"
            self._found[(module, name, str(profile))] = cached
        return cached

    @staticmethod
    def _valued(value: Assignment, profile: Profile) -> OperatorDefinition:
        if profile:
            help_line = f"write {value.name} <- Definition, with a definition of {len(profile)} parameters"
            message = f"'{value.name}' is an operator and cannot have a value"
            raise ModelError("KMC362", message, value.span, help_line)
        return OperatorDefinition(value.name, (), value_expression(value.value, value.span), value.span, value.module)

    def _substituted(self, substitution: Substitution | None, profile: Profile) -> OperatorDefinition:
        assert substitution is not None
        parameters = tuple(NameBinding(f"x{at + 1}", substitution.span, arity) for at, arity in enumerate(profile))
        definition = OperatorDefinition(substitution.name, parameters, None, substitution.span, substitution.module)
        self._pending.append(_Pending(definition, substitution, profile))
        return definition

    def complete(self, resolver: ReferenceResolver, root: NameScope) -> None:
        """Give every replaced definition its body: the definition of the root module that replaces it."""
        while self._pending:
            pending = self._pending.pop()
            word = pending.substitution.target
            entity = root.lookup(word.text)
            if entity is None:
                message = f"'{word.text}', which replaces '{pending.substitution.name}', is not defined"
                raise ModelError("KMC363", message, word.span, did_you_mean(word.text, root.all_names()))
            if not isinstance(entity, DefinitionEntity | BuiltinOperator):
                message = f"'{word.text}' is not a definition, so it cannot replace '{pending.substitution.name}'"
                raise ModelError("KMC363", message, word.span, "name a definition of the root module")
            if profile_of(entity) != pending.profile:
                wanted = f"{len(pending.profile)} parameters of the same kinds"
                message = f"'{word.text}' cannot replace '{pending.substitution.name}', which has {wanted}"
                raise ModelError("KMC364", message, word.span, "name a definition with the same parameters")
            definition = pending.definition
            definition.body = resolver.apply_resolved(entity, _values_of(definition), word.span)

    def mark_recursive(self) -> None:
        """Mark the replaced definitions that refer to themselves, as of `Next <- Mine` where Mine applies Next.

        TLC calls these again and again, too: it replaces the name in every definition.
        """
        for definition in self.definitions():
            definition.recursive = _refers_to_itself(definition)

    def definitions(self) -> tuple[OperatorDefinition, ...]:
        """Return the definitions that were made for the file."""
        return tuple(entity.definition for entity in self._found.values() if entity.definition is not None)

    def unused(self) -> ModelError | None:
        """Return the error of the first substitution, or value of the command line, of a name that no module has."""
        for key, value in self._values.items():
            if value.span.path != self._path and key not in self._used and not same_name_model_value(value):
                return _not_there(value.name, value.span, key[0])
        for key, substitution in self._substitutions.items():
            if key not in self._used:
                return _not_there(substitution.name, substitution.span, key[0])
        return None

    def warnings(self) -> tuple[str, ...]:
        """Return a sentence for each value of the `.cfg` file whose name no module has: TLC passes over these too."""
        return tuple(
            f"{Path(value.span.path).name}:{value.span.line} gives '{value.name}' a value, which no module reads."
            for key, value in self._values.items()
            if value.span.path == self._path and key not in self._used and not same_name_model_value(value)
        )


def _refers_to_itself(definition: OperatorDefinition) -> bool:
    waiting: list[Argument] = [] if definition.body is None else [definition.body]
    seen: set[OperatorDefinition] = set()
    while waiting:
        node = waiting.pop()
        waiting.extend(parts_of(node))
        if not isinstance(node, ApplyExpr | OperatorReferenceExpr) or not isinstance(node.operator, OperatorDefinition):
            continue
        if node.operator is definition:
            return True
        if node.operator not in seen and node.operator.body is not None:
            seen.add(node.operator)
            waiting.append(node.operator.body)
    return False


def _not_there(name: str, span: Span, module: str) -> ModelError:
    where = f"the module '{module}' has" if module else "the module has"
    message = f"{where} no constant or definition '{name}'"
    return ModelError("KMC365", message, span, "remove the line, or correct the name")


def _values_of(definition: OperatorDefinition) -> tuple[Argument, ...]:
    """Return the parameters of a definition as arguments."""
    return tuple(
        OperatorReferenceExpr(parameter, place=definition.place)
        if parameter.arity
        else BoundExpr(parameter, place=definition.place)
        for parameter in definition.parameters
    )


def value_expression(value: Raw, place: Span) -> Expression:
    """Return the node of a value of a `.cfg` file."""
    match value:
        case bool():
            return BooleanExpr(value, place=place)
        case int():
            return NumberExpr(value, place=place)
        case str():
            return StringExpr(value, place=place)
        case ModelValue(name):
            return ModelValueExpr(name, place=place)
        case RawSet(members):
            return SetEnumerationExpr(tuple(value_expression(member, place) for member in members), place=place)
        case RawSequence(elements):
            return TupleExpr(tuple(value_expression(element, place) for element in elements), place=place)
        case RawRecord(fields):
            return RecordExpr(tuple((name, value_expression(item, place)) for name, item in fields), place=place)
        case RawFunction() | RawOperator():
            message = "a constant of a module cannot be given a function or a definition here"
            advice = "define it in the module, and write NAME <- Definition in the .cfg file"
            raise ModelError("KMC307", message, place, advice)
        case _:
            assert_never(value)
