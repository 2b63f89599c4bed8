"""A drawn spec and its model as data: types, statements, actions, properties; and their text for kmc.

Types are tuples: ("int", low, high), ("bool",), ("enum", name), ("id", name), ("pair", name), ("opt", t), ("set", t),
("seq", t, capacity), ("map", key, t), ("pmap", key, t), ("rec", name), ("union", t, ...), ("mset", messages, capacity),
("mbag", messages, capacity, count). Statements are tuples too:
("yield", changes), ("start", fields), ("require", e), ("assert", e), ("if", e, body, otherwise),
("for", variable, domain, body), ("ways", conditions, body), ("times", count, body).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from attack.expressions import Expr, text

Type = tuple[Any, ...]
Body = tuple[tuple[Any, ...], ...]
Formula = tuple[Any, ...]

LANG = "Bool Enum IdentSet Int Map Message MessageBag MessageSet Opt Pair PartialMap Record Seq Set constant count pair"
WORDS = {
    "kmc.lang": [*LANG.split(), "pairs", "require", "subsets", "ways"],
    "kmc.spec": [
        "FAIR_ACTIONS",
        "NEXT",
        "STRONG",
        "WEAK",
        "always",
        "always_eventually",
        "and_",
        "enabled",
        "eventually",
        "eventually_always",
        "for_all",
        "implies",
        "leads_to",
        "not_",
        "or_",
        "spec",
        "steps",
        "strong_fairness",
        "weak_fairness",
    ],
}


@dataclass(frozen=True)
class Record:
    """A class of records, or of messages."""

    name: str
    fields: tuple[tuple[str, Type], ...]
    is_message: bool = False


@dataclass(frozen=True)
class Action:
    """An action. Of one that receives, `message` is its class, `network` its field, `ends` the parameters for them."""

    name: str
    params: tuple[tuple[str, Type], ...]
    body: Body
    fair: str | None = None
    message: str | None = None
    network: str | None = None
    ends: tuple[tuple[str, str], ...] = ()

    @property
    def title(self) -> str:
        """The name that a trace shows."""
        return "".join(part.capitalize() for part in self.name.split("_"))


@dataclass(frozen=True)
class Claim:
    """A property, a goal or a constraint: a name and an expression over `st`, and `nxt` for one of steps."""

    name: str
    holds: Expr


@dataclass(frozen=True)
class Temporal:
    """A temporal property: a formula over predicates of `st`."""

    name: str
    formula: Formula


@dataclass(frozen=True)
class DrawnSpec:
    """A spec with the one model `m`. `idents` are types with their members; `fairness` is a named specification."""

    idents: tuple[tuple[str, tuple[str, ...], bool], ...]
    enums: tuple[tuple[str, tuple[str, ...]], ...]
    records: tuple[Record, ...]
    fields: tuple[tuple[str, Type], ...]
    init: Body
    actions: tuple[Action, ...]
    invariants: tuple[Claim, ...] = ()
    goals: tuple[Claim, ...] = ()
    steps: tuple[Claim, ...] = ()
    constraints: tuple[Claim, ...] = ()
    step_constraints: tuple[Claim, ...] = ()
    temporal: tuple[Temporal, ...] = ()
    fairness: tuple[Formula, ...] | None = None
    dropped: tuple[str, ...] = ()
    symmetry: bool = False
    deadlock: bool = True
    levels: int | None = None
    orders: tuple[str, ...] = field(default=())

    @property
    def members(self) -> dict[str, tuple[str, ...]]:
        """The members of each identifier type."""
        return {name: members for name, members, _ in self.idents}

    def record(self, name: str) -> Record:
        """Return the class of a name."""
        return next(each for each in self.records if each.name == name)

    def source(self) -> str:
        """Return the file spec.py."""
        body = "\n".join(_declarations(self)) + "\n"
        heads = [
            f"from {module} import {', '.join(found)}"
            for module, words in WORDS.items()
            if (found := [word for word in words if re.search(rf"\b{word}\b", body)])
        ]
        return "\n".join(heads) + "\n\n" + body

    def manifest(self) -> str:
        """Return the file models.toml."""
        constants = ", ".join(f"{name} = {_listed(members)}" for name, members, _ in self.idents)
        lines = ["[models.m]", 'description = "drawn"', f"constants = {{ {constants} }}"]
        named: dict[str, Sequence[Claim | Temporal]] = {
            "invariants": self.invariants,
            "properties": (*self.steps, *self.temporal),
            "constraints": self.constraints,
            "action_constraints": self.step_constraints,
        }
        lines += [f"{key} = {_listed([claim.name for claim in claims])}" for key, claims in named.items() if claims]
        lines += ['symmetry = ["Sym"]'] if self.symmetry else []
        lines += ['view = "View"'] if self.dropped else []
        lines += [f"levels = {self.levels}"] if self.levels is not None else []
        lines += [f"deadlock = {str(self.deadlock).lower()}"]
        return "\n".join(lines) + "\n"


def _listed(names: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


def type_text(of: Type) -> str:
    """Return a type as the spec language writes it."""
    match of:
        case ("int", low, high):
            return f"Int({low}, {high})"
        case ("bool",):
            return "Bool"
        case ("enum" | "id" | "rec", name):
            return str(name)
        case ("pair", name):
            return f"Pair[{name}]"
        case ("opt", inner):
            return f"Opt[{type_text(inner)}]"
        case ("set", inner):
            return f"Set[{type_text(inner)}]"
        case ("seq", inner, capacity):
            return f"Seq[{type_text(inner)}, {capacity}]"
        case ("map", key, inner):
            return f"Map[{type_text(key)}, {type_text(inner)}]"
        case ("pmap", key, inner):
            return f"PartialMap[{type_text(key)}, {type_text(inner)}]"
        case ("union", *parts):
            return " | ".join("None" if part is None else type_text(part) for part in parts)
        case ("mset", messages, capacity):
            return f"MessageSet[{' | '.join(messages)}, {capacity}]"
        case ("mbag", messages, capacity, count):
            return f"MessageBag[{' | '.join(messages)}, {capacity}, {count}]"
    raise AssertionError(of)


def _declarations(spec: DrawnSpec) -> Iterator[str]:
    for name, _, symmetric in spec.idents:
        yield f'{name} = constant("{name}", IdentSet({"symmetric=True" if symmetric else ""}), "members")'
    symmetric_names = [name for name, _, symmetric in spec.idents if symmetric]
    if spec.symmetry:
        yield f'spec.symmetry("Sym", {", ".join(symmetric_names)})'
    for name, members in spec.enums:
        shouted = ", ".join(member.upper() for member in members) + ("," if len(members) == 1 else "")
        yield f"\n\nclass {name}(Enum):\n    {shouted} = range({len(members)})"
    for record in (*spec.records, Record("State", spec.fields)):
        lines = [f"    {name}: {type_text(of)}" for name, of in record.fields]
        yield f"\n\nclass {record.name}({'Message' if record.is_message else 'Record'}):\n" + "\n".join(lines)
    if spec.dropped:
        yield f'\n\nspec.view("View", drop={_listed(spec.dropped)})'
    yield "\n\n@spec.init\ndef init():\n" + _indented(spec.init)
    for action in spec.actions:
        yield _action_text(action)
    for kind, names, claims in (
        ("invariant", "st", spec.invariants),
        ("reachable", "st", spec.goals),
        ("action_property", "st, nxt", spec.steps),
        ("constraint", "st", spec.constraints),
        ("action_constraint", "st, nxt", spec.step_constraints),
    ):
        for claim in claims:
            yield f"\n\n@spec.{kind}\ndef {claim.name}({names}):\n    return {text(claim.holds)}"
    for prop in spec.temporal:
        yield f"\n\n@spec.liveness\ndef {prop.name}():\n    return {formula_text(prop.formula)}"
    if spec.fairness is not None:
        joined = ", ".join(formula_text(part) for part in spec.fairness)
        yield f"\n\n@spec.specification\ndef Named():\n    return and_({joined})"


def _action_text(action: Action) -> str:
    params = [f", {name}: {type_text(of)}" for name, of in action.params]
    if action.message is None:
        decorator = f"@spec.action(fair={action.fair})" if action.fair else "@spec.action"
    else:
        words = [action.message, f'network="{action.network}"', *(f'{name}="{end}"' for name, end in action.ends)]
        decorator = f"@spec.receive({', '.join([*words, *([f'fair={action.fair}'] if action.fair else [])])})"
        params = [", m", *(f", {name}" for name, _ in action.ends)]
    return f"\n\n{decorator}\ndef {action.name}(st{''.join(params)}):\n{_indented(action.body)}"


def _indented(body: Body, depth: int = 1) -> str:
    return "\n".join(_statements(body, "    " * depth, depth))


def _statements(body: Body, pad: str, depth: int) -> Iterator[str]:
    for statement in body:
        match statement:
            case ("yield", changes):
                named = ", ".join(f"{name}={text(value)}" for name, value in changes)
                yield f"{pad}yield st.set({named})" if changes else f"{pad}yield st"
            case ("start", fields):
                yield f"{pad}yield State({', '.join(f'{name}={text(value)}' for name, value in fields)})"
            case ("require", condition):
                yield f"{pad}require({text(condition)})"
            case ("assert", condition):
                yield f"{pad}assert {text(condition)}"
            case ("if", condition, then, otherwise):
                yield f"{pad}if {text(condition)}:\n{_indented(then, depth + 1)}"
                if otherwise:
                    yield f"{pad}else:\n{_indented(otherwise, depth + 1)}"
            case ("for", variable, domain, inner):
                yield f"{pad}for {variable} in {text(domain)}:\n{_indented(inner, depth + 1)}"
            case ("ways", conditions, inner):
                yield f"{pad}for _ in ways({', '.join(map(text, conditions))}):\n{_indented(inner, depth + 1)}"
            case ("times", number, inner):
                yield f"{pad}for _ in range({text(number)}):\n{_indented(inner, depth + 1)}"


def formula_text(formula: Formula) -> str:
    """Return a temporal formula, or a condition of fairness, as the spec language writes it."""
    match formula:
        case ("always" | "eventually" | "always_eventually" | "eventually_always" as word, predicate):
            return f"{word}(lambda st: {text(predicate)})"
        case ("leads_to", before, after):
            return f"leads_to(lambda st: {text(before)}, lambda st: {text(after)})"
        case ("recurs", action):
            return f"always_eventually(steps({action}))"
        case ("not_", inner):
            return f"not_({formula_text(inner)})"
        case ("and_" | "or_" | "implies" as word, first, second):
            return f"{word}({formula_text(first)}, {formula_text(second)})"
        case ("for_all", variable, of, inner):
            return f"for_all({of}, lambda {variable}: {formula_text(inner)})"
        case ("fair", strong, action, variable, of):
            word = "strong_fairness" if strong else "weak_fairness"
            if variable is None:
                return f"{word}({action})"
            return f"for_all({of}, lambda {variable}: {word}({action}, {variable}))"
        case ("fair_actions",):
            return "FAIR_ACTIONS"
    raise AssertionError(formula)
