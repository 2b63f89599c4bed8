"""A predicate of a temporal formula that fails to evaluate: the error at the author's line, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.compiler.compile_spec import compile_spec
from kmc.engine.check_model import check_native
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.frontend.temporal_problem import problem_of
from kmc.reference.search import Search
from kmc.result import Limits

CLOCK = """
from kmc.spec import always, always_eventually, and_, implies, or_


class State(Record):
    n: Int(0, 3)
    seen: Seq[Int(0, 3), 3]


@spec.init
def init():
    yield State(n=0, seen=[])


@spec.action
def tick(st):
    if st.n < 3:
        yield st.set(n=st.n + 1, seen=st.seen.append(st.n))


@spec.liveness
def Prop():
    return {formula}
"""


def native(model: Model) -> None:
    check_native(model, Limits(), problem=problem_of(model))


def interpreted(model: Model) -> None:
    Search(model, problem=problem_of(model)).run()


def error_of(model: Model, check: Callable[[Model], None]) -> tuple[str, int | None]:
    """The code and the line of the error that ends a check."""
    with pytest.raises(KmcError) as found:
        check(model)
    span = found.value.span
    return found.value.code, None if span is None else span.line


@pytest.mark.parametrize(
    "formula",
    [
        "always_eventually(lambda st: st.seen.at(2) == 1)",
        "always_eventually(and_(lambda st: st.n > 2, lambda st: st.seen.at(2) == 1))",
        "always(or_(lambda st, new: new.n < 4, lambda st, new: new.seen.at(2) == 1))",
        "always(lambda st, new: new.seen.at(st.n) == 3 - st.n and new.seen.at(2) == 1)",
    ],
)
def test_a_predicate_that_fails_is_an_error_at_its_line(formula: str, tmp_path: Path) -> None:
    model = model_of(tmp_path, CLOCK.format(formula=formula), "PROPERTY Prop CHECK_DEADLOCK FALSE")
    lines = (tmp_path / "spec.py").read_text(encoding="utf-8").splitlines()
    code, line = error_of(model, native)
    assert (code, line) == error_of(model, interpreted)
    assert line == lines.index(f"    return {formula}") + 1


def test_more_instances_than_a_successor_tells_apart_are_refused_at_their_action(tmp_path: Path) -> None:
    source = CLOCK.format(formula="always_eventually(lambda st: st.n == 3)")
    source = source.replace("def tick(st)", "def tick(st, a: Int(0, 299), b: Int(0, 299))")
    model = model_of(tmp_path, source, "PROPERTY Prop")
    with pytest.raises(KmcError, match="90,000 instances") as found:
        compile_spec(model, instances=True)
    assert (found.value.code, found.value.span and found.value.span.line) == ("KMC807", model.spec.actions[0].span.line)
