"""A translation at work: the shapes, classes and names of a model, how variables are read, and facts that hold here.

Expressions are translated by handlers, one for each class of nodes (`expressions.py` has the table). What a guard says
about a local, such as the classes that a message may have after a test of its type, holds while the code below the
guard is written (`narrowed`); it is keyed by source, since a local never changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from math import prod
from typing import Any

from kmc.budget import require_budget
from kmc.errors import EvaluationError, Span, SpecError
from kmc.tla.resolved.model import ResolvedModel
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BuiltinExpr,
    Expression,
    FunctionSetExpr,
    LambdaExpr,
    LetExpr,
    NameBinding,
    OperatorDefinition,
    OperatorReferenceExpr,
    ProductExpr,
    RecordExpr,
    RecordSetExpr,
    TupleExpr,
)
from kmc.tla.run.program import ModuleProgram
from kmc.tla.shapes.refusal import refusal
from kmc.tla.shapes.shape import (
    NOTHING,
    MapShape,
    NumberShape,
    PlainShape,
    RecordKey,
    RecordShape,
    RecordTable,
    SequenceShape,
    SetShape,
    Shape,
    alternatives_of,
    classes_in,
    join,
    join_all,
)
from kmc.tla.translate.deep_facts import DeepFacts
from kmc.tla.translate.defaults import default_of
from kmc.tla.translate.facts import FactTable
from kmc.tla.translate.literals import class_placeholder, literal
from kmc.tla.translate.names import NameTable, field_name, variable_names
from kmc.tla.translate.scope import Delayed, LetScope, Name, SpecLocal, TranslationScope, TypedSource, head, local_of
from kmc.tla.translate.shared_codes import SharedCodes
from kmc.tla.translate.tuples import as_wanted
from kmc.tla.translate.universe import Universe
from kmc.tla.values.kinds import FunctionValue, SymbolicSet, Value
from kmc.tla.values.order import sorted_values

_FOLDED_MAX = 64
_LISTED_MAX = 256
_STORED = re.compile(r"(st|nxt)\.\w+(\.\w+|\[\w+\]|\.at\(\w+\))*")

Assigned = Mapping[int, TypedSource | None]
"""The variables that have a value in the new state: None for one that is unchanged."""


@dataclass(slots=True)
class WrittenLine:
    """A line of generated code, and the place in the module that it comes from."""

    depth: int
    text: str
    place: Span


class StateReading(Enum):
    """The meaning of variables: of the initial state that is built, of `st` in an action or predicate, of a step."""

    INITIAL = auto()
    STATE = auto()
    ACTION = auto()
    STEP = auto()


@dataclass(slots=True)
class Translation:
    """The state of a translation; see the module docstring."""

    model: ResolvedModel
    program: ModuleProgram
    records: RecordTable
    shapes: list[Shape]
    names: NameTable
    handlers: Mapping[type, Callable[[Translation, Any, TranslationScope, Shape], TypedSource]]
    universe: Universe
    facts: FactTable = field(default_factory=FactTable)
    deep: DeepFacts = field(init=False)
    reading: StateReading = StateReading.STATE
    is_primed: bool = False
    assigned: Assigned = field(default_factory=dict)
    _narrowed: dict[str, RecordShape] = field(default_factory=dict)
    _constants: dict[tuple[int, int], tuple[object, Value | None]] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    bases: list[frozenset[RecordKey]] = field(default_factory=list)
    _elements: set[tuple[str, str]] = field(default_factory=set)
    _codes: dict[object, tuple[dict[object, TypedSource], object]] = field(default_factory=dict)
    _is_in_helper: bool = False
    shared: SharedCodes = field(default_factory=SharedCodes)
    functions: list[str] = field(default_factory=list)
    """The names of the functions of the spec, which no class may have."""
    recursions: dict[Name, Any] = field(default_factory=dict)
    """The recursive definitions at work (`recursion.py`)."""
    helpers: dict[str, list[WrittenLine]] = field(default_factory=dict)
    """The helpers of recursive definitions by their names, in the order in which they are defined."""
    choices: dict[str, Span] = field(default_factory=dict)
    """The places of CHOOSEs whose solutions must have one value, by their code: compiled code may stop there."""
    sequences: set[PlainShape] = field(default_factory=set)
    """The shapes of functions on 1..n that a pass met below a word of sequences, such as Append."""
    mixed: set[str] = field(default_factory=set)
    """The types of atoms that are values of functions together with atoms of other types, in no state."""
    unseen: str = "Bool"
    """The annotation of the elements of collections that were always empty."""
    has_unseen: bool = False
    """True if the declarations have such collections."""

    def __post_init__(self) -> None:
        self.deep = DeepFacts(self.facts)
        self.fields = variable_names(self.model.variables)

    # Values

    def value(self, expression: Argument, scope: TranslationScope, want: Shape = NOTHING) -> TypedSource:
        """Translate an expression to a value; `want` is the shape of the place that it goes to, if that is known."""
        require_budget()
        node, scope = head(expression, scope)
        local = local_of(node, scope)
        if local is not None:
            return as_wanted(self.records, self._read_local(local), want)
        if not isinstance(node, TupleExpr | RecordExpr):
            folded = self.constant(node, scope)
            if folded is not None and not _is_large(folded) and not self._is_permuted(folded):
                return literal(self.names, self.records, folded, want)
        handler = self.handlers.get(type(node))
        if handler is None:
            raise refusal(_described(node), node.place)
        known = self._known_codes(node, scope)
        key = node, scope, want
        if key not in known:
            known[key] = self._shared(handler(self, node, scope, want), node.place)
        return as_wanted(self.records, self.narrowed_code(known[key]), want)

    def _shared(self, code: TypedSource, place: Span) -> TypedSource:
        """Return a word in the place of a long code; a network itself, since compiled code keeps none."""
        if code.is_network or self.recursions or self._is_in_helper:
            return code
        return replace(code, source=self.shared.word_of(code.source, place))

    def _known_codes(self, node: Expression, scope: TranslationScope) -> dict[object, TypedSource]:
        """Return the codes of expressions in what holds here; the name of a LET is read at many places."""
        # What is assigned matters only to what reads the new state.
        is_new = self.is_primed or self.reading is StateReading.INITIAL or self.deep.has_primes(node, scope)
        context = (
            self.reading,
            self.is_primed,
            id(self.assigned) if is_new else 0,
            frozenset(self._narrowed.items()),
            tuple(self.recursions),
            self._is_in_helper,
        )
        if context not in self._codes:
            self._codes[context] = {}, self.assigned if is_new else None
        return self._codes[context][0]

    def _is_permuted(self, value: Value) -> bool:
        """Return whether a value is a function of what SYMMETRY permutes: only initial states may name its keys."""
        return isinstance(value, FunctionValue) and any(
            group.is_symmetric and not value.domain.key_set.isdisjoint(group.atoms) for group in self.names.groups
        )

    def _read_local(self, local: SpecLocal) -> TypedSource:
        origin = local.origin
        if self.is_primed and origin is not None and self.deep.reads_state(origin.expression, origin.scope):
            return self.value(origin.expression, origin.scope)
        return self.narrowed_code(local.code)

    def narrowed_code(self, code: TypedSource) -> TypedSource:
        """Return the code with the classes that guards around it leave."""
        shape = self._narrowed.get(code.source)
        return code if shape is None else TypedSource(code.source, shape, code.is_network)

    def is_narrowed(self, source: str) -> bool:
        """Return whether guards say something about the class of the value with this source."""
        return source in self._narrowed

    def source(self, expression: Argument, scope: TranslationScope, want: Shape = NOTHING) -> str:
        """Translate an expression and return the source only."""
        return self.value(expression, scope, want).source

    def variable(self, index: int, place: Span) -> TypedSource:
        """Read a variable as the place in the spec reads it; those after the model's belong to an ENABLED."""
        if index >= len(self.shapes):
            return self._assigned(index, place)
        code = self.unchanged(index)
        if self.reading is StateReading.INITIAL:
            return self._assigned(index, place)
        if not self.is_primed:
            return code
        match self.reading:
            case StateReading.STEP:
                return TypedSource(f"nxt.{self.fields[index]}", code.shape, code.is_network)
            case StateReading.ACTION:
                return self._assigned(index, place)
            case _:
                raise refusal("a primed expression outside of an action", place)

    def _assigned(self, index: int, place: Span) -> TypedSource:
        if index not in self.assigned:
            name = self.model.variables[index] if index < len(self.shapes) else "a variable of an instance"
            raise refusal(f"reading {name} before it is assigned", place)
        code = self.assigned[index]
        return code if code is not None else self.unchanged(index)

    def unchanged(self, index: int) -> TypedSource:
        """Read a variable in the old state."""
        shape = self.shapes[index]
        return TypedSource(f"st.{self.fields[index]}", shape, self.is_network(shape))

    def is_network(self, shape: Shape) -> bool:
        """Return whether a variable of this shape is a network: a set that lists its records.

        A set of few possible tuples is kept as other sets are.
        """
        if not isinstance(shape, SetShape) or not isinstance(shape.element, RecordShape):
            return False
        are_tuples = all(key.is_tuple for key in shape.element.classes)
        return not (are_tuples and self.universe.is_small(shape.element))

    def is_bag(self, shape: Shape) -> bool:
        """Return whether a function is a bag: one from records to counts, with too many possible keys for a map.

        Only a whole variable is kept as a bag, not a function that is a value of another one.
        """
        return (
            isinstance(shape, MapShape)
            and isinstance(shape.key, RecordShape)
            and any(isinstance(one, MapShape) and classes_in(one.key) >= shape.key.classes for one in self.shapes)
            and all(isinstance(plain, NumberShape) for plain in alternatives_of(shape.value))
            and not self.universe.is_small(shape.key)
        )

    @contextmanager
    def priming(self, place: Span) -> Iterator[None]:
        """Read variables in the next state."""
        if self.is_primed:
            raise refusal("a prime inside of a prime", place)
        self.is_primed = True
        try:
            yield
        finally:
            self.is_primed = False

    @contextmanager
    def reading_state(self) -> Iterator[None]:
        """Read variables in the state that a helper is given, be it the old one or the next."""
        before = self.is_primed, self.reading
        self.is_primed, self.reading = False, StateReading.STATE
        try:
            yield
        finally:
            self.is_primed, self.reading = before

    @contextmanager
    def narrowed(self, found: Mapping[str, RecordShape]) -> Iterator[None]:
        """Use what a test says about the classes of values with this source."""
        before = self._narrowed
        self._narrowed = {**before, **found} if found else before
        try:
            yield
        finally:
            self._narrowed = before

    def begin_pass(self) -> None:
        """Begin to translate everything anew."""
        self.helpers.clear()
        self.choices.clear()
        self._codes = {}
        self.shared = SharedCodes()

    def restart_locals(self, last: int = 0) -> None:
        """Begin another function, whose locals are numbered from the one after `last`."""
        self._codes = {}
        self.names.restart_locals(last)
        self._elements = set()

    def add_element(self, local: str, collection: str) -> None:
        """Record that a local is chosen from a collection."""
        self._elements.add((local, collection))

    def is_element(self, source: str, collection: str) -> bool:
        """Return whether a value is a local that was chosen from a collection."""
        return (source, collection) in self._elements

    def is_of_range(self, source: str) -> bool:
        """Return whether a value is a local that was chosen from an interval, whose bounds are exact if known."""
        return any(local == source and chosen.startswith("range(") for local, chosen in self._elements)

    def is_stored(self, source: str) -> bool:
        """Return whether a value is read from a state, where types bound its numbers."""
        return _STORED.fullmatch(source) is not None or any(
            local == source and self.is_stored(chosen) for local, chosen in self._elements
        )

    @contextmanager
    def inside_helper(self) -> Iterator[None]:
        """Forget what guards say about locals: the text goes to a function of its own."""
        before = self._narrowed, self._elements, self._is_in_helper
        self._narrowed, self._elements, self._is_in_helper = {}, set(), True
        try:
            yield
        finally:
            self._narrowed, self._elements, self._is_in_helper = before

    # Pieces of source

    def literal(self, value: Value, want: Shape = NOTHING) -> TypedSource:
        """Return the source of a constant value."""
        return literal(self.names, self.records, value, want)

    def in_order(self, values: frozenset[Value]) -> list[Value]:
        """Return the elements of a set in TLC's order."""
        return list(sorted_values(values))

    def grow(self, index: int, shape: Shape) -> Shape:
        """Let a variable have values of one more shape.

        A network keeps records only: the search stops at another element, if there is ever one, and observes it.
        """
        joined = join(self.shapes[index], shape)
        if self.is_network(self.shapes[index]) and isinstance(joined, SetShape):
            plain = alternatives_of(joined.element)
            are_tuples = any(key.is_tuple for one in plain if isinstance(one, RecordShape) for key in one.classes)
            # Tuples become sequences beside these.
            kinds = (RecordShape, SequenceShape) if are_tuples else (RecordShape,)
            joined = SetShape(join_all(one for one in plain if isinstance(one, kinds)))
        self.shapes[index] = joined
        return joined

    def field(self, record: TypedSource, name: str, place: Span) -> TypedSource:
        """Read a field of a record, in the classes that have it."""
        shapes = [plain for plain in alternatives_of(record.shape) if isinstance(plain, RecordShape)]
        if not shapes and any(isinstance(one, MapShape | SequenceShape) for one in alternatives_of(record.shape)):
            raise refusal(f"the field {name} of what is not known to be a record", place)
        having = frozenset(key for shape in shapes[:1] for key in shape.classes if name in key.fields)
        if not having:
            return TypedSource("checked(0, False)", NOTHING)  # TLC stops here, or no state has such a value
        source = f"{record.source}.{field_name(name)}"
        shape = self.records.field_of(shapes[0], name)
        if having != shapes[0].classes or len(alternatives_of(record.shape)) > 1:
            source = self._field_of_some(record.source, source, having, shape, place)
        return self.narrowed_code(TypedSource(source, shape))

    def _field_of_some(self, record: str, field: str, having: frozenset[RecordKey], shape: Shape, place: Span) -> str:
        """Read a field that some classes lack: TLC stops at a record without it, and compiled code needs the test."""
        try:
            other = default_of(self.names, self.records, shape, place)
        except SpecError:
            return field
        classes = [frozenset((key,)) for key in sorted(having, key=str)]
        tests = [f"{field} if {self.class_test(record, one)} else" for one in classes]
        return f"({' '.join(tests)} checked({other}, False))"

    def class_test(self, source: str, classes: frozenset[RecordKey]) -> str:
        """Return the test whether a record is of one of some classes."""
        names = sorted(class_placeholder(self.records, key) for key in classes)
        if len(names) == 1 or self._overlaps(classes):
            return f"({' or '.join(f'isinstance({source}, {name})' for name in names)})"
        return f"isinstance({source}, {self.base(classes)})"

    def _overlaps(self, classes: frozenset[RecordKey]) -> bool:
        """Return whether some classes have another base already: each has one at most."""
        return any(classes & other for other in self.bases if classes != other)

    def base(self, classes: frozenset[RecordKey]) -> str:
        """Return the name of the common base of some classes until the end of the translation."""
        if classes not in self.bases:
            self.bases.append(classes)
        return f"RecordBase{self.bases.index(classes)}_"

    def interval(self, first: Argument, last: Argument, scope: TranslationScope) -> NumberShape:
        """Return the shape of the numbers from one to another, with bounds where these are constants."""
        least, greatest = (self.constant(*head(bound, scope)) for bound in (first, last))
        return NumberShape(least if isinstance(least, int) else None, greatest if isinstance(greatest, int) else None)

    # Constants

    def constant(self, expression: Expression, scope: TranslationScope) -> Value | None:
        """Return the value of a constant expression; None for another one, and where evaluation fails."""
        closed = None if _is_described(expression) else self.closed(expression, scope)
        if closed is None or isinstance(closed, LambdaExpr | OperatorReferenceExpr):
            return None
        key = id(expression), 0 if closed is expression else id(scope)
        if key in self._constants:
            return self._constants[key][1]
        try:
            found: Value | None = self.program.evaluate(closed, None)
        except EvaluationError:
            found = None
        self._constants[key] = (expression, scope), found
        return found

    def listed(self, expression: Argument, scope: TranslationScope) -> frozenset[Value] | None:
        """Return the elements of a constant set, a product too; None for another set, and for one of too many."""
        node, scope = head(expression, scope)
        value = self.constant(node, scope)
        if value is None and isinstance(node, ProductExpr | RecordSetExpr):
            sets = node.sets if isinstance(node, ProductExpr) else tuple(one for _, one in node.fields)
            sizes = [self.listed(one, scope) for one in sets]
            closed = self.closed(node, scope)
            known = [len(one) for one in sizes if one is not None]
            is_short = len(known) == len(sizes) and prod(known) <= _LISTED_MAX
            if is_short and closed is not None and not isinstance(closed, LambdaExpr | OperatorReferenceExpr):
                value = self.program.evaluate(closed, None)
        if isinstance(value, SymbolicSet):
            value = frozenset(value.elements()) if value.is_finite and value.size() <= _LISTED_MAX else None
        return value if isinstance(value, frozenset) else None

    def _is_closed(self, definition: OperatorDefinition, around: TranslationScope, scope: TranslationScope) -> bool:
        """Return whether the free names of a definition of a LET mean the same around the LET and in a scope."""
        free = self.facts.of_definition(definition).free
        return not definition.recursive and all(around.entries.get(one) is scope.entries.get(one) for one in free)

    def closed(self, expression: Argument, scope: TranslationScope) -> Argument | None:
        """Return a constant expression without free names, None where it depends on a local or a state."""
        facts = self.facts.of(expression)
        if facts.reads_state or facts.has_primes:
            return None
        bindings: list[NameBinding] = []
        arguments: list[Argument] = []
        definitions: list[OperatorDefinition] = []
        for name in facts.free:
            entry = scope.entries.get(name)
            if isinstance(name, OperatorDefinition):
                if not isinstance(entry, LetScope) or not self._is_closed(name, entry.scope, scope):
                    return None
                definitions.append(name)
                continue
            if not isinstance(entry, Delayed):
                return None
            argument = self.closed(entry.expression, entry.scope)
            if argument is None:
                return None
            bindings.append(name)
            arguments.append(argument)
        if not bindings and not definitions:
            return expression
        body: Expression = expression  # type: ignore[assignment]  # an operator argument has been applied by `head`
        if definitions:
            # A definition has more free names than each one that it uses, which is declared before it.
            definitions.sort(key=lambda one: (len(self.facts.of_definition(one).free), one.name))
            body = LetExpr(place=expression.place, definitions=tuple(definitions), body=body)
        closed = OperatorDefinition("constant", tuple(bindings), body, expression.place, self.model.module)
        return ApplyExpr(place=expression.place, operator=closed, arguments=tuple(arguments))


def has_records(shape: Shape) -> bool:
    """Return whether records are among the values of a shape."""
    return any(isinstance(plain, RecordShape) for plain in alternatives_of(shape))


def _is_described(node: Expression) -> bool:
    """Return whether an expression is a set that may have too many elements to list."""
    if isinstance(node, BuiltinExpr):
        return node.operator in ("SUBSET", "Seq", "Nat", "Int", "STRING")
    return isinstance(node, FunctionSetExpr | RecordSetExpr | ProductExpr)


def _is_large(value: Value) -> bool:
    """Return whether a constant is better written as its expression than as its elements."""
    return isinstance(value, SymbolicSet) or (isinstance(value, frozenset) and len(value) > _FOLDED_MAX)


_KINDS = {
    "FunctionSet": "the set of functions `[S -> T]` as a value",
    "RecursiveFunction": "a recursive function as a value",
    "Fairness": "fairness inside of an expression",
}


def _described(node: Expression) -> str:
    name = type(node).__name__.removesuffix("Expr")
    return _KINDS.get(name, f"a formula of the kind {name}")
