r"""A TLA+ module and its `.cfg` file to a resolved model.

Nothing is evaluated here. What a module needs is found by name, the `.cfg` file is read as TLC reads it but for its
mistakes, and every name of both is bound or is an error at its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from kmc.errors import InvariantLevelError, ModelError, SpecError, did_you_mean
from kmc.model_files.cfg import read_cfg
from kmc.model_files.model_file import Assignment, ModelFile, Word
from kmc.tla.names.behaviours import divide_behaviour
from kmc.tla.names.level_checks import check_assumption, check_levels, settle_levels
from kmc.tla.names.library import ModuleLibrary
from kmc.tla.names.modules import ModuleResolver
from kmc.tla.names.numbering import numbers_of
from kmc.tla.names.replacements import Replacements
from kmc.tla.names.scopes import DefinitionEntity, NameScope
from kmc.tla.names.search_level import with_level
from kmc.tla.resolved.levels import ACTION, CONSTANT, LEVEL_NAMES, STATE, TEMPORAL
from kmc.tla.resolved.model import BehaviourParts, ResolvedModel
from kmc.tla.resolved.nodes import ApplyExpr, Expression, OperatorDefinition
from kmc.tla.syntax.cursor import room_for_nesting
from kmc.tla.syntax.modules import parse_expression_text
from kmc.tla.syntax.tree import InstanceSyntax, ModuleSyntax

_ALGORITHM = re.compile(r"--(fair\s+)?algorithm\b")
_UNTRANSLATED = "the module has a PlusCal algorithm without its translation: let pcal.trans of TLC write that first"


def load_model(
    module_path: Path, cfg_path: Path | None, constants: Iterable[Assignment] = (), library: Sequence[Path] = ()
) -> ResolvedModel:
    """Load a module with the model of a `.cfg` file; without one, of the file beside it that has the module's name.

    `constants` count before those of the file. `library` are folders in which modules are looked for. Raises SpecError
    KMC001 to KMC021 for the module and ModelError for the `.cfg` file and the specification that it names.
    """
    with room_for_nesting():
        modules = ModuleLibrary(module_path, library)
        file = _model_file(module_path, cfg_path).with_overrides(constants)
        try:
            return with_level(_Loader(modules, file).model())
        except RecursionError:
            message = f"the definitions of '{module_path}' need each other too deeply"
            help_line = "let definitions of an instance refer to each other over fewer steps"
            raise SpecError("KMC003", message, modules.root.place, help_line) from None


def parse_expression(model: ResolvedModel, text: str) -> Expression:
    """Resolve a text that a person types in the scope of the root module of a model."""
    if model.reader is None:
        raise AssertionError("the model was not made by load_model")
    return model.reader.read(text)


def _model_file(module_path: Path, cfg_path: Path | None) -> ModelFile:
    path = cfg_path or module_path.with_suffix(".cfg")
    if not path.is_file():
        help_line = "write one with INIT and NEXT or SPECIFICATION, INVARIANT, and a value for each CONSTANT"
        message = f"the module '{module_path}' has no model file '{path}'"
        raise ModelError("KMC360", message, None, help_line)
    return read_cfg(path, for_module=True)


class _Loader:
    """One module and its model file."""

    def __init__(self, library: ModuleLibrary, file: ModelFile) -> None:
        self._library = library
        self._file = file
        self._replacements = Replacements(file, _root_modules(library))
        self._resolver = ModuleResolver(library, self._replacements)

    def model(self) -> ResolvedModel:
        """Resolve everything."""
        resolver, file = self._resolver, self._file
        self._scope = resolver.root()
        self._replacements.complete(resolver, self._scope)
        unused = self._replacements.unused()
        if unused is not None:
            raise unused
        self._replacements.mark_recursive()
        replaced = self._replacements.definitions()
        settle_levels((*resolver.definitions, *replaced))
        for definition in resolver.definitions:
            if definition.body is not None:
                check_levels(definition.body)
        for assumption in resolver.assumptions:
            check_assumption(assumption)
        symmetry = file.symmetry[0] if file.symmetry else None
        self._definitions(file.only_simulated, "the file", TEMPORAL)
        return ResolvedModel(
            module=self._library.root.name,
            path=str(self._library.files[0]),
            configuration=file.path,
            variables=tuple(variable.name for variable in resolver.variables),
            constants=tuple(self._definition(entity) for entity in resolver.constants),
            assumptions=tuple(resolver.assumptions),
            invariants=self._definitions(file.invariants, "INVARIANT", STATE),
            behaviour=self._behaviour(),
            properties=self._properties(),
            constraints=self._definitions(file.constraints, "CONSTRAINT", STATE),
            action_constraints=self._definitions(file.action_constraints, "ACTION_CONSTRAINT", ACTION),
            symmetry=self._optional(symmetry, "SYMMETRY", CONSTANT),
            view=self._optional(file.view, "VIEW", STATE),
            alias=self._optional(file.alias, "ALIAS", ACTION),
            postconditions=self._definitions(file.postconditions, "POSTCONDITION", ACTION),
            check_deadlock=file.check_deadlock is not False,
            definitions=self._all_definitions(),
            files=tuple(self._library.files),
            warnings=(*self._resolver.warnings, *self._replacements.warnings()),
            reader=ExpressionReader(resolver, self._scope),
            name_numbers=partial(numbers_of, file, tuple(self._library.files)),
        )

    def _definition(self, entity: DefinitionEntity) -> OperatorDefinition:
        return self._resolver.definition_of(entity, entity.place)

    def _all_definitions(self) -> dict[str, OperatorDefinition]:
        own = {
            name: self._definition(entity)
            for name, entity in self._scope.names.items()
            if isinstance(entity, DefinitionEntity) and not entity.is_statement
        }
        instances = {one.name: one for one in self._resolver.definitions if "!" in one.name and not one.is_local}
        return {**instances, **own}

    # What the file names

    def _named(self, word: Word, section: str, highest: int) -> OperatorDefinition:
        entity = self._scope.lookup(word.text)
        if not isinstance(entity, DefinitionEntity):
            known = [name for name, found in self._scope.names.items() if isinstance(found, DefinitionEntity)]
            message = f"{section} names '{word.text}', which the module does not define"
            help_line = _UNTRANSLATED if _is_untranslated(self._library.files[0]) else did_you_mean(word.text, known)
            raise ModelError("KMC366", message, word.span, help_line)
        definition = self._definition(entity)
        if definition.parameters:
            message = f"{section} names '{word.text}', which has parameters"
            raise ModelError("KMC367", message, word.span, "define an operator without parameters that applies it")
        if definition.level > highest:
            levels = f"it is a formula of {LEVEL_NAMES[definition.level]} level"
            help_line = f"{levels}, and {section} takes a formula of {LEVEL_NAMES[highest]} level"
            if section == "INVARIANT":
                raise InvariantLevelError("KMC369", f"INVARIANT cannot be '{word.text}'", word.span, help_line)
            raise ModelError("KMC367", f"{section} cannot be '{word.text}'", word.span, help_line)
        return definition

    def _definitions(self, words: Iterable[Word], section: str, highest: int) -> tuple[OperatorDefinition, ...]:
        return tuple(self._named(word, section, highest) for word in words)

    def _properties(self) -> tuple[OperatorDefinition, ...]:
        named = self._definitions(self._file.properties, "PROPERTY", TEMPORAL)
        for word, definition in zip(self._file.properties, named, strict=True):
            if definition.level == ACTION:
                help_line = f"it is a formula of one step: define [][{word.text}]_vars for all steps of a behaviour"
                raise ModelError("KMC367", f"PROPERTY cannot be '{word.text}'", word.span, help_line)
        return named

    def _optional(self, word: Word | None, section: str, highest: int) -> OperatorDefinition | None:
        return self._named(word, section, highest) if word is not None else None

    def _behaviour(self) -> BehaviourParts | None:
        file = self._file
        checked = (*file.invariants, *file.properties, *file.constraints)
        if file.specification is not None:
            behaviour = divide_behaviour(self._named(file.specification, "SPECIFICATION", TEMPORAL))
            if self._resolver.variables:
                return behaviour
            # TLC makes no state of a module without variables.
            if checked:
                message = f"'{file.path}' names '{checked[0].text}', and the module has no variables"
                raise ModelError("KMC368", message, checked[0].span, "declare variables, or check assumptions only")
            return None
        if file.init is not None and file.next is not None:
            initial = _applied(self._named(file.init, "INIT", STATE), file.init)
            following = _applied(self._named(file.next, "NEXT", ACTION), file.next)
            return BehaviourParts((initial,), following, None, ())
        if self._resolver.variables and checked:
            message = f"'{file.path}' names '{checked[0].text}', and no behaviours to check it on"
            raise ModelError("KMC368", message, checked[0].span, "add SPECIFICATION, or INIT and NEXT")
        return None


def _applied(definition: OperatorDefinition, word: Word) -> Expression:
    return ApplyExpr(definition, (), place=word.span)


def _is_untranslated(path: str) -> bool:
    """Return whether a module has an algorithm of PlusCal and not its translation."""
    text = Path(path).read_text(encoding="utf-8")
    return _ALGORITHM.search(text) is not None and "BEGIN TRANSLATION" not in text


class ExpressionReader:
    """The reader of expressions that a person types, in the scope of a root module."""

    def __init__(self, resolver: ModuleResolver, scope: NameScope) -> None:
        self._resolver = resolver
        self._scope = scope

    def read(self, text: str) -> Expression:
        """Parse and resolve an expression; raises SpecError at its place in the text."""
        with room_for_nesting():
            known = len(self._resolver.definitions)
            expression = self._resolver.expression(parse_expression_text(text), self._scope)
            added = self._resolver.definitions[known:]
            settle_levels(added)
            for definition in added:
                if definition.body is not None:
                    check_levels(definition.body)
            check_levels(expression)
            return expression


def _root_modules(library: ModuleLibrary) -> frozenset[str]:
    """Return the root module, and the modules whose definitions it has and no copies of them, built-in ones too.

    An unnamed INSTANCE of a module with constants or variables copies the definitions of that module, and shares those
    of the modules without any that it extends, as Sequences.
    """
    found: set[str] = {library.root.name}
    seen: set[tuple[str, bool]] = set()
    waiting = [(library.root, False)]
    while waiting:
        module, is_copied = waiting.pop()
        inner = {unit.name for unit in module.units if isinstance(unit, ModuleSyntax)}
        instances = [unit for unit in module.units if isinstance(unit, InstanceSyntax) and unit.name is None]
        given = [(unit.module, True) for unit in instances if not unit.is_local]
        for name, may_be_copied in (*((name, is_copied) for name in module.extends), *given):
            if name.text in inner:
                continue
            is_builtin = library.is_builtin(name.text)
            copied = may_be_copied and not is_builtin and library.has_parameters(name)
            if not copied:
                found.add(name.text)
            if not is_builtin and (name.text, copied) not in seen:
                seen.add((name.text, copied))
                waiting.append((library.module(name), copied))
    return frozenset((*found, *library.builtins_below(found)))
