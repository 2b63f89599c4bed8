"""An expression of the spec language over the states of a spec, as a person types it.

It may use all names of the spec's files, the words of the language, the members of its sets by their names (`n1`), the
state as `st`, its successor as `nxt`, and the fields of the state without `st.`. It is checked and rewritten as a spec
is, so it can do nothing that a spec cannot, and its errors point into its text.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

import kmc.lang
from kmc.errors import CommandLineError, KmcError, Span, TextSpan
from kmc.frontend.checks.subset import check_module
from kmc.frontend.loader import Spec
from kmc.frontend.rewrite import INJECTED, rewritten
from kmc.invariants.kinds import KINDS
from kmc.invariants.properties import Invariant, Predicate, holds
from kmc.lang.errors.blame import blamed, in_characters
from kmc.lang.kinds import kind_in_words
from kmc.lang.records import State
from kmc.lang.showing import shown
from kmc.lang.tla import PYTHON_NAMING, Naming, Tla, encode
from kmc.lang.tree import names_in
from kmc.lang.types import IdentMeta
from kmc.near_words import nearest
from kmc.spec.places import span_of

STATE, SUCCESSOR = "st", "nxt"
_FILE = "expression"
_NEGATION, _ASKED = "NotWanted", "wanted_predicate"
_ADVICE = f"write an expression of the spec language over the state {STATE}, such as len({STATE}.messages) > 2"


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression of a spec; `named` is the property of which it is the name, if it is only that."""

    spec: Spec
    text: str
    function: Callable[[Any, Any], Any]
    named: Predicate | None
    needs_successor: bool
    """Whether it says something of a step: it uses `nxt`, or is the name of an action property."""

    def value(self, state: State, successor: State | None = None) -> Any:
        """The value in a state, or in the step to its successor; KmcError at the place where it has none."""
        if self.named is not None:
            states = (state, successor) if self.needs_successor else (state,)
            return holds(self.named, self.spec.files, *states)
        try:
            return self.function(state, successor)
        except Exception as error:
            raise _placed(blamed(error, {*self.spec.files, _FILE}), self.text) from error

    def encoded(self, value: Any, naming: Naming = PYTHON_NAMING) -> Tla:
        """Its value as views show it; CommandLineError KMC643 where it is not a value of the spec language."""
        try:
            return encode(value, naming)
        except TypeError:
            inner = self._tuple_in_result()
            if inner is not None:
                message = "this is a tuple, not a value of the spec language"
                raise CommandLineError("KMC643", message, inner, "write a map, {key: value for ...}") from None
            kind = shown(value) if isinstance(value, type | FunctionType) else kind_in_words(value)
            message = f"this is {kind}, not a value of the spec language"
            raise CommandLineError("KMC643", message, self.place, self._advice()) from None

    def _advice(self) -> str:
        """The advice for a text that has no value."""
        if self.text in self.spec.state_class.fields:
            return f"the field of the state is {STATE}.{self.text}"
        if self.text in self.spec.properties:
            return f"kmc replay TRACE --property {self.text} evaluates a temporal property"
        return "call a function; write a set for a type or a range: {x for x in ...}"

    def negation(self, folder: Path) -> Invariant:
        """The invariant that it is false, written to a file in `folder`, since a compiler reads the files of a spec.

        It is for an expression of a state, without a successor. The file must stay until the invariant was compiled.
        """
        names, _ = names_of(self.spec)
        asked = f"{_ASKED}({STATE})"
        if self.named is not None:
            names[_ASKED] = self.named.function
        else:
            scope = _Scope(self.spec, self.text, names, {}, _bound(_parsed(self.text)))
            asked = ast.unparse(_FieldsOfState(scope).visit(_parsed(self.text)))
        return negated(asked, names, folder)

    @property
    def place(self) -> Span:
        """The whole text, as the place of an error."""
        return TextSpan.of(Span(_FILE, 1), self.text)

    def _tuple_in_result(self) -> Span | None:
        """The place of a tuple that is an element of the collection that the text is; None where there is none."""
        elements: list[ast.expr] = []
        match ast.parse(self.text, _FILE, "eval").body:
            case ast.SetComp(elt=element) | ast.ListComp(elt=element):
                elements = [element]
            case ast.Set(elts=members) | ast.List(elts=members):
                elements = members
            case ast.DictComp(key=key, value=value):
                elements = [key, value]
        found_at = next((element for element in elements if isinstance(element, ast.Tuple)), None)
        return None if found_at is None else _in_text(span_of(found_at, _FILE), self.text)


