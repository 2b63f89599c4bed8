r"""The text of a constant's value, as TLA+ writes it: in a `.cfg` file, after `--set`, and quoted in a manifest.

A value is a number, a string, TRUE, FALSE, a model value, `{ a, b }`, `<<a, b>>`, `[field |-> a]` or
`(key :> a @@ other :> b)`. The `.cfg` file of a TLA+ module has no more than TLC reads: no sequences, records and
functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, assert_never

from kmc.errors import CommandLineError, ModelError
from kmc.model_files.model_file import KEYWORDS, RESERVED, Assignment, is_name
from kmc.model_files.raw_values import (
    ESCAPES,
    ModelValue,
    Raw,
    RawOperator,
    RawRecord,
    RawSequence,
    RawSet,
    fits_integer,
    raw_function,
    raw_identity,
    render_raw,
)
from kmc.model_files.tokens import Token, Tokens

_INTEGER_DIGITS_MAX = 20


@dataclass(frozen=True, slots=True)
class _Form:
    """The form of a collection: its noun, its last mark, and an example."""

    noun: str
    closing: str
    example: str


_FORMS = {
    "{": _Form("set", "}", "write a set as { a, b }"),
    "<<": _Form("sequence", ">>", "write a sequence as <<a, b>>"),
    "[": _Form("record", "]", "write a record as [field |-> a, other |-> b]"),
    "(": _Form("function", ")", "write a function as (key :> a @@ other :> b)"),
}


def read_value(tokens: Tokens, constant: str, equals: Token) -> Raw:
    """The value that comes next, for `constant`, whose `=` is at `equals`.

    Raises ModelError: KMC306 when there is no value, KMC302 for a bad number or string, KMC308 for a bad collection.
    """
    token = tokens.peek()
    starts_value = token.kind in ("number", "string") or token.text in ("TRUE", "FALSE") or _opens(tokens)
    if not starts_value and not (token.kind == "name" and is_name(token.text)):
        help_line = 'write a number, a "string", TRUE, FALSE, a model value or a set such as { a, b }'
        message = f"the constant '{constant}' has no value: {token.shown()} comes after '='"
        raise ModelError("KMC306", message, equals.span, help_line)
    return _read(tokens, constant)


def value_of_text(text: str, path: str, constant: str) -> Raw:
    """The value that a whole text is; ModelError as of `read_value`, and KMC306 for what follows the value."""
    tokens = Tokens(text, path)
    value = read_value(tokens, constant, tokens.peek())
    if tokens.peek().kind != "end":
        message = f"{tokens.peek().shown()} comes after the value"
        raise ModelError("KMC306", message, tokens.peek().span, "write one value")
    return value


def _opens(tokens: Tokens) -> bool:
    """Whether a collection comes next."""
    token = tokens.peek()
    return token.kind == "mark" and token.text in (("{",) if tokens.for_module else _FORMS)


def _read(tokens: Tokens, constant: str) -> Raw:
    if not _opens(tokens):
        return _plain_value(tokens.take())
    opening = tokens.take()
    collection = _Collection(tokens, constant, opening, _FORMS[opening.text])
    match opening.text:
        case "{":
            return RawSet(collection.members("occurs twice in the set"))
        case "<<":
            return RawSequence(collection.members(None))
        case "[":
            return RawRecord(collection.fields())
        case _:
            return collection.function()


def _plain_value(token: Token) -> Raw:
    match token.kind:
        case "number":
            return _integer(token)
        case "string":
            return _string(token)
        case "name":
            return token.text == "TRUE" if token.text in ("TRUE", "FALSE") else ModelValue(token.text)
        case "mark" | "operator" | "end":
            raise AssertionError(f"no value starts with {token.shown()}")
        case _:
            assert_never(token.kind)


def _integer(token: Token) -> int:
    # Python refuses to convert texts of thousands of digits, so check the length first.
    if len(token.text) <= _INTEGER_DIGITS_MAX and fits_integer(int(token.text)):
        return int(token.text)
    raise ModelError("KMC302", "this number does not fit 64 bits", token.span, "write a smaller number")


def _string(token: Token) -> str:
    def unescaped(match: re.Match[str]) -> str:
        letter = match.group(1)
        if letter not in ESCAPES:
            known = " ".join("\\" + known for known in ESCAPES)
            raise ModelError("KMC302", f"unknown escape '\\{letter}' in a string", token.span, f"known: {known}")
        return ESCAPES[letter]

    return re.sub(r"\\(.)", unescaped, token.text[1:-1])


@dataclass(frozen=True, slots=True)
class _Collection:
    """A collection whose first mark was just read."""

    tokens: Tokens
    constant: str
    opening: Token
    form: _Form

    def members(self, repeated: str | None) -> tuple[Raw, ...]:
        """The values between commas; with `repeated`, the mistake of an equal one in words, they must differ."""
        members: list[Raw] = []

        def read() -> None:
            token = self.tokens.peek()
            member = self._value("a member")
            if repeated is not None and raw_identity(member) in map(raw_identity, members):
                message = f"{render_raw(member)} {repeated} of '{self.constant}'"
                raise ModelError("KMC308", message, token.span, "write it once")
            members.append(member)

        if self.tokens.take_mark(self.form.closing) is None:
            self._separated(",", read)
        return tuple(members)

    def fields(self) -> tuple[tuple[str, Raw], ...]:
        """The fields of a record."""
        fields: dict[str, Raw] = {}

        def read() -> None:
            name = self.tokens.peek()
            if name.kind != "name" or not is_name(name.text):
                self._refuse(name, "the name of a field")
            self.tokens.take()
            if name.text in fields:
                message = f"{name.text} occurs twice in the record of '{self.constant}'"
                raise ModelError("KMC308", message, name.span, "write it once")
            self._mark("|->")
            fields[name.text] = self._value("a value")

        self._separated(",", read)
        return tuple(fields.items())

    def function(self) -> Raw:
        """The function; a sequence if its keys are 1..n."""
        pairs: list[tuple[Raw, Raw]] = []

        def read() -> None:
            token = self.tokens.peek()
            key = self._value("a key")
            if raw_identity(key) in [raw_identity(earlier) for earlier, _ in pairs]:
                message = f"{render_raw(key)} occurs twice as a key of the function of '{self.constant}'"
                raise ModelError("KMC308", message, token.span, "give each key one value")
            self._mark(":>")
            pairs.append((key, self._value("a value")))

        self._separated("@@", read)
        return raw_function(tuple(pairs))

    def _separated(self, separator: str, read: Callable[[], None]) -> None:
        """Call `read` for each part up to the last mark."""
        while True:
            read()
            if self.tokens.take_mark(self.form.closing):
                return
            if not self.tokens.take_mark(separator):
                self._refuse(self.tokens.peek(), f"'{separator}' or '{self.form.closing}'")

    def _mark(self, mark: str) -> None:
        if not self.tokens.take_mark(mark):
            self._refuse(self.tokens.peek(), f"'{mark}'")

    def _value(self, wanted: str) -> Raw:
        token = self.tokens.peek()
        is_plain = token.kind not in ("mark", "end") and token.text not in RESERVED - {"TRUE", "FALSE"}
        if not is_plain and not _opens(self.tokens):
            self._refuse(token, wanted)
        return _read(self.tokens, self.constant)

    def _refuse(self, token: Token, wanted: str) -> NoReturn:
        form = self.form
        if token.kind == "end" or (token.kind == "name" and token.text in KEYWORDS):
            message = f"the {form.noun} of '{self.constant}' is not closed: {token.shown()} comes first"
            raise ModelError("KMC308", message, self.opening.span, f"close it with '{form.closing}'")
        message = f"{token.shown()} stands where the {form.noun} of '{self.constant}' needs {wanted}"
        raise ModelError("KMC308", message, token.span, form.example)


def parse_set(text: str) -> Assignment:
    """The assignment in the text of a `--set` option, such as `MaxElections=2` or `Server={n1,n2}`.

    Its span has the path "--set" and counts columns in the option's text. Raises CommandLineError KMC610.
    """
    try:
        return _read_set_option(Tokens(text, "--set"))
    except ModelError as error:
        raise CommandLineError("KMC610", f"--set '{text}': {error.message}", None, error.help) from None


def _read_set_option(tokens: Tokens) -> Assignment:
    name = tokens.take()
    form = "write --set NAME=VALUE, for example --set MaxElections=2 or --set 'Server={n1,n2}'"
    if name.kind != "name" or not is_name(name.text):
        problem = "there is nothing" if name.kind == "end" else f"{name.shown()} is not the name of a constant"
        raise ModelError("KMC306", problem, name.span, form)
    arrow = tokens.take_mark("<-")
    equals = arrow or tokens.take_mark("=")
    if equals is None:
        message = f"{tokens.peek().shown()} stands where '=' is needed"
        raise ModelError("KMC306", message, tokens.peek().span, form)
    value = read_definition(tokens, name.text) if arrow else read_value(tokens, name.text, equals)
    if tokens.peek().kind != "end":
        message = f"{tokens.peek().shown()} comes after the value"
        advice = "give each constant its own --set, and write a set in braces: --set 'Server={n1,n2}'"
        raise ModelError("KMC306", message, tokens.peek().span, advice)
    return Assignment(name.text, value, name.span)


def read_definition(tokens: Tokens, constant: str) -> RawOperator:
    """The name of the definition that a constant gets, after `<-`; ModelError KMC306 when there is none."""
    target = tokens.take()
    if target.kind != "name" or not is_name(target.text):
        message = f"{target.shown()} stands where the definition that '{constant}' gets is needed"
        raise ModelError("KMC306", message, target.span, f"write {constant} <- name_of_a_function")
    return RawOperator(target.text)
