"""Guards: why an action is not enabled in a state. The condition that stops it, its source place, and its values.

An action instance without a successor is followed through its function on every path that it can go: a `return` under
an `if`, a `require` that fails, here or in a helper, a choice among nothing, a `yield` under a condition that is false.
Several paths end at several guards; the story shows the guard of the path that comes furthest.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from kmc.actions.action import Action
from kmc.actions.relation import ActionInstance, NextStateRelation
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.frontend.source_place import source_path
from kmc.lang.guards import Disabled
from kmc.lang.order import sort_key
from kmc.lang.records import State
from kmc.lang.tree import operation_of, yields
from kmc.story.explain.facts import Fact, clauses_of, compared_values, named_value, reproduced
from kmc.story.explain.follow import FAILURES, Follower, Unusual
from kmc.story.explain.functions import let, of_call, scope_of, source_of
from kmc.story.explain.scopes import Binding, Context, Label, Wording, members
from kmc.story.parts.story import ComparedValue

_Told = TypeVar("_Told")


@dataclass(frozen=True, slots=True)
class Obstacle:
    """The guard that stops an action instance: `guard` is the text of a condition of the spec, which has the value
    `holds`.

    `arguments` are those of the instance, `message` is the one it would receive, and `place` the source place of the
    guard. The `sentence` says the same of the state: `restartCtr is 1, at least MaxRestarts, which is 1`. Without a
    guard, only the sentence is known.
    """

    action: str
    arguments: tuple[tuple[str, str], ...]
    message: str | None
    guard: str
    holds: bool
    place: str
    values: tuple[ComparedValue, ...]
    sentence: str


@dataclass(frozen=True, slots=True)
class _Stop:
    """The end of a path: a condition and its value, or a choice among nothing; and the number of statements before
    it.
    """

    node: ast.expr
    context: Context
    holds: bool
    passed: int
    is_choice: bool = False


def disabled(model: Model, state: State) -> list[Obstacle]:
    """The obstacles of each action instance that is not enabled in a state; one entry for an action without a
    message.
    """
    spec = model.spec
    relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
    obstacles: list[Obstacle] = []
    tried: set[str] = set()
    for instance in instances_in_order(relation, state):
        tried.add(instance.action.title)
        try:
            is_enabled = bool(relation.successors(instance, state))
        except KmcError:
            # Its evaluation fails, so nothing stops it.
            continue
        if not is_enabled:
            obstacles.append(stopped_by(model, state, instance))
    for action in spec.actions:
        if action.title not in tried and action.message is not None:
            obstacles.append(without_message(action))
    return obstacles


def instances_in_order(relation: NextStateRelation, state: State) -> list[ActionInstance]:
    """All instances, enabled or not, by action as declared; those of an action by message in display order."""
    by_action: dict[str, list[ActionInstance]] = {}
    for instance in relation.instances(state):
        by_action.setdefault(instance.action.title, []).append(instance)
    for instances in by_action.values():
        if instances[0].action.message is not None:
            instances.sort(key=lambda instance: sort_key(instance.message))
    return [instance for instances in by_action.values() for instance in instances]


def without_message(action: Action) -> Obstacle:
    """The obstacle of a receiving action when there is no message."""
    assert action.message is not None, "it receives"
    kind = action.message.__name__
    return Obstacle(action.title, (), None, "", False, "", (), f"there is no {kind} to receive")


def stopped_by(model: Model, state: State, instance: ActionInstance) -> Obstacle:
    """The obstacle of an action instance that has no successor in a state."""
    wording = Wording(model.spec)
    walker = _Walker(wording, model.spec.files)
    action = instance.action
    names = [parameter.name for parameter in action.parameters]
    arguments = tuple((n, wording.value(v)) for n, v in zip(names, instance.arguments, strict=True))
    message = None if instance.message is None else wording.value(instance.message)
    stop_and_facts = attempt(lambda: walker.first(action, state, instance))
    if stop_and_facts is None:
        return Obstacle(action.title, arguments, message, "", False, "", (), "it has no successor here")
    stop, facts = stop_and_facts
    values = compared_values(facts)
    said = "; ".join(clauses_of(facts)) or _plainly(stop, facts, wording)
    return Obstacle(action.title, arguments, message, _source(stop), stop.holds, _place(stop), values, said)


def _plainly(stop: _Stop, facts: Sequence[Fact], wording: Wording) -> str:
    """The sentence if no fact needs a clause, as `n1 == n1`."""
    if facts and facts[0].truth:
        return wording.text(facts[0].node, facts[0].scope)
    return f"{wording.text(stop.node, stop.context)} is {wording.value(stop.holds)}"


def failed_assertion(model: Model, state: State, instance: ActionInstance) -> tuple[str, list[Fact]] | None:
    """The text of the assertion that fails in an action instance, and the facts that make it false."""
    walker = _Walker(Wording(model.spec), model.spec.files)
    stop_and_facts = attempt(lambda: walker.first(instance.action, state, instance, of_assertion=True))
    return None if stop_and_facts is None else (_source(stop_and_facts[0]), stop_and_facts[1])


def attempt(explain: Callable[[], _Told]) -> _Told | None:
    """An explanation, or None where a construct is unusual."""
    try:
        return explain()
    except FAILURES:
        return None


class _Walker:
    """Follows the paths of one action instance."""

    def __init__(self, wording: Wording, files: Collection[str]) -> None:
        self._wording = wording
        self._files = files
        self._follower = Follower(wording, files)
        self._of_assertion = False

    def first(
        self, action: Action, state: State, instance: ActionInstance, *, of_assertion: bool = False
    ) -> tuple[_Stop, list[Fact]]:
        """The guard at which the path ends that comes furthest, and the facts; raises Unusual where there is none."""
        self._of_assertion = of_assertion
        definition = source_of(action.function, self._files)
        if definition is None:
            raise Unusual
        names = [argument.arg for argument in definition.args.args]
        inputs = zip(names[1:], instance.inputs, strict=True)
        bound = {name: Binding(value, self._input_label(value, name, instance)) for name, value in inputs}
        bound[names[0]] = Binding(state, Label())
        function: Any = action.function
        context = scope_of(function, bound, self._wording)
        stops = list(self._paths(definition.body, context, 0, None))
        stop = max(stops, key=lambda candidate: candidate.passed, default=None)
        if stop is None:
            raise Unusual
        return stop, list(reproduced(self._facts(stop)))

    def _input_label(self, value: Any, name: str, instance: ActionInstance) -> Label:
        return Label(owner="the message") if value is instance.message else self._wording.of_value(value, name)

    def _facts(self, stop: _Stop) -> Iterable[Fact]:
        match stop.node:
            case ast.Call(func=ast.Name(id="ways"), args=conditions) if stop.is_choice:
                return [f for c in conditions for f in self._follower.follow(c, stop.context, False)]
            case ast.Call(func=ast.Name(id="range"), args=[size]) if stop.is_choice:
                value = named_value(size, stop.context, self._wording)
                return [Fact(ast.Constant(True), stop.context, True, f"{value.name.text} is {value.shown}", (value,))]
            case _ if stop.is_choice:
                value = named_value(stop.node, stop.context, self._wording)
                return [Fact(ast.Constant(True), stop.context, True, f"{value.name.text} is empty", ())]
            case _:
                return self._follower.follow(stop.node, stop.context, stop.holds)

    def _paths(self, body: Sequence[ast.stmt], context: Context, passed: int, last: _Stop | None) -> Iterator[_Stop]:
        """The ends of the paths through statements. `last` is the condition that decided which statements remain."""
        statements = list(body)
        while statements:
            statement = statements.pop(0)
            passed += 1
            try:
                match statement:
                    case ast.If(test=test, body=then, orelse=orelse):
                        taken = bool(context.value(test))
                        branch, other = (then, orelse) if taken else (orelse, then)
                        if _ends(branch) or _has_yield(other):
                            last = _Stop(test, context, taken, passed)
                        statements = [*branch, *statements]
                    case ast.Assert(test=test):
                        if not context.value(test) and self._of_assertion:
                            yield _Stop(test, context, False, passed)
                            return
                    case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[condition])):
                        if not context.value(condition):
                            yield _Stop(condition, context, False, passed)
                            return
                    case ast.For():
                        yield from self._choices(statement, context, passed)
                        last = None
                    case ast.Expr(value=ast.YieldFrom(value=ast.Call() as call)):
                        yield from self._helper(call, context, passed)
                        last = None
                    case ast.Expr(value=ast.Yield(value=ast.expr() as value)) | ast.Return(value=ast.expr() as value):
                        context.value(value)
                        if isinstance(statement, ast.Return):
                            return
                        last = None
                    case ast.Return() | ast.Continue():
                        break
                    case _:
                        context = self._assigned(statement, context)
            except Disabled:
                yield from self._of_helpers(statement, context, passed)
                return
        if last is not None:
            yield last

    def _assigned(self, statement: ast.stmt, context: Context) -> Context:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                return context.binding({name: let(value, name, context, self._wording)})
            case ast.AugAssign(target=ast.Name(id=name)):
                return context.binding({name: let(operation_of(statement), name, context, self._wording)})
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                return context.binding(self._follower.unpacked(targets, value, context))
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return context
            case _:
                raise Unusual

    def _choices(self, statement: ast.For, context: Context, passed: int) -> Iterator[_Stop]:
        """The ends of all choices of a `for`; the choice itself where there is none."""
        collection = statement.iter
        is_empty = True
        if isinstance(collection, ast.Call) and self._is_generator(collection, context):
            yield from self._helper(collection, context, passed)
        for bindings in members(statement.target, collection, context, self._wording):
            is_empty = False
            yield from self._paths(statement.body, context.binding(bindings), passed, None)
        if is_empty and _has_yield([statement]):
            yield _Stop(collection, context, False, passed, is_choice=True)

    def _is_generator(self, call: ast.Call, context: Context) -> bool:
        called = of_call(call, context, self._wording)
        definition = source_of(called[0], self._files) if called is not None else None
        return definition is not None and yields(definition)

    def _helper(self, call: ast.Call, context: Context, passed: int) -> Iterator[_Stop]:
        """The ends of the paths through a helper that is called."""
        called = of_call(call, context, self._wording)
        definition = source_of(called[0], self._files) if called is not None else None
        if called is None or definition is None:
            raise Unusual
        yield from self._paths(definition.body, scope_of(*called, self._wording), passed, None)

    def _of_helpers(self, statement: ast.stmt, context: Context, passed: int) -> Iterator[_Stop]:
        """The `require` that fails in a helper that a statement calls."""
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
        for call in reversed(calls):
            try:
                context.value(call)
            except Disabled:
                yield from self._helper(call, context, passed)
                return
            except NameError:
                # The call is in a comprehension, whose names have no value here.
                continue
        raise Unusual


def _ends(branch: Sequence[ast.stmt]) -> bool:
    """Whether a branch ends the action, or the choice."""
    return any(isinstance(statement, ast.Return | ast.Continue) for statement in branch)


def _has_yield(statements: Sequence[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for s in statements for node in ast.walk(s))


def _place(stop: _Stop) -> str:
    return f"{source_path(_file(stop))}:{stop.node.lineno}"


def _file(stop: _Stop) -> Path:
    return Path(str(stop.context.module.get("__file__", "")))


def _source(stop: _Stop) -> str:
    """The text of a guard as its author wrote it, in one line."""
    try:
        segment = ast.get_source_segment(_file(stop).read_text(encoding="utf-8"), stop.node)
    except (OSError, UnicodeDecodeError):
        segment = None
    return " ".join((segment or ast.unparse(stop.node)).split())
