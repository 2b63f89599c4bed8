"""The printable form of the IR: Python-like text, one line per statement, for debugging and golden tests.

Everything is parenthesised, so the text says how an expression nests. `<u`, `/u` and `%u` are unsigned, `<` and `<=`
are signed, `>>` shifts in zeros; `&p[i]` is the address of a word. Small constants are decimal and signed, others
hexadecimal.
"""

from __future__ import annotations

from typing import assert_never

from kmc.compiler.ir.nodes import (
    Bin,
    Block,
    Break,
    CallKernel,
    Comment,
    Const,
    Copy,
    Expr,
    Function,
    If,
    Intrinsic,
    Let,
    Load,
    Loop,
    Matches,
    Module,
    Return,
    Select,
    Stmt,
    Store,
    Var,
)

_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "and": "&",
    "or": "|",
    "xor": "^",
    "shl": "<<",
    "lshr": ">>",
    "eq": "==",
    "ne": "!=",
    "slt": "<",
    "sle": "<=",
    "ult": "<u",
    "udiv": "/u",
    "urem": "%u",
}
_INDENT = "    "
_DECIMAL_BELOW = 1 << 16


def print_module(module: Module, *, comments: bool = True) -> str:
    """The text of a module, each function after an empty line; without comments, equal texts are equal kernels."""
    return "\n".join(print_function(function, comments=comments) for function in module.functions)


def print_function(function: Function, *, comments: bool = True) -> str:
    """The text of one function, ending in a newline."""
    pointers = [f"{name}: {'readonly' if name in function.readonly else 'words'}" for name in function.pointers]
    head = f"{'inline ' if function.inline else ''}def {function.name}({', '.join([*pointers, *function.parameters])}):"
    arrays = [f"    words {name}[{words}]" for name, words in function.arrays]
    return "\n".join([head, *arrays, *_suite(function.body, comments)]) + "\n"


def print_expr(expr: Expr) -> str:
    """The text of an expression; everything but a name, a constant or a load is in parentheses."""
    match expr:
        case Const(value):
            return _constant(value)
        case Var(name):
            return name
        case Load(pointer, index):
            return f"{pointer}[{_bare(index)}]"
        case Bin(op, left, right):
            return f"({print_expr(left)} {_SIGNS.get(op, op)} {print_expr(right)})"
        case Select(condition, yes, no):
            return f"({print_expr(yes)} if {print_expr(condition)} else {print_expr(no)})"
        case Intrinsic(name, arguments):
            return f"{name}({', '.join(_bare(argument) for argument in arguments)})"
        case Matches(pointer, index, mask, wanted, lanes):
            return f"matches({_address(pointer, index)}, {_bare(mask)}, {_bare(wanted)}, {lanes})"
        case _:
            assert_never(expr)


def print_statement(statement: Stmt, *, comments: bool = True) -> list[str]:
    """The lines of a statement, from the left margin."""
    match statement:
        case If(condition, then, otherwise):
            return _branches(condition, then, otherwise, comments)
        case Block(label, body):
            return [f"block {label}:", *_suite(body, comments)]
        case Loop(label, body):
            return [f"loop {label}:", *_suite(body, comments)]
        case Comment(text):
            return [f"# {line}" for line in text.splitlines()] if comments else []
        case _:
            return [_one_line(statement)]


def _one_line(statement: Let | Store | Copy | Break | CallKernel | Return) -> str:
    """A statement that holds no others."""
    match statement:
        case Let(name, value):
            return f"{name} = {_bare(value)}"
        case Store(pointer, index, value):
            return f"{pointer}[{_bare(index)}] = {_bare(value)}"
        case Copy(target, at, source, start, words):
            return f"copy({_address(target, at)}, {_address(source, start)}, {_bare(words)})"
        case Break(label):
            return f"break {label}"
        case CallKernel(target, function, pointers, arguments):
            given = [_address(pointer, offset) for pointer, offset in pointers] + [_bare(item) for item in arguments]
            return f"{target} = {function}({', '.join(given)})"
        case Return(value):
            return f"return {_bare(value)}"
        case _:
            assert_never(statement)


def _branches(condition: Expr, then: tuple[Stmt, ...], otherwise: tuple[Stmt, ...], comments: bool) -> list[str]:
    """`if`, `elif` for each branch that is nothing but another `if`, and `else`."""
    lines = [f"if {_bare(condition)}:", *_suite(then, comments)]
    if len(otherwise) == 1 and isinstance(otherwise[0], If):
        nested = print_statement(otherwise[0], comments=comments)
        return [*lines, f"el{nested[0]}", *nested[1:]]
    return [*lines, "else:", *_suite(otherwise, comments)] if otherwise else lines


def _suite(body: tuple[Stmt, ...], comments: bool) -> list[str]:
    """The lines of a body, one step to the right; `pass` when there are none."""
    lines = [line for statement in body for line in print_statement(statement, comments=comments)]
    return [_INDENT + line for line in lines or ["pass"]]


def _bare(expr: Expr) -> str:
    """The text of an expression that needs no parentheses of its own."""
    text = print_expr(expr)
    return text[1:-1] if isinstance(expr, Bin | Select) else text


def _address(pointer: str, offset: Expr) -> str:
    """`pointer`, or the address of one of its words."""
    return pointer if offset == Const(0) else f"&{pointer}[{_bare(offset)}]"


def _constant(value: int) -> str:
    """A 64-bit pattern, small ones as signed decimals."""
    pattern = value & ((1 << 64) - 1)
    signed = pattern - (1 << 64) if pattern >> 63 else pattern
    return str(signed) if abs(signed) < _DECIMAL_BELOW else hex(pattern)
