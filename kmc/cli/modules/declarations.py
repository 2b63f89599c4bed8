"""`kmc specs X.tla`: the declarations of a module, and what its `.cfg` file checks of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.text import Text

from kmc.checking.model_text import listing
from kmc.checking.modules.check_module import ModuleRequest, load_module
from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_text import first_sentence
from kmc.cli.modules.module_argument import configuration_of
from kmc.cli.text.console import section
from kmc.error_text import shown_path
from kmc.tla.resolved.levels import LEVEL_NAMES
from kmc.tla.resolved.model import ResolvedModel
from kmc.tla.resolved.nodes import OperatorDefinition
from kmc.tla.syntax.modules import parse_module_file
from kmc.tla.syntax.tree import DeclarationSyntax, DefinitionSyntax, FunctionDefinitionSyntax, ModuleSyntax


def module_lines(spec: str, model: str | None, sets: tuple[str, ...]) -> Iterator[Text | str]:
    """Return the declarations of a module: with the `.cfg` file `model` or that of its name, else as its text has them.

    Raises CommandLineError KMC696 for a `.cfg` file that does not exist.
    """
    path = configuration_of(spec, model)
    if path is not None or sets:
        return _loaded_lines(load_module(ModuleRequest(Path(spec), path, sets)))
    return _text_lines(parse_module_file(Path(spec)), Path(spec))


def _loaded_lines(module: CheckedModule) -> Iterator[Text | str]:
    model = module.program.model
    names = module.program.action_names
    yield Text(model.module, "bold")
    files = [model.path, *([model.configuration] if model.configuration is not None else [])]
    yield f"  {' with '.join(map(shown_path, files))}"
    constants = [(constant.name, f"= {constant.value}") for constant in module.model.spec.constants.values()]
    yield from section("Constants", constants)
    yield from section("Variables", [(name, "") for name in model.variables])
    yield from section("Actions", [_row(model.definitions.get(name), name) for name in names])
    checked = list(_checked(model))
    yield from section("Checked", [_row(definition, f"{word} {definition.name}") for word, definition in checked])
    listed = {*names, *(definition.name for _, definition in checked)}
    others = [one for one in model.definitions.values() if one.module == model.module and one.name not in listed]
    declared = {constant.name for constant in model.constants}
    for level, name in enumerate(LEVEL_NAMES):
        rows = [_row(one, one.name) for one in others if one.level == level and one.name not in declared]
        yield from section(f"Other definitions of {name} level", rows)


def _checked(model: ResolvedModel) -> Iterator[tuple[str, OperatorDefinition]]:
    """Yield what the `.cfg` file names, each with its keyword."""
    several = {
        "INVARIANT": model.invariants,
        "PROPERTY": model.properties,
        "CONSTRAINT": model.constraints,
        "ACTION_CONSTRAINT": model.action_constraints,
        "POSTCONDITION": model.postconditions,
    }
    for word, definitions in several.items():
        yield from ((word, definition) for definition in definitions)
    single = {"SYMMETRY": model.symmetry, "VIEW": model.view, "ALIAS": model.alias}
    yield from ((word, definition) for word, definition in single.items() if definition is not None)


def _row(definition: OperatorDefinition | None, name: str) -> tuple[str, str]:
    if definition is None:
        return name, ""
    parameters = ", ".join(parameter.name for parameter in definition.parameters)
    return f"{name}({parameters})" if parameters else name, first_sentence(definition.comment)


def _text_lines(module: ModuleSyntax, path: Path) -> Iterator[Text | str]:
    """Yield what the text of a module declares, and what its `.cfg` file has to say."""
    yield Text(module.name, "bold")
    yield f"  {shown_path(path)}, which has no .cfg file beside it"
    constants, variables = _declared(module, "CONSTANT"), _declared(module, "VARIABLE")
    yield from section("Constants", [(name, "") for name in constants])
    yield from section("Variables", [(name, "") for name in variables])
    definitions = [one for one in module.units if isinstance(one, DefinitionSyntax | FunctionDefinitionSyntax)]
    yield from section("Definitions", [(_signature(one), first_sentence(one.comment)) for one in definitions])
    yield ""
    names = [one.name for one in definitions]
    behaviour = "SPECIFICATION Spec" if "Spec" in names else "INIT Init and NEXT Next"
    needed = [behaviour, *(f"a value for {name}" for name in constants)]
    yield f"To check it, write {shown_path(path.with_suffix('.cfg'))} with {listing(needed)}."


def _declared(module: ModuleSyntax, kind: str) -> list[str]:
    units: Iterable[DeclarationSyntax] = (one for one in module.units if isinstance(one, DeclarationSyntax))
    return [name.name for one in units if one.kind == kind for name in one.names]


def _signature(definition: DefinitionSyntax | FunctionDefinitionSyntax) -> str:
    if isinstance(definition, FunctionDefinitionSyntax):
        return definition.name
    parameters = ", ".join(parameter.name for parameter in definition.parameters)
    return f"{definition.name}({parameters})" if parameters else definition.name
