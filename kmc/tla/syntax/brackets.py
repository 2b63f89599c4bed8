r"""The parser of what TLA+ puts between brackets, braces and angles, and of what has a subscript.

Nothing is read twice: what stands before `|->` or `:` is read as expressions, and becomes bounds where one follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from kmc.tla.syntax.cursor import names_field
from kmc.tla.syntax.references import ReferenceParser, simple_name
from kmc.tla.syntax.tokens import ModuleToken
from kmc.tla.syntax.tree import (
    BoundSyntax,
    ExceptSyntax,
    ExpressionSyntax,
    FairnessSyntax,
    FunctionSetSyntax,
    FunctionSyntax,
    InfixSyntax,
    NameSyntax,
    RecordSetSyntax,
    RecordSyntax,
    ReferenceSyntax,
    SetFilterSyntax,
    SetMapSyntax,
    SetSyntax,
    StepSyntax,
    SubscriptedSyntax,
    TupleSyntax,
    UpdateSyntax,
)


class BracketParser(ReferenceParser):
    """Expressions in brackets."""

    def parenthesized(self) -> ExpressionSyntax:
        """Read `(e)`."""
        self.take()
        body = self.expression()
        self.expect(")")
        return body

    def tuple_or_action(self) -> TupleSyntax | SubscriptedSyntax:
        """Read `<<a, b>>` or `<<A>>_v`."""
        start = self.take()
        items = () if self.is_symbol(">>") else self.separated(self.expression)
        if self.is_symbol(">>_") and len(items) == 1:
            return self._subscripted("<<", items[0], start)
        self.expect(">>", "at the end of a tuple")
        return TupleSyntax(items, place=self.place_from(start))

    def _subscripted(self, kind: Literal["[", "<<"], action: ExpressionSyntax, start: ModuleToken) -> SubscriptedSyntax:
        self.take()
        subscript = self._subscript()
        return SubscriptedSyntax(kind, action, subscript, place=self.place_from(start))

    def _subscript(self) -> ExpressionSyntax:
        """Read an expression that may be a subscript: a name with what belongs to it, or something in brackets."""
        token = self.peek()
        if token.kind == "name":
            return self.path()
        match token.text if token.kind == "symbol" else "":
            case "(":
                return self.parenthesized()
            case "<<":
                return self.tuple_or_action()
            case "{":
                return self.set_in_braces()
            case "[":
                return self.in_brackets()
            case _:
                raise self.mistake("a subscript: a name, a tuple or an expression in parentheses")

    def fairness(self) -> FairnessSyntax:
        """Read `WF_v(A)` or `SF_v(A)`."""
        start = self.take()
        kind: Literal["WF", "SF"] = "WF" if start.text == "WF_" else "SF"
        subscript = self._subscript()
        if self.accept("("):
            action = self.expression()
            self.expect(")", f"after the action of {start.text}")
        else:
            # `vars(A)` was read as one application.
            subscript, action = self._action_of(subscript)
        return FairnessSyntax(kind, subscript, action, place=self.place_from(start))

    def _action_of(self, applied: ExpressionSyntax) -> tuple[ExpressionSyntax, ExpressionSyntax]:
        """Return the subscript and the action of `v(A)`."""
        match applied:
            case ReferenceSyntax(steps=(*before, StepSyntax(arguments=(action,)) as last)):
                # A LAMBDA or an operator is not an action.
                if isinstance(action, ExpressionSyntax):
                    bare = StepSyntax(last.name, None, last.is_selector, place=last.place)
                    end_column = last.place.column + len(last.name)
                    place = replace(applied.place, end_line=last.place.line, end_column=end_column)
                    return ReferenceSyntax((*before, bare), place=place), action
        raise self.mistake("'(' and the action after the subscript of WF_ or SF_")

    def set_in_braces(self) -> SetSyntax | SetFilterSyntax | SetMapSyntax:
        r"""Read `{a, b}`, `{x \in S: P}` or `{e: x \in S}`."""
        start = self.take()
        if self.accept("}"):
            return SetSyntax((), place=self.place_from(start))
        is_parenthesized = self.is_symbol("(")
        first = self.expression()
        if not self.is_symbol(":"):
            items = [first]
            while self.accept(","):
                items.append(self.expression())
            self.expect("}", "at the end of a set")
            return SetSyntax(tuple(items), place=self.place_from(start))
        self.take()
        bound = None if is_parenthesized else _bound_of(first)
        if bound is not None:
            condition = self.expression()
            self.expect("}", "at the end of a set")
            return SetFilterSyntax(bound, condition, place=self.place_from(start))
        bounds = self.bounds()
        self.expect("}", "at the end of a set")
        return SetMapSyntax(first, bounds, place=self.place_from(start))

    def in_brackets(self) -> ExpressionSyntax:
        """Read what begins with `[` where an expression begins."""
        start = self.take()
        first, second = self.peek(), self.peek(1)
        if names_field(first) and second.kind == "symbol" and second.text in ("|->", ":"):
            return self._record(second.text, start)
        items = self.separated(self.expression)
        if self.is_symbol("|->"):
            bounds = self._bounds_of(items)
            self.take()
            body = self.expression()
            self.expect("]", "at the end of a function")
            return FunctionSyntax(bounds, body, place=self.place_from(start))
        if len(items) == 1:
            return self._after_one(items[0], start)
        raise self.mistake("'|->' after the bounds of a function")

    def _after_one(self, first: ExpressionSyntax, start: ModuleToken) -> ExpressionSyntax:
        """Read the rest of `[S -> T]`, `[f EXCEPT ...]` or `[A]_v`."""
        if self.is_symbol("]_"):
            return self._subscripted("[", first, start)
        if self.accept("->"):
            codomain = self.expression()
            self.expect("]", "at the end of a set of functions")
            return FunctionSetSyntax(first, codomain, place=self.place_from(start))
        if self.accept("EXCEPT"):
            updates = self.separated(self._update)
            self.expect("]", "at the end of an EXCEPT")
            return ExceptSyntax(first, updates, place=self.place_from(start))
        raise self.mistake("'|->', '->', 'EXCEPT' or ']_'")

    def _record(self, separator: str, start: ModuleToken) -> RecordSyntax | RecordSetSyntax:
        def field() -> tuple[NameSyntax, ExpressionSyntax]:
            name = self.field_name()
            self.expect(separator, "after the name of a field")
            return name, self.expression()

        fields = self.separated(field)
        self.expect("]", "at the end of a record")
        kind = RecordSyntax if separator == "|->" else RecordSetSyntax
        return kind(fields, place=self.place_from(start))

    def _update(self) -> UpdateSyntax:
        start = self.peek()
        self.expect("!", "in an EXCEPT")
        path: list[NameSyntax | tuple[ExpressionSyntax, ...]] = []
        while self.is_symbol(".", "["):
            if self.take().text == ".":
                path.append(self.field_name())
            else:
                path.append(self.separated(self.expression))
                self.expect("]")
        if not path:
            raise self.mistake("'[' or '.' after the '!' of an EXCEPT")
        self.expect("=", "after the path of an EXCEPT")
        value = self.expression()
        return UpdateSyntax(tuple(path), value, place=self.place_from(start))

    def _bounds_of(self, items: Iterable[ExpressionSyntax]) -> tuple[BoundSyntax, ...]:
        r"""Return the bounds that expressions before `|->` are: `x`, `y \in S` is one bound of two names."""
        found: list[BoundSyntax] = []
        waiting: list[NameSyntax] = []
        for item in items:
            name, bound = simple_name(item), _bound_of(item)
            if name is not None:
                waiting.append(name)
            elif bound is not None and not (waiting and bound.is_pattern):
                found.append(BoundSyntax((*waiting, *bound.names), bound.domain, bound.is_pattern, place=bound.place))
                waiting = []
            else:
                break
        else:
            if not waiting:
                return tuple(found)
        raise self.mistake("bounds such as 'x \\in S' before '|->'")


def _bound_of(node: ExpressionSyntax) -> BoundSyntax | None:
    r"""Return the bound that `x \in S` or `<<x, y>> \in S` is, or None."""
    if not isinstance(node, InfixSyntax) or node.operator != "\\in":
        return None
    name = simple_name(node.left)
    if name is not None:
        return BoundSyntax((name,), node.right, place=node.place)
    if isinstance(node.left, TupleSyntax):
        names = [simple_name(item) for item in node.left.items]
        if names and None not in names:
            return BoundSyntax(tuple(name for name in names if name), node.right, is_pattern=True, place=node.place)
    return None
