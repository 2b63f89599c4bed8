"""A refutation of a temporal property uses the names of views, and tells the values that make its predicates false."""

from __future__ import annotations

from pathlib import Path

from support.specs.small import TURNED_LIGHT, TURNED_LIGHT_CFG, model_of

from kmc.frontend.model import Model
from kmc.reference.search import Search
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Violation
from kmc.story.counterexample import story_of
from kmc.story.explain.refutation import for_people
from kmc.story.explain.why import why

STARTED = """
from kmc.lang import spawned
from kmc.spec import WEAK, eventually, for_all, leads_to

Server = spawned("Server", 1, started="alive")


class Node(Record):
    level: Int(0, 2)


class State(Record):
    alive: PartialMap[Server, Node]


@spec.init
def init():
    yield State(alive={Server.at(1): Node(level=0)})


@spec.action(fair=WEAK)
def rise(st, s: Server):
    if s in st.alive and st.alive[s].level == 0:
        yield st.set(alive=st.alive.set(s, st.alive[s].set(level=1)))


def is_up(st, s):
    return s in st.alive and st.alive[s].level == 1


@spec.liveness
def Falls():
    return for_all(Server, lambda s: leads_to(lambda st: is_up(st, s), lambda st: not is_up(st, s)))


def none_for_ever(condition):
    return for_all(Server, lambda s: leads_to(lambda st: condition(st, s), lambda st: not condition(st, s)))


@spec.liveness
def FallsByItsName():
    return none_for_ever(is_up)


@spec.liveness
def FallsByALambda():
    return none_for_ever(lambda st, s: is_up(st, s))


@spec.liveness
def Tops():
    return eventually(lambda st: all(me.level == 2 for me in st.alive.values()))
"""


CFG = "CHECK_DEADLOCK FALSE\nSPECIFICATION Spec\nPROPERTY "
FALLS = ("Falls", "FallsByItsName", "FallsByALambda")


def refuted(model: Model) -> Violation:
    """The first refutation of the properties of a model."""
    violation = Search(model, problem=accepted_problem(model)).run().violation
    assert violation is not None
    assert violation.refutation is not None
    return violation


def test_a_function_that_a_helper_is_given_is_followed_and_called_by_its_own_name(tmp_path: Path) -> None:
    told = [
        why(model, refuted(model)).sentence for model in (model_of(tmp_path, STARTED, CFG + name) for name in FALLS)
    ]
    plain, by_name, by_lambda = (text.partition(" (s = ")[2] for text in told)
    assert "level of s1 is 1" in plain
    assert by_name == plain
    assert by_lambda == plain.replace("`is_up(", "`condition(").replace("level of s1 is 1", "condition(s1) is true")


def test_spawned_identifiers_have_the_names_of_views(tmp_path: Path) -> None:
    model = model_of(tmp_path, STARTED, CFG + "Falls")
    violation = refuted(model)
    assert violation.refutation is not None
    assert violation.refutation.instance == "s = 1"
    story = story_of(model, violation)
    assert story.why is not None
    assert story.why.instance == (("s", "s1"),)
    assert story.why.sentence == (
        "Falls (s = s1) fails: `is_up(s1)` is true in state 2 and in every state from there on. "
        "The behavior stutters in state 2 for ever. In state 2, level of s1 is 1."
    )
    assert story.loop is not None
    assert story.loop.fairness[1:] == ("Disabled throughout: WF_vars(Rise(s1))",)


def test_a_lambda_is_followed_to_its_values(tmp_path: Path) -> None:
    model = model_of(tmp_path, STARTED, CFG + "Tops")
    why = story_of(model, refuted(model)).why
    assert why is not None
    assert why.sentence.startswith("Tops fails: `all(me.level == 2 for me in alive.values())` is true in no state.")
    assert [(found.expression, found.value) for found in why.compared] == [("level of s1", "1")]


def test_a_property_that_is_gone_is_told_as_it_was_found(tmp_path: Path) -> None:
    model = model_of(tmp_path, STARTED, CFG + "Falls")
    violation = refuted(model)
    other = model_of(tmp_path / "other", STARTED.replace("def Falls", "def Sinks"), "SPECIFICATION Spec")
    assert for_people(other, violation) is violation


def test_the_steps_of_a_lasso_of_images_are_those_to_images(tmp_path: Path) -> None:
    model = model_of(tmp_path, TURNED_LIGHT, TURNED_LIGHT_CFG)
    story = story_of(model, refuted(model))
    assert story.why is not None
    assert story.why.sentence == (
        "StaysAsItIs fails: the step from state 1 to state 2 is Turn, again and again. States 1 to 2 repeat for ever."
    )
