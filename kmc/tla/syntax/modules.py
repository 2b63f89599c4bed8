r"""The parser of TLA+ modules: their units, modules inside of them, and the way past their proofs.

A proof is skipped, and with it a statement without a name, up to the next line that begins a unit and is not indented
more than the THEOREM: a line with a keyword of units, or with a name or an operator that `==` follows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from kmc.errors import Span, SpecError
from kmc.tla.syntax.cursor import room_for_nesting
from kmc.tla.syntax.expressions import ExpressionParser
from kmc.tla.syntax.operators import DEFINABLE_PREFIX, INFIX, POSTFIX
from kmc.tla.syntax.tokens import ModuleToken, comment_above, tokens_of_expression, tokens_of_module
from kmc.tla.syntax.tree import (
    AssumptionSyntax,
    DeclarationSyntax,
    DefinitionSyntax,
    ExpressionSyntax,
    FunctionDefinitionSyntax,
    InstanceSyntax,
    ModuleSyntax,
    NameSyntax,
    ParameterSyntax,
    SubstitutionSyntax,
    TheoremSyntax,
    UnitSyntax,
)

_DECLARATIONS: dict[str, Literal["CONSTANT", "VARIABLE", "RECURSIVE"]] = {
    "CONSTANT": "CONSTANT",
    "CONSTANTS": "CONSTANT",
    "VARIABLE": "VARIABLE",
    "VARIABLES": "VARIABLE",
    "RECURSIVE": "RECURSIVE",
}
_ASSUMPTIONS = frozenset(("ASSUME", "ASSUMPTION", "AXIOM"))
_THEOREMS = frozenset(("THEOREM", "LEMMA", "PROPOSITION", "COROLLARY"))
_PROOFS = frozenset(("USE", "HIDE"))
_UNIT_KEYWORDS = frozenset((*_DECLARATIONS, *_ASSUMPTIONS, *_THEOREMS, "INSTANCE", "LOCAL", "USE", "HIDE"))


def parse_module(text: str, path: str) -> ModuleSyntax:
    """Parse the first module in a text; `path` names the file in places. Raises SpecError KMC001 to KMC004."""
    tokenized = tokens_of_module(text)
    if tokenized is None:
        help_line = "a module begins with a line such as ---- MODULE Name ---- and ends with ===="
        raise SpecError("KMC004", f"'{path}' has no TLA+ module", Span(path, 1), help_line)
    with room_for_nesting():
        return ModuleParser(tokenized, path).module()


def parse_module_file(path: Path) -> ModuleSyntax:
    """Parse the module in a file; raises SpecError KMC001 to KMC004."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        message = f"cannot read the module '{path}': {error.strerror or 'it cannot be read'}"
        raise SpecError("KMC004", message, None, "check the path and its permissions") from None
    except UnicodeDecodeError:
        message = f"the module '{path}' is not UTF-8"
        raise SpecError("KMC004", message, None, "save the file as UTF-8") from None
    return parse_module(text, str(path))


def parse_expression_text(text: str, name: str = "expression") -> ExpressionSyntax:
    """Parse a text that is one expression; `name` names the text in places."""
    with room_for_nesting():
        parser = ModuleParser(tokens_of_expression(text), name, text)
        expression = parser.expression()
        if parser.peek().kind != "end":
            raise parser.mistake("the end of the expression")
        return expression


