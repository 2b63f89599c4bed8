"""Observation: the shapes of the variables of a model in a breadth-first prefix of its states and in random walks.

Walks reach what a prefix does not: a message that is sent late. Bounds that were only observed are guesses, so
`Observation.is_complete` says whether all states of the model were seen.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace

from kmc.budget import TimeSpent, polled, require_budget, within_budget
from kmc.errors import EvaluationError
from kmc.tla.run.program import ModuleProgram, Poll, State
from kmc.tla.shapes.shape import (
    BOOLEAN,
    NOTHING,
    Apart,
    AtomShape,
    MapShape,
    NumberShape,
    RecordKey,
    RecordTable,
    SequenceShape,
    SetShape,
    Shape,
    UnionShape,
    alternatives_of,
    check_nesting,
    join,
    join_all,
)
from kmc.tla.values.kinds import FunctionValue, SymbolicSet, TlaBoolean, TlaModelValue, Value

_WALK_LENGTH = 60
_LEVELS = NumberShape(1, 1023)
"""Levels of states; wider ones are found when a search meets them."""
_REPEATED_MAX = 2
_KEPT_MAX = 100_000
_STEP_SECONDS = 2.0
"""The time for the steps of one state. Values that grow with each step make them slower without end."""
"""The most successors that are kept while states are sampled."""


@dataclass(frozen=True, slots=True)
class Unsettled:
    """The shapes of the values that were observed, tuples as sequences, and the variables that are functions."""

    records: RecordTable
    shapes: tuple[Shape, ...]
    functions: frozenset[int]


@dataclass(frozen=True, slots=True)
class Observation:
    """The shapes of the variables, in the order of the model, and of the fields of all records in them."""

    variables: tuple[Shape, ...]
    records: RecordTable
    is_complete: bool
    states: int
    unsettled: Unsettled | None = None

    def with_tuples(self, apart: Apart, lengths: frozenset[int] = frozenset()) -> Observation:
        """Return the observation in which some tuples of one length have other classes.

        Functions on 1..n are tuples wherever they are if n is among `lengths`.
        """
        assert self.unsettled is not None
        return _settled_observation(self.unsettled, self.is_complete, self.states, apart, lengths)


@dataclass(frozen=True, slots=True)
class UsedNames:
    """What a model's text says about values: the fields of records, and the variables that are functions.

    A variable that is applied to anything but a number is a function, not a tuple.
    """

    fields: frozenset[str] = frozenset()
    functions: frozenset[int] = frozenset()


class Observer:
    """Finds the shape of values; `field_names` are the names that a module uses as fields of records.

    SpecError KMC812 for sequences that are nested too deep; see `check_nesting`.
    """

    def __init__(self, field_names: frozenset[str]) -> None:
        self.records = RecordTable(field_names)
        self._known: dict[Value, Shape] = {}

    def shape_of(self, value: Value) -> Shape:
        """Return the shape of one value."""
        known = self._known.get(value)
        if known is None:
            known = self._known[value] = self._shape(value)
        return known

    def _shape(self, value: Value) -> Shape:
        require_budget()
        match value:
            case TlaBoolean():
                return BOOLEAN
            case int():
                return NumberShape(value, value)
            case str() | TlaModelValue():
                return AtomShape(frozenset((value,)))
            case frozenset():
                return SetShape(join_all(map(self.shape_of, value)))
            case tuple():
                items = tuple(map(self.shape_of, value))
                shape = SequenceShape(join_all(items), len(items), len(items), items)
                check_nesting(shape)
                return shape
            case FunctionValue():
                return self._function(value)
            case SymbolicSet():
                return SetShape(join_all(map(self.shape_of, polled(value.elements()))))

    def _function(self, value: FunctionValue) -> Shape:
        keys, values = value.domain.keys, [self.shape_of(item) for item in value.values]
        names = [key for key in keys if isinstance(key, str)]
        if self.records.is_record(keys):
            order = sorted(range(len(names)), key=names.__getitem__)
            return self.records.add(
                RecordKey(tuple(names[index] for index in order)), [values[index] for index in order]
            )
        return MapShape(join_all(map(self.shape_of, keys)), join_all(values), frozenset(keys))


@dataclass(frozen=True, slots=True)
class ObservedExtent:
    """How much is observed: states breadth first and, if these are not all, random steps from a seed."""

    states_max: int = 2_000
    steps_max: int = 2_000
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Sample:
    """States of a model, and whether these are all."""

    states: tuple[State, ...]
    is_complete: bool


def sampled(program: ModuleProgram, extent: ObservedExtent, poll: Poll | None = None) -> Sample:
    """Return the states of a model that are observed; `poll` is called now and then, and may raise."""
    steps = _Steps(program, poll)
    states: list[State] = []
    prefix = _prefix(steps, extent.states_max)
    try:
        while True:
            states.append(next(prefix))
    except StopIteration as end:
        is_complete = bool(end.value)
    if not is_complete:
        states.extend(_walks(replace(steps, is_cut=False), extent))
    return Sample(tuple(states), is_complete)


def observe(sample: Sample, program: ModuleProgram, uses: UsedNames, others: Iterable[State] = ()) -> Observation:
    """Observe the states of a sample, and `others`."""
    observer = Observer(uses.fields)
    shapes: list[Shape] = [NOTHING] * len(program.model.variables)
    for state in (*sample.states, *others):
        _join_state(observer, shapes, state)
    if program.model.has_level:
        shapes[-1] = join(shapes[-1], _LEVELS)
    seen = Unsettled(observer.records, tuple(shapes), uses.functions)
    return _settled_observation(seen, sample.is_complete, len(sample.states), Apart.NONE)


def _join_state(observer: Observer, shapes: list[Shape], state: State) -> None:
    require_budget()
    for index, value in enumerate(state):
        shapes[index] = join(shapes[index], observer.shape_of(value))


@dataclass(slots=True)
class _Steps:
    """The successors of states, outside of the model too, and those inside; kept for walks that come by again."""

    program: ModuleProgram
    poll: Poll | None
    _successors: dict[State, tuple[State, ...]] = field(default_factory=dict)
    _inside: dict[State, tuple[State, ...]] = field(default_factory=dict)
    _kept: int = 0
    is_cut: bool = False
    """True if the steps of some state took too long, which ends the observation."""

    def successors(self, state: State) -> tuple[State, ...]:
        """Return the successors of a state; none where its steps cannot be evaluated, or not in time."""
        known = self._successors.get(state)
        if known is not None:
            return known
        if self.poll is not None:
            self.poll()
        try:
            with within_budget(_STEP_SECONDS):
                found = tuple(step.state for step in self.program.successors(state, self.poll))
        except EvaluationError:
            found = ()
        except TimeSpent:
            require_budget()  # of the check, which ends everything
            self.is_cut, found = True, ()
        self._kept += len(found)
        if self._kept <= _KEPT_MAX:
            self._successors[state] = found
        return found

    def apart_from_level(self, state: State) -> State:
        """Return the values of a state but its level."""
        return state[:-1] if self.program.model.has_level else state

    def others_inside(self, state: State) -> tuple[State, ...]:
        """Return the successors of a state in the model without the state itself."""
        known = self._inside.get(state)
        if known is None:
            others = (successor for successor in self.successors(state) if successor != state)
            known = tuple(successor for successor in others if self.is_inside(successor))
            if self._kept <= _KEPT_MAX:
                self._inside[state] = known
        return known

    def is_inside(self, state: State) -> bool:
        """Return whether a state is in the model; a check shows the error of one that cannot be judged."""
        try:
            return self.program.is_in_model(state)
        except EvaluationError:
            return False


def _prefix(steps: _Steps, states_max: int) -> Generator[State, None, bool]:
    """Enumerate states breadth first, successors outside of the model too; the result is whether these were all."""
    # More than can be observed are not enumerated, unless the same ones come again and again.
    first = list(steps.program.initial_states(steps.poll, most=_REPEATED_MAX * (states_max + 1)))
    distinct = set(first)
    if len(first) == _REPEATED_MAX * (states_max + 1) and len(distinct) <= states_max:
        first = list(steps.program.initial_states(steps.poll))
    known: set[State] = set(map(steps.apart_from_level, first))
    queue: list[State] = list(dict.fromkeys(first))
    for state in queue:
        yield state
        if len(queue) > states_max or steps.is_cut:
            return False
        if steps.is_inside(state):
            for successor in steps.successors(state):
                key = steps.apart_from_level(successor)
                if key not in known:
                    known.add(key)
                    queue.append(successor)
    return not steps.is_cut


def _walks(steps: _Steps, extent: ObservedExtent) -> Iterator[State]:
    """Walk at random from initial states; each walk stays in the model and ends after 60 steps or without successor."""
    choice = random.Random(extent.seed)
    initial = list(steps.program.initial_states(steps.poll, most=1000))
    taken = 0
    while taken < extent.steps_max and initial and not steps.is_cut:
        state = choice.choice(initial)
        for _ in range(_WALK_LENGTH):
            inside = steps.others_inside(state)
            taken += 1
            if not inside:
                break
            state = choice.choice(inside)
            yield state


def _settled_observation(
    seen: Unsettled, is_complete: bool, states: int, apart: Apart, lengths: frozenset[int] = frozenset()
) -> Observation:
    table = RecordTable(seen.records.names, apart=apart, tuple_lengths=lengths)
    for key, fields in seen.records.fields.items():
        table.add(key, [settled(fields[name], table) for name in key.fields])
    variables = [settled(shape, table, is_function=index in seen.functions) for index, shape in enumerate(seen.shapes)]
    return Observation(tuple(variables), table, is_complete, states, seen)


def settled(shape: Shape, records: RecordTable, *, in_set: bool = False, is_function: bool = False) -> Shape:
    """Return the shape in which sequences of one length are functions on 1..n, or tuples where kinds are mixed."""
    match shape:
        case UnionShape():
            return join_all(
                settled(plain, records, in_set=in_set, is_function=is_function) for plain in alternatives_of(shape)
            )
        case SetShape():
            return SetShape(settled(shape.element, records, in_set=True))
        case MapShape():
            key = settled(shape.key, records, in_set=True)
            return MapShape(key, settled(shape.value, records), shape.domain)
        case SequenceShape():
            return _settled_sequence(shape, records, in_set=in_set, is_function=is_function)
        case _:
            return shape


def _settled_sequence(shape: SequenceShape, records: RecordTable, *, in_set: bool, is_function: bool) -> Shape:
    if shape.longest == 0 or shape.shortest != shape.longest:
        # Tuples in a queue are tuples, as those in sets are: what is taken from one may be put into the other.
        return SequenceShape(settled(shape.element, records, in_set=True), shape.shortest, shape.longest)
    items = [settled(item, records) for item in shape.items]
    is_tuple = shape.shortest in records.tuple_lengths or len({type(item) for item in items}) > 1
    if in_set or (is_tuple and not is_function):
        return records.add(records.tuple_class(items), items)
    domain: frozenset[object] = frozenset(range(1, shape.shortest + 1))
    return MapShape(NumberShape(1, shape.longest), join_all(items), domain)
