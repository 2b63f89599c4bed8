"""The builder of a kernel's statements: fresh names, captured branches, structured exits, checks that stop a kernel."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from kmc.compiler.ir.build import ONE, ZERO, add, binary, negate
from kmc.compiler.ir.nodes import Block, Break, Const, Expr, If, Let, Loop, Return, Stmt, Var
from kmc.compiler.ir.walk import assigned
from kmc.errors import Span, SpecError
from kmc.lang.tree import file_of
from kmc.runtime.kernel_errors import ERROR_BASE, RangeEnd
from kmc.spec.places import span_of


@dataclass(frozen=True, slots=True)
class Branch:
    """An `If` whose branches may still be filled in."""

    condition: Expr
    then: Draft
    otherwise: Draft


@dataclass(frozen=True, slots=True)
class Nest:
    """A `Block` or `Loop` whose body may still be filled in."""

    kind: type[Block] | type[Loop]
    label: str
    body: Draft


Origin: TypeAlias = ast.AST
"""The part of a spec from which code is made, with its place in the spec: a node of the spec's syntax tree."""

Draft: TypeAlias = "list[Stmt | Branch | Nest | Draft]"
"""Statements being written. A nested draft can be filled in until `flat` is called."""

Check: TypeAlias = "tuple[Origin, str]"
"""The part of a spec in which a kernel may stop, and the path of its file."""

_NO_ANSWER = Const(1)
"""The value of a failure in a kernel that answers 0 where a check fails; the answers of other failures are negative."""

_PARAMETERS = frozenset(["limit", "pos", "count", "index"])


