"""The type check of a model: mistakes of kind that no state escapes, and comparisons that always come out alike."""

from __future__ import annotations

from typing import TypeAlias

from kmc.actions.abstraction import Abstraction
from kmc.actions.action import Action
from kmc.compiler.checks.kinds.kind import Kinds, in_words, of_shapes, of_type
from kmc.compiler.checks.kinds.kind_inference import Giving, Inference
from kmc.compiler.checks.kinds.kind_mistakes import refuse
from kmc.compiler.checks.kinds.kinds_of_expressions import evaluate
from kmc.compiler.values.scope import syntax
from kmc.errors import EvaluationError
from kmc.frontend.loader import Spec
from kmc.invariants.properties import Predicate, Refinement

_Found: TypeAlias = tuple[tuple[str, int, str], ...]
_last: tuple[Spec, _Found] | None = None
"""The spec that was checked last: a command loads one, and reads its warnings after it has run."""


def check_kinds(spec: Spec) -> _Found:
    """Raise SpecError at the first mistake of kind; else file, line and words of each comparison without a meaning."""
    global _last
    if _last is None or _last[0] is not spec:
        _last = spec, _checked(spec)
    return _last[1]


def _checked(spec: Spec) -> _Found:
    inference = Inference(spec.state_class, evaluate)
    state = of_shapes(spec.state_class)
    inference.called(spec.init, {}, Giving(spec.init.__name__, initial=True))
    for action in (*spec.actions, *spec.other_actions):
        inference.called(action.function, _arguments(action, state), Giving(action.title, initial=False))
    for prop in spec.properties.values():
        if isinstance(prop, Refinement):
            _mapping(inference, prop, of_shapes(spec.refined[prop.abstract].state_class))
        if isinstance(prop, Predicate):
            _property(inference, prop, state)
        elif isinstance(prop, Abstraction):
            _abstraction(inference, prop, state)
    always = [(path, line, why) for (path, line, _), why in inference.always.items() if why is not None]
    return tuple(sorted(always))


def _arguments(action: Action, state: Kinds) -> dict[str, Kinds]:
    names = [argument.arg for argument in syntax(action.function).args.args]
    received = [] if action.message is None else [of_shapes(action.message)]
    given = [state, *received, *(of_type(parameter.type) for parameter in action.parameters)]
    return dict(zip(names, given, strict=False))


def _abstraction(inference: Inference, abstraction: Abstraction, state: Kinds) -> None:
    node = syntax(abstraction.function)
    kinds = inference.called(abstraction.function, {node.args.args[0].arg: state}).returns
    if kinds and state and not kinds & state:
        message = f"{abstraction.name} gives {in_words(kinds)}, not a {inference.state.__name__}"
        advice = "return the whole state: return st.set(...)"
        refuse(EvaluationError("KMC273", message, help=advice), node, abstraction.span.path)


def _mapping(inference: Inference, prop: Refinement, wanted: Kinds) -> None:
    """Refuse a mapping that may give something else than a state of the abstract spec."""
    node = syntax(prop.mapping)
    kinds = inference.called(prop.mapping, {node.args.args[0].arg: of_shapes(inference.state)}).returns
    if kinds is not None and wanted is not None and kinds - wanted:
        message = f"{prop.name} gives {in_words(kinds)}, not a state of {prop.abstract}"
        advice = f"return the State that {prop.abstract} declares"
        refuse(EvaluationError("KMC276", message, help=advice), node, prop.span.path)


def _property(inference: Inference, prop: Predicate, state: Kinds) -> None:
    node = syntax(prop.function)
    given = {argument.arg: state for argument in node.args.args}
    kinds = inference.called(prop.function, given).returns
    if kinds and not any(kind.word == "Bool" for kind in kinds):
        message = f"{prop.name} is {in_words(kinds)}, not True or False"
        refuse(EvaluationError("KMC261", message, help="return a Bool"), node, prop.span.path)
