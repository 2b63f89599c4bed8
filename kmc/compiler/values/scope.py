"""Name lookup in a function: its locals, then the globals of its module, then the built-in functions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const
from kmc.compiler.values.code import note_file
from kmc.compiler.values.value import (
    Bool,
    Closure,
    EmptySet,
    MapItems,
    Nothing,
    Num,
    Numbers,
    Packed,
    Python,
    Rec,
    SeqLiteral,
    SetLiteral,
    Several,
    Sym,
    Value,
)
from kmc.lang.functions import BUILTINS
from kmc.lang.maps import MapValue
from kmc.lang.order import sort_key
from kmc.lang.seqs import SeqValue
from kmc.lang.symbols import Symbol
from kmc.lang.types import IntType, RecordMeta, SetType
from kmc.runtime.state_layout import shape_type

LAMBDA = "<lambda>"


@dataclass(slots=True)
class Scope:
    """Local values of one function, and the file that contains it; no file for code that the compiler makes."""

    globals: dict[str, Any]
    locals: dict[str, Value] = field(default_factory=dict)
    path: str = ""

    def child(self) -> Scope:
        """A scope that starts with these locals; changes do not come back."""
        return Scope(self.globals, dict(self.locals), self.path)


def python_value(found: Any) -> Value:
    """The compile-time value of a Python object."""
    if found is None:
        return Nothing()
    if isinstance(found, bool):
        return Bool(Const(int(found)))
    if isinstance(found, int):
        return Num(Const(found), found, found)
    if isinstance(found, Symbol):
        return Sym(type(found), Const(found.index))
    if isinstance(found, frozenset) and not found:
        return EmptySet()
    if isinstance(found, frozenset) and all(type(member) is int for member in found) and max(found) - min(found) < 64:
        low = min(found)
        mask = sum(1 << member - low for member in found)
        return Packed(SetType(IntType(low, max(found))), (Const(x.signed(mask)),))
    if isinstance(found, frozenset) and all(isinstance(member, Symbol) for member in found):
        cls: Any = type(next(iter(found)))
        if all(type(member) is cls for member in found):
            return Packed(SetType(cls.kmc_type), (Const(x.signed(sum(1 << member.index for member in found))),))
    return _composite(found)


def _composite(found: Any) -> Value:
    """The value of a collection, map or record that a module holds as a constant."""
    if isinstance(found, frozenset):
        return SetLiteral(tuple(python_value(member) for member in sorted(found, key=sort_key)))
    if isinstance(found, SeqValue):
        return SeqLiteral(tuple(python_value(member) for member in found))
    if isinstance(found, MapValue):
        return MapItems(tuple((python_value(key), python_value(value)) for key, value in found.items()))
    if isinstance(type(found), RecordMeta):
        cls: Any = type(found)
        fields = {name: python_value(getattr(found, name)) for name in cls.fields}
        return Rec(shape_type(cls), None, fields)
    if isinstance(found, range):
        return Numbers(_number(found.start), _number(found.stop), found.step)
    if isinstance(found, tuple):
        return Several(tuple(map(python_value, found)))
    return Python(found)


def _number(value: int) -> Num:
    return Num(Const(value), value, value)


def _parsed(path: str) -> ast.Module:
    tree = ast.parse(Path(path).read_text(encoding="utf-8"), path)
    note_file(tree, path)
    return tree


@lru_cache(maxsize=256)
def _functions(path: str, version: tuple[int, int]) -> dict[tuple[int, str], ast.FunctionDef]:
    """The function definitions of a source file, by first line (decorators included) and name.

    `version` is the time and the size of the file, so that a changed file is read again.
    """
    tree = _parsed(path)
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[first, node.name] = node
    return found


def definition(function: Callable[..., Any]) -> ast.FunctionDef:
    """The syntax of a spec function, as its author wrote it."""
    code = function.__code__
    found = Path(code.co_filename).stat()
    return _functions(code.co_filename, (found.st_mtime_ns, found.st_size))[code.co_firstlineno, code.co_name]


def syntax(function: Callable[..., Any]) -> ast.FunctionDef | ast.Lambda:
    """The syntax of a function of a spec's file, which may be a lambda."""
    code = function.__code__
    if code.co_name != LAMBDA:
        return definition(function)
    found = Path(code.co_filename).stat()
    places = [place for place in map(_Place.of, code.co_positions()) if place is not None]
    written = [
        node
        for node in _lambdas(code.co_filename, (found.st_mtime_ns, found.st_size)).get(code.co_firstlineno, ())
        if all(_Place.of_node(node.body).holds(place) for place in places)
    ]
    # Of nested lambdas, the code of the outer one makes the inner one, which is more than the inner one's body.
    return max(written, key=lambda node: (node.lineno, node.col_offset))


@dataclass(frozen=True, slots=True)
class _Place:
    """A range of the text: from (line, column) to (line, column)."""

    start: tuple[int, int]
    end: tuple[int, int]

    @classmethod
    def of(cls, position: tuple[int | None, int | None, int | None, int | None]) -> _Place | None:
        """The place of an instruction; None where it has none of its own."""
        line, end_line, column, end_column = position
        if line is None or end_line is None or column is None or end_column is None or not end_column:
            return None
        return cls((line, column), (end_line, end_column))

    @classmethod
    def of_node(cls, node: ast.expr) -> _Place:
        """The place of an expression."""
        return cls((node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0))

    def holds(self, other: _Place) -> bool:
        """Whether the other place is a part of this one."""
        return self.start <= other.start and other.end <= self.end


@lru_cache(maxsize=256)
def _lambdas(path: str, version: tuple[int, int]) -> dict[int, list[ast.Lambda]]:
    """The lambdas of a source file by line; see `_functions`."""
    found: dict[int, list[ast.Lambda]] = {}
    for node in ast.walk(_parsed(path)):
        if isinstance(node, ast.Lambda):
            found.setdefault(node.lineno, []).append(node)
    return found


def scope_of(function: Any) -> Scope:
    """The scope around a function: its module, and the variables of the functions that enclose it."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    around = {name: python_value(cell.cell_contents) for name, cell in cells.items()}
    return Scope(function.__globals__, around, function.__code__.co_filename)


def is_spec_function(found: object) -> bool:
    """Whether an object is a function of a spec's file."""
    return hasattr(found, "__code__") and "__kmc_set__" in getattr(found, "__globals__", {})


def is_injective(node: ast.SetComp) -> bool:
    """Whether different choices always give different elements: the choice itself, or a record that holds it."""
    targets = [generator.target for generator in node.generators]
    names = {target.id for target in targets if isinstance(target, ast.Name)}
    if len(names) != len(targets):
        return False
    if isinstance(node.elt, ast.Name):
        return names == {node.elt.id}
    values = [keyword.value for keyword in node.elt.keywords] if isinstance(node.elt, ast.Call) else []
    return names <= {value.id for value in values if isinstance(value, ast.Name)}


def lookup(scope: Scope, name: str) -> Value | None:
    """The value of `name` in a scope; None if it has none."""
    if name in scope.locals:
        return scope.locals[name]
    if name in scope.globals:
        return python_value(scope.globals[name])
    if name in BUILTINS:
        return Python(BUILTINS[name])
    return None


__all__ = ["Closure", "Scope", "definition", "is_spec_function", "lookup", "python_value", "scope_of", "syntax"]
