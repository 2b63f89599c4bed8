"""Refinements: the property of steps and of initial states that a mapping to another spec means.

Invariant: the functions made here are functions of the language, in the place of the mapping. So all engines run them
as they run any property: a step is one of the abstract spec if some action of it yields the image of the successor.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from types import CodeType, FunctionType
from typing import Any, Protocol, TypeAlias

from kmc.actions.action import Action, Arguments
from kmc.frontend.rewrite import rewritten
from kmc.invariants.properties import Refinement
from kmc.lang.domains import members
from kmc.lang.tree import MADE, definition_of, function_at
from kmc.lang.types import EnumType, IdentType, MessageBagType, PairType, RecordMeta, Type
from kmc.liveness.formulas import Specification
from kmc.spec.declare import Declared

_MAPPING = "abstract_state"
_INIT = "abstract_init"


class AbstractSpec(Protocol):
    """The initial states and steps of a spec that another one refines."""

    @property
    def init(self) -> Any:
        """The generator of the initial states."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """The actions of the next-state relation."""

    @property
    def other_actions(self) -> tuple[Action, ...]:
        """The actions beside the next-state relation."""

    @property
    def specifications(self) -> Mapping[str, Specification]:
        """The declared specifications."""

    @property
    def state_class(self) -> RecordMeta:
        """The class of the states."""


def completed(properties: Mapping[str, Declared], refined: Mapping[str, AbstractSpec]) -> dict[str, Declared]:
    """The declarations of a spec, in which each refinement has its meaning; `refined` are the specs that it refines."""
    return {
        name: _completed(declared, refined[declared.abstract]) if isinstance(declared, Refinement) else declared
        for name, declared in properties.items()
    }


def _completed(declared: Refinement, abstract: AbstractSpec) -> Refinement:
    maker = StepMaker(declared, abstract)
    every = [(action, None) for action in abstract.actions]
    return replace(
        declared, function=maker.function_of_step("before == after or", every), begins=maker.function_of_beginning()
    )


Chosen: TypeAlias = tuple[Action, Arguments | None]
"""An abstract action, with its arguments or with any."""


class StepMaker:
    """Makes functions of states and steps from the mapping of a refinement and the actions of its abstract spec."""

    def __init__(self, refinement: Refinement, abstract: AbstractSpec) -> None:
        definition = definition_of(refinement.mapping)
        assert definition is not None, "the file is as it was when it was loaded"
        self._written = definition
        self._name = refinement.name
        self._mapping: Any = refinement.mapping
        self._fields = abstract.state_class.fields
        self._names: dict[str, Any] = {_MAPPING: refinement.mapping, _INIT: abstract.init}

    def function_of_beginning(self) -> Callable[[Any], bool]:
        """Return whether the image of a state is an initial state of the abstract spec."""
        return self._made(f"def {self._name}(st):\n return any({_MAPPING}(st) == first for first in {_INIT}())")

    def function_of_step(self, beginning: str, chosen: Sequence[Chosen]) -> Callable[[Any, Any], bool]:
        """Return whether a step is one of some abstract actions; `beginning` is the beginning of the condition."""
        ways = [self._some_step(number, *one, "after == other") for number, one in enumerate(chosen)]
        return self._made(f"""
def {self._name}(st, new):
    before = {_MAPPING}(st)
    after = {_MAPPING}(new)
    return {beginning} ({" or ".join(ways)})
""")

    def function_of_state(self, chosen: Sequence[Chosen]) -> Callable[[Any], bool]:
        """Return whether the image of a state enables a step of some abstract actions that changes something."""
        ways = [self._some_step(number, *one, "before != other") for number, one in enumerate(chosen)]
        return self._made(f"""
def {self._name}(st):
    before = {_MAPPING}(st)
    return {" or ".join(ways)}
""")

    def _some_step(self, number: int, action: Action, given: Arguments | None, test: str) -> str:
        """The condition that `test` is true of some step of an abstract action from the state `before`."""
        self._names[f"action_{number}"] = action.function
        choices, arguments = [], ["before"]
        if action.message is not None and action.network is not None:
            self._names[f"message_{number}"] = action.message
            network = f"before.{action.network}"
            is_bag = isinstance(self._fields[action.network], MessageBagType)
            choices.append(f"for m in {network}.of(message_{number}){f' if {network}.count(m) > 0' * is_bag}")
            arguments.append("m")
        for position, parameter in enumerate(action.parameters):
            value = f"value_{number}_{position}"
            if given is not None:
                self._names[value] = given[position]
            if parameter.message_field is not None:
                arguments.append(f"m.{parameter.message_field}")
                choices += [f"if {arguments[-1]} == {value}"] if given is not None else []
            elif given is not None:
                arguments.append(value)
            else:
                self._names[value] = _domain(parameter.type)
                choices.append(f"for x{position} in {f'pairs({value})' if _are_pairs(parameter.type) else value}")
                arguments.append(f"x{position}")
        return f"any({test} {' '.join(choices)} for other in action_{number}({', '.join(arguments)}))"

    def _made(self, text: str) -> Callable[..., bool]:
        """The function with this text, in the place of the mapping that its author wrote."""
        made = function_at(text, self._written)
        mapping = self._mapping
        module = compile(rewritten(ast.Module([deepcopy(made)], [])), mapping.__code__.co_filename, "exec")
        (code,) = (const for const in module.co_consts if isinstance(const, CodeType))
        function = FunctionType(code, {**mapping.__globals__, **self._names}, made.name)
        setattr(function, MADE, made)
        return function


def _domain(declared: Type) -> Any:
    """The values of a parameter as a value of the language; of pairs, the type of their members."""
    match declared:
        case EnumType(cls) | IdentType(cls) | PairType(IdentType(cls)):
            return cls
        case _:
            return members(declared)


def _are_pairs(declared: Type) -> bool:
    return isinstance(declared, PairType)
