"""Random temporal formulas of a small module: each as TLA+ text and as the formula that it should mean.

The module has one variable x, whose values are numbers from 0 on, and actions that are sets of pairs. The formulas are
put together from the same predicates on both sides, so whether they agree is a question to `kmc.tla.temporal` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from kmc.liveness.formulas import (
    Always,
    And,
    Eventually,
    Fair,
    Formula,
    Iff,
    Implies,
    LeadsTo,
    Not,
    Or,
    StatePredicate,
    StepPredicate,
)

Pairs: TypeAlias = frozenset[tuple[int, int]]
Both: TypeAlias = tuple[str, Formula]
"""A formula as text, and as what it means."""

_HEAD = """---- MODULE Drawn ----
EXTENDS Naturals
VARIABLE x
Ever(F) == <>F
Twice(F(_)) == F(0) /\\ F(1)
"""


@dataclass(frozen=True)
class DrawnModule:
    """The actions A and B of Next, and C, which Next need not have."""

    size: int
    actions: dict[str, Pairs]

    @property
    def steps(self) -> Pairs:
        """The steps of Next that change x."""
        return frozenset(pair for name in "AB" for pair in self.actions[name] if pair[0] != pair[1])

    def text(self, fairness: str, prop: str) -> str:
        """The module, with a specification and a property."""
        lines = [f"{name} == \\E e \\in {_pairs_text(pairs)}: x = e[1] /\\ x' = e[2]"
                 for name, pairs in self.actions.items()]  # fmt: skip
        lines += ["Init == x = 0", "Next == A \\/ B", f"Spec == Init /\\ [][Next]_x /\\ {fairness}", f"Prop == {prop}"]
        return _HEAD + "\n".join(lines) + "\n====\n"


def _pairs_text(pairs: Pairs) -> str:
    return "{" + ", ".join(f"<<{one}, {other}>>" for one, other in sorted(pairs)) + "}"


def drawn_module(random: Random, size: int) -> DrawnModule:
    """Steps at random, some of them of two actions, some to the state itself."""
    pairs = [(one, other) for one in range(size) for other in range(size)]
    return DrawnModule(size, {name: frozenset(random.sample(pairs, random.randrange(1, size + 2))) for name in "ABC"})


class ModuleFormulas:
    """Formulas over the actions of one module."""

    def __init__(self, random: Random, module: DrawnModule) -> None:
        self._random = random
        self._module = module

    def fairness(self) -> Both:
        """None to two conditions, weak or strong, of any action."""
        parts = [self._fair() for _ in range(self._random.choice([0, 1, 1, 2]))]
        if not parts:
            return "TRUE", And(())
        return " /\\ ".join(text for text, _ in parts), And(tuple(formula for _, formula in parts))

    def temporal(self, depth: int) -> Both:
        """A temporal formula."""
        match self._random.randrange(12 if depth else 3):
            case 0:
                return self._step()
            case 1:
                return self._unary("[]", Always, self._inside(depth))
            case 2:
                return self._unary("<>", Eventually, self._inside(depth))
            case 3:
                return self._binary("~>", LeadsTo, depth)
            case 4:
                return self._fair()
            case 5:
                text, formula = self.temporal(depth - 1)
                return f"~({text})", Not(formula)
            case 6:
                return self._binary("=>", Implies, depth)
            case 7:
                return self._binary("<=>", Iff, depth)
            case 8:
                return self._quantified(depth)
            case 9:
                text, formula = self.temporal(depth - 1)
                return f"Ever({text})", Eventually(formula)
            case 10:
                return self._binary("/\\", lambda one, other: And((one, other)), depth)
            case _:
                return self._binary("\\/", lambda one, other: Or((one, other)), depth)

    def _inside(self, depth: int) -> Both:
        return self._state() if not depth or self._random.random() < 0.3 else self.temporal(depth - 1)

    def _unary(self, sign: str, make: Callable[[Formula], Formula], part: Both) -> Both:
        return f"{sign}({part[0]})", make(part[1])

    def _binary(self, sign: str, make: Callable[[Formula, Formula], Formula], depth: int) -> Both:
        one, other = self._inside(depth), self._inside(depth)
        return f"(({one[0]}) {sign} ({other[0]}))", make(one[1], other[1])

    def _quantified(self, depth: int) -> Both:
        """Two cases that differ in a number, by a quantifier or by an operator as an argument."""
        text, formula = self._inside(depth - 1)
        cases = tuple(Or((Always(Eventually(_is(value))), formula)) for value in (0, 1))
        body = f"[]<>(x = VALUE) \\/ ({text})"
        match self._random.randrange(3):
            case 0:
                return f"(\\A i \\in {{0, 1}}: {body.replace('VALUE', 'i')})", And(cases)
            case 1:
                return f"(\\E i \\in {{0, 1}}: {body.replace('VALUE', 'i')})", Or(cases)
            case _:
                return f"Twice(LAMBDA i: {body.replace('VALUE', 'i')})", And(cases)

    def _state(self) -> Both:
        if self._random.random() < 0.3:
            name = self._random.choice("ABC")
            pairs = self._module.actions[name]
            if self._random.random() < 0.5:
                return f"ENABLED {name}", _has_step(pairs)
            return f"ENABLED <<{name}>>_x", _has_step(_changing(pairs))
        chosen = frozenset(self._random.sample(range(self._module.size), self._random.randrange(self._module.size + 1)))
        return f"x \\in {{{', '.join(map(str, sorted(chosen)))}}}", StatePredicate(lambda state: state in chosen)

    def _step(self) -> Both:
        name = self._random.choice("ABC")
        taken = _changing(self._module.actions[name])
        match self._random.randrange(4):
            case 0:
                return f"[][{name}]_x", Always(_one_of(taken))
            case 1:
                return f"<><<{name}>>_x", Eventually(_one_of(taken))
            case 2:
                return f"[]<><<{name}>>_x", Always(Eventually(_one_of(taken)))
            case _:
                return f"<>[][~{name}]_x", Eventually(Always(Not(_one_of(taken))))

    def _fair(self) -> Both:
        name = self._random.choice("ABC")
        taken = _changing(self._module.actions[name])
        strong = self._random.random() < 0.5
        text = f"{'SF' if strong else 'WF'}_x({name})"
        return text, Fair(strong, _one_of(taken), enabled=_has_step(taken))


def _is(value: int) -> Formula:
    return StatePredicate(lambda state: bool(state == value))


def _changing(pairs: Pairs) -> Pairs:
    return frozenset(pair for pair in pairs if pair[0] != pair[1])


def _has_step(pairs: Pairs) -> Formula:
    sources = frozenset(source for source, _ in pairs)
    return StatePredicate(lambda state: state in sources)


def _one_of(pairs: Pairs) -> Formula:
    return StepPredicate(lambda state, successor: (state, successor) in pairs)
