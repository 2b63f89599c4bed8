"""The explanation of a counterexample: the property that fails, the instance of it that fails, and its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kmc.frontend.model import Model
from kmc.frontend.source_place import source_place
from kmc.invariants.properties import Predicate, Refinement
from kmc.lang.symbols import Symbol
from kmc.liveness.formulas import TemporalProperty
from kmc.result import Verdict, Violation
from kmc.story.explain.facts import Fact, clauses_of, compared_values, reproduced, with_local_names
from kmc.story.explain.follow import FAILURES, Follower
from kmc.story.explain.functions import source_of
from kmc.story.explain.no_successor import why_fails_to_evaluate, why_stuck
from kmc.story.explain.refined_steps import AbstractRun, why_not_refined
from kmc.story.explain.refuted import why_refuted
from kmc.story.explain.scopes import Binding, Context, Label, Wording
from kmc.story.parts.story import Why

_SHORT = 40
"""A sentence names the values of bound variables up to this length."""


def why(model: Model, violation: Violation) -> Why:
    """Explain why the last state of a trace, its last step or its lasso is a violation."""
    declared = model.spec.properties.get(violation.name or "")
    doc = getattr(declared, "doc", "")
    explanation = Why(violation.name, doc, source_place(getattr(declared, "span", None)), (), (), _sentence(violation))
    states = [step.state for step in violation.trace.steps]
    match violation.verdict:
        case _ if isinstance(declared, TemporalProperty) and violation.refutation is not None:
            return why_refuted(model, declared, violation, explanation)
        case Verdict.VIOLATION if isinstance(declared, Predicate):
            return _of_property(model, declared, states[-2 if violation.is_step else -1 :], explanation)
        case Verdict.DEADLOCK:
            return why_stuck(model, states[-1], explanation, len(states))
        case Verdict.ASSERTION | Verdict.ERROR if violation.error is not None:
            return why_fails_to_evaluate(model, states[-1], violation.error, explanation, len(states))
        case _:
            return explanation


def why_fails(model: Model, prop: Predicate, *states: object) -> Why:
    """Explain why a property, which has been evaluated, is false of a state, or of a state and its successor."""
    of_what = "state" if len(states) == 1 else "step"
    explanation = Why(prop.name, prop.doc, source_place(prop.span), (), (), f"{prop.name} is false of this {of_what}.")
    return _of_property(model, prop, states, explanation)


def _of_property(model: Model, prop: Predicate, states: Sequence[object], explanation: Why) -> Why:
    """The reason why a property is false of these states; `explanation` if its definition cannot be followed."""
    if isinstance(prop, Refinement):
        run = AbstractRun(model, prop, states)
        return replace(explanation, compared=run.possible(), sentence=why_not_refined(prop, run))
    wording = Wording(model.spec)
    definition = source_of(prop.function, model.spec.files)
    if definition is None:
        return explanation
    labels = [Label()] if len(states) == 1 else [Label(when="old"), Label(when="new")]
    names = [argument.arg for argument in definition.args.args]
    bound = {name: Binding(state, label) for name, state, label in zip(names, states, labels, strict=True)}
    follower = Follower(wording, model.spec.files)
    module = getattr(prop.function, "__globals__", {})
    try:
        facts = with_local_names(reproduced(follower.body(definition, Context(module, bound), False)), wording)
    except FAILURES:
        return explanation
    instance = _instance(follower.instance, wording)
    sentence = _property_sentence(prop.name, instance, follower.instance, facts, wording)
    return Why(
        explanation.property,
        explanation.doc,
        explanation.place,
        instance,
        compared_values(facts),
        sentence or explanation.sentence,
    )


def _instance(bound: dict[str, Binding], wording: Wording) -> tuple[tuple[str, str], ...]:
    """The bound variables and their values; a record of a process that is there itself is left out.

    A variable that has the name of a process, as `s1` in a spec for servers s1, s2, s3, is called by its type.
    """
    shown = [(_readable(name, b, wording), wording.value(b.value)) for name, b in bound.items() if not b.label.map]
    owners = {b.label.owner: name for name, b in bound.items() if b.label.map}
    there = {value for _, value in shown}
    return (*shown, *((name, owner) for owner, name in owners.items() if owner not in there))


def _readable(name: str, binding: Binding, wording: Wording) -> str:
    kind = type(binding.value)
    is_taken = isinstance(binding.value, Symbol) and name in {wording.value(member) for member in kind}
    return kind.__name__ if is_taken else name


def _property_sentence(
    name: str, instance: Sequence[tuple[str, str]], bound: dict[str, Binding], facts: Sequence[Fact], wording: Wording
) -> str:
    clauses = clauses_of(facts)
    if not clauses:
        return ""
    processes = {wording.value(b.value) if not b.label.map else b.label.owner
                 for b in bound.values() if wording.is_lane(b)}  # fmt: skip
    lanes = dict.fromkeys(value for _, value in instance if value in processes)
    others = [f"{n} = {value}" for n, value in instance if value not in processes and len(value) <= _SHORT]
    fails = f"{name} fails" + (f" for {_listed([*lanes, *others])}" if lanes or others else "")
    return f"{fails}: {'; '.join(clauses)}."


def _listed(phrases: Sequence[str]) -> str:
    if len(phrases) < 3:
        return " and ".join(phrases)
    return f"{', '.join(phrases[:-1])}, {'' if phrases[-1].startswith('and ') else 'and '}{phrases[-1]}"


def _sentence(violation: Violation) -> str:
    last = len(violation.trace)
    if violation.is_step:
        return f"{violation.name} is false of the step from state {last - 1} to state {last}."
    return f"{violation.name} is false in state {last}."
