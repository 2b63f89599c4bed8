"""Temporal verdicts by definition: a product of the graph with what a formula remembers, and fair components in it.

A formula is cut into pasts (`eventually p`: was there a p; `always p`: was there none else; `leads_to(p, q)`: does a p
still wait) and recurrences (does p, or a step, come again and again). A behaviour refutes the formula by the pasts that
its cycle keeps and by the recurrences of its cycle. All assignments of the recurrences are tried, and within each the
components that fairness allows are found by removing what no fair cycle can visit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import networkx as nx

from attack.drawn_spec import DrawnSpec, Formula
from attack.expressions import Expr, evaluate
from attack.oracle import Answer, Meaning, Step
from attack.values import Rec, Value

Past = tuple[bool, ...]
Node = tuple[int, Past]
Atom = tuple[Formula, dict[str, Value]]
"""An innermost temporal formula with the values of what `for_all` binds."""


@dataclass(frozen=True)
class Condition:
    """Weak or strong fairness of the steps of some instances, by the action's title; None stands for all arguments."""

    strong: bool
    action: str
    arguments: tuple[Value, ...] | None

    def takes(self, step: Step) -> bool:
        """Return whether a step is one of the condition's."""
        given = () if self.arguments is None else self.arguments
        return step.action == self.action and step.arguments[: len(given)] == given


def conditions_of(spec: DrawnSpec, meaning: Meaning) -> list[Condition]:
    """Return the fairness that a spec assumes."""
    actions = {action.name: action for action in spec.actions}
    named = ("fair_actions",) if spec.fairness is None else None
    found: list[Condition] = []
    for formula in [named] if named else spec.fairness or ():
        if formula[0] == "fair_actions":
            for action in spec.actions:
                if action.fair is not None:
                    found += [Condition(action.fair == "STRONG", action.title, a) for a in meaning.arguments(action)]
        else:
            _, strong, name, variable, of = formula
            given = [None] if variable is None else [(member,) for member in spec.members[of]]
            found += [Condition(strong, actions[name].title, arguments) for arguments in given]
    return found


