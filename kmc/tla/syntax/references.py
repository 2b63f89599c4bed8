r"""The parser of names in expressions: applications, names of instances, selectors, labels, arguments, bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod

from kmc.tla.syntax.cursor import TokenCursor
from kmc.tla.syntax.operators import INFIX, POSTFIX, PREFIX_WORDS
from kmc.tla.syntax.tokens import ModuleToken
from kmc.tla.syntax.tree import (
    ArgumentSyntax,
    BoundSyntax,
    ExpressionSyntax,
    LabelSyntax,
    LambdaSyntax,
    NameSyntax,
    OperatorSymbolSyntax,
    ReferenceSyntax,
    StepSyntax,
    UnitSyntax,
)

_SELECTORS = ("<<", ">>", "@", ":")
_BEHIND_ARGUMENTS = frozenset(
    (*(",", ")", "LOCAL", "INSTANCE", "CONSTANT", "CONSTANTS", "VARIABLE", "VARIABLES", "RECURSIVE"),
     *("ASSUME", "ASSUMPTION", "AXIOM", "THEOREM", "LEMMA", "PROPOSITION", "COROLLARY", "IN"))
)  # fmt: skip
"""What follows an argument: of an operator, or of an INSTANCE, which the next unit or IN ends."""


class ReferenceParser(TokenCursor, ABC):
    """Names and what belongs to them."""

    @abstractmethod
    def expression(self) -> ExpressionSyntax:
        """Read an expression."""

    @abstractmethod
    def let_units(self) -> tuple[UnitSyntax, ...]:
        """Read the definitions of a LET."""

    def reference(self) -> ReferenceSyntax | LabelSyntax:
        """Read a name with its arguments, instances and selectors; or a label and what it labels."""
        start = self.peek()
        reference = self.path()
        if not self.is_symbol("::"):
            return reference
        names = self._label_parameters(reference)
        self.take()
        body = self.expression()
        return LabelSyntax(reference.steps[0].name, names, body, place=self.place_from(start))

    def path(self) -> ReferenceSyntax:
        """Read a name with its arguments, instances and selectors."""
        start = self.peek()
        name = self.name()
        steps = [StepSyntax(name.text, self._arguments(), place=self.place_from(start))]
        while self.is_symbol("!"):
            self.take()
            steps.append(self._step())
        return ReferenceSyntax(tuple(steps), place=self.place_from(start))

    def _step(self) -> StepSyntax:
        token = self.peek()
        if token.kind == "name" or self._is_operator(token):
            self.take()
            return StepSyntax(token.text, self._arguments(), place=self.place_from(token))
        if token.kind == "number" and token.raw.isdigit():
            self.take()
            return StepSyntax(token.raw, None, is_selector=True, place=self.place_of(token))
        if token.kind == "symbol" and token.text in _SELECTORS:
            self.take()
            return StepSyntax(token.text, None, is_selector=True, place=self.place_of(token))
        if self.is_symbol("("):
            arguments = self._arguments()
            return StepSyntax("", arguments, is_selector=True, place=self.place_from(token))
        raise self.mistake("a name, an operator or a selector after '!'")

    def _arguments(self) -> tuple[ArgumentSyntax, ...] | None:
        if not self.accept("("):
            return None
        arguments = self.separated(self.argument)
        self.expect(")", "after the arguments")
        return arguments

    def argument(self) -> ArgumentSyntax:
        """Read an argument: an expression, a LAMBDA or an operator without operands."""
        token = self.peek()
        if self.is_keyword("LAMBDA"):
            return self._lambda()
        if self._is_operator(token) and self._ends_argument(token, self.peek(1)):
            self.take()
            symbol = "-." if token.raw == "-." else token.text
            return OperatorSymbolSyntax(symbol, place=self.place_of(token))
        return self.expression()

    @staticmethod
    def _is_operator(token: ModuleToken) -> bool:
        if token.kind == "keyword":
            return token.text in PREFIX_WORDS
        return token.kind == "symbol" and (
            token.text in INFIX or token.text in POSTFIX or token.text in ("-.", "~", "[]", "<>")
        )

    @staticmethod
    def _ends_argument(operator: ModuleToken, following: ModuleToken) -> bool:
        """Return whether `operator` is an argument of its own: nothing follows that it could be applied to."""
        if operator.text in INFIX and operator.text not in ("-", "/\\", "\\/"):
            return True
        return following.kind in ("end", "line", "close") or following.text in (
            *(
                ",",
                ")",
                "LOCAL",
                "INSTANCE",
                "CONSTANT",
                "CONSTANTS",
                "VARIABLE",
                "VARIABLES",
                "ASSUME",
                "THEOREM",
                "IN",
            ),
        )

    def _lambda(self) -> LambdaSyntax:
        start = self.take()
        names = self.separated(self.name)
        self.expect(":", "after the parameters of a LAMBDA")
        body = self.expression()
        return LambdaSyntax(names, body, place=self.place_from(start))

    def _label_parameters(self, reference: ReferenceSyntax) -> tuple[NameSyntax, ...]:
        (step, *more) = reference.steps
        names: list[NameSyntax] = []
        for argument in step.arguments or ():
            name = simple_name(argument)
            if name is None:
                raise self.mistake("names only between the parentheses of a label")
            names.append(name)
        if more:
            raise self.mistake("an expression without '!' before a label's '::'")
        return tuple(names)

    def pattern(self) -> tuple[NameSyntax, ...]:
        """Read `<<x, y>>`, of names only."""
        self.expect("<<")
        names = self.separated(self.name)
        self.expect(">>", "after the names of a tuple")
        return names

    def bounds(self, first_names: tuple[NameSyntax, ...] | None = None) -> tuple[BoundSyntax, ...]:
        r"""Read `x \in S, <<y, z>> \in T`; the names before the first `\in` may have been read."""
        found = [self._bound(first_names)]
        while self.accept(","):
            found.append(self._bound(None))
        return tuple(found)

    def _bound(self, names: tuple[NameSyntax, ...] | None) -> BoundSyntax:
        start = self.peek()
        is_pattern = names is None and self.is_symbol("<<")
        if names is None:
            names = self.pattern() if is_pattern else self.separated(self.name)
        self.expect("\\in", "and a set after the names")
        domain = self.expression()
        place = self.place_between(names[0].place) if not is_pattern else self.place_from(start)
        return BoundSyntax(names, domain, is_pattern, place=place)


def simple_name(node: ArgumentSyntax) -> NameSyntax | None:
    """Return the name that an expression is, or None if it is anything more."""
    if isinstance(node, ReferenceSyntax) and len(node.steps) == 1 and node.steps[0].arguments is None:
        return NameSyntax(node.steps[0].name, place=node.place)
    return None
