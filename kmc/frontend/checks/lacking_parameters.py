"""A name without a meaning that should be a parameter of the function around it: the state, a message, a bound name.

If the signature is at fault, advice on a name that is spelt alike (`set` for `st`) misleads.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kmc.invariants.kinds import KINDS

_STATES_OF = {**{kind.name: kind.states for kind in KINDS}, "abstraction": 1}
_FORMULAS = frozenset(["liveness", "specification"])
_STATES = frozenset(["st", "state", "new", "nxt", "next"])
_OPTIONS = frozenset(["network", "fair", "title", "in_tla"])


@dataclass(frozen=True, slots=True)
class Around:
    """The function at the top level of a file around a name, and the innermost lambda."""

    function: ast.FunctionDef
    innermost: ast.Lambda | None = None

    def advice(self, name: str, fields: Collection[str]) -> str | None:
        """The signature in which `name` would mean something, as advice; None if the signature is not at fault.

        `fields` are those of the spec's records.
        """
        for decorator, bound in _decorators(self.function).items():
            if decorator == "receive":
                return self._of_receive(name, bound)
            if decorator == "action" and self._lacks(1, annotated=True):
                return f"an action takes the state first: {self._signature('st')}"
            if _STATES_OF.get(decorator) == 1 and self._lacks(1):
                return f"@spec.{decorator} takes a function of the state: {self._signature('st')}"
            if _STATES_OF.get(decorator) == 2 and self._lacks(2):
                usage = self._signature("st, new")
                return f"@spec.{decorator} takes a function of the state and its successor: {usage}"
            if decorator in _FORMULAS and (name in _STATES or name in fields):
                return self._of_formula(name)
        is_helper = not _decorators(self.function).keys() - {"majority"}
        if name in _STATES and is_helper and not self._takes_state():
            return f"take it as a parameter: def {self.function.name}({', '.join(['st', *self._parameters])})"
        return None

    @property
    def _parameters(self) -> list[str]:
        return [argument.arg for argument in self.function.args.args]

    def _takes_state(self) -> bool:
        return bool(_STATES.intersection(self._parameters))

    def _lacks(self, states: int, *, annotated: bool = False) -> bool:
        """Whether too few parameters are states; an annotated one of an action is not."""
        arguments = self.function.args.args
        return len(arguments) < states or (annotated and arguments[0].annotation is not None)

    def _signature(self, states: str) -> str:
        others = [ast.unparse(argument) for argument in self.function.args.args if argument.annotation is not None]
        return f"write def {self.function.name}({', '.join([states, *others])})"

    def _of_receive(self, name: str, bound: Collection[str]) -> str | None:
        first = self._parameters[:2]
        if name in bound:
            first = [known for known in first if known not in bound]
            head = [*first, *("st", "m")[len(first) :]]
            signature = f"def {self.function.name}({', '.join([*head, *bound])})"
            return f"the decorator binds '{name}', so it is a parameter: write {signature}"
        if len(self._parameters) < len(bound) + 2 or (name == "m" and "m" not in self._parameters):
            return f"a receiving action takes the state and the message first: def {self.function.name}(st, m, ...)"
        return None

    def _of_formula(self, name: str) -> str:
        states = "st, new" if name in _STATES - {"st", "state"} else "st"
        body = "..." if name in _STATES else f"... st.{name} ..."
        if self.innermost is not None and not self.innermost.args.args:
            return f"this lambda takes the state: write lambda {states}: {body}"
        if self.innermost is not None and name not in _STATES:
            return f"it is a field of the state: write st.{name}"
        return f"a formula is made of functions of the state: write lambda {states}: {body}"


def _decorators(function: ast.FunctionDef) -> Mapping[str, list[str]]:
    """The names of the decorators `@spec.NAME(...)`, with the parameters that they bind."""
    decorators = {}
    for decorator in function.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        named = call.func if call is not None else decorator
        if isinstance(named, ast.Attribute) and isinstance(named.value, ast.Name) and named.value.id == "spec":
            keywords = [k.arg for k in call.keywords if k.arg is not None] if call is not None else []
            decorators[named.attr] = [keyword for keyword in keywords if keyword not in _OPTIONS]
    return decorators