class ModuleParser(ExpressionParser):
    """Modules and their units."""

    def module(self) -> ModuleSyntax:
        """Read a module from its `----` to its `====`."""
        start = self.peek()
        self.nest()
        self._line("'----' before MODULE")
        self.expect("MODULE")
        name = self.name("the name of the module")
        self._line(f"'----' after MODULE {name.text}")
        extends = self.separated(self.name) if self.accept("EXTENDS") else ()
        units: list[UnitSyntax] = []
        while self.peek().kind != "close":
            if self.peek().kind == "line" and self.peek(1).text != "MODULE":
                self._at += 1
            elif self.peek().kind == "end":
                raise self.mistake(f"'====' at the end of module {name.text}")
            else:
                units.extend(self._unit())
        self._at += 1
        self.nest(-1)
        return ModuleSyntax(name.text, extends, tuple(units), place=self.place_from(start))

    def _line(self, what: str) -> None:
        if self.peek().kind != "line":
            raise self.mistake(what)
        self._at += 1

    def _unit(self) -> list[UnitSyntax]:
        """Read one unit, or nothing where proofs are skipped."""
        start = self.peek()
        if start.kind == "line":
            return [self.module()]
        word = start.text if start.kind == "keyword" else ""
        if word in _DECLARATIONS:
            return [self._declaration(_DECLARATIONS[word])]
        if word in _ASSUMPTIONS:
            return [self._assumption()]
        if word in _THEOREMS:
            return [self._theorem()]
        if word in _PROOFS:
            self._skip_proof(self.take())
            return []
        is_local = self.accept("LOCAL")
        if self.is_keyword("INSTANCE"):
            return [self._instance(start, None, (), is_local)]
        return [self._definition(is_local, "a definition, a declaration or '====' at the end of the module")]

    def let_units(self) -> tuple[UnitSyntax, ...]:
        """Read the definitions of a LET."""
        units: list[UnitSyntax] = []
        while not units or not self.is_keyword("IN"):
            if self.is_keyword("RECURSIVE"):
                units.append(self._declaration("RECURSIVE"))
            else:
                units.append(self._definition(False, "a definition or IN"))
        return tuple(units)

    def _declaration(self, kind: Literal["CONSTANT", "VARIABLE", "RECURSIVE"]) -> DeclarationSyntax:
        start = self.take()
        names = self.separated(self._variable if kind == "VARIABLE" else self._parameter)
        return DeclarationSyntax(kind, names, place=self.place_from(start))

    def _variable(self) -> ParameterSyntax:
        name = self.name("the name of a variable")
        return ParameterSyntax(name.text, place=name.place)

    def _parameter(self) -> ParameterSyntax:
        r"""Read `x`, `F(_, _)`, `_ \prec _`, `-. _` or `_ ^+`."""
        start = self.peek()
        if self.accept("_"):
            operator = self._operator_symbol((*INFIX, *POSTFIX), "an operator after '_'")
            if operator in POSTFIX:
                return ParameterSyntax(operator, 1, place=self.place_from(start))
            self.expect("_", f"after '{operator}'")
            return ParameterSyntax(operator, 2, place=self.place_from(start))
        if start.text in DEFINABLE_PREFIX and start.kind in ("symbol", "keyword"):
            self.take()
            self.expect("_", f"after '{start.text}'")
            return ParameterSyntax(start.text, 1, place=self.place_from(start))
        name = self.name("a name or an operator")
        arity = 0
        if self.accept("("):
            arity = len(self.separated(lambda: self.expect("_")))
            self.expect(")")
        return ParameterSyntax(name.text, arity, place=self.place_from(start))

    def _operator_symbol(self, known: tuple[str, ...], expected: str) -> str:
        if not self.is_symbol(*known):
            raise self.mistake(expected)
        return self.take().text

    def _assumption(self) -> AssumptionSyntax:
        start = self.take()
        name = self._statement_name()
        condition = self.expression()
        return AssumptionSyntax(name, condition, start.text == "AXIOM", place=self.place_from(start))

    def _theorem(self) -> TheoremSyntax:
        start = self.take()
        name = self._statement_name()
        place = self.place_from(start)
        statement = self.expression() if name is not None and not self.is_keyword("ASSUME") else None
        self._skip_proof(start, at_least=0 if statement is not None else 1)
        return TheoremSyntax(name, statement, place=place)

    def _statement_name(self) -> str | None:
        if self.peek().kind == "name" and self.peek(1).text == "==":
            name = self.take().text
            self.take()
            return name
        return None

    def _skip_proof(self, start: ModuleToken, at_least: int = 1) -> None:
        """Pass over a proof, and over the statement before it, whose first token may begin a line itself."""
        self._at += at_least
        while self.peek().kind not in ("end", "line", "close"):
            token = self.peek()
            if token.line != self.previous().line and token.indent <= start.indent and self._begins_unit(token):
                return
            self._at += 1

    def _begins_unit(self, token: ModuleToken) -> bool:
        if token.kind == "keyword" and token.text in _UNIT_KEYWORDS:
            return True
        if token.text in DEFINABLE_PREFIX:
            return self.peek(1).kind == "name" and self.peek(2).text == "=="
        if token.kind != "name":
            return False
        following = self.peek(1)
        if following.text in ("(", "["):
            return self.peek(self._behind_brackets(1)).text == "=="
        if following.text in POSTFIX:
            return self.peek(2).text == "=="
        return following.text == "==" or (following.text in INFIX and self.peek(3).text == "==")

    def _behind_brackets(self, ahead: int) -> int:
        """Return how far ahead the token behind the bracket that is `ahead` is."""
        depth = 0
        while self.peek(ahead).kind != "end":
            text = self.peek(ahead).text
            depth += (text in ("(", "[")) - (text in (")", "]"))
            ahead += 1
            if depth == 0:
                break
        return ahead

    def _definition(self, is_local: bool, expected: str) -> UnitSyntax:
        start = self.peek()
        comment = comment_above(self.comments, start.line)
        if start.text in DEFINABLE_PREFIX and start.kind in ("symbol", "keyword"):
            self.take()
            operand = self._value_parameter()
            return self._defined(start.text, (operand,), self.place_of(start), is_local, comment)
        name = self.name(expected)
        if self.accept("("):
            parameters = self.separated(self._parameter)
            self.expect(")", "after the parameters")
            if self.is_symbol("==") and self.peek(1).text == "INSTANCE":
                return self._named_instance(start, name, parameters, is_local)
            return self._defined(name.text, parameters, name.place, is_local, comment)
        if self.accept("["):
            bounds = self.bounds()
            self.expect("]", "after the bounds of a function")
            self.expect("==", "and the value of the function")
            body = self.expression()
            return FunctionDefinitionSyntax(name.text, bounds, body, is_local, comment, place=name.place)
        if self.is_symbol("==") and self.peek(1).text == "INSTANCE":
            return self._named_instance(start, name, (), is_local)
        if self.is_symbol(*INFIX, *POSTFIX) and not self.is_symbol("="):
            return self._operator_definition(name, is_local, comment)
        return self._defined(name.text, (), name.place, is_local, comment)

    def _operator_definition(self, first: NameSyntax, is_local: bool, comment: str) -> DefinitionSyntax:
        r"""Read `a \prec b == body` or `a ^+ == body` from the operator on."""
        token = self.take()
        parameters = [ParameterSyntax(first.text, place=first.place)]
        if token.text in INFIX:
            parameters.append(self._value_parameter())
        return self._defined(token.text, tuple(parameters), self.place_of(token), is_local, comment)

    def _value_parameter(self) -> ParameterSyntax:
        name = self.name("the name of an operand")
        return ParameterSyntax(name.text, place=name.place)

    def _defined(
        self, name: str, parameters: tuple[ParameterSyntax, ...], place: Span, is_local: bool, comment: str
    ) -> DefinitionSyntax:
        self.expect("==", f"and the meaning of '{name}'")
        body = self.expression()
        return DefinitionSyntax(name, parameters, body, is_local, comment, place=place)

    def _named_instance(
        self, start: ModuleToken, name: NameSyntax, parameters: tuple[ParameterSyntax, ...], is_local: bool
    ) -> InstanceSyntax:
        self.expect("==")
        return self._instance(start, name.text, parameters, is_local)

    def _instance(
        self, start: ModuleToken, name: str | None, parameters: tuple[ParameterSyntax, ...], is_local: bool
    ) -> InstanceSyntax:
        self.expect("INSTANCE")
        module = self.name("the name of a module")
        substitutions = self.separated(self._substitution) if self.accept("WITH") else ()
        place = self.place_from(start)
        return InstanceSyntax(module, substitutions, name, parameters, is_local, place=place)

    def _substitution(self) -> SubstitutionSyntax:
        start = self.peek()
        if start.kind == "name" or self._is_operator(start):
            self.take()
        else:
            raise self.mistake("a constant or a variable of the instance")
        self.expect("<-", "after the name that is substituted")
        value = self.argument()
        return SubstitutionSyntax(start.text, value, place=self.place_from(start))
