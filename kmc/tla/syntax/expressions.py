r"""The parser of TLA+ expressions: operators by their ranges of precedence, lists by their alignment.

An infix operator is read with the operator left of its left operand in view (Pratt's method). The two are compared by
their ranges of precedence, and ranges that meet are an error at the second operator, as in SANY. Brackets are read
in `kmc.tla.syntax.brackets`, names and arguments in `kmc.tla.syntax.references`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kmc.errors import SpecError
from kmc.tla.syntax.brackets import BracketParser
from kmc.tla.syntax.cursor import names_field
from kmc.tla.syntax.operators import INFIX, POSTFIX, PREFIX, PREFIX_WORDS, Precedence
from kmc.tla.syntax.tokens import ModuleToken
from kmc.tla.syntax.tree import (
    ApplicationSyntax,
    BooleanSyntax,
    CaseSyntax,
    ChooseSyntax,
    DecimalSyntax,
    ExpressionSyntax,
    FieldSyntax,
    IfSyntax,
    InfixSyntax,
    JunctionSyntax,
    LetSyntax,
    NumberSyntax,
    PostfixSyntax,
    PrefixSyntax,
    PreviousSyntax,
    ProductSyntax,
    QuantifierSyntax,
    StringSyntax,
    UnboundedSyntax,
)

_DIGITS_MAX = 1000
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_BASES = {"b": 2, "o": 8, "h": 16}

_COMPARISONS = frozenset(("=", "#", "<", ">", "<=", ">="))


@dataclass(frozen=True, slots=True)
class _Neighbour:
    """The operator left of an operand."""

    operator: str
    precedence: Precedence


class ExpressionParser(BracketParser):
    """Expressions; what LET defines is read by a subclass."""

    def expression(self) -> ExpressionSyntax:
        """Read an expression."""
        return self._operand(None)

    def _operand(self, left: _Neighbour | None) -> ExpressionSyntax:
        """Read an expression that ends before an operator that binds less than `left`."""
        self.nest()
        start = self.peek()
        result = self._prefix_expression(left)
        links = 0
        while (longer := self._extended(result, left, start)) is not None:
            result = longer
            self.nest()
            links += 1
        self.nest(-1 - links)
        return result

    def _extended(
        self, result: ExpressionSyntax, left: _Neighbour | None, start: ModuleToken
    ) -> ExpressionSyntax | None:
        """Return `result` with the operator that follows it, or None if none does that binds more than `left`."""
        token = self.peek()
        if token.kind != "symbol":
            return None
        operator = token.text
        if operator == "[":
            self.take()
            arguments = self.separated(self.expression)
            self.expect("]", "after the argument of a function")
            return ApplicationSyntax(result, arguments, place=self.place_from(start))
        if operator == "." and names_field(self.peek(1)):
            self.take()
            name = self.take().text
            return FieldSyntax(result, name, place=self.place_from(start))
        if operator in POSTFIX and self._binds(left, token, POSTFIX[operator]):
            self.take()
            return PostfixSyntax(operator, result, place=self.place_from(start))
        if operator in INFIX and self._binds(left, token, INFIX[operator]):
            return self._infix(result, start)
        return None

    def _binds(self, left: _Neighbour | None, token: ModuleToken, precedence: Precedence) -> bool:
        """Return whether the operator at `token` takes the operand before it from `left`; KMC002 if neither may."""
        if left is None or left.precedence.high < precedence.low:
            return True
        if left.precedence.low > precedence.high or (left.operator == token.text and precedence.associates):
            return False
        raise self._conflict(left, token)

    def _conflict(self, left: _Neighbour, token: ModuleToken) -> SpecError:
        message = f"the operators '{left.operator.rstrip('.')}' and '{token.text}' stand side by side"
        help_line = "put parentheses around one of the two operations: neither operator binds more than the other"
        if left.operator in _COMPARISONS and token.text in _COMPARISONS:
            help_line = f"write the conditions one by one: a {left.operator} b /\\ b {token.text} c"
        return SpecError("KMC002", message, self.place_of(token), help_line)

    def _infix(self, result: ExpressionSyntax, start: ModuleToken) -> ExpressionSyntax:
        token = self.take()
        operator = token.text
        right = self._operand(_Neighbour(operator, INFIX[operator]))
        place = self.place_from(start)
        if operator != "\\X":
            return InfixSyntax(operator, result, right, self.place_of(token), place=place)
        # The place of a product in parentheses begins behind its parenthesis; it is one set of this product.
        is_open = isinstance(result, ProductSyntax) and (result.place.line, result.place.column) == (
            start.line,
            start.column,
        )
        sets = result.sets if isinstance(result, ProductSyntax) and is_open else (result,)
        return ProductSyntax((*sets, right), place=place)

    def _prefix_expression(self, left: _Neighbour | None) -> ExpressionSyntax:
        """Read an expression up to the first operator that is not a prefix operator."""
        token = self.peek()
        match token.kind:
            case "name":
                return self.reference()
            case "number":
                return self._number()
            case "string":
                text = self.take().raw[1:-1]
                return StringSyntax(_decoded(text), place=self.place_from(token))
            case "keyword":
                return self._keyword_expression(token)
            case "symbol":
                return self._symbol_expression(token, left)
            case _:
                raise self.mistake("an expression")

    def _number(self) -> NumberSyntax | DecimalSyntax:
        token = self.peek()
        if len(token.raw) > _DIGITS_MAX:
            raise self.mistake(f"a number of at most {_DIGITS_MAX} digits")
        self.take()
        place = self.place_of(token)
        if token.raw.startswith("\\"):
            return NumberSyntax(int(token.raw[2:], _BASES[token.raw[1].lower()]), place=place)
        return DecimalSyntax(token.raw, place=place) if "." in token.raw else NumberSyntax(int(token.raw), place=place)

    def _keyword_expression(self, token: ModuleToken) -> ExpressionSyntax:
        match token.text:
            case "TRUE" | "FALSE":
                self.take()
                return BooleanSyntax(token.text == "TRUE", place=self.place_of(token))
            case "IF":
                return self._if()
            case "CASE":
                return self._case()
            case "LET":
                return self._let()
            case "CHOOSE":
                return self._choose()
            case word if word in PREFIX_WORDS:
                return self._prefix_operation(word)
            case _:
                raise self.mistake("an expression")

    def _symbol_expression(self, token: ModuleToken, left: _Neighbour | None) -> ExpressionSyntax:
        match token.text:
            case "(":
                return self.parenthesized()
            case "<<":
                return self.tuple_or_action()
            case "{":
                return self.set_in_braces()
            case "[":
                return self.in_brackets()
            case "/\\" | "\\/" as operator:
                return self._junction(operator)
            case "\\A" | "\\E" | "\\AA" | "\\EE" as kind:
                return self._quantifier(kind)
            case "-":
                return self._negation(left)
            case "~" | "[]" | "<>" as operator:
                return self._prefix_operation(operator)
            case "WF_" | "SF_":
                return self.fairness()
            case "@":
                self.take()
                return PreviousSyntax(place=self.place_of(token))
            case operator if operator in INFIX and self.peek(1).text == "(":
                return self._infix_before_operands()
            case operator if operator in (*POSTFIX, "-.") and self.peek(1).text == "(":
                return self._operator_before_operand()
            case _:
                raise self.mistake("an expression")

    def _infix_before_operands(self) -> ExpressionSyntax:
        """Read `+(a, b)`, which is `a + b`."""
        start = self.take()
        self.expect("(")
        left = self.expression()
        self.expect(",", f"after the first operand of '{start.text}'")
        right = self.expression()
        self.expect(")")
        place = self.place_from(start)
        if start.text == "\\X":
            return ProductSyntax((left, right), place=place)
        return InfixSyntax(start.text, left, right, self.place_of(start), place=place)

    def _operator_before_operand(self) -> ExpressionSyntax:
        """Read `^+(a)`, which is `a^+`, and `-.(a)`, which is `-a`."""
        start = self.take()
        operand = self.parenthesized()
        if start.text in POSTFIX:
            return PostfixSyntax(start.text, operand, place=self.place_from(start))
        return PrefixSyntax(start.text, operand, place=self.place_from(start))

    def _prefix_operation(self, operator: str) -> PrefixSyntax:
        start = self.take()
        operand = self._operand(_Neighbour(operator, PREFIX[operator]))
        return PrefixSyntax(operator, operand, place=self.place_from(start))

    def _negation(self, left: _Neighbour | None) -> PrefixSyntax:
        if left is not None and left.precedence.low > PREFIX["-."].high:
            raise self._conflict(left, self.peek())
        return self._prefix_operation("-.")

    def _junction(self, operator: Literal["/\\", "\\/"]) -> JunctionSyntax:
        start = self.peek()
        outer = self._limit
        items = []
        while self.is_symbol(operator) and self.peek().indent == start.indent:
            self.take()
            self._limit = start.indent
            items.append(self.expression())
            self._limit = outer
        return JunctionSyntax(operator, tuple(items), place=self.place_from(start))

    def _if(self) -> IfSyntax:
        start = self.take()
        condition = self.expression()
        self.expect("THEN")
        then = self.expression()
        self.expect("ELSE")
        otherwise = self.expression()
        return IfSyntax(condition, then, otherwise, place=self.place_from(start))

    def _case(self) -> CaseSyntax:
        start = self.take()
        arms: list[tuple[ExpressionSyntax, ExpressionSyntax]] = []
        other = None
        while other is None:
            if arms and self.is_keyword("OTHER"):
                self.take()
                self.expect("->", "after OTHER")
                other = self.expression()
                break
            condition = self.expression()
            self.expect("->", "after the condition of a CASE")
            arms.append((condition, self.expression()))
            if not self.accept("[]"):
                break
        return CaseSyntax(tuple(arms), other, place=self.place_from(start))

    def _let(self) -> LetSyntax:
        start = self.take()
        units = self.let_units()
        self.expect("IN", "after the definitions of a LET")
        body = self.expression()
        return LetSyntax(units, body, place=self.place_from(start))

    def _choose(self) -> ChooseSyntax:
        start = self.take()
        is_pattern = self.is_symbol("<<")
        names = self.pattern() if is_pattern else (self.name(),)
        domain = self.expression() if self.accept("\\in") else None
        self.expect(":", "before the condition of a CHOOSE")
        body = self.expression()
        return ChooseSyntax(names, is_pattern, domain, body, place=self.place_from(start))

    def _quantifier(self, kind: Literal["\\A", "\\E", "\\AA", "\\EE"]) -> QuantifierSyntax | UnboundedSyntax:
        start = self.take()
        names = None if self.is_symbol("<<") else self.separated(self.name)
        if names is not None and not self.is_symbol("\\in"):
            self.expect(":", f"or '\\in' after the names of {kind}")
            body = self.expression()
            return UnboundedSyntax(kind, names, body, place=self.place_from(start))
        if kind == "\\AA" or kind == "\\EE":
            raise self.mistake(f"':', since {kind} has no set")
        bounds = self.bounds(names)
        self.expect(":", f"before the condition of {kind}")
        body = self.expression()
        return QuantifierSyntax(kind, bounds, body, place=self.place_from(start))


def _decoded(text: str) -> str:
    """Return the text of a string with its escapes decoded."""
    if "\\" not in text:
        return text
    parts = []
    letters = iter(text)
    for letter in letters:
        if letter == "\\":
            escaped = next(letters)
            parts.append(_ESCAPES.get(escaped, escaped))
        else:
            parts.append(letter)
    return "".join(parts)
