"""The kinds that the functions of the language give, and the arguments that they refuse: one rule a word."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kmc.compiler.checks.kinds.kind import ANYTHING, BOOL, NONE, NOTHING, NUMBER, Kinds, any_of, elements, one
from kmc.compiler.checks.kinds.kind_inference import Inference, LocalKinds
from kmc.compiler.checks.kinds.kind_mistakes import attempted, not_a_condition
from kmc.compiler.checks.kinds.kind_mixtures import no_class, not_compared
from kmc.errors import EvaluationError
from kmc.lang.guards import number
from kmc.lang.meanings import FUNCTIONS
from kmc.lang.words import CALLED


@dataclass(frozen=True, slots=True)
class WordCall:
    """A call of a function of the language: its arguments by position have the kinds `given`."""

    inference: Inference
    name: str
    node: ast.Call
    given: list[Kinds]
    scope: LocalKinds

    @property
    def first(self) -> Kinds:
        """The kinds of the first argument."""
        return self.given[0] if self.given else ANYTHING

    @property
    def element(self) -> ast.expr:
        """The element of the generator expression that the call goes through; else the call."""
        argument = self.node.args[0] if self.node.args else None
        return argument.elt if isinstance(argument, ast.GeneratorExp) else self.node

    def refuse(self, error: EvaluationError | None, node: ast.expr | None = None) -> None:
        """Refuse the call, or this part of it, for this reason; without a reason, accept it."""
        self.inference.refuse(error, self.node if node is None else node, self.scope)


def kinds_of_word(call: WordCall) -> Kinds:
    """The kinds of the call's result; anything if the language has no such word."""
    word = CALLED.get(call.name)
    if word is None:
        return ANYTHING
    if word.goes_through:
        call.refuse(attempted(iter, call.first))
    return RULES[call.name](call)


def _length(call: WordCall) -> Kinds:
    call.refuse(attempted(len, call.first))
    return NUMBER


def _extreme(call: WordCall) -> Kinds:
    key = next((keyword.value for keyword in call.node.keywords if keyword.arg == "key"), None)
    if key is not None:
        return _by_key(call, key)
    operation = FUNCTIONS[call.name]
    for kinds in call.given if len(call.given) > 1 else [elements(call.first)]:
        call.refuse(attempted(lambda item: operation((item,)), kinds))
    defaults = [keyword.value for keyword in call.node.keywords if keyword.arg == "default"]
    return any_of([NUMBER, *(call.inference.evaluate(default, call.scope) for default in defaults)])


def _by_key(call: WordCall, key: ast.expr) -> Kinds:
    item = elements(call.first)
    if isinstance(key, ast.Lambda) and len(key.args.args) == 1:
        inner = call.scope.child(**{key.args.args[0].arg: item})
        operation = FUNCTIONS[call.name]
        call.refuse(attempted(lambda number: operation((number,)), call.inference.evaluate(key.body, inner)), key.body)
    defaults = [keyword.value for keyword in call.node.keywords if keyword.arg == "default"]
    return any_of([item, *(call.inference.evaluate(default, call.scope) for default in defaults)])


def _accumulated(call: WordCall) -> Kinds:
    call.refuse(attempted(lambda item: number(item) + 0, elements(call.first)), call.element)
    return NUMBER


def _quantified(call: WordCall) -> Kinds:
    call.refuse(not_a_condition(elements(call.first), call.element), call.element)
    return BOOL


def _counted(call: WordCall) -> Kinds:
    _quantified(call)
    return NUMBER


def _absolute(call: WordCall) -> Kinds:
    call.refuse(attempted(abs, call.first))
    return NUMBER


def _has_class(call: WordCall) -> Kinds:
    for written in call.node.args[1:]:
        call.refuse(no_class(written, call.scope.names, call.scope.frame.globals), written)
    return BOOL


def _compared(call: WordCall) -> Kinds:
    if len(call.given) == len(call.node.args) == 2:
        call.refuse(not_compared(call.given[0], call.given[1], call.node.args[0], call.node.args[1]))
    return BOOL


def _range(call: WordCall) -> Kinds:
    for kinds in call.given:
        call.refuse(attempted(range, kinds))
    return one("range")


def _set(call: WordCall) -> Kinds:
    return one("set", elements(call.first) if call.given else NOTHING)


def _set_of_sets(call: WordCall) -> Kinds:
    return one("set", one("set", elements(call.first)))


def _set_of_maps(call: WordCall) -> Kinds:
    for kinds in call.given:
        call.refuse(attempted(iter, kinds))
    return one("set", one("map", elements(call.first), elements(call.given[-1])))


def _set_of_sequences(call: WordCall) -> Kinds:
    call.refuse(attempted(iter, call.first))
    for kinds in call.given[1:]:
        call.refuse(attempted(range, kinds))
    return one("set", one("seq", elements(call.first)))


RULES: Mapping[str, Callable[[WordCall], Kinds]] = {
    "abs": _absolute,
    "all": _quantified,
    "any": _quantified,
    "bool": lambda call: ANYTHING,
    "count": _counted,
    "equals_any": _compared,
    "fold": lambda call: ANYTHING,
    "frozenset": _set,
    "functions": _set_of_maps,
    "int": lambda call: ANYTHING,
    "isinstance": _has_class,
    "len": _length,
    "max": _extreme,
    "min": _extreme,
    "pair": lambda call: one("set", any_of(call.given)),
    "pairs": _set_of_sets,
    "permutations": _set_of_maps,
    "product": _accumulated,
    "range": _range,
    "require": lambda call: NONE,
    "sequences": _set_of_sequences,
    "set": _set,
    "subsets": _set_of_sets,
    "sum": _accumulated,
    "the": lambda call: elements(call.first),
    "ways": lambda call: one("range"),
}
"""The rule of each function in `kmc.lang.words.CALLED`."""
