"""A model file as data, and the text of its values: the common part of `.cfg` files, `models.toml` and `--set`.

Invariant: a value here is raw, exactly what a person wrote. Which constants a spec has, and of which type, is decided
where a spec meets its model; the spans kept here let that step blame the right word. Sets keep the order in which
their members were written, because identifiers are shown in that order. Sections of a `.cfg` file are read in
`kmc.model_files.cfg`, tables of a manifest in `kmc.model_files.manifest`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NoReturn, TypeAlias, assert_never

from kmc.errors import CommandLineError, ModelError, Span

KEYWORDS = (
    "ABSTRACTION",
    "ABSTRACTIONS",
    "ACTION_CONSTRAINT",
    "ACTION_CONSTRAINTS",
    "CHECK_DEADLOCK",
    "CONSTANT",
    "CONSTANTS",
    "CONSTRAINT",
    "CONSTRAINTS",
    "INIT",
    "INVARIANT",
    "INVARIANTS",
    "NEXT",
    "PROPERTIES",
    "PROPERTY",
    "SPECIFICATION",
    "SYMMETRY",
    "VERIFY_ABSTRACTIONS",
    "VIEW",
)
"""The keywords of a `.cfg` file, reserved: no constant, model value ... has such a name. ABSTRACTION is not TLC's."""

KEYWORDS_NOT_SUPPORTED = ("ALIAS", "POSTCONDITION", "TYPE_CONSTRAINT")
"""TLC's keywords that kmc does not have; reserved too, so that a file with such a section is never misread."""

RESERVED = frozenset((*KEYWORDS, *KEYWORDS_NOT_SUPPORTED, "TRUE", "FALSE"))
"""Words that cannot be names: all keywords and the two truth values."""

_NAME = r"(?=[0-9_]*[A-Za-z])[A-Za-z0-9_]+"
_TOKEN_WITHOUT_MARKS = (
    r"(?P<blank>[ \t\r\n\f]+|\\\*[^\n]*)|(?P<comment>\(\*)"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<number>-?[0-9]+(?![A-Za-z0-9_]))'
    rf"|(?P<name>{_NAME})"
)
_TOKEN = re.compile(rf"{_TOKEN_WITHOUT_MARKS}|(?P<mark><-|[{{}},=])")
_MODULE_TOKEN = re.compile(rf"{_TOKEN_WITHOUT_MARKS}|(?P<mark><-|[{{}},=\[\]])")
_COMMENT_EDGE = re.compile(r"\(\*|\*\)")
_ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_INTEGER_LIMIT = 1 << 63
_INTEGER_DIGITS_MAX = 20


@dataclass(frozen=True, slots=True)
class ModelValue:
    """A value equal only to itself, known by its name, as in TLC."""

    name: str


@dataclass(frozen=True, slots=True)
class RawSet:
    """A set, in the order in which its members were written; raises ModelError KMC308 when a member occurs twice."""

    members: tuple[Raw, ...]

    def __post_init__(self) -> None:
        seen = set()
        for member in self.members:
            identity = raw_identity(member)
            if identity in seen:
                raise ModelError("KMC308", f"{render_raw(member)} stands twice in a set", None, "write it once")
            seen.add(identity)


Raw: TypeAlias = int | bool | str | ModelValue | RawSet
"""A value as written: a number, TRUE or FALSE, a quoted string (`str`), a model value, or a set of such values."""


