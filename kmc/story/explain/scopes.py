"""Expressions of a spec under bindings: their values, and their names for people.

A place of the state is called by its TLA+ variable and its process, as views show it: `st.servers[s].current_epoch` is
`currentEpoch of n1`. In an action property it is the old or the new one.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from kmc.errors import KmcError
from kmc.frontend.loader import Spec
from kmc.frontend.rewrite import rewritten
from kmc.lang.order import ordered, sort_key
from kmc.lang.records import Message
from kmc.lang.seqs import SeqValue
from kmc.lang.symbols import Symbol
from kmc.lang.tla import encode
from kmc.lang.types import MapType, RecordType
from kmc.story.parts.in_words import field_in_words, in_words
from kmc.story.parts.lanes import Processes, table_for_people
from kmc.story.parts.network import brief_of

_SHORT = 40
_LAMBDA = "<lambda>"
EVALUATION_FAILURES = (KmcError, ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError)
"""The errors that the evaluation of an expression may raise."""
_codes: WeakKeyDictionary[ast.expr, Any] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a value for people: `log[2].epoch` of the process `s1`, the `old` or `new` one.

    The state itself has no path, and neither has the record of a process. `map` names the field of the state whose map
    this is. A `literal` says its own value.
    """

    path: str = ""
    owner: str = ""
    when: str = ""
    map: str = ""
    literal: bool = False

    @property
    def text(self) -> str:
        """The whole name: `old log[2].epoch of s1`."""
        where = f"{self.path} of {self.owner}" if self.path and self.owner else self.path or self.owner or "state"
        return f"{self.when} {where}".strip()


@dataclass(frozen=True, slots=True)
class Binding:
    """The value of a name, its label for people, and the expression that the name represents, with its scope."""

    value: Any
    label: Label
    meaning: tuple[ast.expr, Context] | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """The names that an expression can use: those of its module, and those bound around it."""

    module: Mapping[str, Any]
    bound: Mapping[str, Binding]

    def binding(self, bindings: Mapping[str, Binding]) -> Context:
        """The scope with these names too."""
        return replace(self, bound={**self.bound, **bindings})

    def value(self, node: ast.expr) -> Any:
        """The value of an expression; raises whatever evaluating it raises."""
        names = {**self.module, **{name: bound.value for name, bound in self.bound.items()}}
        # Reason for eval: the author's expression has its meaning in the language, which is that of Python here.
        return eval(_code(node), names)

    def reads(self, text: str) -> Any:
        """The value of the text of an expression, compiled anew."""
        return self.value(ast.parse(text, mode="eval").body)

    def knows(self, name: str) -> bool:
        """Whether a name has a value here."""
        return name in self.bound or name in self.module or hasattr(builtins, name)


def _code(node: ast.expr) -> Any:
    code = _codes.get(node)
    if code is None:
        # A copy, because the rewrites change it.
        tree = rewritten(ast.Module([ast.copy_location(ast.Expr(deepcopy(node)), node)], []))
        statement = tree.body[0]
        assert isinstance(statement, ast.Expr), "rewrites keep statements"
        code = compile(ast.fix_missing_locations(ast.Expression(statement.value)), "<property>", "eval")
        _codes[node] = code
    return code


