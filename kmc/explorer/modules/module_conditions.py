"""Expressions of TLA+ that a person watches, and the conditions of "run until" over the states of a module."""

from __future__ import annotations

from dataclasses import dataclass
from threading import RLock
from typing import Any

from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_trace import action_of
from kmc.errors import CommandLineError, KmcError, did_you_mean
from kmc.explorer.commands import refused
from kmc.explorer.search_terms import WaitedFor
from kmc.lang.tla import Tla
from kmc.story.watched import not_of_a_state
from kmc.tla.names.loading import parse_expression
from kmc.tla.resolved.levels import STATE, level_of
from kmc.tla.resolved.nodes import Expression
from kmc.tla.run.program import ModuleProgram, State
from kmc.tla.syntax.cursor import room_for_nesting
from kmc.tla.values.kinds import FALSE, TRUE, SymbolicSet
from kmc.tla.values.texts import text_of, tree_of
from kmc.trace.trees import depth_of

_DEPTH_MAX = 60
_ADVICE = "write a formula of TLA+ about one state, such as x > 2"


@dataclass(frozen=True, slots=True)
class ModuleExpression:
    """An expression of TLA+ that a person watches; `lock` is that of the module's evaluation."""

    text: str
    expression: Expression
    program: ModuleProgram
    lock: RLock

    def value(self, state: Any) -> Any:
        """Return its value in a state; KmcError where it has none."""
        with self.lock:
            return self.program.described(self.expression, state)

    def shown_in(self, state: Any) -> Tla:
        """Return its value in a state as a tree; KmcError where it has none, or one that is nested too deeply."""
        value = self.value(state)
        if isinstance(value, SymbolicSet):
            return value.text()
        try:
            tree = tree_of(value)
        except RecursionError:
            raise _too_deep() from None
        if depth_of(tree) > _DEPTH_MAX:
            raise _too_deep()
        return tree


def _too_deep() -> CommandLineError:
    return refused("the value is nested too deeply to be shown", "show a part of it")


def read_expression(program: ModuleProgram, lock: RLock, text: str) -> ModuleExpression:
    """Read an expression; KmcError for a mistake in it, CommandLineError KMC649 for one of a step or a behaviour."""
    written = text.strip()
    with lock, room_for_nesting():
        expression = parse_expression(program.model, written)
        level = level_of(expression)
    if level > STATE:
        raise not_of_a_state(written, expression.place, "write it without primes")
    return ModuleExpression(written, expression, program, lock)


def property_fails(module: CheckedModule, lock: RLock, name: str) -> WaitedFor:
    """An invariant or a formula of steps fails, or has no truth value; any of them where `name` is empty."""
    of_states = [one for one in module.of_states if not one.is_initial and name in ("", one.predicate.name)]
    of_steps = [one for one in module.of_steps if name in ("", one.predicate.name)]
    if name and not of_states and not of_steps:
        known = [one.predicate.name for one in (*module.of_states, *module.of_steps)]
        raise refused(f"the model has no invariant or action property '{name}'", did_you_mean(name, known))

    def is_met_by_step(before: Any, state: State) -> bool:
        with lock:
            return before is not None and any(_is_false(one.is_true, before, state) for one in of_steps)

    def is_met(before: Any, state: State) -> bool:
        with lock:
            return any(_is_false(one.is_true, state) for one in of_states) or is_met_by_step(before, state)

    return WaitedFor(f"{name or 'a property'} fails", is_met, is_met_by_step)


def _is_false(is_true: Any, *states: State) -> bool:
    try:
        return not is_true(*states)
    except KmcError:
        return True


def goal_reached(module: CheckedModule, lock: RLock, name: str) -> WaitedFor:
    """Refuse, since a module declares no goals."""
    raise refused(f"the model has no goal '{name}'", "wait until an expression is true")


def action_enabled(module: CheckedModule, lock: RLock, name: str) -> WaitedFor:
    """Some action of this name has a step."""
    program = module.program
    chosen = [action for action in program.actions if action_of(action.label) == name]
    if not chosen:
        raise refused(f"the module has no action '{name}'", did_you_mean(name, program.action_names))

    def is_met(before: Any, state: State) -> bool:
        with lock:
            return any(program.steps_of(action, state) for action in chosen)

    return WaitedFor(f"{name} is enabled", is_met)


def expression_true(module: CheckedModule, lock: RLock, text: str) -> WaitedFor:
    """A formula about one state is true; CommandLineError KMC671 where it is not one, or is not TRUE or FALSE."""
    try:
        asked = read_expression(module.program, lock, text)
    except KmcError as error:
        raise CommandLineError("KMC671", error.message, help=error.help or _ADVICE) from None

    def is_met(before: Any, state: State) -> bool:
        try:
            truth = asked.value(state)
        except KmcError as error:
            raise CommandLineError("KMC671", f"'{text}': {error.message}", help=error.help or _ADVICE) from error
        if truth is TRUE or truth is FALSE:
            return truth is TRUE
        raise CommandLineError("KMC671", f"'{text}' is {text_of(truth)}, not TRUE or FALSE", help=_ADVICE)

    return WaitedFor(f"{text} is true", is_met)
