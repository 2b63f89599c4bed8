"""A successor is replaced by the state that stands for it: its image under the abstractions of a model.

An action writes its successor as always, without a fingerprint; then `image` writes the record of its image behind it,
and that is moved to where the successor lay.
"""

from __future__ import annotations

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import COPY_STEP, Break, CallKernel, Const, Expr, If, Let, Loop, Return, Stmt, Store, Var
from kmc.runtime.hashing import WIDE_WORDS

IMAGE = "image"
"""The name of the kernel, which has the parameters and the result of an action's, and the number of the action."""

POSITION_BITS = 40
"""The bits of a kernel's result that say where its output ends; those above are the number of its records."""

HEADER = 2
"""The words of a record before its row."""


def replaced_by_image(begin: Expr, instance: Expr, *, wide: bool) -> tuple[Stmt, ...]:
    """The code after a record of action `instance` was written from `begin` to `pos`: its image takes its place."""
    row = x.add(begin, Const(HEADER + (WIDE_WORDS if wide else 0)))
    # Copies read a vector beyond the end of a row.
    there = x.add(Var("pos"), Const(COPY_STEP))
    arguments = (Var("limit"), there, x.sub(Var("count"), x.ONE), instance)
    end = x.binary("and", Var("r"), x.low_mask(POSITION_BITS))
    return (
        CallKernel("r", IMAGE, (("out", row), ("out", x.ZERO)), arguments),
        If(x.binary("slt", Var("r"), x.ZERO), (Return(Var("r")),)),
        Let("image", there),
        Let("image_end", end),
        Let("pos", begin),
        Loop(
            "move",
            (
                If(x.negate(x.binary("ult", Var("image"), Var("image_end"))), (Break("move"),)),
                Store("out", Var("pos"), x.load("out", Var("image"))),
                Let("pos", x.add(Var("pos"), x.ONE)),
                Let("image", x.add(Var("image"), x.ONE)),
            ),
        ),
    )