class Code:
    """The statements of one kernel under construction."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.checks: list[Check] = []
        self._draft: Draft = []
        self._fresh = 0
        self.forgiving = False
        self.answers_errors = True
        self._deferral: tuple[str, str] | None = None

    def fresh(self, stem: str) -> str:
        """A name that occurs nowhere else."""
        self._fresh += 1
        return f"{stem}{self._fresh}"

    def emit(self, *statements: Stmt) -> None:
        """Append statements."""
        self._draft.extend(statements)

    def slot(self) -> Draft:
        """A place at the current end that can be filled in later."""
        draft: Draft = []
        self._draft.append(draft)
        return draft

    def keep(self, value: Expr, stem: str = "t") -> Expr:
        """`value` in a variable, unless it is one already or a constant."""
        if isinstance(value, (Const, Var)):
            return value
        name = self.fresh(stem)
        self.emit(Let(name, value))
        return Var(name)

    def capture(self, body: Callable[[], object]) -> Draft:
        """The statements that `body` emits, not yet part of the code."""
        outer, self._draft = self._draft, []
        try:
            body()
            return self._draft
        finally:
            self._draft = outer

    def trial(self, body: Callable[[], object]) -> None:
        """Run `body` only to see which cases it meets: no code, no check and no name of it stays."""
        fresh, checks = self._fresh, len(self.checks)
        self.capture(body)
        self._fresh = fresh
        del self.checks[checks:]

    def capture_alike(self, bodies: list[Callable[[], object]]) -> list[Draft]:
        """`capture` of each body; bodies that emit the same code share one draft.

        A body is called more than once, so it must only emit, and its drafts are not filled in later.
        """
        first, checks = self._fresh, len(self.checks)
        drafts: dict[object, Draft] = {}
        captured: list[Draft] = []
        for body in bodies:
            # First with the names of the first body, so that code and checks can be compared; then with its own.
            last, made = self._fresh, self.checks[checks:]
            self._fresh, self.checks[checks:] = first, []
            seen = flat(self.capture(body)), tuple(id(node) for node, _ in self.checks[checks:])
            self._fresh, self.checks[checks:] = last, made
            if seen not in drafts:
                drafts[seen] = self.capture(body)
            captured.append(drafts[seen])
        return captured

    def into(self, draft: Draft, body: Callable[[], object]) -> None:
        """Let `body` emit at the end of `draft`."""
        draft.append(self.capture(body))

    def branch(self, condition: Expr, then: Draft, otherwise: Draft | None = None) -> None:
        """`if condition: then else: otherwise`."""
        if isinstance(condition, Const):
            self._draft.append(then if condition.value else otherwise or [])
        else:
            self._draft.append(Branch(condition, then, otherwise or []))

    def block(self, label: str, body: Draft) -> None:
        """A block that `Break(label)` leaves."""
        self._draft.append(Nest(Block, label, body))

    def loop(self, label: str, body: Draft) -> None:
        """A loop that `Break(label)` leaves."""
        self._draft.append(Nest(Loop, label, body))

    def count_up(self, start: Expr, stop: Expr, body: Callable[[Expr], object], stem: str = "i") -> None:
        """`for i in start..stop-1: body(i)`."""
        label, name = self.fresh("loop"), self.fresh(stem)
        self.emit(Let(name, start))
        inner = self.capture(lambda: body(Var(name)))
        done = If(negate(binary("slt", Var(name), stop)), (Break(label),))
        self.loop(label, [done, inner, Let(name, add(Var(name), ONE))])

    def check(self, condition: Expr, node: Origin, assumed: RangeEnd | None = None) -> None:
        """Stop the kernel unless `condition` holds; the interpreter then reports the error.

        A kernel that does not answer errors answers 0 there. If the condition is only `assumed` of the spec, every
        kernel answers, and the search starts again with another range.
        """
        if isinstance(condition, Const) and condition.value:
            return
        if not self.answers_errors and assumed is None:
            self.branch(condition, [], [Return(ZERO)] if self._deferral is None else self._end(_NO_ANSWER))
            return
        number = len(self.checks) + (0 if assumed is None else assumed.value)
        self.checks.append((node, file_of(node) or self.path))
        self.branch(condition, [], self._end(Const(-(ERROR_BASE + number))))

    def deferred(self, failure: str, label: str, body: Callable[[], object]) -> Draft:
        """Return what `body` emits, in which a failed check leaves the block of a label, and sets a variable.

        The variable is the answer of the kernel, if something reads what the block computes.
        """
        outer, self._deferral = self._deferral, (failure, label)
        try:
            return self.capture(body)
        finally:
            self._deferral = outer

    def check_deferred(self, failure: str) -> None:
        """Stop the kernel if a check in a deferred block has failed: its variable is not 0."""
        self.branch(binary("eq", Var(failure), ZERO), [], self._end(Var(failure)))

    def _end(self, answer: Expr) -> Draft:
        """Return the code that ends the kernel with an answer; in a deferred block, the code that leaves the block."""
        if self._deferral is not None:
            failure, label = self._deferral
            return [Let(failure, answer), Break(label)]
        if isinstance(answer, Const) or self.answers_errors:
            return [Return(answer)]
        return [If(binary("eq", answer, _NO_ANSWER), (Return(ZERO),)), Return(answer)]

    def statements(self) -> tuple[Stmt, ...]:
        """Everything that was emitted; if `forgiving`, after an assignment of 0 to every variable.

        Then a variable that is set in a branch and read elsewhere under the same guard has a value on every path.
        """
        body = flat(self._draft)
        if not self.forgiving:
            return body
        return (*(Let(name, ZERO) for name in dict.fromkeys(assigned(body)) if name not in _PARAMETERS), *body)

    @contextmanager
    def reading(self, path: str) -> Iterator[None]:
        """Refusals in the body are of this file; an empty path leaves the file as it is."""
        outer, self.path = self.path, path or self.path
        try:
            yield
        finally:
            self.path = outer

    def refuse(self, node: Origin, what: str, help_line: str | None = None) -> NoReturn:
        """Raise SpecError: the compiler does not accept this construct."""
        # A comprehension or a lambda is read where its value is used, which may be in a function of another file.
        path = file_of(node) or self.path
        span = span_of(node, path) if hasattr(node, "lineno") else Span(path, 1)
        raise SpecError("KMC811", f"the compiler does not take {what}", span, help_line or _ADVICE)


_ADVICE = "write it in a way that docs/compiled.md shows"


def flat(draft: Draft) -> tuple[Stmt, ...]:
    """The statements of a draft, all places filled in."""
    result: list[Stmt] = []
    for item in draft:
        match item:
            case list():
                result.extend(flat(item))
            case Branch(condition, then, otherwise):
                result.append(If(condition, flat(then), flat(otherwise)))
            case Nest(kind, label, body):
                result.append(kind(label, flat(body)))
            case _:
                result.append(item)
    return tuple(result)


__all__ = ["ERROR_BASE", "ONE", "ZERO", "Check", "Code", "Draft", "flat"]
