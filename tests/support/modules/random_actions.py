"""Random actions over a few variables with the values 0..2, for the comparison of enumeration with evaluation.

Every branch of a drawn action assigns every variable before it reads it in the next state, so no branch is an error.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from support.modules.resolved_trees import (
    HERE,
    binding,
    boolean,
    call,
    conj,
    defined,
    disj,
    exists,
    for_all,
    name,
    num,
    op,
    prime,
    set_of,
    var,
)

from kmc.tla.resolved.nodes import (
    EnabledExpr,
    Expression,
    IfExpr,
    LetExpr,
    NameBinding,
    OperatorDefinition,
    TupleExpr,
    UnchangedExpr,
)

VALUES = range(3)


@dataclass
class Drawing:
    """One random module: `size` variables, and a count that names what is bound."""

    random: random.Random
    size: int
    count: int = 0

    def fresh(self, word: str) -> NameBinding:
        self.count += 1
        return binding(f"{word}{self.count}")

    def number(self, known: frozenset[int], names: tuple[NameBinding, ...], depth: int = 2) -> Expression:
        """Draw an expression for a number of 0..2 that reads the variables in `known` in the next state."""
        draw = self.random.randrange(8 if depth else 4)
        if draw < 2:
            return num(self.random.choice(VALUES))
        if draw < 4:
            return var(self.random.randrange(self.size))
        if draw == 4 and known:
            return prime(var(self.random.choice(sorted(known))))
        if draw == 5 and names:
            return name(self.random.choice(names))
        if draw == 6:
            condition = op("<", self.number(known, names, 0), self.number(known, names, 0))
            return IfExpr(place=HERE, condition=condition, then=num(1), otherwise=self.number(known, names, depth - 1))
        left, right = self.number(known, names, depth - 1), self.number(known, names, depth - 1)
        return op("%", op("+", left, right), num(3))

    def formula(self, known: frozenset[int], names: tuple[NameBinding, ...], depth: int) -> Expression:
        """Draw a formula that assigns nothing."""
        draw = self.random.randrange(7 if depth else 3)
        if draw == 0:
            return boolean(True)
        if draw < 3:
            return op(self.random.choice("<=#"), self.number(known, names), self.number(known, names))
        if draw == 3:
            return disj(*(self.formula(known, names, depth - 1) for _ in range(self.random.choice((2, 3)))))
        if draw == 4:
            return conj(*(self.formula(known, names, depth - 1) for _ in range(self.random.choice((2, 3)))))
        bound = self.fresh("q")
        kind = exists if draw == 5 else for_all
        return kind(bound, self.choices(known, names), self.formula(known, (*names, bound), depth - 1))

    def choices(self, known: frozenset[int], names: tuple[NameBinding, ...]) -> Expression:
        """Draw a set of numbers."""
        if self.random.random() < 0.5:
            return set_of(*(self.number(known, names) for _ in range(self.random.randrange(4))))
        return op("..", num(self.random.randrange(2)), self.number(known, names))

    def action(
        self, known: frozenset[int], wanted: frozenset[int], names: tuple[NameBinding, ...], depth: int
    ) -> Expression:
        """Draw an action that assigns the variables in `wanted` after those in `known`."""
        if not wanted:
            return self.formula(known, names, 1)
        if depth == 0 or self.random.random() < 0.25:
            return conj(*self.assignments(known, wanted, names))
        draw = self.random.randrange(9)
        if draw < 2:
            first = frozenset(index for index in wanted if self.random.random() < 0.5)
            items = (
                self.action(known, first, names, depth - 1),
                self.action(known | first, wanted - first, names, depth - 1),
            )
            return conj(*items, self.formula(known | wanted, names, 1))
        if draw < 4:
            return disj(*(self.action(known, wanted, names, depth - 1) for _ in range(self.random.choice((2, 3)))))
        if draw == 4:
            condition = self.formula(known, names, 1)
            branches = [self.action(known, wanted, names, depth - 1) for _ in range(2)]
            return IfExpr(place=HERE, condition=condition, then=branches[0], otherwise=branches[1])
        if draw == 5:
            bound = self.fresh("e")
            body = self.action(known, wanted, (*names, bound), depth - 1)
            return exists(bound, self.choices(known, names), body)
        if draw == 6:
            inner = EnabledExpr(place=HERE, action=self.action(frozenset(), self.everything(), (), depth - 1))
            return conj(inner, self.action(known, wanted, names, depth - 1))
        return self.applied(known, wanted, names, depth)

    def everything(self) -> frozenset[int]:
        return frozenset(range(self.size))

    def applied(
        self, known: frozenset[int], wanted: frozenset[int], names: tuple[NameBinding, ...], depth: int
    ) -> Expression:
        """Draw an operator of a LET, or one of the module whose parameters are a number, a formula and a variable."""
        if self.random.random() < 0.4:
            local = OperatorDefinition(f"L{self.count}", (), self.number(known, names), HERE, "Toy", 2, is_local=True)
            body = conj(op("<", call(local), num(2)), self.action(known, wanted, names, depth - 1))
            return LetExpr(place=HERE, definitions=(local,), body=body)
        number, formula, target = self.fresh("n"), self.fresh("f"), self.fresh("t")
        index = self.random.choice(sorted(wanted))
        body = conj(
            name(formula),
            op("\\in", prime(name(target)), set_of(name(number), num(1))),
            self.action(frozenset(), frozenset(), (number,), 0),
        )
        definition = defined(f"D{self.count}", body, number, formula, target, level=2)
        application = call(definition, self.number(known, names), self.formula(known, names, 2), var(index))
        return conj(application, self.action(known | {index}, wanted - {index}, names, depth - 1))

    def assignments(
        self, known: frozenset[int], wanted: frozenset[int], names: tuple[NameBinding, ...]
    ) -> list[Expression]:
        """Draw one assignment for each variable."""
        found: list[Expression] = []
        for index in self.random.sample(sorted(wanted), len(wanted)):
            draw = self.random.randrange(4)
            if draw == 0:
                found.append(UnchangedExpr(place=HERE, body=TupleExpr(place=HERE, items=(var(index),))))
            elif draw == 1:
                found.append(op("\\in", prime(var(index)), self.choices(known, names)))
            else:
                found.append(op("=", prime(var(index)), self.number(known, names)))
            known |= {index}
        return found
