"""Both engines give the same verdicts on temporal properties, and lassos of the same lengths, told in every view.

One spec walks in random graphs: each initial state is a graph, its marks and a position, so that it is compiled once.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from support.specs.small import model_of
from support.views.read_back import told_in_every_view

from kmc.engine.check_model import check_native
from kmc.frontend.model import Model
from kmc.lang.maps import map_literal
from kmc.reference.search import Search
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits, Result

WALK = """
from kmc.spec import (
    always, always_eventually, and_, enabled, eventually, eventually_always, for_all, implies, leads_to, not_, or_,
    steps, strong_fairness, there_exists, weak_fairness,
)

Place = Int(0, 4)
Label = Int(0, 2)


class State(Record):
    at: Place
    ways: Map[Label, Map[Place, Set[Place]]]
    marks: Map[Label, Set[Place]]


@spec.init
def init():
    yield State(at=0, ways={n: {p: {p} for p in range(5)} for n in range(3)}, marks={n: {0} for n in range(3)})


@spec.action
def walk(st, label: Label):
    for place in range(5):
        if place in st.ways[label][st.at]:
            yield st.set(at=place)


@spec.action(next=False)
def leap(st):
    yield st.set(at=(st.at + 1) % 5)


@spec.constraint
def NotFour(st):
    return st.at != 4


@spec.action_constraint
def NotFromThreeToOne(st, new):
    return not (st.at == 3 and new.at == 1)


@spec.specification
def Weak():
    return for_all(range(3), lambda label: weak_fairness(walk, label))


@spec.specification
def Strong():
    return and_(strong_fairness(walk, 0), weak_fairness(or_(steps(walk, 1), steps(walk, 2))))


@spec.specification
def Mixed():
    up = and_(steps(walk, 0), lambda st, new: new.at > st.at)
    return and_(strong_fairness(up), weak_fairness(leap), weak_fairness(walk, 1))


@spec.liveness
def Recurs():
    return always_eventually(lambda st: st.at in st.marks[0])


@spec.liveness
def Settles():
    return eventually_always(lambda st: st.at in st.marks[1])


@spec.liveness
def Answers():
    return leads_to(lambda st: st.at in st.marks[0], lambda st: st.at in st.marks[1])


@spec.liveness
def AllRecur():
    return for_all(range(3), lambda label: always_eventually(lambda st: st.at in st.marks[label]))


@spec.liveness
def OneSettles():
    return there_exists(range(3), lambda label: eventually_always(lambda st: st.at in st.marks[label]))


@spec.liveness
def Stays():
    return always(lambda st: st.at in st.marks[2])


@spec.liveness
def StaysOnceThere():
    return always(implies(lambda st: st.at in st.marks[0], always(lambda st: st.at in st.marks[2])))


@spec.liveness
def Climbs():
    return always(lambda st, new: new.at > st.at)


@spec.liveness
def WalksAgain():
    return implies(always_eventually(enabled(walk, 1)), always_eventually(steps(walk, 1)))


@spec.liveness
def Chain():
    later = and_(lambda st: st.at in st.marks[1], eventually(lambda st: st.at in st.marks[2]))
    return leads_to(lambda st: st.at in st.marks[0], later)


@spec.liveness
def EndsWithout():
    return or_(eventually(lambda st: st.at in st.marks[0]), not_(eventually_always(steps(walk, 2))))
"""
PROPERTIES = "Recurs Settles Answers AllRecur OneSettles Stays StaysOnceThere Climbs WalksAgain Chain EndsWithout"
SPECIFICATIONS = ("Weak", "Strong", "Mixed")
CONSTRAINED = "Strong within constraints"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Model]:
    """The walk with all properties, by the name of its specification."""
    folder = tmp_path_factory.mktemp("walk")
    given = f"PROPERTY {PROPERTIES} CHECK_DEADLOCK FALSE"
    found = {name: model_of(folder, WALK, f"SPECIFICATION {name} {given}") for name in SPECIFICATIONS}
    cut = "CONSTRAINT NotFour ACTION_CONSTRAINT NotFromThreeToOne"
    return {**found, CONSTRAINED: model_of(folder, WALK, f"SPECIFICATION Strong {given} {cut}")}


def random_state(random: Random, model: Model) -> Any:
    """A graph with a position: each label leads from each place to about one other."""
    places = range(5)

    def some(chance: float) -> frozenset[int]:
        return frozenset(place for place in places if random.random() < chance)

    ways = map_literal((label, map_literal((place, some(0.2)) for place in places)) for label in range(3))
    marks = map_literal((label, some(0.5)) for label in range(3))
    return model.spec.state_class(at=random.choice(places), ways=ways, marks=marks)


def told(result: Result) -> tuple[Any, ...]:
    """What both engines must say alike; of a lasso its shape, since several may be the least."""
    violation = result.violation
    counters = result.counters
    counted = counters.generated, counters.distinct, counters.left, counters.depth
    verdicts = (
        counted,
        [(prop.name, prop.verdict) for prop in result.properties],
        [cut.name for cut in result.cut_fairness],
    )
    if violation is None:
        return verdicts, result.verdict, None
    assert violation.refutation is not None
    cycle = violation.refutation.cycle
    shape = violation.name, violation.refutation.instance, len(violation.trace), cycle and cycle.back_to
    return verdicts, result.verdict, result.exit_status(), shape


@pytest.mark.slow
@pytest.mark.parametrize("specification", [*SPECIFICATIONS, CONSTRAINED])
def test_both_engines_tell_the_same(specification: str, models: dict[str, Model]) -> None:
    random = Random(specification)
    model = models[specification]
    refuted: set[str | None] = set()
    for _ in range(10):
        start = random_state(random, model)
        problem = accepted_problem(model)
        assert problem is not None
        # The lasso of the first property that fails is what is told; another order makes it another property.
        chosen = random.sample(range(len(problem.checks)), 6)
        checks = tuple(problem.checks[number] for number in chosen)
        problem = replace(problem, checks=checks, formulas=tuple(problem.formulas[number] for number in chosen))
        native = check_native(model, Limits(), start=start, problem=problem)
        python = Search(model, start=start, problem=problem).run()
        assert told(native) == told(python), start
        if python.violation is not None:
            told_in_every_view(model, python.violation)
        refuted.add(native.violation.name if native.violation else None)
    assert len(refuted) > 2


@pytest.mark.slow
def test_what_is_reported_early_is_as_short_as_in_the_whole_graph(models: dict[str, Model]) -> None:
    random = Random("early")
    model = models["Weak"]
    early = 0
    for _ in range(40):
        start = random_state(random, model)
        problem = accepted_problem(model)
        assert problem is not None
        number = random.randrange(len(problem.checks))
        problem = replace(problem, checks=(problem.checks[number],), formulas=(problem.formulas[number],))
        whole = Search(model, start=start, problem=problem, keep_going=True).run()
        found = Search(model, start=start, problem=problem).run()
        shape = lasso_shape(whole)
        assert lasso_shape(found) == shape, start
        if shape is not None and found.counters.left:
            early += 1
            assert found.counters.depth == shape[0] + 1
        elif shape is not None and shape[1] == shape[0]:
            # It stutters: only the last level may be as deep.
            assert whole.counters.depth <= shape[0]
    assert early > 5


def lasso_shape(result: Result) -> tuple[int, int | None] | None:
    """The length of the violation, and where its cycle begins; None without one."""
    if result.violation is None or result.violation.refutation is None:
        return None
    cycle = result.violation.refutation.cycle
    return len(result.violation.trace), None if cycle is None else cycle.back_to