@dataclass(frozen=True, slots=True)
class Word:
    """A name as written in the file."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Assignment:
    """A constant and its value; the span covers the constant's name.

    `module` is the TLA+ module whose definition gets the value, in `X = [M] value`; empty for the root module.
    """

    name: str
    value: Raw
    span: Span
    module: str = ""


@dataclass(frozen=True, slots=True)
class Substitution:
    """`X <- Y` or `X <- [M] Y`: a definition of a TLA+ module in the place of a constant or of another definition."""

    name: str
    target: Word
    span: Span
    module: str = ""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model as a person wrote it: constants, what to check, and (from a manifest) bounds and expected results.

    `name` is the name for people: the stem of a `.cfg` file or the manifest's name of the model. `check_deadlock` is
    None if the file does not mention it. `max_depth` is the level bound (an initial state has level 1). `title`,
    `description`, `max_depth`, `never_fires`, `claims` and `expect` come from a manifest only.
    `never_fires` names the actions that fire in no reachable state; `claims` are the numbers of the claims that the
    model is evidence for (`kmc.frontend.shown_claims`); `expect` has the keys of `kmc check --json`, and `origin`, the
    source of the figures. `substitutions`, `alias` and `postcondition` come from the `.cfg` file of a TLA+ module only.
    """

    name: str
    path: str
    constants: tuple[Assignment, ...] = ()
    specification: Word | None = None
    init: Word | None = None
    next: Word | None = None
    invariants: tuple[Word, ...] = ()
    properties: tuple[Word, ...] = ()
    constraints: tuple[Word, ...] = ()
    action_constraints: tuple[Word, ...] = ()
    symmetry: tuple[Word, ...] = ()
    view: Word | None = None
    abstractions: tuple[Word, ...] = ()
    verify_abstractions: bool = False
    check_deadlock: bool | None = None
    max_depth: int | None = None
    title: str = ""
    description: str = ""
    never_fires: tuple[Word, ...] = ()
    claims: tuple[Word, ...] = ()
    expect: Mapping[str, object] | None = field(default=None, hash=False)
    substitutions: tuple[Substitution, ...] = ()
    alias: Word | None = None
    postcondition: Word | None = None

    def with_overrides(self, assignments: Iterable[Assignment]) -> ModelFile:
        """The same model with these constants replaced in place, or added at the end.

        Of two overrides of one constant, the later counts: a script appends `--set` to a command that has one.
        """
        overrides = {assignment.name: assignment for assignment in assignments}
        kept = tuple(overrides.pop(constant.name, constant) for constant in self.constants)
        return replace(self, constants=(*kept, *overrides.values()))


def raw_identity(value: Raw) -> object:
    """A hashable key, equal for equal values only: 1 differs from TRUE, and the order of a set does not count."""
    match value:
        case RawSet(members):
            return frozenset(raw_identity(member) for member in members)
        case _:
            return type(value).__name__, value


def same_name_model_value(assignment: Assignment) -> bool:
    """Whether the line reads `X = X`, which only declares a model value."""
    value = assignment.value
    return isinstance(value, ModelValue) and value.name == assignment.name


def is_name(text: str) -> bool:
    """Whether the text can name a constant, a model value, an invariant ...: a TLA+ identifier, not reserved."""
    return re.fullmatch(_NAME, text) is not None and text not in RESERVED


def fits_integer(value: int) -> bool:
    """Whether the number is within the range of model files, 64 bits with sign."""
    return -_INTEGER_LIMIT <= value < _INTEGER_LIMIT


def behaviour_mistake(model: ModelFile) -> ModelError | None:
    """KMC304 when the model names both SPECIFICATION and INIT or NEXT, or only one of the latter two; else None."""
    init, next_, specification = model.init, model.next, model.specification
    if specification is not None and (init or next_) is not None:
        help_line = "keep SPECIFICATION, or keep INIT and NEXT"
        return ModelError("KMC304", "a model has either SPECIFICATION or INIT and NEXT", specification.span, help_line)
    if init is not None and next_ is None:
        return ModelError("KMC304", "INIT stands without NEXT", init.span, "add NEXT, the next-state relation")
    if next_ is not None and init is None:
        return ModelError("KMC304", "NEXT stands without INIT", next_.span, "add INIT, the initial predicate")
    return None


def read_model_text(path: Path) -> str:
    """The text of a model file or manifest; raises ModelError KMC301 when it cannot be read or is not UTF-8."""
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        help_line = "check the path and its permissions"
        raise ModelError("KMC301", f"cannot read the model file '{path}': {reason}", None, help_line) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        span = Span(str(path), before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)
        message = f"the model file '{path}' is not UTF-8: byte {data[error.start]:#04x}"
        raise ModelError("KMC301", message, span, "save the file as UTF-8") from None


TokenKind: TypeAlias = Literal["name", "number", "string", "mark", "end"]
_TOKEN_KINDS: dict[str, TokenKind] = {"name": "name", "number": "number", "string": "string", "mark": "mark"}


