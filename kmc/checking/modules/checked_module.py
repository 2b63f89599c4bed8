"""A TLA+ module as all faces of a check know a model: names, places and predicates over the module's states.

Invariant: the `Model` of a module is for reading. Its predicates evaluate the module's own formulas; it has no actions,
no initial states and no temporal formulas in Python, so only `kmc.checking.modules` may search it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

from kmc.actions.relation import AssertionFailure
from kmc.errors import EvaluationError, InvariantError, KmcError, ModelError
from kmc.frontend.loader import Spec
from kmc.frontend.model import Model
from kmc.invariants.properties import (
    ActionConstraint,
    ActionProperty,
    Constraint,
    Invariant,
    Predicate,
    SymmetrySet,
    View,
    holds,
)
from kmc.lang.constants import Constant
from kmc.lang.records import State as SpecState
from kmc.lang.tla import Naming
from kmc.lang.tla import text as shown
from kmc.liveness.formulas import TemporalProperty
from kmc.model_files.model_file import ModelFile
from kmc.model_files.raw_values import ModelValue
from kmc.spec.variables import Variable, VariableTable
from kmc.tla.resolved.levels import CONSTANT, level_of
from kmc.tla.resolved.model import ResolvedModel
from kmc.tla.resolved.nodes import ApplyExpr, OperatorDefinition, TupleExpr, VariableExpr
from kmc.tla.resolved.property_parts import PartKind, PropertyPart, property_parts
from kmc.tla.run.program import ModuleProgram, ModuleStep, Poll, State
from kmc.tla.values.failures import failed_assertion
from kmc.tla.values.texts import tree_of


def as_error_of_action(error: KmcError) -> EvaluationError:
    """Return an error as one of an action: AssertionFailure where an Assert is false."""
    kind = AssertionFailure if error.code == failed_assertion("").code else EvaluationError
    return kind(error.code, error.message, error.span, error.help, error.notes)


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """A part of a property with the predicate that decides it; one that `is_initial` concerns initial states only."""

    property_name: str
    predicate: Predicate
    is_initial: bool = False

    def is_true(self, *states: Any) -> bool:
        """Return the truth of the part in a state, or of a step; InvariantError or that of an action if it has none."""
        try:
            return holds(self.predicate, (), *states)
        except InvariantError as error:
            if len(states) == 1:
                raise
            # TLC evaluates a property of steps beside the action, and ends with the status of the action's error.
            raise as_error_of_action(error) from error


@dataclass(frozen=True, slots=True)
class CheckedModule:
    """A module that runs, and the model under which faces show it.

    `of_states` and `of_steps` are judged by the search, in this order; `temporal` are the temporal parts of
    properties, which it does not judge.
    """

    program: ModuleProgram
    model: Model
    of_states: tuple[JudgedPart, ...]
    of_steps: tuple[JudgedPart, ...]
    temporal: tuple[PropertyPart, ...]

    def initial_states(self, poll: Poll | None = None, most: int | None = None) -> Iterator[State]:
        """Enumerate the initial states with TLC's multiplicity; EvaluationError KMC271 if there is none.

        `poll` is called now and then, and may raise. `most` ends the enumeration after so many.
        """
        behaviour = self.program.model.behaviour
        assert behaviour is not None, "only a module with a behaviour has states"
        count = 0
        for state in self.program.initial_states(poll, most):
            count += 1
            yield state
        if not count:
            place = behaviour.initial[0].place if behaviour.initial else None
            message = "no state satisfies the initial predicate"
            raise EvaluationError("KMC271", message, place, help="weaken it, or give other values to the constants")

    def successors(self, state: State, poll: Poll | None = None) -> list[ModuleStep]:
        """Return the successors with TLC's multiplicity; KmcError where there are none, AssertionFailure of Assert.

        `poll` is called now and then, and may raise.
        """
        try:
            return list(self.program.successors(state, poll))
        except EvaluationError as error:
            raise as_error_of_action(error) from error

    def is_in_model(self, state: State, source: State | None) -> bool:
        """Return whether all constraints hold; `source` is None for an initial state. Errors as of `successors`."""
        if source is None:
            return self.program.is_in_model(state)
        try:
            return self.program.is_in_model(state) and self.program.is_step_in_model(source, state)
        except EvaluationError as error:
            raise as_error_of_action(error) from error

    @property
    def property_names(self) -> tuple[str, ...]:
        """The invariants and properties as the `.cfg` file names them, each once."""
        judged = (part.property_name for part in (*self.of_states, *self.of_steps))
        return tuple(dict.fromkeys((*judged, *(part.property_name for part in self.temporal))))


def checked_module(program: ModuleProgram, deadlock: bool | None = None) -> CheckedModule:
    """Prepare a module for a check; `deadlock` overrides the `.cfg` file."""
    _refuse_constants(program)
    parts = property_parts(program.model)
    of_states = tuple(
        JudgedPart(part.property_name, _invariant(program, part), part.kind is PartKind.INITIAL)
        for part in parts
        if part.kind in (PartKind.INITIAL, PartKind.INVARIANT)
    )
    of_steps = tuple(
        JudgedPart(part.property_name, _of_steps(program, part)) for part in parts if part.kind is PartKind.STEP
    )
    temporal = tuple(part for part in parts if part.kind is PartKind.TEMPORAL)
    model = _model(program, of_states, of_steps, temporal, deadlock)
    return CheckedModule(program, model, of_states, of_steps, temporal)


def _refuse_constants(program: ModuleProgram) -> None:
    """Raise ModelError KMC371 for an INIT or NEXT with a constant value; one without a value fails in the search."""
    behaviour = program.model.behaviour
    if behaviour is None or behaviour.subscript is not None:
        return
    for section, formula in (("INIT", behaviour.initial[0]), ("NEXT", behaviour.next)):
        if isinstance(formula, ApplyExpr) and level_of(formula) == CONSTANT:
            with suppress(EvaluationError):
                value = shown(tree_of(program.evaluate(formula, None)))
                message = f"{section} cannot be '{formula.operator.name}': it is {value}, whatever the variables are"
                raise ModelError("KMC371", message, formula.place, "name a formula that reads the variables")


def _model(
    program: ModuleProgram,
    of_states: Iterable[JudgedPart],
    of_steps: Iterable[JudgedPart],
    temporal: Iterable[PropertyPart],
    deadlock: bool | None,
) -> Model:
    module = program.model
    checks_deadlock = module.check_deadlock if deadlock is None else deadlock
    configuration = module.configuration
    name = Path(configuration).stem if configuration is not None else module.module
    symmetry, view = module.symmetry, module.view
    return Model(
        spec=_spec(module, program),
        name=name,
        invariants=tuple(part.predicate for part in of_states if isinstance(part.predicate, Invariant)),
        action_properties=tuple(part.predicate for part in of_steps if isinstance(part.predicate, ActionProperty)),
        constraints=tuple(
            Constraint(one.name, _of_state(program, one), one.place, one.comment) for one in module.constraints
        ),
        action_constraints=tuple(
            ActionConstraint(one.name, _of_step(program, one), one.place, one.comment)
            for one in module.action_constraints
        ),
        reachable=(),
        symmetry=(SymmetrySet(symmetry.name, (), symmetry.place),) if symmetry is not None else (),
        view=View(view.name, _left_out(module), view.place) if view is not None else None,
        temporal=tuple(
            TemporalProperty(part.title, _not_in_python, part.formula.place, part.formula.comment) for part in temporal
        ),
        specification=None,
        deadlock=checks_deadlock,
        max_depth=None,
        file=ModelFile(name, configuration or module.path, check_deadlock=checks_deadlock),
    )


def _left_out(module: ResolvedModel) -> frozenset[str]:
    """Return the variables that a view leaves out, as far as its text shows it."""
    body = module.view.body if module.view is not None else None
    if not isinstance(body, TupleExpr) or not all(isinstance(item, VariableExpr) for item in body.items):
        return frozenset()
    return frozenset(module.variables).difference(item.name for item in body.items if isinstance(item, VariableExpr))


def _spec(module: ResolvedModel, program: ModuleProgram) -> Spec:
    """Return the spec under whose name and variables faces show the module."""
    constants = {one.name: _constant(one, program) for one in module.constants}
    return Spec(
        name=module.module,
        root=Path(module.path),
        files=frozenset(module.files),
        doc="",
        state_class=SpecState,
        init=_not_in_python,
        actions=(),
        other_actions=(),
        properties={},
        constants=constants,
        variables=VariableTable(tuple(Variable(name, name, None) for name in module.variables), Naming(), None),
        columns={},
        init_name="Init",
        next_name="Next",
        specification_names=(),
        specifications={},
        majorities=(),
        source_digest=_digest((module.path, *module.files)),
        modules={},
    )


def _constant(definition: OperatorDefinition, program: ModuleProgram) -> Constant:
    text = definition.name
    if isinstance(definition.body, ApplyExpr) and isinstance(definition.body.operator, OperatorDefinition):
        text = definition.body.operator.name
    if definition.body is not None and not definition.parameters:
        text = shown(tree_of(program.evaluate(definition.body, None)))
    return Constant(definition.name, "", "", text, ModelValue(text), False)


def _digest(paths: Iterable[str]) -> str:
    """Return the digest of the text of the modules; those that come with kmc have no file."""
    digest = sha256()
    for path in dict.fromkeys(paths):
        file = Path(path)
        digest.update(file.read_bytes() if file.is_file() else path.encode())
    return digest.hexdigest()


def _invariant(program: ModuleProgram, part: PropertyPart) -> Invariant:
    formula = part.formula
    return Invariant(part.title, _of_state(program, formula), formula.place, formula.comment)


def _of_steps(program: ModuleProgram, part: PropertyPart) -> ActionProperty:
    formula = part.formula
    return ActionProperty(part.title, _of_step(program, formula), formula.place, formula.comment)


def _of_state(program: ModuleProgram, definition: OperatorDefinition) -> Callable[..., bool]:
    return lambda state: program.holds(definition, state)


def _of_step(program: ModuleProgram, definition: OperatorDefinition) -> Callable[..., bool]:
    body = definition.body
    assert body is not None, "the model is resolved"
    return lambda state, successor: program.holds_in_step(body, state, successor)


def _not_in_python(*_: Any) -> NoReturn:
    raise AssertionError("a module has no formulas in Python")