class Wording:
    """The names that people read for the expressions and values of one spec."""

    def __init__(self, spec: Spec) -> None:
        table = table_for_people(spec)
        self._naming = table.naming
        self._fields = spec.state_class.fields
        self._processes = Processes(spec)
        self._names = {(v.field, v.inner): v.name for v in table.variables}

    def value(self, value: Any) -> str:
        """A value in one line, as views show it; a message in its brief form."""
        if isinstance(value, Message):
            return brief_of(value, self._naming)
        try:
            return in_words(encode(value, self._naming))
        except TypeError:
            if isinstance(value, range):
                return f"{value.start}..{value.stop - 1}"
            return getattr(value, "__name__", None) or str(value)

    def is_lane(self, bound: Binding) -> bool:
        """Whether this is a process, or its record."""
        return self._processes.holds(bound.value) or bool(bound.label.map and bound.label.owner)

    def of_value(self, value: Any, name: str) -> Label:
        """The label of a value that is at no place of the state: itself if it is short, else the name bound to it."""
        if isinstance(value, Message):
            return Label(owner="the message")
        text = self.value(value)
        if text == _LAMBDA:
            return Label(name)
        if isinstance(value, Symbol | bool | int) or value is None or len(text) <= _SHORT:
            return Label(text, literal=True)
        return Label(name)

    def entry(self, base: Label, key: Any) -> Label:
        """The label of the value of a map at a key."""
        shown = self.value(key)
        declared = self._fields.get(base.map)
        if not isinstance(declared, MapType):
            return Label(f"{base.path}[{shown}]", base.owner, base.when)
        if isinstance(declared.value, RecordType):
            return Label("", shown, base.when, map=base.map)
        is_lane = self._processes.is_function(declared)
        return Label(base.path, shown, base.when) if is_lane else Label(f"{base.path}[{shown}]", "", base.when)

    def label(self, node: ast.expr, scope: Context) -> Label | None:
        """The label of an expression that names a place or a value; None for any other, and where it has no value.

        A part that the spec itself would not evaluate, behind an `and` that is false, may fail.
        """
        try:
            return self._label(node, scope)
        except EVALUATION_FAILURES:
            return None

    def _label(self, node: ast.expr, scope: Context) -> Label | None:
        match node:
            case ast.Constant():
                return Label(self.value(node.value), literal=True)
            case ast.Name(id=name) if name in scope.bound:
                return scope.bound[name].label
            case ast.Name(id=name) if name in scope.module:
                value = scope.module[name]
                return Label(self.value(value), literal=True) if isinstance(value, Symbol) else Label(name)
            case ast.Attribute(value=base, attr=attr):
                return self._attribute(node, base, attr, scope)
            case ast.Subscript(slice=ast.Slice()):
                return None
            case ast.Subscript(value=base, slice=key):
                label = self.label(base, scope)
                is_sequence = _is_known(base, scope) and isinstance(scope.value(base), SeqValue)
                place = self._element_in_brackets if is_sequence else self.entry
                return None if label is None else self._at(label, key, scope, place)
            case ast.Call(func=ast.Attribute(value=base, attr="at"), args=[offset]):
                label = self.label(base, scope)
                return None if label is None else self._at(label, offset, scope, self.element)
            case ast.Call(func=ast.Name(id="len"), args=[argument]):
                label = self.label(argument, scope)
                return None if label is None or not label.owner else replace(label, path=f"len({label.path})", map="")
            case ast.Call(func=ast.Name(id="set"), args=[]):
                return Label(self.value(frozenset()), literal=True)
            case ast.Set(elts=elements) if all(_is_known(element, scope) for element in elements):
                return Label(self.value(scope.value(node)), literal=True)
            case _:
                return None

    def element(self, base: Label, offset: Any) -> Label:
        """The label of an element of a sequence."""
        return Label(f"{base.path}[{self.value(offset)}]", base.owner, base.when)

    def _element_in_brackets(self, base: Label, position: Any) -> Label:
        return self.element(base, position + 1)

    def part(self, base: Label, key: str | int) -> Label:
        """The label of a field of a record, or of an element of a sequence."""
        if isinstance(key, int):
            return self.element(base, key)
        if base.map and base.owner and not base.path:
            return Label(self._names.get((base.map, key), self._naming.field(key)), base.owner, base.when)
        name = self._naming.field(key)
        return Label(f"{base.path}.{name}" if base.path else name, base.owner, base.when)

    def _at(self, base: Label, key: ast.expr, scope: Context, place: Callable[[Label, Any], Label]) -> Label | None:
        return place(base, scope.value(key)) if _is_known(key, scope) else None

    def _attribute(self, node: ast.expr, base: ast.expr, attr: str, scope: Context) -> Label | None:
        if isinstance(base, ast.Name) and base.id not in scope.bound:
            value = scope.value(node) if _is_known(node, scope) else None
            return Label(self.value(value), literal=True) if isinstance(value, Symbol) else None
        label = self.label(base, scope)
        if label is None:
            return None
        if label.map and label.owner:
            return self.part(label, attr)
        if not label.path and not label.owner:
            is_map = isinstance(self._fields.get(attr), MapType)
            return Label(self._names.get((attr, None), attr), "", label.when, map=attr if is_map else "")
        if not label.path:
            return Label(field_in_words(self._naming.field(attr), self._naming.tag), label.owner, label.when)
        return self.part(label, attr)

    def text(self, node: ast.expr, scope: Context) -> str:
        """The text of an expression for people: its source, with the places in it under their names."""
        label = self.label(node, scope)
        if label is not None:
            return label.text
        return ast.unparse(_Named(self, scope).visit(deepcopy(node)))