@dataclass(frozen=True, slots=True)
class Token:
    """One token; `kind` "mark" is one of `{ } , = <- [ ]`, and "end" is the empty token just behind the last one."""

    kind: TokenKind
    text: str
    span: Span

    def shown(self) -> str:
        """The token as an error message names it."""
        return "the end" if self.kind == "end" else f"'{self.text}'"


class Tokens:
    """The tokens of a text, read from left to right; raises ModelError KMC302 where the text has none.

    Brackets are tokens in the file of a TLA+ module only.
    """

    def __init__(self, text: str, path: str, for_module: bool = False) -> None:
        self.for_module = for_module
        self._pattern = _MODULE_TOKEN if for_module else _TOKEN
        self._text = text
        self._path = path
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._tokens = list(self._scan())
        self._at = 0

    def peek(self) -> Token:
        """The next token, left where it is."""
        return self._tokens[self._at]

    def take(self) -> Token:
        """The next token, passed over unless it is the end."""
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def take_mark(self, mark: str) -> Token | None:
        """The next token if it is this mark, passed over; else None."""
        token = self.peek()
        return self.take() if token.kind == "mark" and token.text == mark else None

    def _scan(self) -> Iterator[Token]:
        at = end = 0
        while at < len(self._text):
            match = self._pattern.match(self._text, at)
            if match is None:
                self._refuse_character(at)
            start, at = match.span()
            kind = _TOKEN_KINDS.get(match.lastgroup or "")
            if match.lastgroup == "comment":
                at = self._comment_end(start)
            elif kind is not None:
                yield Token(kind, match.group(), self._span(start, at))
                end = at
        yield Token("end", "", self._span(end, end))

    def _span(self, start: int, end: int) -> Span:
        line = bisect_right(self._line_starts, start)
        column = start - self._line_starts[line - 1] + 1
        return Span(self._path, line, column, line, column + end - start)

    def _comment_end(self, start: int) -> int:
        depth = 0
        for match in _COMMENT_EDGE.finditer(self._text, start):
            depth += 1 if match.group() == "(*" else -1
            if depth == 0:
                return match.end()
        span = self._span(start, start + 2)
        raise ModelError("KMC302", "this comment is not closed", span, "close it with '*)', each nested one too")

    def _refuse_character(self, at: int) -> NoReturn:
        character = self._text[at]
        if character == '"':
            line_end = self._text.find("\n", at)
            span = self._span(at, len(self._text) if line_end < 0 else line_end)
            raise ModelError("KMC302", "this string is not closed on its line", span, "close it with '\"'")
        if self._text.startswith("*)", at):
            raise ModelError("KMC302", "'*)' closes no comment", self._span(at, at + 2), "remove it")
        help_line = "names have letters, digits and '_'; values are numbers, strings, TRUE, FALSE, names and { sets }"
        if character == "#":
            help_line = "a comment begins with \\*"
        raise ModelError("KMC302", f"unexpected character {character!r}", self._span(at, at + 1), help_line)


def read_value(tokens: Tokens, constant: str, equals: Token) -> Raw:
    """The value that comes next, for `constant`, whose `=` is at `equals`.

    Raises ModelError: KMC306 when there is no value, KMC302 for a bad number or string, KMC308 for a bad set.
    """
    token = tokens.peek()
    starts_value = token.kind in ("number", "string") or token.text in ("{", "TRUE", "FALSE")
    if not starts_value and not (token.kind == "name" and is_name(token.text)):
        help_line = 'write a number, a "string", TRUE, FALSE, a model value or a set such as { a, b }'
        message = f"the constant '{constant}' has no value: {token.shown()} comes after '='"
        raise ModelError("KMC306", message, equals.span, help_line)
    tokens.take()
    return _read_set(tokens, constant, token) if token.text == "{" else _plain_value(token)


def _plain_value(token: Token) -> Raw:
    match token.kind:
        case "number":
            return _integer(token)
        case "string":
            return _string(token)
        case "name":
            return token.text == "TRUE" if token.text in ("TRUE", "FALSE") else ModelValue(token.text)
        case "mark" | "end":
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
        if letter not in _ESCAPES:
            known = " ".join("\\" + known for known in _ESCAPES)
            raise ModelError("KMC302", f"unknown escape '\\{letter}' in a string", token.span, f"known: {known}")
        return _ESCAPES[letter]

    return re.sub(r"\\(.)", unescaped, token.text[1:-1])


