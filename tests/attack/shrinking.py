"""A smaller spec with the same difference: parts of a drawn spec are taken away as long as kmc is still wrong alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from attack.drawn_spec import Body, DrawnSpec
from attack.drawn_terms import FALSE, TRUE

PREDICATES = frozenset({"eq", "ne", "lt", "le", "not", "and", "or", "all", "any", "none", "is", "in"})
LISTS = ("actions", "invariants", "goals", "steps", "constraints", "step_constraints", "temporal")
WHOLE: dict[str, Any] = {"fairness": None, "dropped": (), "symmetry": False, "deadlock": False, "levels": None}
FORMULAS = frozenset({"and_", "or_", "implies", "not_"})


def shrunken(spec: DrawnSpec, is_wrong: Callable[[DrawnSpec], bool], seconds: float = 180) -> DrawnSpec:
    """Return the smallest spec found in this time for which `is_wrong` is still true."""
    until = time.monotonic() + seconds
    place, refused = 0, 0
    # After a part is gone, the parts behind it are tried: those before it were just refused.
    while candidates := list(smaller_specs(spec)):
        place %= len(candidates)
        if refused >= len(candidates) or time.monotonic() > until:
            break
        if is_wrong(candidates[place]):
            spec, refused = candidates[place], 0
        else:
            place, refused = place + 1, refused + 1
    return spec


def smaller_specs(spec: DrawnSpec) -> Iterator[DrawnSpec]:
    """Yield specs with a part less, large parts first."""
    for name in LISTS:
        for shorter in _without_one(getattr(spec, name)):
            if name != "actions" or shorter:
                yield _with(spec, name, shorter)
    for name, least in WHOLE.items():
        if getattr(spec, name) != least:
            yield _with(spec, name, least)
    for number, (name, members, symmetric) in enumerate(spec.idents):
        if len(members) > 1:
            fewer = (name, members[:-1], symmetric)
            yield replace(spec, idents=(*spec.idents[:number], fewer, *spec.idents[number + 1 :]))
    yield from _fewer_fields(spec)
    yield from _fewer_declarations(spec)
    for number, action in enumerate(spec.actions):
        changed = [replace(action, fair=None)] if action.fair is not None else []
        changed += [replace(action, params=shorter) for shorter in _without_one(action.params)]
        changed += [replace(action, body=body) for body in _smaller_bodies(action.body)]
        for less in changed:
            yield replace(spec, actions=(*spec.actions[:number], less, *spec.actions[number + 1 :]))
    for body in _smaller_bodies(spec.init):
        yield replace(spec, init=body)
    for name in ("invariants", "goals", "steps", "constraints", "step_constraints"):
        for number, claim in enumerate(claims := getattr(spec, name)):
            for holds in _smaller(claim.holds):
                yield _with(spec, name, (*claims[:number], replace(claim, holds=holds), *claims[number + 1 :]))
    for number, prop in enumerate(spec.temporal):
        for formula in _smaller_formulas(prop.formula):
            weaker = replace(prop, formula=formula)
            yield replace(spec, temporal=(*spec.temporal[:number], weaker, *spec.temporal[number + 1 :]))


def _with(spec: DrawnSpec, name: str, part: Any) -> DrawnSpec:
    changes: dict[str, Any] = {name: part}
    return replace(spec, **changes)


def _without_one(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for number in range(len(items)):
        yield (*items[:number], *items[number + 1 :])


def _fewer_fields(spec: DrawnSpec) -> Iterator[DrawnSpec]:
    for name, _ in spec.fields:
        if len(spec.fields) > 1 and not any(action.network == name for action in spec.actions):
            yield replace(
                spec,
                fields=tuple(each for each in spec.fields if each[0] != name),
                init=_unchanged(spec.init, name),
                actions=tuple(replace(action, body=_unchanged(action.body, name)) for action in spec.actions),
                dropped=tuple(each for each in spec.dropped if each != name),
            )


def _fewer_declarations(spec: DrawnSpec) -> Iterator[DrawnSpec]:
    for shorter in _without_one(spec.records):
        yield replace(spec, records=shorter)
    for shorter in _without_one(spec.enums):
        yield replace(spec, enums=shorter)


def _unchanged(body: Any, name: str) -> Any:
    """Return statements that give a field no value."""
    if not isinstance(body, tuple):
        return body
    if body and body[0] in ("yield", "start") and len(body) == 2:
        return (body[0], tuple(change for change in body[1] if change[0] != name))
    return tuple(_unchanged(part, name) for part in body)


def _smaller_bodies(body: Body) -> Iterator[Body]:
    if len(body) > 1:
        yield from _without_one(body)
    for number, statement in enumerate(body):
        before, after = body[:number], body[number + 1 :]
        for less in _smaller_statements(statement):
            yield (*before, *less, *after)


def _smaller_statements(statement: tuple[Any, ...]) -> Iterator[Body]:
    match statement:
        case ("yield", changes):
            for fewer in _without_one(changes):
                yield (("yield", fewer),)
        case ("if", test, then, otherwise):
            yield then
            if otherwise:
                yield otherwise
                yield (("if", test, then, ()),)
                yield from ((("if", test, then, less),) for less in _smaller_bodies(otherwise))
            yield from ((("if", test, less, otherwise),) for less in _smaller_bodies(then))
        case ("for", variable, domain, inner):
            yield inner
            yield from ((("for", variable, domain, less),) for less in _smaller_bodies(inner))
        case ("ways" | "times" as word, counted, inner):
            yield inner
            yield from (((word, counted, less),) for less in _smaller_bodies(inner))
    if statement[0] != "start":
        yield from ((less,) for less in _smaller(statement))


def _smaller(tree: Any) -> Iterator[Any]:
    """Yield trees in which one predicate, or one conditional value, is simpler."""
    if not isinstance(tree, tuple) or not tree or tree[0] == "lit":
        return
    if tree[0] in PREDICATES and tree not in (TRUE, FALSE):
        yield TRUE
        yield FALSE
    if tree[0] in ("and", "or"):
        yield from tree[1:]
    if tree[0] in ("not", "if") and len(tree) in (2, 4) and isinstance(tree[-1], tuple):
        yield from tree[-2:] if tree[0] == "if" else tree[1:]
    for number, part in enumerate(tree):
        for less in _smaller(part):
            yield (*tree[:number], less, *tree[number + 1 :])


def _smaller_formulas(formula: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if formula[0] in FORMULAS:
        yield from formula[1:]
        for number, part in enumerate(formula[1:], start=1):
            for less in _smaller_formulas(part):
                yield (*formula[:number], less, *formula[number + 1 :])
    elif formula[0] == "for_all":
        yield from ((*formula[:3], less) for less in _smaller_formulas(formula[3]))
    else:
        yield from _smaller(formula)
