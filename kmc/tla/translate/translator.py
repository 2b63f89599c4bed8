r"""The translation of a model: passes over its definitions until no shape grows, and then the text of a spec.

Shapes begin with those that were observed. Each pass translates everything; an assignment may give a variable, or a
record a field, a shape that was never seen, and then another pass is needed. What cannot be translated is an error
only in the last pass, when all shapes are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from kmc.errors import Span, SpecError
from kmc.tla.resolved.model import ResolvedModel
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Expression,
    OperatorDefinition,
    TupleExpr,
    VariableExpr,
)
from kmc.tla.resolved.property_parts import PartKind, PropertyPart, property_parts
from kmc.tla.run.program import ModuleProgram
from kmc.tla.shapes.as_sequences import with_sequences, with_tuples_as_sequences
from kmc.tla.shapes.observation import Observation
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import (
    NOTHING,
    Apart,
    RecordTable,
    SetShape,
    check_classes,
    check_fields,
    check_nesting,
    join_all,
    mixes_kinds,
    tuple_lengths,
)
from kmc.tla.translate.action_bodies import with_yields, write_action, write_initial
from kmc.tla.translate.decomposition import NamedAction, decomposed
from kmc.tla.translate.deep_loops import refuse_deep_loops
from kmc.tla.translate.expressions import HANDLERS
from kmc.tla.translate.names import AtomGroup, NameTable, identifier, mixed_classes, unique
from kmc.tla.translate.nested_codes import written_out
from kmc.tla.translate.scope import ROOT, TranslationScope, head
from kmc.tla.translate.symmetric_sets import symmetric_sets
from kmc.tla.translate.temporal_atoms import NO_ATOMS, STATE_ATOM, STEP_ATOM, TemporalAtoms, atom_name
from kmc.tla.translate.translation import StateReading, Translation, WrittenLine
from kmc.tla.translate.universe import Bounds, Universe
from kmc.tla.values.kinds import TlaModelValue, Value
from kmc.tla.values.order import sorted_for_people

_PASSES_MAX = 20
_LISTED_MAX = 2000


@dataclass(slots=True)
class SpecFunction:
    """A function of the generated spec: an action, a property or the initial states, and its name in the module.

    `original` of a part of a property is the name of the property.
    """

    kind: str
    name: str
    original: str
    signature: str
    lines: list[WrittenLine]
    place: Span
    comment: str = ""


@dataclass(slots=True)
class TranslatedParts:
    """The functions of a translated model; `t` has its shapes, classes and names."""

    t: Translation
    functions: list[SpecFunction] = field(default_factory=list)
    left_out: list[PropertyPart] = field(default_factory=list)
    """The parts of properties that are temporal or concern initial states only."""
    symmetry: tuple[str, list[str]] | None = None
    view: tuple[str, list[str]] | None = None


def translate_parts(
    model: ResolvedModel,
    program: ModuleProgram,
    observation: Observation,
    widening: int = 0,
    temporal: TemporalAtoms = NO_ATOMS,
) -> TranslatedParts:
    """Translate a model, and the atoms of its temporal properties.

    SpecError (KMC812) at the first construct that kmc's language cannot say.
    """
    behaviour = model.behaviour
    if behaviour is None or behaviour.next is None or not behaviour.initial:
        raise refusal("a model without initial states and a next-state relation", model_place(model))
    records = _known_records(observation)
    try:
        return _translated(model, program, observation, records, widening, temporal)
    except SpecError:
        for apart, lengths in _otherwise(observation, records):
            with suppress(SpecError):
                divided = observation.with_tuples(apart, lengths)
                if divided.variables != observation.variables or divided.records != observation.records:
                    return _translated(model, program, divided, _known_records(divided), widening, temporal)
        raise


def _otherwise(observation: Observation, records: RecordTable) -> Iterator[tuple[Apart, frozenset[int]]]:
    """Yield other representations of tuples, as those may be what is refused."""
    if observation.unsettled is None:
        return
    if mixes_kinds(records):
        yield Apart.BY_KIND, frozenset()
        yield Apart.BY_COLLECTION, frozenset()
    # A pointer to what a function or a set has tuples for, and a tuple in it, are one value.
    lengths = tuple_lengths(observation.records)
    if lengths:
        yield Apart.NONE, lengths


def _known_records(observation: Observation) -> RecordTable:
    seen = observation.records
    fields = {key: dict(known) for key, known in seen.fields.items()}
    return RecordTable(seen.names, fields, seen.apart, seen.tuple_lengths)


def _translated(
    model: ResolvedModel,
    program: ModuleProgram,
    observation: Observation,
    records: RecordTable,
    widening: int,
    temporal: TemporalAtoms,
) -> TranslatedParts:
    """Translate a model with the shapes of an observation; `records` is a table of its own that grows."""
    shapes, dissolved = list(observation.variables), frozenset[str]()
    while True:
        names = _names(model, program, dissolved)
        universe = Universe(names, records, Bounds(observation.is_complete, widening))
        t = Translation(model, program, records, shapes, names, HANDLERS, universe)
        _grow_shapes(t, temporal)
        mixed = _mixed_groups(t) - dissolved
        if not mixed:
            parts = _written(t, temporal, tolerant=False)
            _refuse_two_kinds(t)
            return parts
        dissolved, shapes = dissolved | mixed, t.shapes


def _grow_shapes(t: Translation, temporal: TemporalAtoms) -> None:
    for _ in range(_PASSES_MAX):
        _fill_unseen(t.records)
        check_classes(t.records, model_place(t.model))
        before = _snapshot(t)
        _written(t, temporal, tolerant=True)
        _take_as_sequences(t)
        for variable, shape in zip(t.model.variables, t.shapes, strict=True):
            check_nesting(shape, model_place(t.model), f"the variable {variable}")
        check_fields(t.records, model_place(t.model))
        if _snapshot(t) == before:
            break


def _take_as_sequences(t: Translation) -> None:
    """Keep functions on 1..n as sequences where a pass met a word of sequences that is used on them."""
    if t.sequences:
        t.shapes[:] = [with_sequences(shape, t.sequences) for shape in t.shapes]
        for fields in t.records.fields.values():
            fields.update((name, with_sequences(shape, t.sequences)) for name, shape in fields.items())
        t.sequences.clear()
    t.shapes[:] = [with_tuples_as_sequences(shape, t.records) for shape in t.shapes]
    for fields in t.records.fields.values():
        fields.update((name, with_tuples_as_sequences(shape, t.records)) for name, shape in fields.items())


def _refuse_two_kinds(t: Translation) -> None:
    """Refuse a place with sequences and tuples that stay records in it: equal values would differ there."""
    shapes = [*t.shapes, *(shape for fields in t.records.fields.values() for shape in fields.values())]
    if any(with_tuples_as_sequences(shape, t.records) != shape for shape in shapes):
        raise refusal("values that are tuples of one class in one place and sequences in another", model_place(t.model))


def _fill_unseen(records: RecordTable) -> None:
    """Let sets that were always empty in a field of a record have the elements of that field in other records."""
    for key, fields in records.fields.items():
        for name, shape in fields.items():
            if shape == SetShape(NOTHING):
                seen = {other[name] for other in records.fields.values() if isinstance(other.get(name), SetShape)}
                taken = join_all([shape, *(seen if len(seen - {shape}) == 1 else ())])
                fields[name] = records.not_holding(key, taken)


def _mixed_groups(t: Translation) -> frozenset[str]:
    """Return the types of atoms that are elements, keys or values together with others: one word holds both."""
    shapes = [*t.shapes, *(shape for fields in t.records.fields.values() for shape in fields.values())]
    found = {*t.mixed, *(name for shape in shapes for name in mixed_classes(t.names, shape))}
    return frozenset(group.name for group in t.names.groups if group.name in found and not group.is_symmetric)


def model_place(model: ResolvedModel) -> Span:
    """Return the beginning of the root module."""
    return Span(model.path, 1)


def _snapshot(t: Translation) -> object:
    return list(t.shapes), {key: dict(fields) for key, fields in t.records.fields.items()}, list(t.bases)


# Names of atoms


def _names(model: ResolvedModel, program: ModuleProgram, dissolved: frozenset[str]) -> NameTable:
    """Declare the constant sets of atoms, larger ones first, except those that share an atom with one before."""
    names = NameTable()
    taken: set[object] = set()
    symmetric = symmetric_sets(model, program)
    found: list[tuple[str, frozenset[Value]]] = []
    for constant in model.constants:
        if not constant.parameters and constant.body is not None:
            value = program.evaluate(ApplyExpr(place=constant.place, operator=constant, arguments=()), None)
            if isinstance(value, frozenset) and value and all(isinstance(one, str | TlaModelValue) for one in value):
                found.append((constant.name, value))
    for name, atoms in sorted(found, key=lambda pair: (pair[1] not in symmetric, -len(pair[1]))):
        if not taken & atoms and identifier(name) not in dissolved:
            taken |= atoms
            ordered = tuple(one for one in sorted_for_people(atoms) if isinstance(one, str | TlaModelValue))
            names.add_group(AtomGroup(identifier(name), ordered, atoms in symmetric))
    missing = [atoms for atoms in symmetric if names.group_of(atoms) is None]
    if missing and model.symmetry is not None:
        raise refusal("a symmetry set over anything but constants", model.symmetry.place)
    return names


# All functions


def _written(t: Translation, temporal: TemporalAtoms, *, tolerant: bool) -> TranslatedParts:
    """Translate everything once; a tolerant pass goes on after a refusal."""
    parts = TranslatedParts(t)
    t.begin_pass()
    model, behaviour = t.model, t.model.behaviour
    assert behaviour is not None
    assert behaviour.next is not None

    def attempt(write: Callable[[], SpecFunction | None]) -> None:
        try:
            function = write()
        except SpecError:
            t.reading, t.is_primed, t.assigned = StateReading.STATE, False, {}
            if not tolerant:
                raise
        else:
            parts.functions.extend([function] if function is not None else [])
            if function is not None and not tolerant:
                function.lines = written_out(t.shared, function.lines)

    attempt(partial(_initial, t))
    taken = t.functions = ["init"]
    actions: list[NamedAction] = []
    attempt(partial(_divide, t, behaviour.next, actions))
    for action in actions:
        attempt(partial(_action, t, action, taken))
    for definition in model.constraints:
        attempt(partial(_predicate, t, definition, ("constraint", definition.name), taken))
    for definition in model.action_constraints:
        attempt(partial(_step, t, definition, ("action_constraint", definition.name), taken))
    for part in property_parts(model):
        attempt(partial(_part, t, part, parts, taken))
    for index, formula in enumerate(temporal.of_states):
        attempt(partial(_atom, t, formula, (STATE_ATOM, index)))
    for index, formula in enumerate(temporal.of_steps):
        attempt(partial(_atom, t, formula, (STEP_ATOM, index)))
    attempt(partial(_reductions, t, parts))
    return parts


def _divide(t: Translation, next_state: Expression, actions: list[NamedAction]) -> None:
    actions.extend(decomposed(t, next_state))


def _initial(t: Translation) -> SpecFunction:
    assert t.model.behaviour is not None
    conditions = t.model.behaviour.initial
    t.restart_locals()
    place = conditions[0].place
    try:
        lines = write_initial(t, conditions, 1)
        refuse_deep_loops(lines)
    except SpecError:
        lines = _listed_states(t, place)
        if not lines:
            raise
    return SpecFunction("init", "init", "Init", "", lines, place)


def _listed_states(t: Translation, place: Span) -> list[WrittenLine]:
    """Write the initial states one by one, where these are few and the initial predicate cannot be translated."""
    t.reading, t.assigned = StateReading.STATE, {}
    lines: list[WrittenLine] = []
    for state in t.program.initial_states(most=_LISTED_MAX + 1):
        values = [t.literal(value, shape).source for value, shape in zip(state, t.shapes, strict=True)]
        fields = ", ".join(f"{field}={value}" for field, value in zip(t.fields, values, strict=True))
        lines.append(WrittenLine(1, f"yield State({fields})", place))
        if len(lines) > _LISTED_MAX:
            return []
    return lines


def _action(t: Translation, action: NamedAction, taken: list[str]) -> SpecFunction:
    """Write an action: its loops, then its body."""
    name = unique(identifier(action.original), taken)
    taken.append(name)
    t.restart_locals(action.last_local)
    place = action.body.place
    loops = [WrittenLine(depth, f"{clause.text}:", place) for depth, clause in enumerate(action.clauses, start=1)]
    body = with_yields([*loops, *write_action(t, action.body, action.scope, 1 + len(loops))], place)
    refuse_deep_loops(body)
    signature = "".join(f", {parameter}: {annotation}" for parameter, annotation in action.parameters)
    return SpecFunction("action", name, action.original, signature, body, place, action.comment)


def _body(definition: OperatorDefinition) -> Expression:
    assert definition.body is not None
    return definition.body


def _part(t: Translation, part: PropertyPart, parts: TranslatedParts, taken: list[str]) -> SpecFunction | None:
    """Translate an invariant or a formula of steps; the other parts of properties are left out."""
    match part.kind:
        case PartKind.INVARIANT:
            return _predicate(t, part.formula, ("invariant", part.property_name), taken)
        case PartKind.STEP:
            return _step(t, part.formula, ("action_property", part.property_name), taken)
        case PartKind.INITIAL | PartKind.TEMPORAL:
            parts.left_out.append(part)
            return None


def _predicate(t: Translation, definition: OperatorDefinition, kind: tuple[str, str], taken: list[str]) -> SpecFunction:
    t.restart_locals()
    node = _body(definition)
    return _returning(definition, t.source(node, ROOT), kind, taken)


def _step(t: Translation, definition: OperatorDefinition, kind: tuple[str, str], taken: list[str]) -> SpecFunction:
    t.restart_locals()
    t.reading = StateReading.STEP
    try:
        source = t.source(_body(definition), ROOT)
    finally:
        t.reading = StateReading.STATE
    return _returning(definition, source, kind, taken)


def _atom(t: Translation, formula: Expression, kind: tuple[str, int]) -> SpecFunction:
    """Translate an atom of temporal properties; `kind` is its kind and number."""
    t.restart_locals()
    t.reading = StateReading.STEP if kind[0] == STEP_ATOM else StateReading.STATE
    try:
        line = WrittenLine(1, f"return {t.source(formula, ROOT)}", formula.place)
    finally:
        t.reading = StateReading.STATE
    return SpecFunction(kind[0], atom_name(*kind), "a temporal formula", "", [line], formula.place)


def _returning(definition: OperatorDefinition, source: str, kind: tuple[str, str], taken: list[str]) -> SpecFunction:
    """Return the function of a formula; `kind` is its decorator and the name of what it is in the model."""
    name = unique(identifier(definition.name.replace(" (", "_").rstrip(")")), taken)
    taken.append(name)
    line = WrittenLine(1, f"return {source}", _body(definition).place)
    return SpecFunction(kind[0], name, kind[1], "", [line], definition.place, definition.comment)


def _reductions(t: Translation, parts: TranslatedParts) -> None:
    symmetry, view = t.model.symmetry, t.model.view
    if symmetry is not None:
        parts.symmetry = (identifier(symmetry.name), [group.name for group in t.names.groups if group.is_symmetric])
    if view is not None:
        kept = _variables(_body(view), ROOT)
        parts.view = (identifier(view.name), [name for index, name in enumerate(t.fields) if index not in kept])


def _variables(node: Expression, scope: TranslationScope) -> set[int]:
    node, scope = head(node, scope)
    match node:
        case TupleExpr():
            return set().union(*(_variables(item, scope) for item in node.items))
        case VariableExpr():
            return {node.index}
        case _:
            raise refusal("a view of anything but variables", node.place)
