"""Expressions of drawn specs: each is a tuple, evaluated on plain values or printed as a line of the spec language.

Invariant: the two readings of a node stand beside each other (`STRICT`, `BINDERS`), and nothing else knows the nodes.
An operand that is a tuple is an expression; numbers, text and None are themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

from attack.values import Fun, Rec, Value

Expr = tuple[Any, ...]
Env = dict[str, Value]

MEMBERS = "#members"
"""The key of an environment under which the members of each identifier type stand."""


def _take(bag: Fun, message: Rec) -> Fun:
    assert bag.get(message, 0) > 0, "only what can be delivered is taken"
    return bag.with_(message, bag[message] - 1)


def _subsets(items: frozenset[Value]) -> frozenset[Value]:
    return frozenset(frozenset(some) for size in range(len(items) + 1) for some in combinations(sorted(items), size))


def _without(function: Fun, key: Value) -> Fun:
    return Fun({other: value for other, value in function.items() if other != key})


# Of each operator whose operands are all evaluated: its text, and its meaning.
STRICT: dict[str, tuple[str, Callable[..., Value]]] = {
    "eq": ("({} == {})", lambda a, b: a == b),
    "ne": ("({} != {})", lambda a, b: a != b),
    "lt": ("({} < {})", lambda a, b: a < b),
    "le": ("({} <= {})", lambda a, b: a <= b),
    "not": ("(not {})", lambda a: not a),
    "none": ("({} is None)", lambda a: a is None),
    "is": ("isinstance({}, {})", lambda a, cls: isinstance(a, Rec) and a.cls == cls),
    "wrap": ("(({} + {} - {}) % {} + {})", lambda a, k, low, n, again: (a + k - low) % n + again),
    "plus": ("({} + {})", lambda a, b: a + b),
    "min": ("min({}, {})", min),
    "max": ("max({}, {})", max),
    "len": ("len({})", len),
    "in": ("({} in {})", lambda a, b: a in b),
    "subset": ("({} <= {})", lambda a, b: a <= b),
    "field": ("{}.{}", lambda a, name: a.get(name)),
    "at": ("{}[{}]", lambda a, key: a[key]),
    "offset": ("{}.at({})", lambda a, offset: a[offset - 1]),
    "put": ("{}.set({}, {})", lambda a, key, value: a.with_(key, value)),
    "add_key": ("{}.add({}, {})", lambda a, key, value: a.with_(key, value)),
    "without": ("{}.without({})", _without),
    "keys": ("set({}.keys())", frozenset),
    "append": ("{}.append({})", lambda a, item: (*a, item)),
    "upto": ("{}.upto({})", lambda a, size: a[:size]),
    "union": ("({} | {})", lambda a, b: a | b),
    "minus": ("({} - {})", lambda a, b: a - b),
    "both": ("({} & {})", lambda a, b: a & b),
    "one": ("{{{}}}", lambda a: frozenset([a])),
    "subsets": ("subsets({})", _subsets),
    "pair": ("pair({}, {})", lambda a, b: frozenset((a, b))),
    "pairs": ("pairs({})", lambda a: frozenset(map(frozenset, combinations(sorted(a), 2)))),
    "range": ("range({}, {})", lambda a, b: frozenset(range(a, b))),
    "of": ("{}.of({})", lambda net, cls: frozenset(m for m in net if m.cls == cls)),
    "send": ("{}.send({})", lambda net, m: net | {m}),
    "discard": ("{}.discard({})", lambda net, m: net - {m}),
    "bag_add": ("{}.add({})", lambda bag, m: bag.with_(m, bag.get(m, 0) + 1)),
    "bag_take": ("{}.take({})", _take),
    "bag_count": ("{}.count({})", lambda bag, m: bag.get(m, 0)),
}


def evaluate(expr: Any, env: Env) -> Value:
    """Return the value of an expression."""
    if not isinstance(expr, tuple):
        return expr
    name, *parts = expr
    if name in STRICT:
        return STRICT[name][1](*(evaluate(part, env) for part in parts))
    match expr:
        case ("lit", value, _):
            return value
        case ("var", variable):
            return env[variable]
        case ("members", of):
            return frozenset(env[MEMBERS][of])
        case ("member", of, number):
            return env[MEMBERS][of][number - 1]
        case ("and", a, b):
            return evaluate(a, env) and evaluate(b, env)
        case ("or", a, b):
            return evaluate(a, env) or evaluate(b, env)
        case ("if", test, a, b):
            return evaluate(a if evaluate(test, env) else b, env)
        case ("record", cls, fields):
            return Rec(cls, tuple((field, evaluate(value, env)) for field, value in fields))
        case ("change", record, fields):
            changes = {field: evaluate(value, env) for field, value in fields}
            return evaluate(record, env).with_(changes)
    return _bound(expr, env)


def _bound(expr: Expr, env: Env) -> Value:
    name, variable, domain, *bodies = expr
    rounds: Iterator[Env] = ({**env, variable: item} for item in _items(evaluate(domain, env)))
    match name:
        case "all":
            return all(evaluate(bodies[0], each) for each in rounds)
        case "any":
            return any(evaluate(bodies[0], each) for each in rounds)
        case "count":
            return sum(evaluate(bodies[0], each) for each in rounds)
        case "filter" | "keep":
            return frozenset(each[variable] for each in rounds if evaluate(bodies[0], each))
        case "function":
            return Fun({each[variable]: evaluate(bodies[0], each) for each in rounds})
    raise AssertionError(name)


def _items(domain: Value) -> Any:
    return domain.keys() if isinstance(domain, Fun) else domain


def text(expr: Any) -> str:
    """Return an expression as a piece of the spec language."""
    if not isinstance(expr, tuple):
        return f"({expr})" if isinstance(expr, int) and expr < 0 else str(expr)
    name, *parts = expr
    if name in STRICT:
        return STRICT[name][0].format(*map(text, parts))
    match expr:
        case ("lit", _, written):
            return str(written)
        case ("var", variable):
            return str(variable)
        case ("members", of):
            return str(of)
        case ("member", of, number):
            return f"{of}.at({number})"
        case ("and" | "or", a, b):
            return f"({text(a)} {name} {text(b)})"
        case ("if", test, a, b):
            return f"({text(a)} if {text(test)} else {text(b)})"
        case ("record", cls, fields):
            return f"{cls}({_named(fields)})"
        case ("change", record, fields):
            return f"{text(record)}.set({_named(fields)})"
        case ("all" | "any" | "count", variable, domain, body):
            return f"{name}({text(body)} for {variable} in {text(domain)})"
        case ("filter", variable, domain, body):
            return f"{{{variable} for {variable} in {text(domain)} if {text(body)}}}"
        case ("keep", variable, net, body):
            return f"{text(net)}.keep(lambda {variable}: {text(body)})"
        case ("function", variable, domain, body):
            return f"{{{variable}: {text(body)} for {variable} in {text(domain)}}}"
    raise AssertionError(name)


def _named(fields: tuple[tuple[str, Any], ...]) -> str:
    return ", ".join(f"{field}={text(value)}" for field, value in fields)
