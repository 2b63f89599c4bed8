"""Errors while a module runs: one for each mistake, at the author's place, with the values in TLA+."""

from __future__ import annotations

import pytest
from support.modules.resolved_trees import (
    HERE,
    binding,
    boolean,
    call,
    conj,
    defined,
    model_of,
    name,
    num,
    op,
    over,
    prime,
    set_of,
    text,
    var,
)

from kmc.errors import EvaluationError, SpecError
from kmc.tla.resolved.nodes import (
    CaseExpr,
    ChooseExpr,
    Expression,
    FieldAccessExpr,
    FunctionApplicationExpr,
    IfExpr,
    RecordExpr,
    TupleExpr,
    UnboundedExpr,
)
from kmc.tla.run.program import ModuleProgram

CHOICE = binding("x")


def pair(*items: Expression) -> TupleExpr:
    return TupleExpr(place=HERE, items=items)


MISTAKES: dict[str, tuple[Expression, str]] = {
    "KMC257": (op("=", num(1), text("a")), 'the number 1 is compared with the string "a"'),
    "KMC258": (op("+", num(1), boolean(True)), "'+' needs numbers, but this operand is the Boolean TRUE"),
    "KMC259": (
        FunctionApplicationExpr(place=HERE, function=pair(num(4), num(5)), argument=num(3)),
        "the sequence <<4, 5>> is applied to the number 3, which is not in its domain",
    ),
    "KMC260": (
        ChooseExpr(place=HERE, range=over(CHOICE, set_of(num(1), num(2))), unbounded=None, body=boolean(False)),
        "no element of {1, 2} satisfies the condition of this CHOOSE",
    ),
    "KMC263": (CaseExpr(place=HERE, arms=((boolean(False), num(1)),), other=None), "no condition of this CASE holds"),
    "KMC266": (op("Cardinality", op("Nat")), "Nat has no list of elements, since it is infinite"),
    "KMC267": (op("\\div", num(7), num(0)), "7 \\div 0 has no value: the divisor is 0"),
    "KMC269": (op("Head", pair()), "Head(<<>>) has no value: the sequence is empty"),
    "KMC275": (
        UnboundedExpr(place=HERE, kind="\\E", bindings=(CHOICE,), body=boolean(True)),
        "\\E without a set cannot be evaluated: TLC needs a set to enumerate",
    ),
    "KMC291": (op("Assert", boolean(False), text("no leader")), "this Assert is false: no leader"),
}


@pytest.mark.parametrize("code", MISTAKES)
def test_a_mistake_is_an_error_at_its_place(code: str) -> None:
    expression, message = MISTAKES[code]
    program = ModuleProgram(model_of(1, op("=", var(0), num(0)), None))
    with pytest.raises(EvaluationError) as caught:
        program.evaluate(expression, (0,))
    assert (caught.value.code, caught.value.message, caught.value.span) == (code, message, HERE)


def test_zero_to_the_power_of_zero_has_no_value() -> None:
    """TLC says the same; 1, as in Python, would be a verdict where TLC has none."""
    program = ModuleProgram(model_of(1, op("=", var(0), num(0)), None))
    with pytest.raises(EvaluationError, match=r"0 \^ 0 has no value"):
        program.evaluate(op("^", num(0), var(0)), (0,))
    assert program.evaluate(op("^", num(-2), num(3)), (0,)) == -8


def test_a_field_that_a_record_does_not_have_is_an_error() -> None:
    record = RecordExpr(place=HERE, fields=(("leader", num(1)),))
    program = ModuleProgram(model_of(1, op("=", var(0), num(0)), None))
    with pytest.raises(EvaluationError, match=r"the record \[leader \|-> 1\] is applied to the string \"term\""):
        program.evaluate(FieldAccessExpr(place=HERE, record=record, field="term"), (0,))


def test_a_primed_variable_that_is_read_before_it_is_assigned_is_an_error() -> None:
    program = ModuleProgram(model_of(2, boolean(True), conj(op("=", prime(var(0)), prime(var(1))))))
    with pytest.raises(EvaluationError, match="variable 'v1' is read before it has a value") as caught:
        list(program.successors((0, 0)))
    assert caught.value.code == "KMC264"


def test_a_successor_without_a_value_for_a_variable_is_an_error_that_names_it() -> None:
    program = ModuleProgram(model_of(2, op("=", var(0), num(0)), op("=", prime(var(0)), num(1))))
    with pytest.raises(EvaluationError, match="the action Action gives no value to 'v1'") as caught:
        list(program.successors((0, 0)))
    assert caught.value.code == "KMC265"
    with pytest.raises(EvaluationError, match="the initial predicate gives no value to 'v1'"):
        program.initial_states()


def test_an_endless_recursion_is_one_error() -> None:
    count = binding("n")
    down = defined("Down", num(0), count)
    down.recursive = True
    down.body = op("+", num(1), call(down, op("-", name(count), num(1))))
    program = ModuleProgram(model_of(1, op("=", var(0), num(0)), None))
    with pytest.raises(EvaluationError, match="the recursion of 'Down' is too deep") as caught:
        program.evaluate(call(down, num(3)), (0,))
    assert caught.value.code == "KMC270"
    assert program.evaluate(op("+", num(1), num(1)), (0,)) == 2


def test_a_deep_recursion_that_ends_has_a_value() -> None:
    count = binding("n")
    down = defined("Down", num(0), count)
    down.recursive = True
    again = op("+", num(1), call(down, op("-", name(count), num(1))))
    down.body = IfExpr(place=HERE, condition=op("=", name(count), num(0)), then=num(0), otherwise=again)
    program = ModuleProgram(model_of(1, op("=", var(0), num(0)), None))
    assert program.evaluate(call(down, num(2000)), (0,)) == 2000


@pytest.mark.parametrize("operator", ["TLCSet", "RandomElement", "JavaTime", "\\cdot", "NoSuchOperator"])
def test_what_depends_on_chance_or_on_the_run_is_refused_before_anything_runs(operator: str) -> None:
    hidden = defined("Hidden", op(operator, num(1), num(2)))
    with pytest.raises(SpecError, match="is not supported") as caught:
        ModuleProgram(model_of(1, boolean(True), conj(boolean(False), call(hidden))))
    assert (caught.value.code, caught.value.span) == ("KMC023", HERE)
