"""Drawing of whole specs from a seed: small ones, with as many constructs of the language as fit."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from random import Random

from attack.drawn_spec import Action, Body, Claim, DrawnSpec, Formula, Record, Temporal, Type
from attack.drawn_terms import NO_KEYS, NO_SET, NOTHING, Scope, Terms
from attack.expressions import Expr
from attack.oracle import Answer, Meaning, Search, TooLarge

STATE: Type = ("rec", "State")
SERVER: Type = ("id", "Server")
KIND: Type = ("enum", "Kind")

STATES_MIN = (6, 30, 100, 300)
DRAWS_MAX = 25


def drawn(seed: int) -> DrawnSpec:
    """Return the spec of a seed: the first one drawn from it that is neither tiny nor large."""
    chance = Random(seed)
    wanted = chance.choice(STATES_MIN)
    for number in count():
        spec = SpecDrawer(chance).spec()
        try:
            found = Search(Meaning(spec), keep_going=True).run()
        except TooLarge:
            continue
        if found.distinct >= (wanted if number < DRAWS_MAX else STATES_MIN[0]):
            return _with_rare_claims(spec, found, chance)
    raise AssertionError("drawn for ever")


def _with_rare_claims(spec: DrawnSpec, found: Answer, chance: Random) -> DrawnSpec:
    """Return the spec without most of the invariants that fail at once, so that not every search ends at its start."""
    failing = {claim.name for claim in spec.invariants if found.violations[claim.name]}
    often = 0.5 if spec.temporal or spec.symmetry else 0.3
    kept = [claim for claim in spec.invariants if claim.name not in failing or chance.random() < often]
    steps = [claim for claim in spec.steps if not found.violations[claim.name] or chance.random() < often]
    return replace(spec, invariants=tuple(kept), steps=tuple(steps))


class SpecDrawer:
    """Draws one spec."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._symmetry = chance.random() < 0.35
        self._temporal = not self._symmetry and chance.random() < 0.55
        self._view = not self._temporal and chance.random() < 0.2
        size = chance.choice([2, 2, 3]) if self._symmetry else chance.choice([1, 2, 2])
        self._idents = [("Server", tuple(f"s{n}" for n in range(1, size + 1)), self._symmetry)]
        if chance.random() < 0.25:
            self._idents.append(("Item", ("v1", "v2"), self._symmetry and chance.random() < 0.5))
        self._enums = {"Kind": ("Red", "Blue", "Green")[: chance.choice([2, 2, 3])]}
        low = chance.choice([0, 0, -1, 1])
        self._small: Type = ("int", low, low + chance.choice([1, 2, 3]))
        self._records = self._classes()
        self._fields = self._state_fields()
        state = Record("State", self._fields)
        hidden = frozenset({"ghost"})
        names = tuple(name for name, _, _ in self._idents)
        self._terms = Terms(chance, names, self._enums, (*self._records, state), hidden)

    def spec(self) -> DrawnSpec:
        """Return a spec."""
        chance = self._chance
        actions = tuple(self._actions())
        claims = [Claim(f"Inv{n}", self._rare("st")) for n in range(chance.choice([0, 1, 2]))]
        steps = [Claim(f"Step{n}", self._of_steps()) for n in range(self._number_of_steps())]
        limits = [Claim(f"Near{n}", self._rare("st")) for n in range(chance.choice([0, 0, 0, 1, 2]))]
        slow = (
            [] if self._view else [Claim(f"Slow{n}", self._of_steps()) for n in range(chance.choice([0, 0, 0, 0, 1]))]
        )
        return DrawnSpec(
            idents=tuple(self._idents),
            enums=tuple(self._enums.items()),
            records=self._records,
            fields=self._fields,
            init=self._initial(),
            actions=actions,
            invariants=tuple(claims),
            goals=tuple(Claim(f"goal{n}", self._truth("st")) for n in range(chance.choice([0, 1, 2]))),
            steps=tuple(steps),
            constraints=tuple(limits),
            step_constraints=tuple(slow),
            temporal=tuple(self._temporal_properties(actions)) if self._temporal else (),
            fairness=self._fairness(actions) if self._temporal and chance.random() < 0.3 else None,
            dropped=("ghost",) if self._view else (),
            symmetry=self._symmetry,
            deadlock=chance.random() < 0.4,
            levels=chance.choice([None, None, None, None, 2, 4, 6]),
        )

    def _number_of_steps(self) -> int:
        """Return how many action properties to draw: more with symmetry, where the last step is one of an orbit."""
        return 0 if self._view else self._chance.choice([0, 1, 1, 2] if self._symmetry else [0, 0, 1, 2])

    def _classes(self) -> tuple[Record, ...]:
        pair: tuple[tuple[str, Type], ...] = (("a", self._small), ("b", self._chance.choice([("bool",), SERVER, KIND])))
        ends: tuple[tuple[str, Type], ...] = (("source", SERVER), ("dest", SERVER))
        ping = Record("Ping", (("n", self._small), *ends), is_message=True)
        pong = Record("Pong", ((("kind", KIND), *ends) if self._chance.random() < 0.5 else ends), is_message=True)
        return (Record("Both", pair), ping, pong)

    def _state_fields(self) -> tuple[tuple[str, Type], ...]:
        both: Type = ("rec", "Both")
        pick = self._chance.choice
        simple: list[Type] = [
            self._small,
            ("bool",),
            KIND,
            both,
            ("opt", SERVER),
            ("set", SERVER),
            ("set", self._small),
        ]
        simple += [SERVER] * (3 if self._symmetry else 1) + [
            ("seq", both, 2),
            ("seq", SERVER, 2),
            ("union", SERVER, both, None),
            ("opt", KIND),
        ]
        keyed: list[Type] = [
            ("map", SERVER, pick(simple)),
            ("map", ("int", 1, 2), pick(simple[:4])),
            ("map", KIND, self._small),
        ]
        keyed += [("pmap", SERVER, pick([self._small, ("bool",), both])), ("map", ("pair", "Server"), ("bool",))]
        net: list[Type] = [
            ("mset", ("Ping", "Pong"), pick([1, 2, 2, 3])),
            ("mbag", ("Ping", "Pong"), pick([1, 2]), pick([1, 2])),
        ]
        if len(self._idents[0][1]) < 2:
            keyed.pop()
        if len(self._idents) > 1:
            simple += [("opt", ("id", "Item"))]
            keyed += [("map", ("id", "Item"), pick(simple[:4]))]
        chosen = [
            self._small,
            *self._chance.sample(simple, pick([1, 1, 2])),
            *self._chance.sample(keyed, pick([0, 1, 1, 2])),
        ]
        found = [(f"f{number}", of) for number, of in enumerate(chosen)]
        if self._chance.random() < 0.5:
            found.append(("net", pick(net)))
        if self._chance.random() < 0.1:
            found.append(("other", ("mset", ("Pong",), 1)))
        if self._view:
            found.append(("ghost", ("int", 0, 2)))
        return tuple(found)

    def _initial(self) -> Body:
        choice = self._chance.random()
        variable = self._terms.fresh("w") if choice < 0.5 else None
        scope: Scope = {} if variable is None else {variable: SERVER}
        start = ("start", tuple((name, self._first(of, scope)) for name, of in self._fields))
        if variable is not None:
            return (("for", variable, ("members", "Server"), (start,)),)
        if choice < 0.65:
            other = ("start", tuple((name, self._first(of, scope)) for name, of in self._fields))
            return (start, other)
        return (start,)

    def _first(self, of: Type, scope: Scope) -> Expr:
        chance, terms = self._chance, self._terms
        match of:
            case ("int" | "bool" | "enum", *_):
                return terms.literal(of)
            case ("id", name):
                keys = terms.keys(of, scope)
                return chance.choice(keys) if keys else ("member", name, 1)
            case ("opt" | "union", *parts):
                keys = [key for part in parts if part is not None for key in terms.keys(part, scope)]
                return chance.choice([NOTHING, *keys])
            case ("set", inner):
                keys = terms.keys(inner, scope)
                return ("one", chance.choice(keys)) if keys and chance.random() < 0.5 else NO_SET
            case ("seq", *_):
                return ("lit", (), "[]")
            case ("rec", name):
                fields = terms.classes[name].fields
                return ("record", name, tuple((field, self._first(inner, scope)) for field, inner in fields))
            case ("map", key, inner):
                variable = terms.fresh("k")
                return ("function", variable, self._domain(key), self._first(inner, scope))
            case ("mset", *_):
                return NO_SET
        return NO_KEYS

    def _domain(self, key: Type) -> Expr:
        match key:
            case ("id", name):
                return ("members", name)
            case ("int", low, high):
                return ("range", low, high + 1)
            case ("pair", name):
                return ("pairs", ("members", name))
            case ("enum", name):
                members = self._enums[name]
                return ("lit", frozenset(members), "{" + ", ".join(f"{name}.{each.upper()}" for each in members) + "}")
        raise AssertionError(key)

    def _truth(self, *names: str) -> Expr:
        return self._terms.truth(dict.fromkeys(names, STATE))

    def _rare(self, *names: str) -> Expr:
        return ("not", ("and", self._truth(*names), ("and", self._truth(*names), self._truth(*names))))

    def _of_steps(self) -> Expr:
        numbers = [place for place, _ in self._terms.some({"nxt": STATE}, "int")]
        before = [("field", ("var", "st"), place[2]) for place in numbers if place[1] == ("var", "nxt")]
        if before and self._chance.random() < 0.5:
            place = self._chance.choice(before)
            order = (self._chance.choice(["lt", "le", "ne"]), place, ("field", ("var", "nxt"), place[2]))
            return (
                order
                if self._chance.random() < (0.7 if self._symmetry else 0.4)
                else ("or", order, self._truth("st", "nxt"))
            )
        return self._rare("st", "nxt")

    def _actions(self) -> list[Action]:
        found = [self._action(f"act_{letter}") for letter in "abc"[: self._chance.choice([1, 2, 2, 3])]]
        held = [name for name, of in self._fields if of in (SERVER, ("opt", SERVER))]
        if held and self._symmetry and self._chance.random() < 0.5:
            handed: Body = (("yield", ((held[0], ("var", "i")),)),)
            found.append(Action("hand_on", (("i", SERVER),), handed))
        for name, of in self._fields:
            if of[0] in ("mset", "mbag"):
                found += [self._receiving(name, of, cls) for cls in of[1] if self._chance.random() < 0.8]
        return found

    def _action(self, name: str) -> Action:
        kinds: list[Type] = [
            SERVER,
            SERVER,
            self._small,
            ("bool",),
            KIND,
            *([("id", "Item")] if len(self._idents) > 1 else []),
        ]
        names = ("i", "j")[: self._chance.choice([0, 1, 1, 2])]
        params = tuple((name, self._chance.choice(kinds)) for name in names)
        return Action(name, params, self._body({"st": STATE, **dict(params)}), self._fair())

    def _receiving(self, network: str, of: Type, cls: str) -> Action:
        ends = self._chance.choice([(), (("s", "dest"),), (("s", "dest"), ("peer", "source"))])
        scope: Scope = {"st": STATE, "m": ("rec", cls), **{name: SERVER for name, _ in ends}}
        field: Expr = ("field", ("var", "st"), network)
        taken = ("bag_take", field, ("var", "m")) if of[0] == "mbag" else ("discard", field, ("var", "m"))
        name, change = self._change(scope, but=network)
        body: Body = (("yield", ((network, taken), (name, change))),)
        if self._chance.random() < 0.3:
            body = (("require", self._terms.truth(scope)), *body)
        if self._chance.random() < 0.3:
            body = (*body, *self._body(scope))
        return Action(f"{cls.lower()}_{network}", (), body, self._fair(), cls, network, ends)

    def _fair(self) -> str | None:
        return self._chance.choice(["WEAK", "STRONG", None]) if self._temporal else None

    def _change(self, scope: Scope, but: str = "") -> tuple[str, Expr]:
        name, of = self._chance.choice([each for each in self._fields if each[0] != but])
        changed = self._terms.value(of, ("field", ("var", "st"), name), scope)
        assert changed is not None, "the old value is one"
        return name, changed

    def _body(self, scope: Scope, depth: int = 2) -> Body:
        chance, terms = self._chance, self._terms
        kind = chance.random()
        if depth == 0 or kind < 0.4:
            changes = dict(self._change(scope) for _ in range(chance.choice([1, 1, 2])))
            guard = (("require", terms.truth(scope)),) if chance.random() < 0.5 else ()
            return (*guard, ("yield", tuple(changes.items())))
        if kind < 0.5:
            return (("if", terms.truth(scope), self._body(scope, depth - 1), self._body(scope, depth - 1)),)
        if kind < 0.6:
            return (*self._body(scope, depth - 1), *self._body(scope, depth - 1))
        if kind < 0.75:
            variable = terms.fresh("c")
            domain, of = chance.choice([(("members", "Server"), SERVER), (("range", 0, 2), ("int", 0, 1))])
            return (("for", variable, domain, self._body({**scope, variable: of}, depth - 1)),)
        if kind < 0.8:
            variable = terms.fresh("q")
            inner = {**scope, variable: ("set", SERVER)}
            return (("for", variable, ("subsets", ("members", "Server")), self._body(inner, 0)),)
        if kind < 0.88:
            return (("ways", (terms.truth(scope), terms.truth(scope)), self._body(scope, depth - 1)),)
        if kind < 0.95:
            variable = terms.fresh("t")
            counted = ("count", variable, ("members", "Server"), terms.truth({**scope, variable: SERVER}, 1))
            return (("times", counted, self._body(scope, depth - 1)),)
        return (("assert", ("or", terms.truth(scope), terms.truth(scope))), *self._body(scope, depth - 1))

    def _temporal_properties(self, actions: tuple[Action, ...]) -> list[Temporal]:
        return [Temporal(f"Live{n}", self._property(actions)) for n in range(self._chance.choice([1, 1, 2, 3]))]

    def _property(self, actions: tuple[Action, ...]) -> Formula:
        if self._chance.random() < 0.2:
            variable = self._terms.fresh("z")
            return ("for_all", variable, "Server", self._formula(actions, {"st": STATE, variable: SERVER}, 0))
        return self._formula(actions, {"st": STATE}, self._chance.choice([0, 0, 1, 2]))

    def _formula(self, actions: tuple[Action, ...], scope: Scope, depth: int) -> Formula:
        chance = self._chance
        if depth > 0:
            word = chance.choice(["and_", "or_", "implies", "not_"])
            parts = [self._formula(actions, scope, depth - 1) for _ in range(1 if word == "not_" else 2)]
            return (word, *parts)
        match chance.choice(
            ["always", "eventually", "always_eventually", "eventually_always", "leads_to", "leads_to", "recurs"]
        ):
            case "leads_to":
                return ("leads_to", self._terms.truth(scope, 1), self._terms.truth(scope, 1))
            case "recurs":
                return ("recurs", chance.choice(actions).name)
            case "always":
                return ("always", ("not", ("and", self._terms.truth(scope, 1), self._terms.truth(scope, 1))))
            case word:
                return (word, self._terms.truth(scope, 1))

    def _fairness(self, actions: tuple[Action, ...]) -> tuple[Formula, ...]:
        found: list[Formula] = []
        for action in self._chance.sample(actions, self._chance.choice([1, 1, 2]) if len(actions) > 1 else 1):
            strong = self._chance.random() < 0.4
            by_first = action.message is None and action.params and action.params[0][1][0] == "id"
            if by_first and self._chance.random() < 0.6:
                found.append(("fair", strong, action.name, self._terms.fresh("z"), action.params[0][1][1]))
            else:
                found.append(("fair", strong, action.name, None, None))
        return (*found, ("fair_actions",)) if len(found) == 1 else tuple(found)
