"""IR to Python, to step through the generated code and to compare it with the native kernels.

A pointer is a pair (list of words, offset), a word an int in 0..2**64-1. Every operation has the result that
`emit_llvm` gives it. An index outside the list, undefined there, is an IndexError here, on both sides of a select too;
but `Matches` and `Copy` read zeros behind the list, and write nothing there.
The text is registered with `linecache`, so that debuggers and tracebacks show it.
"""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any, TypeAlias, assert_never

from kmc.compiler.ir.nodes import (
    COPY_STEP,
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
from kmc.compiler.ir.verify import verify
from kmc.compiler.ir.walk import assigned
from kmc.runtime.mixing import WORD_MASK, mix

Words: TypeAlias = "list[int]"
Kernel: TypeAlias = Callable[..., int]

_SIGN_BIT = 1 << 63
_RETURN = "*return"
_INDENT = "    "

# Python allows at most 20 nested loops and 100 indentations; deeper code moves into a function of its own.
_LOOPS_MAX = 12
_INDENTATIONS_MAX = 50
_EXPRESSION_DEPTH_MAX = 30

_OPERATIONS = {
    "add": "({0} + {1}) & M",
    "sub": "({0} - {1}) & M",
    "mul": "{0} * {1} & M",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "shl": "{0} << ({1} & 63) & M",
    "lshr": "{0} >> ({1} & 63)",
    "eq": "int({0} == {1})",
    "ne": "int({0} != {1})",
    "slt": "int({0} ^ S < {1} ^ S)",
    "sle": "int({0} ^ S <= {1} ^ S)",
    "ult": "int({0} < {1})",
    "udiv": "{0} // ({1} or 1)",
    "urem": "{0} % ({1} or 1)",
}


@dataclass(frozen=True, slots=True)
class PythonModule:
    """The kernels of a module as Python functions, and their text."""

    source: str
    kernels: dict[str, Kernel]

    def call(self, name: str, pointers: Sequence[tuple[Words, int]], arguments: Sequence[int] = ()) -> int:
        """The result of a kernel, 0..2**64-1; the words must be in that range, arguments are reduced modulo 2**64."""
        return self.kernels[name](*pointers, *(argument & WORD_MASK for argument in arguments))


def emit_python(module: Module) -> PythonModule:
    """The Python functions of a module; InternalError (KMC91x) when it is not well-formed."""
    verify(module)
    texts = [_PythonWriter(function).text() for function in module.functions]
    namespace: dict[str, Any] = {
        "M": WORD_MASK,
        "S": _SIGN_BIT,
        "mix": mix,
        "popcount": int.bit_count,
        "cttz": _cttz,
        "select": _select,
        "matches": _matches,
        "copy": _copy,
    }
    for text in texts:
        # The text was made from verified IR a few lines above, and Python runs nothing but text.
        exec(_compiled(text), namespace)
    kernels = {name: namespace[f"k_{name}"] for name in (function.name for function in module.functions)}
    return PythonModule("\n\n".join(texts), {name: kernel for name, kernel in kernels.items() if callable(kernel)})


@lru_cache(maxsize=256)
def _compiled(text: str) -> CodeType:
    """Return the code of one function; modules that differ in one function share that of the others."""
    filename = f"<kernel {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    return compile(text, filename, "exec")


def _cttz(word: int) -> int:
    """The number of zeros in a word below its lowest one."""
    return (word & -word).bit_length() - 1 if word else 64


def _select(condition: int, yes: int, no: int) -> int:
    """One of two values, both of which were evaluated."""
    return yes if condition else no


def _words_at(memory: Words, start: int, count: int) -> Words:
    """Some words, zeros behind the end of the memory; IndexError for a place outside of it."""
    if not 0 <= start < len(memory):
        raise IndexError(f"word {start} of {len(memory)}")
    words = list(memory[start : start + count])
    return words + [0] * (count - len(words))


def _matches(memory: Words, start: int, mask: int, wanted: int, lanes: int) -> int:
    """`Matches`."""
    return sum((word & mask == wanted) << lane for lane, word in enumerate(_words_at(memory, start, lanes)))


def _copy(target: Words, at: int, source: Words, start: int, words: int) -> None:
    """`Copy`."""
    if words:
        copied = _words_at(source, start, -(-words // COPY_STEP) * COPY_STEP)
        for index, word in zip(range(at, len(target)), copied, strict=False):
            target[index] = word


class _PythonWriter:
    """Writes one function.

    `frames` are the labels of the Python loops around a statement, innermost last. A break of the innermost is
    Python's; a farther one sets `leave` to its label and breaks, loop after loop.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.variables = sorted({*assigned(function.body), *function.parameters})
        self.before: list[str] = []  # what must run before the statement at hand
        self.parts: list[str] = []
        self.far: set[str] = set()  # labels that `leave` may name here
        self.in_part = False
        self.temporaries = 0

    def text(self) -> str:
        """The definition of the function."""
        pointers, parameters = self.function.pointers, self.function.parameters
        names = [*(f"p_{name}" for name in pointers), *(f"v_{name}" for name in parameters)]
        body = self.suite(self.function.body, (), 1)
        unset = [f"v_{name} = None" for name in self.variables if name not in parameters] if self.parts else []
        opening = [f"m_{name}, o_{name} = p_{name}" for name in pointers]
        opening += [f"m_{name}, o_{name} = [0] * {words}, 0" for name, words in self.function.arrays]
        lines = [*opening, *unset, "leave = ''", *self.parts, *body, "return 0"]
        return "\n".join([f"def k_{self.function.name}({', '.join(names)}):", *_indented(lines)])

    def suite(self, body: Iterable[Stmt], frames: tuple[str, ...], depth: int) -> list[str]:
        """The lines of a body, `pass` when there are none."""
        lines: list[str] = []
        for statement in body:
            outer, self.before = self.before, []
            own = self.statement(statement, frames, depth)
            lines += [*self.before, *own]
            self.before = outer
        return lines or ["pass"]

    def statement(self, statement: Stmt, frames: tuple[str, ...], depth: int) -> list[str]:
        """The lines of a statement."""
        match statement:
            case Let(name, value):
                return [f"v_{name} = {self.bare(value)}"]
            case Store(pointer, index, value):
                return [f"{self.place(pointer, index)} = {self.bare(value)}"]
            case Copy(target, at, source, start, words):
                operands = f"m_{target}, {self.index(target, at)}, m_{source}, {self.index(source, start)}"
                return [f"copy({operands}, {self.bare(words)})"]
            case If(condition, then, otherwise):
                lines = [f"if {self.bare(condition)}:", *_indented(self.inner(then, frames, depth))]
                return lines + (["else:", *_indented(self.inner(otherwise, frames, depth))] if otherwise else [])
            case Block(label, body):
                return self.loop(label, body, frames, depth, ["break"])
            case Loop(label, body):
                return self.loop(label, body, frames, depth, [])
            case Break(label):
                return self.leaving(label, frames)
            case CallKernel():
                return [self.call(statement)]
            case Return(value):
                return [f"return {_tag(self.in_part, _RETURN)}{self.bare(value)}"]
            case Comment(text):
                return [f"# {line}" for line in text.splitlines()]
            case _:
                assert_never(statement)

    def inner(self, body: Sequence[Stmt], frames: tuple[str, ...], depth: int) -> list[str]:
        """The lines of a nested body, or of a call of the function it moves to."""
        if depth < _INDENTATIONS_MAX and len(frames) < _LOOPS_MAX:
            return self.executable(self.suite(body, frames, depth + 1))
        return self.moved(body, frames)

    def executable(self, lines: list[str]) -> list[str]:
        """The lines, with a `pass` where there are only comments."""
        return lines if any(not line.startswith("#") for line in lines) else [*lines, "pass"]

    def loop(self, label: str, body: Sequence[Stmt], frames: tuple[str, ...], depth: int, last: list[str]) -> list[str]:
        """A Python loop, and after it the way on for breaks that leave more than it."""
        outer, self.far = self.far, set()
        lines = ["while True:", *_indented([*self.inner(body, (*frames, label), depth), *last])]
        far, self.far = self.far, outer
        if label in far:
            lines += [f"if leave == '{label}':", f"{_INDENT}leave = ''"]
        return lines + self.onward(far - {label}, frames)

    def onward(self, labels: set[str], frames: tuple[str, ...]) -> list[str]:
        """Leave the next loop too when `leave` names one of these labels."""
        if not labels:
            return []
        self.far |= labels
        return ["if leave:", _INDENT + ("break" if frames else "return leave, 0")]

    def leaving(self, label: str, frames: tuple[str, ...]) -> list[str]:
        """A break."""
        if frames and frames[-1] == label:
            return ["break"]
        self.far.add(label)
        return [f"leave = '{label}'", "break"] if frames else [f"return '{label}', 0"]

    def moved(self, body: Sequence[Stmt], frames: tuple[str, ...]) -> list[str]:
        """Move a body into a function that returns how it ended; return the lines that call it."""
        name = f"part_{len(self.parts)}_{self.temporaries}"
        self.temporaries += 1
        outer_part, outer_far, self.in_part, self.far = self.in_part, self.far, True, set()
        lines = self.executable(self.suite(body, (), 2))
        self.in_part, far, self.far = outer_part, self.far, outer_far
        shared = [f"nonlocal {', '.join(f'v_{variable}' for variable in self.variables)}"] if self.variables else []
        self.parts += [f"def {name}():", *_indented([*shared, "leave = ''", *lines, "return '', 0"])]
        returning = [f"if leave == '{_RETURN}':", f"{_INDENT}return {_tag(self.in_part, _RETURN)}value"]
        return [f"leave, value = {name}()", *returning, *self.onward(far, frames)]

    def call(self, call: CallKernel) -> str:
        """A call of another kernel."""
        pointers = [f"(m_{pointer}, o_{pointer} + {self.operand(offset)} & M)" for pointer, offset in call.pointers]
        given = [*pointers, *(self.bare(argument) for argument in call.arguments)]
        return f"v_{call.target} = k_{call.function}({', '.join(given)})"

    def place(self, pointer: str, index: Expr) -> str:
        """A word of memory; an index below the list is as far outside as one above it."""
        return f"m_{pointer}[{self.index(pointer, index)}]"

    def index(self, pointer: str, index: Expr) -> str:
        """The place in the list of words behind a pointer."""
        return f"o_{pointer} + {self.operand(index)} & M"

    def bare(self, expr: Expr) -> str:
        """The text of an expression."""
        return self.expr(expr)[0]

    def operand(self, expr: Expr) -> str:
        """The text of an expression as a part of another."""
        return _operand(*self.expr(expr))

    def expr(self, expr: Expr) -> tuple[str, int]:
        """The text of an expression and its depth; a deep part is assigned to a variable first."""
        match expr:
            case Const(value):
                return _constant(value), 0
            case Var(name):
                return f"v_{name}", 0
            case Load(pointer, index):
                return self.place(pointer, index), 0
            case Bin(op, left, right):
                return self.composed(_OPERATIONS[op], (left, right))
            case Select(condition, yes, no):
                return self.composed("select({0}, {1}, {2})", (condition, yes, no))
            case Intrinsic(name, arguments):
                holes = ", ".join(f"{{{hole}}}" for hole in range(len(arguments)))
                return self.composed(f"{name}({holes})", arguments)
            case Matches(pointer, index, mask, wanted, lanes):
                position = self.index(pointer, index)
                return self.composed(f"matches(m_{pointer}, {position}, {{0}}, {{1}}, {lanes})", (mask, wanted))
            case _:
                assert_never(expr)

    def composed(self, template: str, operands: Sequence[Expr]) -> tuple[str, int]:
        """An expression made of others."""
        texts = [self.expr(operand) for operand in operands]
        text = template.format(*(_operand(*operand) for operand in texts))
        depth = 1 + max(depth for _, depth in texts)
        if depth < _EXPRESSION_DEPTH_MAX:
            return text, depth
        self.temporaries += 1
        self.before.append(f"t_{self.temporaries} = {text}")
        return f"t_{self.temporaries}", 0


def _operand(text: str, depth: int) -> str:
    """Parentheses around more than one term."""
    return f"({text})" if depth else text


def _tag(in_part: bool, ending: str) -> str:
    """The prefix by which a function that holds a moved body marks its return values."""
    return f"'{ending}', " if in_part else ""


def _indented(lines: Iterable[str]) -> list[str]:
    """The lines one step to the right."""
    return [_INDENT + line for line in lines]


def _constant(value: int) -> str:
    """A 64-bit pattern, masks in hexadecimal."""
    pattern = value & WORD_MASK
    return str(pattern) if pattern < 1 << 16 else hex(pattern)
