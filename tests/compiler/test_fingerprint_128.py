"""The kernels that 128 bits add: those over rows with two words in front, and a second hash with salts of its own."""

from __future__ import annotations

import pytest

from kmc.compiler.ir import build as x
from kmc.compiler.ir.emit_python import emit_python
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
    Let,
    Load,
    Loop,
    Module,
    Return,
    Store,
    Var,
)
from kmc.compiler.passes.fingerprint_128 import functions_128, second_identity
from kmc.compiler.passes.read_sets import ONLY_CHANGED

KERNELS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "expand": (("cur", "out"), ("limit",)),
    "identity": (("row",), ()),
    "identity_second": (("row",), ()),
    "rank": (("cur",), ()),
    "check": (("cur",), ()),
    "outside": (("cur",), ()),
    "reachable": (("cur",), ("wanted",)),
    "step": (("cur", "nxt"), ()),
    "step_outside": (("cur", "nxt"), ()),
    **ONLY_CHANGED,
}
"""The pointers and parameters of the kernels that there are without the two words."""


def telling(name: str) -> Function:
    """A kernel that tells what it was given: the first word of each row and each parameter, a digit each."""
    pointers, parameters = KERNELS[name]
    found: Expr = Const(len(name))
    words: list[Expr] = [*(Load(pointer, Const(0)) for pointer in pointers), *map(Var, parameters)]
    for given in words:
        found = Bin("add", Bin("mul", found, Const(10)), given)
    return Function(name, pointers, parameters, (Return(found),), frozenset(pointers))


def module(*, ranked: bool) -> Module:
    """All kernels of a model, telling ones behind those for callers."""
    return Module((*map(telling, KERNELS), *functions_128(ranked=ranked)))


@pytest.mark.parametrize("name", sorted({*KERNELS} - {"identity", "identity_second", "expand"}))
def test_callers_pass_rows_with_two_words_in_front(name: str) -> None:
    pointers, parameters = KERNELS[name]
    rows = [([8, 9, 3 + number], 0) for number in range(len(pointers))]
    found = emit_python(module(ranked=True)).call(f"{name}_128", rows, [7] * len(parameters))
    digits = [len(name), *(3 + number for number in range(len(pointers))), *[7] * len(parameters)]
    assert found == int("".join(map(str, digits[1:]))) + len(name) * 10 ** (len(digits) - 1)


def test_successors_are_written_where_the_caller_says() -> None:
    rows = [([8, 9, 3], 0), ([4, 8, 9], 0)]
    assert emit_python(module(ranked=True)).call("expand_128", rows, [5]) == len("expand") * 1000 + 345


def test_the_second_word_of_a_fingerprint_is_written_in_front() -> None:
    row = [0, 9, 3]
    found = emit_python(module(ranked=True)).call("identity_128", [(row, 0)], [])
    assert found == len("identity") * 10 + 3
    assert row == [len("identity_second") * 10 + 3, 9, 3]


@pytest.mark.parametrize("ranked", [False, True])
def test_there_is_a_kernel_for_every_caller_and_rows_are_read_only(ranked: bool) -> None:
    names = {*KERNELS} - {"identity_second"} - (set() if ranked else {"rank"})
    made = {function.name: function for function in functions_128(ranked=ranked)}
    assert {*made} == {f"{name}_128" for name in names}
    written = {name: {*function.pointers} - function.readonly for name, function in made.items()}
    assert {name: pointers for name, pointers in written.items() if pointers} == {
        "expand_128": {"out"},
        "identity_128": {"row"},
    }


def identity_and_its_parts(*, second: bool) -> list[Function]:
    """An identity with every statement there is and two functions that it calls, as for either word."""
    name = "{}_second".format if second else str
    hashed = x.second_mix if second else x.mix

    def total(pointer: str) -> Expr:
        return Load(pointer, Const(-1 if second else 0))

    def mixed(number: int) -> Expr:
        # What looks like the sum and is not: another word of the row, and the first word of another pointer.
        return hashed(
            Bin("add", total("row"), Load("row", Const(number))), hashed(Load("out", Const(0)), Const(number))
        )

    body = (
        Comment("of the row"),
        Let("a", mixed(1)),
        Store("out", mixed(2), mixed(3)),
        Copy("out", mixed(4), "row", mixed(5), mixed(6)),
        If(mixed(7), (Let("b", mixed(8)),), (Let("b", mixed(9)),)),
        Loop("loop", (Block("block", (Let("c", mixed(10)), Break("block"))), Let("c", mixed(11)), Break("loop"))),
        CallKernel("d", name("part"), (("out", mixed(12)), ("row", mixed(13))), (mixed(14),)),
        CallKernel("e", name("constant"), (), ()),
        CallKernel("d", name("part"), (("out", Const(0)), ("row", Const(0))), (Const(0),)),
        Return(Load("row", mixed(15))),
    )
    # The row of a part is what it is given first.
    part = Let("f", Bin("add", total("cur"), Load("row", Const(0)))), Return(Bin("add", Var("f"), Var("given")))
    inner = CallKernel("g", name("constant"), (), ())
    return [
        Function(name("identity"), ("row", "out"), (), body, frozenset({"row"})),
        Function(name("part"), ("cur", "row"), ("given",), (inner, *part), frozenset({"row"}), inline=True),
        Function(name("constant"), (), (), (Return(hashed(Const(1), Const(2))),)),
    ]


def test_the_second_identity_reads_the_second_sum_and_hashes_under_other_salts() -> None:
    given = [Function("other", (), (), (Return(Const(1)),)), *identity_and_its_parts(second=False)[::-1]]
    assert second_identity(given) == identity_and_its_parts(second=True)
