"""Name lookup in a function: its locals, then the globals of its module, then the built-in functions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const
from kmc.compiler.values.value import (
    AllFunctions,
    AllSequences,
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
    Subsets,
    Sym,
    Value,
)
from kmc.errors import SpecError
from kmc.lang.admission import TypedMap
from kmc.lang.maps import MapValue
from kmc.lang.meanings import BUILTINS
from kmc.lang.order import sort_key
from kmc.lang.seqs import SeqValue
from kmc.lang.set_ranges import FunctionRange, SequenceRange, SubsetRange
from kmc.lang.symbols import Symbol
from kmc.lang.tree import definition_of, lambda_of
from kmc.lang.types import IntType, MapType, RecordMeta, SeqType, SetType
from kmc.runtime.codec import value_words
from kmc.runtime.state_layout import WORD, shape_type


@dataclass(slots=True)
class Scope:
    """Local values of one function, and the file that contains it; no file for code that the compiler makes."""

    globals: dict[str, Any]
    locals: dict[str, Value] = field(default_factory=dict)
    path: str = ""

    def child(self) -> Scope:
        """A scope that starts with these locals; changes do not come back."""
        return Scope(self.globals, dict(self.locals), self.path)


def python_value(value: Any) -> Value:
    """The compile-time value of a Python object."""
    if value is None:
        return Nothing()
    if isinstance(value, bool):
        return Bool(Const(int(value)))
    if isinstance(value, int):
        return Num(Const(value), value, value)
    if isinstance(value, Symbol):
        return Sym(type(value), Const(value.index))
    if isinstance(value, frozenset) and not value:
        return EmptySet()
    if isinstance(value, frozenset) and all(type(member) is int for member in value) and max(value) - min(value) < 64:
        low = min(value)
        mask = sum(1 << member - low for member in value)
        return Packed(SetType(IntType(low, max(value))), (Const(x.signed(mask)),))
    if isinstance(value, frozenset) and all(isinstance(member, Symbol) for member in value):
        cls: Any = type(next(iter(value)))
        if all(type(member) is cls for member in value) and len(cls.members) <= WORD:
            return Packed(SetType(cls.kmc_type), (Const(x.signed(sum(1 << member.index for member in value))),))
    return _composite(value)


def _composite(constant: Any) -> Value:
    """The value of a collection, map or record that a module holds as a constant."""
    if isinstance(constant, frozenset):
        return SetLiteral(tuple(python_value(member) for member in sorted(constant, key=sort_key)))
    packed = _packed(constant)
    if packed is not None:
        return packed
    if isinstance(constant, SeqValue):
        return SeqLiteral(tuple(python_value(member) for member in constant))
    if isinstance(constant, MapValue):
        return MapItems(tuple((python_value(key), python_value(value)) for key, value in constant.items()))
    if isinstance(type(constant), RecordMeta):
        cls: Any = type(constant)
        fields = {name: python_value(getattr(constant, name)) for name in cls.fields}
        return Rec(shape_type(cls), None, fields)
    if isinstance(constant, range):
        return Numbers(_number(constant.start), _number(constant.stop), constant.step)
    if isinstance(constant, FunctionRange):
        return AllFunctions(python_value(frozenset(constant.keys)), _whole(constant.values), constant.different)
    if isinstance(constant, SequenceRange):
        return AllSequences(_whole(constant.elements), constant.longest)
    if isinstance(constant, SubsetRange):
        return Subsets(_whole(constant.elements))
    if isinstance(constant, tuple):
        return Several(tuple(map(python_value, constant)))
    return Python(constant)


def _whole(elements: Any) -> Value:
    """The value of the collection from which a range of values is made."""
    return python_value(frozenset(elements) if isinstance(elements, tuple) else elements)


def _packed(constant: Any) -> Packed | None:
    """A map or sequence of a declared type as words, such as the value of a constant; None for any other value."""
    match constant:
        case SeqValue(kmc_seq_type=SeqType() as declared):
            pass
        case MapValue(domain=TypedMap(declared=MapType() as declared)):
            pass
        case _:
            return None
    try:
        words = value_words(constant, declared)
    except SpecError:  # a type without a layout, such as one of sets of records
        return None
    return Packed(declared, tuple(Const(x.signed(word)) for word in words))


def _number(value: int) -> Num:
    return Num(Const(value), value, value)


def definition(function: Callable[..., Any]) -> ast.FunctionDef:
    """The syntax of a spec function, as its author wrote it."""
    tree = definition_of(function)
    assert tree is not None, f"the file of {function.__name__} is as it was when it was loaded"
    return tree


def syntax(function: Callable[..., Any]) -> ast.FunctionDef | ast.Lambda:
    """The syntax of a function of a spec's file, which may be a lambda."""
    return lambda_of(function) or definition(function)


def scope_of(function: Any) -> Scope:
    """The scope around a function: its module, and the variables of the functions that enclose it."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    around = {name: python_value(cell.cell_contents) for name, cell in cells.items()}
    return Scope(function.__globals__, around, function.__code__.co_filename)


def is_spec_function(value: object) -> bool:
    """Whether an object is a function of a spec's file."""
    return hasattr(value, "__code__") and "__kmc_set__" in getattr(value, "__globals__", {})


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