def expression(spec: Spec, text: str) -> Expression:
    """The expression that `text` is; CommandLineError KMC640 to KMC642 at the place of a mistake in it."""
    text = text.strip()
    tree = _parsed(text)
    names, ambiguous = names_of(spec)
    scope = _Scope(spec, text, names, ambiguous, _bound(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            scope.check(node)
    used = names_in(tree)
    named = _property(spec, tree)
    needs_successor = _states(named) == 2 if named is not None else SUCCESSOR in used
    function = _function(_FieldsOfState(scope).visit(tree), text, names)
    return Expression(spec, text, function, named, needs_successor)


def negated(text: str, names: Mapping[str, Any], folder: Path) -> Invariant:
    """The invariant that a checked expression is false, in a file of `folder`, with the names that it may use."""
    path, source = folder / f"{_NEGATION}.py", f"def {_NEGATION}({STATE}):\n    return not ({text})\n"
    path.write_text(source, encoding="utf-8")
    namespace = dict(names)
    # Reason for exec: as of `_function`.
    exec(compile(rewritten(ast.parse(source, path)), path, "exec", dont_inherit=True), namespace)
    return Invariant(_NEGATION, namespace[_NEGATION], Span(str(path), 1), "")


def names_of(spec: Spec) -> tuple[dict[str, Any], Mapping[str, tuple[str, ...]]]:
    """The names that an expression may use, and the names that several files of the spec define, with these files.

    A name of the spec hides a word of the language and a member of a set. A member of a spawned type is called as in
    views of traces: `s1` is number 1 of ServerId.
    """
    names: dict[str, Any] = {}
    files: dict[str, list[str]] = {}
    ambiguous = set()
    for module, namespace in spec.modules.items():
        for name, value in namespace.items():
            if name.startswith("__"):
                continue
            if names.setdefault(name, value) is not value:
                ambiguous.add(name)
            files.setdefault(name, []).append(module or spec.name)
    for value in [value for value in names.values() if isinstance(value, IdentMeta)]:
        for member in value:
            names.setdefault(f"{value.__name__[0].lower()}{member.title}" if value.spawned else member.title, member)
    for word in kmc.lang.__all__:
        names.setdefault(word, getattr(kmc.lang, word))
    names.update(INJECTED, __builtins__=next(iter(spec.modules.values()))["__builtins__"])
    return names, {name: tuple(files[name]) for name in ambiguous}


@dataclass(frozen=True, slots=True)
class _Scope:
    """The names that one expression may use."""

    spec: Spec
    text: str
    names: Mapping[str, Any]
    ambiguous: Mapping[str, tuple[str, ...]]
    bound: frozenset[str]

    def is_field(self, name: str) -> bool:
        """Whether a name alone is a field of the state."""
        taken = name in self.names or name in self.bound or name in (STATE, SUCCESSOR)
        return not taken and name in self.spec.state_class.fields

    def check(self, node: ast.Name) -> None:
        """CommandLineError for a name that means nothing, or several things."""
        name, builtins = node.id, self.names["__builtins__"]
        if name in self.bound or name in (STATE, SUCCESSOR) or self.is_field(name):
            return
        place = _in_text(span_of(node, _FILE), self.text)
        if name in self.ambiguous:
            files = ", ".join(self.ambiguous[name])
            message = f"several files of {self.spec.name} define '{name}': {files}"
            raise CommandLineError("KMC642", message, place, "write what it stands for")
        if name.startswith("__") or name not in {*self.names, *builtins}:
            raise CommandLineError("KMC641", f"the spec has no name '{name}'", place, self._advice(name))

    def _advice(self, name: str) -> str:
        variable = next((known for known in self.spec.variables.variables if known.name == name), None)
        if variable is not None:
            inner = f"[...].{variable.inner}" if variable.inner else ""
            return f"the TLA+ variable '{name}' is {STATE}.{variable.field}{inner} here"
        fields = list(self.spec.state_class.fields)
        near = nearest(name, [word for word in (*fields, *self.names) if not word.startswith("_")])
        if near is not None:
            return f"did you mean '{near}'?"
        return f"known: {STATE}, {SUCCESSOR}, {', '.join(fields)}, and what the files of the spec define"


class _FieldsOfState(ast.NodeTransformer):
    """Writes `st.` before the fields of the state."""

    def __init__(self, scope: _Scope) -> None:
        self._scope = scope

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load) or not self._scope.is_field(node.id):
            return node
        state = ast.copy_location(ast.Name(STATE, ast.Load()), node)
        return ast.copy_location(ast.Attribute(state, node.id, ast.Load()), node)


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, _FILE, "eval").body
    except SyntaxError as error:
        line = error.lineno or 1
        # Python gives no column for what lacks its end.
        column = error.offset or len(text.split("\n")[line - 1]) + 1
        span = Span(_FILE, line, column, error.end_lineno, error.end_offset or None)
        message = f"this is not an expression: {error.msg}"
        raise CommandLineError("KMC640", message, TextSpan.of(span, text), _ADVICE) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise CommandLineError("KMC640", f"this is not an expression: {error}", help=_ADVICE) from None


def _bound(tree: ast.expr) -> frozenset[str]:
    """The names that the expression binds itself: those of its comprehensions, and the parameters of its lambdas."""
    assigned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return frozenset(assigned | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)})


def _property(spec: Spec, tree: ast.expr) -> Predicate | None:
    declared = spec.properties.get(tree.id) if isinstance(tree, ast.Name) else None
    return declared if isinstance(declared, Predicate) else None


def _states(named: Predicate) -> int:
    return next(kind.states for kind in KINDS if isinstance(named, kind.declared))


def _function(expression: ast.expr, text: str, names: Mapping[str, Any]) -> Callable[[Any, Any], Any]:
    tree = ast.parse(f"def evaluated({STATE}, {SUCCESSOR}):\n    return None", _FILE)
    body: Any = tree.body[0]
    body.body[0].value = expression
    try:
        check_module(tree, _FILE)
    except KmcError as error:
        place = _placed(error, text).span
        raise CommandLineError("KMC640", error.message, place, error.help or _ADVICE) from None
    namespace = dict(names)
    # Reason for exec: the text is compiled as a line of the spec is, with the names and the built-ins that a spec has.
    exec(compile(rewritten(tree), _FILE, "exec", dont_inherit=True), namespace)
    evaluated: Callable[[Any, Any], Any] = namespace["evaluated"]
    return evaluated


def _placed(error: KmcError, text: str) -> KmcError:
    """The error with its place in the text, where it has one there."""
    if error.span is None or error.span.path != _FILE:
        return error
    return type(error)(error.code, error.message, _in_text(error.span, text), error.help, error.notes)


def _in_text(span: Span, text: str) -> Span:
    """A place in the text; `span` counts bytes, since the text is not a file that it could read."""
    return in_characters(TextSpan.of(span, text))