class Judge:
    """The verdicts on the temporal properties of a spec, on the states that a search has expanded."""

    def __init__(self, spec: DrawnSpec) -> None:
        self.meaning = Meaning(spec)
        self._spec = spec
        self._conditions = conditions_of(spec, self.meaning)
        self._instances = [(p.name, f, e) for p in spec.temporal for f, e in self._cases(p.formula, {})]

    def is_refuted_early(self, answer: Answer) -> bool:
        """Return whether a prefix, or a behaviour that stutters at its end, as long as there are levels, refutes."""
        return any(self._ends_badly(answer, formula, env) for _, formula, env in self._instances)

    def settle(self, answer: Answer) -> None:
        """Write the verdicts into an answer."""
        prefixes = {name for name, f, e in self._instances if self._prefix(answer, f, e)}
        lassos = {name for name, f, e in self._instances if self._has_lasso(answer, f, e)}
        for prop in self._spec.temporal:
            answer.refuted[prop.name] = prop.name in prefixes | lassos
        answer.prefix = bool(prefixes)
        wanted = prefixes or lassos
        answer.temporal = next((prop.name for prop in self._spec.temporal if prop.name in wanted), None)

    def refutes(self, name: str, stem: list[Rec], cycle: list[Rec], steps: list[list[Step]]) -> str | None:
        """Return why the behaviour that repeats `cycle` after `stem` is not a fair counterexample, or None if it is.

        `steps` are all steps of each state of the cycle.
        """
        for condition in self._conditions:
            here = [
                [s for s in some if condition.takes(s) and s.target != c] for c, some in zip(cycle, steps, strict=True)
            ]
            after = [*cycle[1:], cycle[0]]
            taken = any(s.target == t for some, t in zip(here, after, strict=True) for s in some)
            idle = not any(here) if condition.strong else not all(here)
            if not taken and not idle:
                return f"the cycle is not fair: {condition}"
        falsified = [f for n, f, e in self._instances if n == name and not self._true_of(f, e, stem, cycle, steps)]
        return None if falsified else f"{name} is true of the lasso"

    def _cases(self, formula: Formula, env: dict[str, Value]) -> Iterator[Atom]:
        if formula[0] == "for_all":
            for member in self._spec.members[formula[2]]:
                yield from self._cases(formula[3], {**env, formula[1]: member})
        else:
            yield formula, env

    def _true(self, predicate: Expr, env: dict[str, Value], state: Rec) -> bool:
        return bool(evaluate(predicate, {**self.meaning.env, **env, "st": state}))

    def _past(self, atoms: list[Formula], env: dict[str, Value], past: Past | None, state: Rec) -> Past:
        """Return what is remembered in `state`: of `eventually` and `always` whether p, or its opposite, was met."""
        found = []
        for number, atom in enumerate(atoms):
            before = past[number] if past is not None else False
            match atom:
                case ("eventually", p):
                    found.append(before or self._true(p, env, state))
                case ("always", p):
                    found.append(before or not self._true(p, env, state))
                case ("leads_to", p, q):
                    found.append((before or self._true(p, env, state)) and not self._true(q, env, state))
        return tuple(found)

    def _walks(self, answer: Answer, atoms: list[Formula], env: dict[str, Value]) -> nx.MultiDiGraph:
        """Return the product of the expanded states and the past, with the levels in which its nodes are reached."""
        graph = answer.graph
        walks = nx.MultiDiGraph()
        level: list[Node] = []
        for number in range(answer.levels[0] if answer.levels else 0):
            if number < len(graph.steps):
                level.append((number, self._past(atoms, env, None, graph.states[number])))
        depth = 0
        while level:
            depth += 1
            level = [node for node in dict.fromkeys(level) if "depth" not in walks.nodes.get(node, {})]
            for node in level:
                walks.add_node(node, depth=depth)
            level = list(self._onward(answer, atoms, env, level, walks))
        return walks

    def _onward(
        self, answer: Answer, atoms: list[Formula], env: dict[str, Value], level: list[Node], walks: nx.MultiDiGraph
    ) -> Iterator[Node]:
        graph = answer.graph
        for number, past in level:
            for step, target in graph.steps[number]:
                if target is not None and target < len(graph.steps) and step.target != graph.states[number]:
                    after = (target, self._past(atoms, env, past, graph.states[target]))
                    yield after
                    walks.add_edge((number, past), after, step=step)

    def _prefix(self, answer: Answer, formula: Formula, env: dict[str, Value], within: int | None = None) -> bool:
        """Return whether a finite prefix, of at most `within` states, refutes a formula whatever follows."""
        atoms = [atom for atom in atoms_of(formula) if atom[0] in PASTS]
        walks = self._walks(answer, atoms, env)
        for (_, past), depth in walks.nodes(data="depth"):
            known = {
                atom: atom[0] == "eventually"
                for atom, met in zip(atoms, past, strict=True)
                if met and atom[0] in ("always", "eventually")
            }
            if (within is None or depth <= within) and truth(formula, known) is False:
                return True
        return False

    def _ends_badly(self, answer: Answer, formula: Formula, env: dict[str, Value]) -> bool:
        levels = len({answer.graph.level_of[number] for number in range(len(answer.graph.steps))})
        if self._prefix(answer, formula, env, within=levels):
            return True
        atoms = [atom for atom in atoms_of(formula) if atom[0] in PASTS]
        for (number, past), depth in self._walks(answer, atoms, env).nodes(data="depth"):
            if depth <= levels and self._may_stay(answer, number):
                state = answer.graph.states[number]
                known = dict(self._settled(atoms, past))
                known |= {atom: self._recurs_here(atom, env, state) for atom in atoms_of(formula) if atom not in known}
                if truth(formula, known) is False:
                    return True
        return False

    def _recurs_here(self, atom: Formula, env: dict[str, Value], state: Rec) -> bool:
        return atom[0] != "recurs" and self._true(atom[1], env, state)

    def _settled(self, atoms: list[Formula], past: Past) -> Iterator[tuple[Formula, bool]]:
        for atom, met in zip(atoms, past, strict=True):
            yield atom, met if atom[0] == "eventually" else not met

    def _may_stay(self, answer: Answer, number: int) -> bool:
        state = answer.graph.states[number]
        steps = [step for step, _ in answer.graph.steps[number] if step.target != state]
        return not any(condition.takes(step) for condition in self._conditions for step in steps)

    def _has_lasso(self, answer: Answer, formula: Formula, env: dict[str, Value]) -> bool:
        atoms = atoms_of(formula)
        remembered = [atom for atom in atoms if atom[0] in PASTS]
        recurring = [atom for atom in atoms if atom[0] != "eventually" and atom[0] != "always"]
        walks = self._walks(answer, remembered, env)
        for chosen in product((False, True), repeat=len(recurring)):
            # Whether the state, or the step, that tells comes again and again in the cycle.
            again = dict(zip(recurring, chosen, strict=True))
            nodes = {node for node in walks if self._allowed(answer, remembered, env, again, node)}
            part = walks.subgraph(nodes).copy()
            # A step between two states is one of an action, whichever other actions have the same step.
            told = {(a, b) for a, b, s in part.edges(data="step") if self._is_told(again, s, tells=False)}
            part.remove_edges_from([(a, b, k) for a, b, k in part.edges(keys=True) if (a, b) in told])
            for component in self._fair(answer, part):
                node = next(iter(component))
                known = {a: m == (a[0] == "eventually") for a, m in zip(remembered, node[1], strict=True)}
                known |= {atom: met != (atom[0] == "eventually_always") for atom, met in again.items()}
                complete = all(
                    any(self._tells(answer, remembered, env, atom, each) for each in component)
                    or any(
                        self._is_told({atom: True}, s, tells=True)
                        for _, _, s in part.subgraph(component).edges(data="step")
                    )
                    for atom, met in again.items()
                    if met
                )
                if complete and truth(formula, known) is False:
                    return True
        return False

    def _allowed(
        self, answer: Answer, remembered: list[Formula], env: Any, again: dict[Formula, bool], node: Node
    ) -> bool:
        return not any(self._tells(answer, remembered, env, atom, node) for atom, met in again.items() if not met)

    def _tells(
        self, answer: Answer, remembered: list[Formula], env: dict[str, Value], atom: Formula, node: Node
    ) -> bool:
        """Return whether a node is one whose recurrence an atom asks for: p, not p of `<>[]p`, or nothing waits."""
        state = answer.graph.states[node[0]]
        match atom:
            case ("always_eventually", p):
                return self._true(p, env, state)
            case ("eventually_always", p):
                return not self._true(p, env, state)
            case ("leads_to", _, _):
                return not node[1][remembered.index(atom)]
        return False

    @staticmethod
    def _is_told(again: dict[Formula, bool], step: Step, *, tells: bool) -> bool:
        return any(
            atom[0] == "recurs" and met is tells and _title(atom[1]) == step.action for atom, met in again.items()
        )

    def _fair(self, answer: Answer, graph: nx.MultiDiGraph) -> Iterator[set[Node]]:
        """Yield sets of nodes that some fair cycle visits all of: the greatest there are."""
        for component in list(nx.strongly_connected_components(graph)):
            part = graph.subgraph(component)
            taken = [step for _, _, step in part.edges(data="step")]
            removed: set[Node] = set()
            missed = False
            for condition in self._conditions:
                if any(condition.takes(step) for step in taken):
                    continue
                enabled = {node for node in component if self._enables(answer, condition, node[0])}
                if condition.strong:
                    removed |= enabled
                missed = missed or (not condition.strong and enabled == component)
            if missed:
                continue
            if not removed:
                yield component
            elif removed != component:
                yield from self._fair(answer, graph.subgraph(component - removed))

    @staticmethod
    def _enables(answer: Answer, condition: Condition, number: int) -> bool:
        state = answer.graph.states[number]
        return any(condition.takes(step) for step, _ in answer.graph.steps[number] if step.target != state)

    def _true_of(self, formula: Formula, env: Any, stem: list[Rec], cycle: list[Rec], steps: list[list[Step]]) -> bool:
        """Return whether a formula is true of a lasso, each atom by its definition."""
        known: dict[Formula, bool] = {}
        for atom in atoms_of(formula):
            match atom:
                case ("eventually", p):
                    known[atom] = any(self._true(p, env, state) for state in (*stem, *cycle))
                case ("always", p):
                    known[atom] = all(self._true(p, env, state) for state in (*stem, *cycle))
                case ("always_eventually", p):
                    known[atom] = any(self._true(p, env, state) for state in cycle)
                case ("eventually_always", p):
                    known[atom] = all(self._true(p, env, state) for state in cycle)
                case ("leads_to", p, q):
                    answered = any(self._true(q, env, state) for state in cycle)
                    path = [*stem, *cycle]
                    known[atom] = answered or not any(
                        self._true(p, env, state) and not any(self._true(q, env, later) for later in path[number:])
                        for number, state in enumerate(path)
                    )
                case ("recurs", action):
                    after = [*cycle[1:], cycle[0]]
                    known[atom] = any(
                        step.action == _title(action) and step.target == target and target != state
                        for state, some, target in zip(cycle, steps, after, strict=True)
                        for step in some
                    )
        return truth(formula, known) is True


PASTS = ("eventually", "always", "leads_to")


def _title(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def atoms_of(formula: Formula) -> list[Formula]:
    """Return the innermost temporal formulas, each once."""
    if formula[0] in ("not_", "and_", "or_", "implies"):
        return list(dict.fromkeys(atom for part in formula[1:] for atom in atoms_of(part)))
    return [formula]


def truth(formula: Formula, known: dict[Formula, bool]) -> bool | None:
    """Return the truth of a formula where some atoms are known, or None if it depends on others."""
    match formula:
        case ("not_", inner):
            found = truth(inner, known)
            return None if found is None else not found
        case ("and_", first, second):
            return _joined(all, False, [truth(first, known), truth(second, known)])
        case ("or_", first, second):
            return _joined(any, True, [truth(first, known), truth(second, known)])
        case ("implies", first, second):
            return truth(("or_", ("not_", first), second), known)
    return known.get(formula)


def _joined(join: Callable[[Iterable[bool]], bool], decides: bool, parts: list[bool | None]) -> bool | None:
    if decides in parts:
        return decides
    return None if None in parts else join([bool(part) for part in parts])
