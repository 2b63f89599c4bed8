"""The compiler's intermediate representation: structured code over 64-bit integers, and its printable form.

Everything is an `i64`: booleans are 0 or 1, indices count from 0, memory is pointers to 64-bit words. A kernel is a
`Function`; each later stage (LLVM, Python) is a walk over these few nodes. Expressions have no side effects, so they
may be evaluated any number of times; `and` of booleans that guard each other must be `If` or `Select` of safe operands,
since both sides of `Bin` are evaluated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

BinaryOp: TypeAlias = Literal[
    "add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "eq", "ne", "slt", "sle", "ult", "udiv", "urem"
]


LANES = 32
"""The default number of words that `Matches` reads."""

COPY_STEP = 8
"""The number of words that `Copy` moves at once."""


@dataclass(frozen=True, slots=True)
class Const:
    """A constant; any Python int, reduced modulo 2**64."""

    value: int


@dataclass(frozen=True, slots=True)
class Var:
    """A local variable or an integer parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class Load:
    """The word at `pointer[index]`; `pointer` is a pointer parameter."""

    pointer: str
    index: Expr


@dataclass(frozen=True, slots=True)
class Bin:
    """Two operands; comparisons give 0 or 1, shifts are by 0..63."""

    op: BinaryOp
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Select:
    """`yes` if `condition` is not 0, else `no`; both are evaluated."""

    condition: Expr
    yes: Expr
    no: Expr


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """`mix(word, salt)`: a 64-bit hash of a word under a salt; `popcount(x)`; `cttz(x)` (64 for 0)."""

    name: Literal["mix", "popcount", "cttz"]
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Matches:
    """A mask: bit k is 1 if `pointer[index + k] & mask == wanted`, for k from 0 to `lanes` - 1.

    `lanes` is 8, 16 or 32. All these words are read, so they must be readable.
    """

    pointer: str
    index: Expr
    mask: Expr
    wanted: Expr
    lanes: int = LANES


Expr: TypeAlias = Const | Var | Load | Bin | Select | Intrinsic | Matches


@dataclass(frozen=True, slots=True)
class Let:
    """Assign a variable; it may be assigned often, and is read only after an assignment."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Store:
    """`pointer[index] = value`."""

    pointer: str
    index: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Copy:
    """`target[at + k] = source[start + k]` for k from 0 to `words` - 1, and on to the next multiple of `COPY_STEP`.

    `source` is readonly, so it does not overlap `target`.
    """

    target: str
    at: Expr
    source: str
    start: Expr
    words: Expr


@dataclass(frozen=True, slots=True)
class If:
    """Run `then` if `condition` is not 0, else `otherwise`."""

    condition: Expr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """Run `body` once; `Break(label)` inside leaves it."""

    label: str
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """Run `body` again and again until `Break(label)`."""

    label: str
    body: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Break:
    """Leave the enclosing block or loop called `label`; nothing after it in the same list runs."""

    label: str


@dataclass(frozen=True, slots=True)
class CallKernel:
    """`target = function(pointers..., arguments...)`; the callee is another function of the same module.

    `pointers` are pairs (pointer parameter of the caller, offset in words).
    """

    target: str
    function: str
    pointers: tuple[tuple[str, Expr], ...]
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Return:
    """Leave the function with a value."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Comment:
    """A note: the author's line, or what follows. It has no effect."""

    text: str


Stmt: TypeAlias = Let | Store | Copy | If | Block | Loop | Break | CallKernel | Return | Comment


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel: `pointers` to 64-bit words, then integer `parameters`; returns an i64, 0 if it falls off its end.

    Memory reached through `readonly` pointers does not change while it runs, and overlaps no other pointer's. Each of
    `arrays` is a pointer to memory of its own for one call: so many words, whose values are not defined at first.
    """

    name: str
    pointers: tuple[str, ...]
    parameters: tuple[str, ...]
    body: tuple[Stmt, ...]
    readonly: frozenset[str] = frozenset()
    inline: bool = False
    arrays: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Module:
    """The kernels of one compiled spec."""

    functions: tuple[Function, ...]
