"""The state of lowering one kernel, handed to every function of this package.

Lowering is staged interpretation: the author's functions are evaluated with typed code in the place of values. Helpers
are inlined, and the values of branches are merged in variables. The language is recursive (an element of a set may be a
comprehension), so the modules that lower it call each other in a circle. `Operations` cuts the circle: it holds the
functions that a module needs of those above it, and `lowering.py` passes them in.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from kmc.compiler.ir.build import ZERO
from kmc.compiler.ir.nodes import Expr, Var
from kmc.compiler.values.code import Code, Draft, Origin
from kmc.compiler.values.packing import Words, keep_words, lift, unwrap
from kmc.compiler.values.scope import Scope, is_spec_function, lookup, scope_of, syntax
from kmc.compiler.values.value import Bool, Num, SeqLiteral, Several, Sym, Value
from kmc.lang.assumed_range import assumed_range
from kmc.lang.recursion import result_type
from kmc.lang.tree import body_of
from kmc.lang.types import Type
from kmc.runtime.kernel_errors import RangeEnd
from kmc.runtime.state_layout import RowLayout, layout_of

Body: TypeAlias = Callable[[Value], object]
"""The action applied to each element of a collection."""

Setter: TypeAlias = Callable[[Value], None]
"""Emits, in one branch, the code that gives a merged value its value there."""

Yield = Callable[["Lowering", Value, Origin], None]

LEVELS_MAX = 32
"""The greatest number of levels of a recursion that are written one into the other."""
RECURSIVE_CALLS_MAX = 1_000
"""The greatest number of calls at all levels of one recursion: where a helper calls itself twice, they double."""

UNROLL = 4
"""Loops over a constant domain of at most so many elements are unrolled."""


@dataclass(slots=True)
class Call:
    """An inlined function: the label after it, and the value of each return.

    If there is a function `then`, it emits what follows each return in its place. `is_action` says that it gives no
    value, so that nothing is lost where control cannot reach its end.
    """

    label: str
    then: Yield | None = None
    returns: list[tuple[Draft, Value]] = field(default_factory=list)
    is_action: bool = False


class EachElement(Protocol):
    """The type of `iteration.each`."""

    def __call__(
        self, low: Lowering, whole: Value, body: Body, node: Origin, unroll: int = UNROLL, *, once: bool = True
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Operations:
    """The functions that modules of this package need of modules above them; `Lowering` has a method for each."""

    evaluate: Callable[[Lowering, ast.expr, Scope], Value]
    run: Callable[[Lowering, list[ast.stmt], Scope], bool]
    each: EachElement
    member: Callable[[Lowering, Value, Value, Origin], Expr]
    same: Callable[[Lowering, Value, Value, Origin], Expr]
    entry: Callable[[Lowering, Value, Value, Origin], Value]
    words_as: Callable[[Lowering, Value, Type, Origin], Words]
    merge: Callable[[Lowering, list[Value], Origin], tuple[Value, list[Setter]]]


@dataclass(slots=True)
class Lowering:
    """State of the evaluation of one kernel; `times` is the greatest number of times that the code being emitted
    runs, `copies` the number of times that it is emitted, once for each element of sets that are written out.
    """

    code: Code
    operations: Operations
    on_yield: Yield | None = None
    row: RowLayout | None = None
    bases: dict[str, tuple[Expr, ...]] = field(default_factory=dict)
    choice_label: str = ""
    calls: list[Call] = field(default_factory=list)
    times: int = 1
    copies: int = 1
    levels: dict[ast.FunctionDef, int] = field(default_factory=dict)
    """The levels at work of each helper that calls itself."""
    recursive_calls: int = 0
    looking: bool = False
    """Is the code that is being emitted discarded?"""

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """The value of an expression."""
        return self.operations.evaluate(self, node, scope)

    def run(self, body: list[ast.stmt], scope: Scope) -> bool:
        """Lower statements; False if control never falls off their end."""
        return self.operations.run(self, body, scope)

    def run_action(self, node: ast.FunctionDef, arguments: dict[str, Value], scope: Scope) -> None:
        """Lower an action: `return` and a failed `require` leave it."""
        inner = scope.child()
        inner.locals.update(arguments)
        call = Call(self.code.fresh("action"), is_action=True)
        self.calls.append(call)
        self.choice_label = call.label
        body = self.code.capture(lambda: self.run(body_of(node), inner))
        self.calls.pop()
        self.code.block(call.label, body)

    def each(self, whole: Value, body: Body, node: Origin, *, once: bool = True) -> None:
        """Call `body` with every element of a collection; `once` is false where equal ones do no harm."""
        self.operations.each(self, whole, body, node, once=once)

    def member(self, item: Value, whole: Value, node: Origin) -> Expr:
        """1 if `item` is in a set, map, sequence, range or network."""
        return self.operations.member(self, item, whole, node)

    def same(self, left: Value, right: Value, node: Origin) -> Expr:
        """1 if two values are equal, whatever they were written as."""
        return self.operations.same(self, left, right, node)

    def words_as(self, value: Value, declared: Type, node: Origin) -> Words:
        """The words of a value in a type, whatever it was written as."""
        return self.operations.words_as(self, value, declared, node)

    def merge(self, branches: list[Value], node: Origin) -> tuple[Value, list[Setter]]:
        """One value for several branches, and for each branch the code that gives it its value there."""
        return self.operations.merge(self, branches, node)

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
        value = lookup(scope, node.id)
        if value is None:
            self.code.refuse(node, f"the name '{node.id}'")
        return value

    def entry(self, owner: Value, key: Value, node: Origin) -> Value:
        """The value of a map at one of its keys, or the count of a message in a bag."""
        return self.operations.entry(self, owner, key, node)

    def capture_only(self, body: Callable[[], object]) -> None:
        """Run `body` to see which cases it meets, and discard the code that it emits.

        What a recursion gives is known by its declared type, so its levels are not looked through.
        """
        outer, self.looking = self.looking, True
        try:
            self.code.capture(body)
        finally:
            self.looking = outer

    def repeated(self, times: int, body: Callable[[], object]) -> None:
        """Emit the code of `body`, which runs up to `times` times as often as the code around it."""
        outer, self.times = self.times, self.times * max(times, 0)
        try:
            body()
        finally:
            self.times = outer

    def truth(self, value: Value, node: Origin) -> Expr:
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
        declared = result_type(function)
        with self.code.reading(inner.path):
            if isinstance(node, ast.Lambda):
                return self.evaluate(node.body, inner)
            if declared is not None:
                return self._level(node, inner, declared)
            return self._inlined(node, inner)

    def _level(self, node: ast.FunctionDef, inner: Scope, declared: Type) -> Value:
        """Inline one level of a helper that calls itself. A level beyond those assumed stops the kernel."""
        if self.looking:
            return lift(declared, tuple(Var(self.code.fresh("level")) for _ in range(layout_of(declared).words)))
        depth, most = self.levels.get(node, 0), assumed_range().depth
        self.recursive_calls = self.recursive_calls + 1 if self.levels else 0
        if most > LEVELS_MAX or self.recursive_calls > RECURSIVE_CALLS_MAX:
            what = (
                f"of more than {LEVELS_MAX}"
                if most > LEVELS_MAX
                else f"that calls itself several times in each of {most}"
            )
            advice = "run it with --engine python, or go through a sequence or a range with fold"
            self.code.refuse(node, f"a recursion {what} levels", advice)
        if depth >= most:
            self.code.check(ZERO, node, RangeEnd.DEPTH)
            return lift(declared, (ZERO,) * layout_of(declared).words)
        self.levels[node] = depth + 1
        try:
            words = keep_words(self.code, self.words_as(self._inlined(node, inner), declared, node))
        finally:
            self.levels[node] = depth
            if not depth:
                del self.levels[node]
        return lift(declared, words)

    def _inlined(self, node: ast.FunctionDef, inner: Scope) -> Value:
        """The value of a function whose parameters are in a scope."""
        if len(self.calls) > 60:
            self.code.refuse(node, "so many calls one in another")
        call = Call(self.code.fresh("call"))
        self.calls.append(call)
        body = self.code.capture(lambda: self.run(body_of(node), inner))
        self.calls.pop()
        return self._returned(call, body, node)

    def _returned(self, call: Call, body: Draft, node: Origin) -> Value:
        if not call.returns:
            self.code.refuse(node, "a helper that returns nothing")
        if len(call.returns) == 1 and len(body) >= 2 and body[-2] is call.returns[0][0]:
            self.code.slot().extend(body[:-2])
            return call.returns[0][1]
        value, targets = self.merge([returned for _, returned in call.returns], node)
        for (slot, returned), target in zip(call.returns, targets, strict=True):
            self.code.into(slot, lambda returned=returned, target=target: target(returned))  # type: ignore[misc]  # bound now
        self.code.block(call.label, body)
        return value

    def each_result(self, functions: Sequence[object], value: Value, then: Yield) -> None:
        """Apply functions of the spec one after the other to a value, and emit `then` for each result.

        A function that ends in several places has the code of what follows in each of them, so that states which
        differ much need not be merged.
        """
        function, *following = functions
        assert is_spec_function(function)
        node = syntax(function)  # type: ignore[arg-type]  # spec functions are plain functions
        assert isinstance(node, ast.FunctionDef), "it is declared by a decorator"

        def go_on(low: Lowering, result: Value, place: Origin) -> None:
            if following:
                low.each_result(following, result, then)
            else:
                then(low, result, place)

        inner = scope_of(function).child()
        inner.locals[node.args.args[0].arg] = value
        with self.code.reading(inner.path):
            call = Call(self.code.fresh("call"), go_on)
            self.calls.append(call)
            body = self.code.capture(lambda: self.run(body_of(node), inner))
            self.calls.pop()
            self.code.block(call.label, body)

    def predicate(self, function: object, arguments: dict[str, Value]) -> Expr:
        """The truth of a spec function of states."""
        assert is_spec_function(function)
        node = syntax(function)  # type: ignore[arg-type]  # spec functions are plain functions
        return self.truth(self.call_function(function, arguments, node, scope_of(function)), node)


def _fits(targets: list[ast.expr], value: Value) -> bool:
    return isinstance(value, Several | SeqLiteral) and len(targets) == len(value.items)