def _read_set(tokens: Tokens, constant: str, brace: Token) -> RawSet:
    members: list[Raw] = []
    if tokens.take_mark("}"):
        return RawSet(())
    while True:
        token = tokens.peek()
        member = _read_member(tokens, constant, brace)
        if raw_identity(member) in map(raw_identity, members):
            message = f"{render_raw(member)} stands twice in the set of '{constant}'"
            raise ModelError("KMC308", message, token.span, "write it once")
        members.append(member)
        if tokens.take_mark("}"):
            return RawSet(tuple(members))
        if not tokens.take_mark(","):
            _refuse_set(tokens.peek(), constant, brace, "',' or '}'")


def _read_member(tokens: Tokens, constant: str, brace: Token) -> Raw:
    token = tokens.peek()
    if token.text == "{" and token.kind == "mark":
        return _read_set(tokens, constant, tokens.take())
    if token.kind in ("mark", "end") or token.text in RESERVED - {"TRUE", "FALSE"}:
        _refuse_set(token, constant, brace, "a member")
    return _plain_value(tokens.take())


def _refuse_set(token: Token, constant: str, brace: Token, wanted: str) -> NoReturn:
    if token.kind == "end" or (token.kind == "name" and token.text in KEYWORDS):
        message = f"the set of '{constant}' is not closed: {token.shown()} comes first"
        raise ModelError("KMC308", message, brace.span, "close it with '}'")
    message = f"{token.shown()} stands where the set of '{constant}' needs {wanted}"
    raise ModelError("KMC308", message, token.span, "write a set as { a, b }")


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
    equals = tokens.take_mark("=")
    if equals is None:
        message = f"{tokens.peek().shown()} stands where '=' is needed"
        raise ModelError("KMC306", message, tokens.peek().span, form)
    value = read_value(tokens, name.text, equals)
    if tokens.peek().kind != "end":
        message = f"{tokens.peek().shown()} comes after the value"
        advice = "give each constant its own --set, and write a set in braces: --set 'Server={n1,n2}'"
        raise ModelError("KMC306", message, tokens.peek().span, advice)
    return Assignment(name.text, value, name.span)


def render_raw(value: Raw) -> str:
    """The value as a `.cfg` file writes it."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case str():
            escaped = {ord(plain): "\\" + letter for letter, plain in _ESCAPES.items()}
            return f'"{value.translate(escaped)}"'
        case ModelValue(name):
            return name
        case RawSet(()):
            return "{}"
        case RawSet(members):
            return "{ " + ", ".join(render_raw(member) for member in members) + " }"
        case _:
            assert_never(value)


def render_cfg(model: ModelFile) -> str:
    """A `.cfg` file equal in meaning: reading it gives the same model, apart from name, path and spans.

    The parts that only a manifest has (title, description, level bound) become comments; expected results are
    omitted.
    TLC accepts one SYMMETRY name only, and no ABSTRACTIONS; kmc reads the lists that are written here.
    """
    lines = [rf"\* {line}".rstrip() for text in (model.title, model.description) for line in text.splitlines()]
    if model.max_depth is not None:
        lines.append(rf"\* level bound: {model.max_depth}")
    for keyword, word in (("SPECIFICATION", model.specification), ("INIT", model.init), ("NEXT", model.next)):
        lines += [f"{keyword} {word.text}"] if word is not None else []
    if model.constants:
        lines.append("CONSTANTS")
        lines += [f"    {constant.name} = {render_raw(constant.value)}" for constant in model.constants]
    lines += [f"VIEW {model.view.text}"] if model.view is not None else []
    sections = (
        ("SYMMETRY", model.symmetry),
        ("ABSTRACTIONS", model.abstractions),
        ("INVARIANTS", model.invariants),
        ("PROPERTIES", model.properties),
        ("CONSTRAINTS", model.constraints),
        ("ACTION_CONSTRAINTS", model.action_constraints),
    )
    for keyword, words in sections:
        lines += [keyword, *(f"    {word.text}" for word in words)] if words else []
    lines += ["VERIFY_ABSTRACTIONS TRUE"] if model.verify_abstractions else []
    if model.check_deadlock is not None:
        lines.append(f"CHECK_DEADLOCK {render_raw(model.check_deadlock)}")
    return "\n".join(lines) + "\n"
