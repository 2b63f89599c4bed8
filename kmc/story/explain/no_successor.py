"""The reason why a state has no successors: each action has a guard that stops it, or one fails to evaluate."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import replace
from types import TracebackType

from kmc.actions.relation import ActionInstance, NextStateRelation
from kmc.errors import KmcError, Span
from kmc.frontend.model import Model
from kmc.frontend.source_place import source_place
from kmc.invariants.kinds import Role
from kmc.invariants.properties import holds
from kmc.lang.records import State
from kmc.lang.tree import tree_of
from kmc.story.explain.facts import NamedValue, clauses_of, compared_values, named_value
from kmc.story.explain.follow import FAILURES
from kmc.story.explain.obstacles import Obstacle, attempt, disabled, failed_assertion, instances_in_order
from kmc.story.explain.scopes import Binding, Context, Label, Wording
from kmc.story.parts.story import ComparedValue, Why

_TOLD_MAX = 4


def why_stuck(model: Model, state: State, why: Why, number: int) -> Why:
    """Explain why no action is enabled in state `number`: the first obstacle of each action."""
    first: dict[str, Obstacle] = {}
    for obstacle in disabled(model, state):
        first.setdefault(obstacle.action, obstacle)
    compared = tuple(ComparedValue(_label(obstacle), obstacle.sentence) for obstacle in first.values())
    sentence = f"No action is enabled in state {number}"
    if not first or len(first) > _TOLD_MAX:
        sentence += ", and the model asks that some action always is."
    else:
        sentence += f": {'; '.join(f'{c.expression}: {c.value}' for c in compared)}."
    return replace(why, compared=compared, sentence=sentence)


_LOWERED = ("A", "An", "The", "This", "There", "No")
"""Words that begin a message and are not names."""


def _label(obstacle: Obstacle) -> str:
    values = ", ".join(value for _, value in obstacle.arguments)
    return f"{obstacle.action}({values})" if values else obstacle.action


def why_fails_to_evaluate(model: Model, state: State, error: KmcError, why: Why, number: int) -> Why:
    """Explain why an assertion is false, or an expression has no value, in state `number` or for a step from it."""
    place = source_place(error.span)
    first, space, rest = error.message.partition(" ")
    message = (first.lower() if first in _LOWERED else first) + space + rest
    failing = _failing(model, state, error)
    if failing is None:
        return replace(why, place=place, sentence=f"In state {number}, {message}.")
    instance, raised = failing
    wording = Wording(model.spec)
    arguments: tuple[tuple[str, str], ...] = ()
    what = ""
    if instance is not None:
        names = [parameter.name for parameter in instance.action.parameters]
        arguments = tuple((n, wording.value(v)) for n, v in zip(names, instance.arguments, strict=True))
        shown = ", ".join(value for _, value in arguments)
        what = f"{instance.action.title}({shown}): " if shown else f"{instance.action.title}: "
    assertion = failed_assertion(model, state, instance) if instance is not None else None
    if assertion is not None:
        text, facts = assertion
        clauses = "; ".join(clauses_of(facts))
        sentence = f"In state {number}, {what}{message}: {text}" + (f": {clauses}." if clauses else ".")
        compared = compared_values(facts)
    else:
        sentence = f"In state {number}, {what}{message}."
        compared = tuple(
            {value.name.text: ComparedValue(value.name.text, value.shown) for value in _values(model, raised)}.values()
        )
    return replace(why, place=place, instance=arguments, compared=compared, sentence=sentence)


def _failing(model: Model, state: State, error: KmcError) -> tuple[ActionInstance | None, KmcError] | None:
    """The first action instance, or None for a predicate, whose evaluation gives this error, and the error anew."""
    spec = model.spec
    relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
    for instance in instances_in_order(relation, state):
        try:
            relation.successors(instance, state)
        except KmcError as raised:
            if (raised.code, raised.span) == (error.code, error.span):
                return instance, raised
    for predicate in (*model.invariants, *model.predicates(Role.WITNESSED), *model.constraints):
        try:
            holds(predicate, spec.files, state)
        except KmcError as raised:
            if (raised.code, raised.span) == (error.code, error.span):
                return None, raised
    return None


def _values(model: Model, raised: KmcError) -> list[NamedValue]:
    """The values of the places in the expression that has none."""
    return attempt(lambda: list(_places(model, raised))) or []


def _places(model: Model, raised: KmcError) -> Iterator[NamedValue]:
    context = _context(raised.__cause__, model)
    node = _expression(raised.span) if raised.span is not None else None
    if context is None or node is None:
        return
    wording = Wording(model.spec)
    nodes: list[ast.AST] = [node]
    while nodes:
        inner = nodes.pop(0)
        if isinstance(inner, ast.Name | ast.Attribute | ast.Subscript) and wording.label(inner, context) is not None:
            try:
                value = named_value(inner, context, wording)
            except FAILURES:
                value = None
            if value is not None:
                if not value.is_literal and not callable(value.value):
                    yield value
                continue
        nodes += ast.iter_child_nodes(inner)


def _context(cause: BaseException | None, model: Model) -> Context | None:
    """The names of the innermost frame of the spec in which something failed."""
    frame = _innermost(cause.__traceback__ if cause is not None else None, model.spec.files)
    if frame is None:
        return None
    wording = Wording(model.spec)
    bound: dict[str, Binding] = {}
    for name, value in frame.tb_frame.f_locals.items():
        is_state = type(value) is model.spec.state_class
        bound[name] = Binding(value, Label() if is_state else wording.of_value(value, name))
    return Context(frame.tb_frame.f_globals, bound)


def _innermost(traceback: TracebackType | None, files: Collection[str]) -> TracebackType | None:
    innermost = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename in files:
            innermost = traceback
        traceback = traceback.tb_next
    return innermost


def _expression(span: Span) -> ast.expr | None:
    """The smallest expression that covers a place."""
    tree = tree_of(span.path)
    if tree is None:
        return None
    begin, end = (span.line, span.column - 1), (span.end_line or span.line, (span.end_column or span.column) - 1)
    smallest: ast.expr | None = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr) or (node.lineno, node.col_offset) > begin:
            continue
        if end <= (node.end_lineno or 0, node.end_col_offset or 0):
            # `ast.walk` goes from the outside in, so the last one that covers the place is the smallest.
            smallest = node
    return smallest
