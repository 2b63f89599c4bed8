"""A model translated as a whole: observed, translated, laid out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kmc.tla.resolved.model import ResolvedModel
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BooleanExpr,
    BuiltinExpr,
    ExceptExpr,
    Expression,
    FieldAccessExpr,
    FunctionApplicationExpr,
    NumberExpr,
    OperatorDefinition,
    RecordExpr,
    RecordSetExpr,
    StringExpr,
    VariableExpr,
)
from kmc.tla.run.program import ModuleProgram
from kmc.tla.shapes.observation import Observation, ObservedExtent, UsedNames, observe, sampled
from kmc.tla.translate.decoding import Decoder, decoder_of
from kmc.tla.translate.facts import children, definitions_of
from kmc.tla.translate.folder import TranslatedFolder, folder_of
from kmc.tla.translate.layout import SpecText, laid_out
from kmc.tla.translate.temporal_atoms import NO_ATOMS, TemporalAtoms
from kmc.tla.translate.translator import TranslatedParts, translate_parts

WHOLE_EXTENT = ObservedExtent()


@dataclass(frozen=True, slots=True)
class TranslatedModel:
    """A model in kmc's language: its functions, its text, and how states are read back."""

    parts: TranslatedParts
    observation: Observation
    text: SpecText
    folder: TranslatedFolder
    decoder: Decoder

    @property
    def names(self) -> dict[str, str]:
        """The names of actions and properties in the module, by their names in the spec."""
        return {function.name: function.original for function in self.parts.functions}


def translate_model(
    model: ResolvedModel,
    program: ModuleProgram | None = None,
    observation: Observation | None = None,
    widening: int = 0,
    extent: ObservedExtent = WHOLE_EXTENT,
    temporal: TemporalAtoms = NO_ATOMS,
    unseen: str = "Bool",
) -> TranslatedModel:
    """Translate a model; SpecError (KMC812) where kmc's language cannot say it.

    `widening` adds so many bits to every bound that is a guess. An observation that was made before is used again.
    `temporal` are the atoms of temporal properties that become functions of the spec. `unseen` is the annotation of the
    elements of collections that were always empty.
    """
    program = program or ModuleProgram(model)
    observation = observation or observe(sampled(program, extent), program, used_names(model))
    parts = translate_parts(model, program, observation, widening, temporal)
    parts.t.unseen = unseen
    text = laid_out(parts)
    return TranslatedModel(parts, observation, text, folder_of(parts, text), decoder_of(parts.t))


def _is_number(node: Argument) -> bool:
    """Return whether an argument is a number, or a definition that is one."""
    while isinstance(node, ApplyExpr) and isinstance(node.operator, OperatorDefinition) and not node.arguments:
        if node.operator.recursive or node.operator.body is None:
            return False
        node = node.operator.body
    return isinstance(node, NumberExpr)


def used_names(model: ResolvedModel) -> UsedNames:
    """Return the names that a model uses as fields of records, and the variables that it uses as functions."""
    fields: set[str] = set()
    strings: list[StringExpr] = []
    values: set[int] = set()
    changed: set[Argument] = set()
    records: list[RecordExpr] = []
    functions: set[int] = set()
    for node in _all_nodes(model):
        match node:
            case StringExpr():
                strings.append(node)
            case BuiltinExpr(operator="DOMAIN", arguments=(ApplyExpr(operator=OperatorDefinition() as definition),)):
                strings.extend(_keys_of(definition.body))
            case RecordExpr():
                records.append(node)
                values.update(id(value) for _, value in node.fields if len(node.fields) == 1)
            case RecordSetExpr():
                fields.update(name for name, _ in node.fields)
            case FieldAccessExpr():
                fields.add(node.field)
            case FunctionApplicationExpr(function=VariableExpr(index=index), argument=argument):
                functions.update(() if _is_number(argument) else (index,))
            case ExceptExpr(updates=updates):
                changed.update(step for update in updates for step in update.path)
                if isinstance(node.function, VariableExpr) and not _is_number(updates[0].path[0]):
                    functions.add(node.function.index)
    # A field is a string in EXCEPT. The value of the only field, as in `[top |-> "top"]`, is not a key elsewhere.
    texts = {node.value for node in strings if node not in changed and id(node) not in values}
    return UsedNames(_fields_of(records, fields, texts), frozenset(functions))


def _keys_of(body: Expression | None) -> list[StringExpr]:
    return [StringExpr(name, place=body.place) for name, _ in body.fields] if isinstance(body, RecordExpr) else []


def _fields_of(records: list[RecordExpr], fields: set[str], strings: set[str]) -> frozenset[str]:
    r"""Return the fields that a module writes, without the keys of functions that it writes as records.

    In `Other == [A |-> "B", B |-> "A"]` and `\E p \in {"A", "B"} : turn = Other[p]`, A and B are strings, and no
    `r.A` reads them: they are keys, as those of `[p \in {"A", "B"} |-> FALSE]` are.
    """
    keys = [node for node in records if _may_be_a_function(node, strings)]
    found = fields.union(*(dict(node.fields) for node in records if node not in keys))
    while True:
        others = [node for node in keys if found.isdisjoint(dict(node.fields))]
        if len(others) == len(keys):
            return frozenset(found)
        found = found.union(*(dict(node.fields) for node in keys if node not in others))
        keys = others


def _may_be_a_function(node: RecordExpr, strings: set[str]) -> bool:
    values = [value for _, value in node.fields]
    kinds = {type(value) for value in values}
    literals = kinds & {StringExpr, NumberExpr, BooleanExpr}
    return strings.issuperset(dict(node.fields)) and (not literals or (kinds == literals and len(kinds) == 1))


def _all_nodes(model: ResolvedModel) -> Iterator[Argument]:
    """Enumerate the nodes of everything that a check evaluates, definitions that are used included."""
    behaviour = model.behaviour
    roots: list[Argument] = []
    if behaviour is not None:
        roots = [*behaviour.initial, *([behaviour.next] if behaviour.next is not None else [])]
    definitions = [*model.constants, *model.invariants, *model.properties, *model.constraints]
    definitions.extend((*model.action_constraints, *((model.view,) if model.view is not None else ())))
    known: set[OperatorDefinition] = set()
    queue = [*roots, *(one.body for one in definitions if one.body is not None)]
    while queue:
        node = queue.pop()
        yield node
        queue.extend(children(node))
        for definition in definitions_of(node):
            if definition not in known and definition.body is not None:
                known.add(definition)
                queue.append(definition.body)
