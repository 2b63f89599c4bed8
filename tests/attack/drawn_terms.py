"""Drawing of expressions: what may be read somewhere, predicates over it, and new values for a field."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from attack.drawn_spec import Record, Type
from attack.expressions import Expr
from attack.values import Fun

Scope = dict[str, Type]
"""Names that may be read, with their types."""

TRUE: Expr = ("lit", True, "True")
FALSE: Expr = ("lit", False, "False")
NOTHING: Expr = ("lit", None, "None")
NO_KEYS: Expr = ("lit", Fun(), "{}")
NO_SET: Expr = ("lit", frozenset(), "set()")


class Terms:
    """Draws expressions over the classes and enums of a spec. Fields of `hidden` are never read."""

    def __init__(
        self,
        chance: Random,
        idents: tuple[str, ...],
        enums: dict[str, tuple[str, ...]],
        records: tuple[Record, ...],
        hidden: frozenset[str] = frozenset(),
    ) -> None:
        self.chance = chance
        self.idents = idents
        self.enums = enums
        self.classes = {record.name: record for record in records}
        self._hidden = hidden
        self._bound = 0

    def fresh(self, letter: str) -> str:
        """Return a variable name that is used nowhere else."""
        self._bound += 1
        return f"{letter}{self._bound}"

    def places(self, scope: Scope) -> Iterator[tuple[Expr, Type]]:
        """Yield all that can be read without a condition, with its type."""
        for name, of in scope.items():
            yield from self._below(("var", name), of, scope, 4)

    def _below(self, place: Expr, of: Type, scope: Scope, depth: int) -> Iterator[tuple[Expr, Type]]:
        yield place, of
        if depth == 0:
            return
        if of[0] == "rec":
            for name, inner in self.classes[of[1]].fields:
                if of[1] != "State" or name not in self._hidden:
                    yield from self._below(("field", place, name), inner, scope, depth - 1)
        elif of[0] == "map":
            for key in self.keys(of[1], scope):
                yield from self._below(("at", place, key), of[2], scope, depth - 1)

    def keys(self, of: Type, scope: Scope) -> list[Expr]:
        """Return the expressions that are keys of a type whatever the state is."""
        named: list[Expr] = [("var", name) for name, known in scope.items() if known == of]
        if of[0] in ("int", "enum"):
            named += [self.literal(of)]
        return named

    def literal(self, of: Type) -> Expr:
        """Return a value of a type that names no identifier."""
        pick = self.chance.choice
        match of:
            case ("int", low, high):
                return ("lit", value := self.chance.randint(low, high), f"({value})" if value < 0 else str(value))
            case ("bool",):
                return pick([TRUE, FALSE])
            case ("enum", name):
                member = pick(self.enums[name])
                return ("lit", member, f"{name}.{member.upper()}")
        raise AssertionError(of)

    def some(self, scope: Scope, kind: str) -> list[tuple[Expr, Type]]:
        """Return what can be read of a kind."""
        return [(place, of) for place, of in self.places(scope) if of[0] == kind]

    def truth(self, scope: Scope, depth: int = 2) -> Expr:
        """Return a predicate."""
        if depth > 0 and self.chance.random() < 0.5:
            return self._composed(scope, depth - 1)
        candidates = list(self.places(scope))
        for _ in range(20):
            place, of = self.chance.choice(candidates)
            found = self._about(place, of, scope, depth)
            if found is not None:
                return found
        return TRUE

    def _composed(self, scope: Scope, depth: int) -> Expr:
        match self.chance.choice(["and", "or", "not", "all", "any", "many"]):
            case "and" | "or" as name:
                return (name, self.truth(scope, depth), self.truth(scope, depth))
            case "not":
                return ("not", self.truth(scope, depth))
            case "all" | "any" as name:
                ident, variable = self.chance.choice(self.idents), self.fresh("x")
                inner = {**scope, variable: ("id", ident)}
                return (name, variable, ("members", ident), self.truth(inner, depth))
        ident, variable = self.chance.choice(self.idents), self.fresh("x")
        count = ("count", variable, ("members", ident), self.truth({**scope, variable: ("id", ident)}, depth))
        return (self.chance.choice(["lt", "le"]), count, self.chance.choice([1, 2]))

    def _about(self, place: Expr, of: Type, scope: Scope, depth: int) -> Expr | None:
        pick = self.chance.choice
        match of:
            case ("bool",):
                return place
            case ("int", _, _):
                others = [other for other, _ in self.some(scope, "int") if other != place]
                other = pick(others) if others and self.chance.random() < 0.3 else self.literal(of)
                return (pick(["eq", "ne", "lt", "le"]), place, other)
            case ("enum", _):
                return (pick(["eq", "ne"]), place, self.literal(of))
            case ("id", _):
                others = [other for other, known in self.places(scope) if known in (of, ("opt", of)) and other != place]
                return (pick(["eq", "ne"]), place, pick(others)) if others else None
            case ("opt", inner):
                keys = self.keys(inner, scope)
                return ("none", place) if not keys or self.chance.random() < 0.5 else ("eq", place, pick(keys))
            case ("set" | "pmap", key, *_):
                keys = self.keys(key, scope)
                sized = (pick(["eq", "lt"]), ("len", place), pick([1, 2]))
                return sized if not keys or self.chance.random() < 0.3 else ("in", pick(keys), place)
            case ("seq", inner, _):
                return self._about_sequence(place, inner, scope, depth)
            case ("union", *parts):
                return self._about_union(place, parts, scope, depth)
            case ("mset" | "mbag", messages, *_):
                return self._about_network(place, of, pick(messages), scope, depth)
        return None

    def _about_sequence(self, place: Expr, inner: Type, scope: Scope, depth: int) -> Expr:
        if depth == 0 or self.chance.random() < 0.4:
            return (self.chance.choice(["eq", "lt"]), ("len", place), self.chance.choice([1, 2]))
        if self.chance.random() < 0.5:
            last = ("offset", place, ("len", place))
            return ("and", ("lt", 0, ("len", place)), self._of_value(last, inner, scope, depth))
        variable = self.fresh("e")
        body = self._of_value(("var", variable), inner, {**scope, variable: inner}, depth)
        return (self.chance.choice(["all", "any"]), variable, place, body)

    def _of_value(self, value: Expr, of: Type, scope: Scope, depth: int) -> Expr:
        """Return a predicate about a value that is not in the scope."""
        found = list(self._below(value, of, scope, 2))
        self.chance.shuffle(found)
        return next((a for place, t in found if (a := self._about(place, t, scope, depth - 1)) is not None), TRUE)

    def _about_union(self, place: Expr, parts: list[Type | None], scope: Scope, depth: int) -> Expr:
        part = self.chance.choice(parts)
        if part is None:
            return ("none", place)
        if part[0] == "rec":
            known = ("is", place, part[1])
            return known if depth == 0 else ("and", known, self._of_value(place, part, scope, depth))
        keys = self.keys(part, scope)
        return ("eq", place, self.chance.choice(keys)) if keys else ("none", place)

    def _about_network(self, place: Expr, of: Type, cls: str, scope: Scope, depth: int) -> Expr:
        if depth == 0 or self.chance.random() < 0.3:
            return ("lt", ("len", place), self.chance.choice([1, 2]))
        variable = self.fresh("m")
        fields = [(("field", ("var", variable), name), inner) for name, inner in self.classes[cls].fields]
        field, inner = self.chance.choice(fields)
        body = self._about(field, inner, scope, 0) or TRUE
        if of[0] == "mbag" and self.chance.random() < 0.5:
            body = ("lt", 0, ("bag_count", place, ("var", variable)))
        return (self.chance.choice(["all", "any"]), variable, ("of", place, cls), body)

    def value(self, of: Type, old: Expr | None, scope: Scope, depth: int = 2) -> Expr | None:
        """Return a value of a type, made from the old one, from others, or anew; None if there is neither."""
        pick = self.chance.choice
        same = [place for place, known in self.places(scope) if known == of and place != old]
        if same and self.chance.random() < 0.25:
            return pick(same)
        match of:
            case ("int", low, high):
                return self._number(low, high, old, of)
            case ("bool",):
                return pick([*([("not", old)] if old is not None else []), TRUE, FALSE, self.truth(scope, 1)])
            case ("enum", _):
                return self.literal(of)
            case ("id", _):
                keys = self.keys(of, scope)
                return pick(keys) if keys else old
            case ("opt", inner):
                inside = self.value(inner, None, scope, depth)
                return NOTHING if inside is None or self.chance.random() < 0.4 else inside
            case ("rec", name):
                return self._record(name, old, scope, depth)
            case ("union", *parts):
                part = pick([p for p in parts if p is None or p[0] != "id" or self.keys(p, scope)])
                return NOTHING if part is None else self.value(part, None, scope, depth) or NOTHING
        assert old is not None, of
        return self._container(of, old, scope, depth)

    def _number(self, low: int, high: int, old: Expr | None, of: Type) -> Expr:
        if old is None or self.chance.random() < 0.2:
            return self.literal(of)
        match self.chance.choice(["wrap", "up", "up", "down"]):
            case "wrap":
                return ("wrap", old, self.chance.choice([1, 2]), low, high - low + 1, low)
            case "up":
                return ("min", ("plus", old, 1), high)
        return ("max", ("plus", old, -1), low)

    def _record(self, name: str, old: Expr | None, scope: Scope, depth: int) -> Expr | None:
        """Return a record, changed or new; the old one, or None, where no identifier is at hand for a field."""
        fields = self.classes[name].fields
        if old is not None and self.chance.random() < 0.7:
            field, of = self.chance.choice(fields)
            return ("change", old, ((field, self.value(of, ("field", old, field), scope, depth - 1)),))
        values = [(field, self.value(of, None, scope, depth - 1)) for field, of in fields]
        return old if any(value is None for _, value in values) else ("record", name, tuple(values))

    def _container(self, of: Type, old: Expr, scope: Scope, depth: int) -> Expr:
        pick = self.chance.choice
        match of:
            case ("set", inner):
                return self._set(inner, old, scope)
            case ("seq", inner, capacity):
                item = self.value(inner, None, scope, depth - 1)
                grown = old if item is None else ("if", ("lt", ("len", old), capacity), ("append", old, item), old)
                shorter = ("if", ("lt", 0, ("len", old)), ("upto", old, ("plus", ("len", old), -1)), old)
                return pick([grown, grown, shorter, ("lit", (), "[]")])
            case ("map", key, inner):
                keys = self.keys(key, scope)
                if keys and self.chance.random() < 0.7:
                    at = pick(keys)
                    return ("put", old, at, self.value(inner, ("at", old, at), scope, depth - 1))
                variable = self.fresh("k")
                known = {**scope, variable: key}
                return ("function", variable, old, self.value(inner, ("at", old, ("var", variable)), known, depth - 1))
            case ("pmap", key, inner):
                keys = self.keys(key, scope)
                if not keys:
                    return old
                at = pick(keys)
                changed = self.value(inner, ("at", old, at), scope, depth - 1)
                new = self.value(inner, None, scope, depth - 1)
                if new is None:
                    return old
                put = ("if", ("in", at, old), ("put", old, at, changed), ("add_key", old, at, new))
                return pick([put, ("if", ("in", at, old), ("without", old, at), old)])
        return self._network(of, old, scope, depth)

    def _set(self, inner: Type, old: Expr, scope: Scope) -> Expr:
        keys = self.keys(inner, scope)
        options: list[Expr] = [NO_SET]
        if keys:
            one = ("one", self.chance.choice(keys))
            options += [("union", old, one), ("union", old, one), ("minus", old, one), one]
        if inner[0] == "id":
            variable = self.fresh("y")
            condition = self.truth({**scope, variable: inner}, 1)
            options += [("filter", variable, ("members", inner[1]), condition)]
        return self.chance.choice(options)

    def _network(self, of: Type, old: Expr, scope: Scope, depth: int) -> Expr:
        name = self.chance.choice(of[1])
        message = self._record(name, None, scope, depth)
        if message is None:
            return old
        if of[0] == "mset":
            variable = self.fresh("m")
            kept = ("keep", variable, old, ("not", ("is", ("var", variable), name)))
            sent = ("if", ("lt", ("len", old), of[2]), ("send", old, message), old)
            return self.chance.choice([sent, sent, sent, kept, ("discard", old, message)])
        room = ("or", ("in", message, old), ("lt", ("len", old), of[2]))
        fits = ("and", ("lt", ("bag_count", old, message), of[3]), room)
        return ("if", fits, ("bag_add", old, message), old)
