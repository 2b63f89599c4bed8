"""Lowering: the author's functions, evaluated with typed code in the place of values (staged interpretation).

Helpers are inlined, and branches meet in variables. One `Lowering` writes one kernel and is handed to everything that
evaluates; `evaluate` and `run` are the evaluators of expressions and statements, given from above so that this
module needs neither.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Expr, Let, Var
from kmc.compiler.values.code import Code, Draft
from kmc.compiler.values.packing import unwrap
from kmc.compiler.values.scope import Scope, definition, is_spec_function, lookup
from kmc.compiler.values.value import Bool, Each, Net, NetOp, Num, SeqLiteral, Several, Sym, Value
from kmc.runtime.state_layout import RowLayout

Yield = Callable[["Lowering", Value, ast.AST], None]


@dataclass(slots=True)
class Call:
    """An inlined function: where to go on, and what each return found."""

    label: str
    returns: list[tuple[Draft, Value]] = field(default_factory=list)


@dataclass(slots=True)
class Lowering:
    """State of the evaluation of one kernel; `times` is how often the code that is being emitted runs at most."""

    code: Code
    evaluator: Callable[[Lowering, ast.expr, Scope], Value]
    runner: Callable[[Lowering, list[ast.stmt], Scope], bool]
    on_yield: Yield | None = None
    row: RowLayout | None = None
    bases: dict[str, tuple[Expr, ...]] = field(default_factory=dict)
    choice_label: str = ""
    calls: list[Call] = field(default_factory=list)
    times: int = 1

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression."""
        return self.evaluator(self, node, scope)

    def run(self, body: list[ast.stmt], scope: Scope) -> bool:
        """Lower statements; False if control never falls off their end."""
        return self.runner(self, body, scope)

    def assign(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Bind names to a value."""
        match target:
            case ast.Name(id=name):
                scope.locals[name] = self.kept(value)
            case ast.Tuple(elts=targets) | ast.List(elts=targets) if _fits(targets, value):
                assert isinstance(value, Several | SeqLiteral)
                for inner, item in zip(targets, value.items, strict=True):
                    self.assign(inner, item, scope)
            case _:
                self.code.refuse(target, "this assignment")

    def name(self, node: ast.Name, scope: Scope) -> Value:
        """The value of a name."""
        found = lookup(scope, node.id)
        if found is None:
            self.code.refuse(node, f"the name '{node.id}'")
        return found

    def entry(self, owner: Value, key: Value, node: ast.AST) -> Value:
        """What a map has at one of its keys, or a bag for one of its messages."""
        from kmc.compiler.lowering.map_operations import value_at
        from kmc.compiler.lowering.network_operations import count_of_message

        if isinstance(owner, Net):
            return count_of_message(self, owner, key, node)
        return value_at(self, owner, key, node)

    def capture_only(self, body: Callable[[], object]) -> None:
        """Let `body` run to see what it meets, and forget what it emits."""
        self.code.capture(body)

    def repeated(self, times: int, body: Callable[[], object]) -> None:
        """Emit what `body` emits, which runs up to `times` times as often as what is around it."""
        outer, self.times = self.times, self.times * max(times, 0)
        try:
            body()
        finally:
            self.times = outer

    def truth(self, value: Value, node: ast.AST) -> Expr:
        """The code of a condition."""
        value = unwrap(self.code, value, node)
        if not isinstance(value, Bool):
            self.code.refuse(node, "a condition that is not a Bool")
        return value.code

    def kept(self, value: Value) -> Value:
        """A scalar in a variable, so that it is computed once and its uses are seen to be the same."""
        match value:
            case Bool(code):
                return Bool(self.code.keep(code))
            case Num(code, low, high):
                return Num(self.code.keep(code), low, high)
            case Sym(cls, code):
                return Sym(cls, self.code.keep(code))
            case Several(items):
                return Several(tuple(self.kept(item) for item in items))
            case _:
                return value

    def call_function(self, function: object, arguments: dict[str, Value], node: ast.FunctionDef | ast.Lambda,
                      scope: Scope) -> Value:  # fmt: skip
        """Inline a function whose parameters have these values; `scope` is the one it was defined in."""
        inner = scope.child()
        inner.locals.update({name: self.kept(value) for name, value in arguments.items()})
        if isinstance(node, ast.Lambda):
            return self.evaluate(node.body, inner)
        if len(self.calls) > 60:
            self.code.refuse(node, "recursion")
        call = Call(self.code.fresh("call"))
        self.calls.append(call)
        body = self.code.capture(lambda: self.run(body_of(node), inner))
        self.calls.pop()
        return self._returned(call, body, node)

    def _returned(self, call: Call, body: Draft, node: ast.AST) -> Value:
        if not call.returns:
            self.code.refuse(node, "a helper that returns nothing")
        if len(call.returns) == 1 and len(body) >= 2 and body[-2] is call.returns[0][0]:
            self.code.slot().extend(body[:-2])
            return call.returns[0][1]
        value, targets = self.meet([found for _, found in call.returns], node)
        for (place, found), target in zip(call.returns, targets, strict=True):
            self.code.into(place, lambda found=found, target=target: target(found))  # type: ignore[misc]  # bound now
        self.code.block(call.label, body)
        return value

    def meet(self, found: list[Value], node: ast.AST) -> tuple[Value, list[Callable[[Value], None]]]:
        """One value for several branches, and for each branch the code that gives it its value there."""
        if any(isinstance(value, Net) for value in found):
            return self._meet_nets(found, node)
        if all(value == found[0] for value in found):
            return found[0], [lambda value: None for _ in found]
        if all(isinstance(value, Num) for value in found):
            return self._meet_numbers([value for value in found if isinstance(value, Num)])
        from kmc.compiler.lowering.branch_merge import meet_values

        return meet_values(self, found, node)

    def _meet_numbers(self, found: list[Num]) -> tuple[Value, list[Callable[[Value], None]]]:
        """Numbers meet as they are: they may lie so far apart that no layout holds both."""
        name = self.code.fresh("m")

        def assign(value: Value) -> None:
            assert isinstance(value, Num)
            self.code.emit(Let(name, value.code))

        low, high = min(value.low for value in found), max(value.high for value in found)
        return Num(Var(name), low, high), [assign for _ in found]

    def _meet_nets(self, found: list[Value], node: ast.AST) -> tuple[Value, list[Callable[[Value], None]]]:
        from kmc.compiler.lowering.network_operations import whole_network

        numbers = {(value.number, value.pointer) for value in found if isinstance(value, Net)}
        if len(numbers) != 1:
            self.code.refuse(node, "branches that give different networks", "yield in each branch")
        nets = [whole_network(self, value, *next(iter(numbers)), node) for value in found]
        changes: list[NetOp | Each] = []
        setters: list[Callable[[Value], None]] = []
        resets: list[str] = []
        for net in nets:
            mine: list[tuple[str, NetOp | Each]] = []
            for change in net.changes:
                guard = self.code.fresh("g")
                if isinstance(change, Each):
                    # The messages are made where they are sent, from what the branch has computed.
                    self.code.forgiving = True
                    resets.append(guard)
                    mine.append((guard, change))
                    changes.append(replace(change, guard=Var(guard)))
                    continue
                kept = tuple(self.code.fresh("w") for _ in change.words)
                index = None if change.index is None else self.code.fresh("x")
                resets.append(guard)
                mine.append((guard, change))
                changes.append(
                    NetOp(change.kind, tuple(map(Var, kept)), Var(guard), None if index is None else Var(index))
                )
            setters.append(self._net_setter(mine, changes[len(changes) - len(mine) :]))
        for guard in resets:
            self.code.emit(Let(guard, x.ZERO))
        for change in changes:
            for word in change.words if isinstance(change, NetOp) else ():
                assert isinstance(word, Var)
                self.code.emit(Let(word.name, x.ZERO))
            if isinstance(change, NetOp) and isinstance(change.index, Var):
                self.code.emit(Let(change.index.name, x.ZERO))
        return Net(nets[0].number, nets[0].pointer, tuple(changes)), setters

    def _net_setter(self, mine: list[tuple[str, NetOp | Each]], joint: list[NetOp | Each]) -> Callable[[Value], None]:
        def assign(value: Value) -> None:
            for (guard, change), target in zip(mine, joint, strict=True):
                self.code.emit(Let(guard, change.guard))
                if isinstance(target, Each) or isinstance(change, Each):
                    continue
                for name, word in zip(target.words, change.words, strict=True):
                    assert isinstance(name, Var)
                    self.code.emit(Let(name.name, word))
                if isinstance(target.index, Var) and change.index is not None:
                    self.code.emit(Let(target.index.name, change.index))

        return assign

    def predicate(self, function: object, arguments: dict[str, Value]) -> Expr:
        """The truth of a spec function of states."""
        assert is_spec_function(function)
        scope = Scope(function.__globals__)  # type: ignore[attr-defined]  # spec functions are plain functions
        return self.truth(self.call_function(function, arguments, definition(function), scope), definition(function))  # type: ignore[arg-type]  # as above


def _fits(targets: list[ast.expr], value: Value) -> bool:
    return isinstance(value, Several | SeqLiteral) and len(targets) == len(value.items)


def body_of(node: ast.FunctionDef) -> list[ast.stmt]:
    """The statements of a function without its docstring."""
    return node.body[1:] if ast.get_docstring(node) is not None else node.body
