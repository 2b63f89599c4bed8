r"""Scopes: what a name means at a place of a module.

Invariant: a name means what the innermost scope says. Declarations and definitions may not hide others; what binders
bind may. A definition is resolved when it is first needed; those of the root module and of what it extends are
resolved in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kmc.errors import Span
from kmc.tla.names.builtins import BuiltinOperator, Profile
from kmc.tla.resolved.nodes import NameBinding, OperatorDefinition
from kmc.tla.syntax.tree import DefinitionSyntax, FunctionDefinitionSyntax, ModuleSyntax, SubstitutionSyntax


@dataclass(slots=True, eq=False)
class InstanceContext:
    """The instance that definitions belong to.

    `prefix` begins their names, `implicit` are the parameters of the instance, which all its definitions have first.
    What is substituted for its constants and variables is resolved in the scope `outer`, which for a
    LET is the scope around it. In a LET, `local_definitions` collects its definitions in the order in which they are
    complete. Definitions are resolved when they are read if
    `is_eager`, else when they are used.
    """

    prefix: str = ""
    implicit: tuple[NameBinding, ...] = ()
    local_definitions: list[OperatorDefinition] | None = None
    is_eager: bool = False
    outer: NameScope | None = None
    substitutions: dict[str, SubstitutionSyntax] = field(default_factory=dict)
    place: Span | None = None
    modules: dict[str, NameScope] = field(default_factory=dict)
    """The scopes of the modules that were resolved in this instance, by name: what is extended twice is one module."""
    stand_ins: list[OperatorDefinition] = field(default_factory=list)
    """The definitions that stand for its variables, where these are not variables of the model of their own."""
    variables: list[VariableEntity] = field(default_factory=list)
    """The variables of the model that are substituted for its variables."""

    def all_stand_ins(self) -> tuple[OperatorDefinition, ...]:
        """Return the definitions that stand for variables in this instance and in those around it."""
        around = self.outer.context.all_stand_ins() if self.outer is not None else ()
        return (*self.stand_ins, *around)


@dataclass(frozen=True, slots=True, eq=False)
class VariableEntity:
    """A variable of the model."""

    name: str
    index: int
    place: Span


@dataclass(slots=True, eq=False)
class BindingEntity:
    """A name that a binder binds; `is_used` says whether something refers to it."""

    binding: NameBinding
    is_used: bool = False


@dataclass(slots=True, eq=False)
class DefinitionEntity:
    """A definition, resolved or not yet.

    `syntax` is None for a value of the `.cfg` file, for what is substituted, and for a RECURSIVE name before its
    definition. `profile` has the arities of its own parameters, without those of its instance. A theorem or a named
    assumption (`is_statement`) is resolved only where something refers to it.
    """

    name: str
    profile: Profile
    place: Span
    module: str
    scope: NameScope
    syntax: DefinitionSyntax | FunctionDefinitionSyntax | None = None
    definition: OperatorDefinition | None = None
    is_recursive: bool = False
    is_statement: bool = False
    state: Literal["new", "open", "complete"] = "new"

    @property
    def context(self) -> InstanceContext:
        """The instance that it belongs to."""
        return self.scope.context


@dataclass(frozen=True, slots=True, eq=False)
class InstanceEntity:
    """A named instance: its parameters, and the names that it gives."""

    name: str
    parameters: tuple[NameBinding, ...]
    scope: NameScope
    place: Span


@dataclass(frozen=True, slots=True, eq=False)
class ModuleEntity:
    """A module inside of a module, and the scope around it."""

    syntax: ModuleSyntax
    scope: NameScope


Entity: TypeAlias = VariableEntity | BindingEntity | DefinitionEntity | InstanceEntity | BuiltinOperator


class NameScope:
    """The names that are known at a place, and where the rest is looked up.

    `exported` are those that a module gives to others, `declared` the names of its constants and variables, which an
    instance does not give. `unreplaced` are the definitions of exported names that `X <- Y` of the `.cfg` file
    replaces: an instance is a copy, which the file does not replace.
    """

    __slots__ = ("context", "declared", "exported", "inner_modules", "module", "names", "parent", "unreplaced")

    def __init__(self, context: InstanceContext, module: str, parent: NameScope | None = None) -> None:
        self.context = context
        self.module = module
        self.parent = parent
        self.names: dict[str, Entity] = {}
        self.exported: dict[str, Entity] = {}
        self.unreplaced: dict[str, Entity] = {}
        self.declared: set[str] = set()
        self.inner_modules: dict[str, ModuleEntity] = {}

    def child(self, context: InstanceContext | None = None) -> NameScope:
        """Return a scope inside of this one."""
        return NameScope(context or self.context, self.module, self)

    def lookup(self, name: str) -> Entity | None:
        """Return what a name means, None if it means nothing."""
        scope: NameScope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def inner_module(self, name: str) -> ModuleEntity | None:
        """Return the module inside of this module or of one around it, None if there is none of this name."""
        scope: NameScope | None = self
        while scope is not None:
            if name in scope.inner_modules:
                return scope.inner_modules[name]
            scope = scope.parent
        return None

    def instance_scope(self) -> NameScope:
        """Return a scope of the names that an instance of this module gives."""
        given = NameScope(self.context, self.module)
        given.names.update((name, self.copied(name)) for name in self.exported if name not in self.declared)
        return given

    def copied(self, name: str) -> Entity:
        """Return what a copy of this module has by an exported name."""
        return self.unreplaced.get(name, self.exported[name])

    def all_names(self) -> Iterator[str]:
        """Yield all names that are known here."""
        scope: NameScope | None = self
        while scope is not None:
            yield from scope.names
            scope = scope.parent


def first_place(known: Entity, entity: Entity) -> Span | None:
    """Return the place of the first of two definitions that modules give; None unless both are definitions."""
    match known, entity:
        case InstanceEntity(), InstanceEntity():
            return known.place
        case DefinitionEntity(), DefinitionEntity() if known.syntax is not None and entity.syntax is not None:
            return known.place if known.is_statement == entity.is_statement else None
        case _:
            return None


def is_same(one: Entity, other: Entity) -> bool:
    """Return whether two entities are the same definition, of one module or word by word."""
    if isinstance(one, DefinitionEntity) and isinstance(other, DefinitionEntity) and one.syntax is not None:
        return one.syntax == other.syntax
    return one is other