class _Named(ast.NodeTransformer):
    """Replaces the places in an expression by their names."""

    def __init__(self, wording: Wording, scope: Context) -> None:
        self._wording = wording
        self._scope = scope

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            node.args = [self.visit(argument) for argument in node.args if not self._is_the_state(argument)]
            function = self._scope.bound.get(node.func.id)
            # A function that was given to a helper is called by its own name.
            if function is not None:
                node.func = ast.Name(function.label.text)
            if not node.args and not node.keywords and node.func.id not in vars(builtins):
                # A predicate of the state alone needs no arguments in the text.
                return node.func
            match node.args:
                case [ast.GeneratorExp() as generator]:
                    # Python would write two pairs of parentheses.
                    return ast.Name(node.func.id + ast.unparse(generator))
            return node
        if isinstance(node, ast.expr) and _is_known(node, self._scope):
            label = self._wording.label(node, self._scope)
            if label is not None:
                return ast.Name(label.text)
        return self.generic_visit(node)

    def _is_the_state(self, node: ast.expr) -> bool:
        bound = self._scope.bound.get(node.id) if isinstance(node, ast.Name) else None
        return bound is not None and bound.label == Label()


def _is_known(node: ast.expr, scope: Context) -> bool:
    """Whether all names in an expression have values."""
    return all(scope.knows(part.id) for part in ast.walk(node) if isinstance(part, ast.Name))


def members(target: ast.expr, collection: ast.expr, scope: Context, wording: Wording) -> Iterator[dict[str, Binding]]:
    """The bindings of a quantifier, in display order: the names of `target`, for each member of the collection."""
    match target, collection:
        case ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)]), ast.Call(
            func=ast.Attribute(value=base, attr="items" | "counts" as method)
        ):
            pairs = dict(getattr(scope.value(base), method)())
            label = wording.label(base, scope) or Label(wording.text(base, scope))
            for key in ordered(pairs):
                entry = wording.entry(label, key) if method == "items" else Label(f"copies of {first}")
                yield {first: Binding(key, wording.of_value(key, first)), second: Binding(pairs[key], entry)}
        case ast.Name(id=name), ast.Call(func=ast.Attribute(value=base, attr="values")):
            label = wording.label(base, scope) or Label(wording.text(base, scope))
            values = scope.value(base)
            for key in ordered(values):
                yield {name: Binding(values[key], wording.entry(label, key))}
        case ast.Name(id=name), _:
            value = scope.value(collection)
            if isinstance(value, SeqValue):
                label = wording.label(collection, scope) or Label(wording.text(collection, scope))
                for offset, element in enumerate(value, start=1):
                    yield {name: Binding(element, wording.element(label, offset))}
                return
            for element in in_display_order(value):
                yield {name: Binding(element, wording.of_value(element, name))}


def in_display_order(values: Any) -> list[Any]:
    """The members of a collection, sorted; those of a range or an enumeration in their own order."""
    listed = list(values)
    return listed if isinstance(values, range | type) else sorted(listed, key=sort_key)
