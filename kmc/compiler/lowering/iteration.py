"""Iteration over collections: `for`, quantifiers and comprehensions become loops.

A collection is never built: iterating over one calls back with each element. Small constant domains are unrolled, so
that expressions of the element fold to constants.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Break, Const, Expr, If, Let, Var
from kmc.compiler.lowering.context import UNROLL, Body, Lowering
from kmc.compiler.lowering.lazy_collections import each_different, each_lazy, picked_subsets
from kmc.compiler.lowering.map_literals import as_map, map_kind
from kmc.compiler.lowering.network_entries import among
from kmc.compiler.lowering.network_operations import each_message
from kmc.compiler.lowering.repeats import may_repeat, repeats
from kmc.compiler.lowering.set_lists import each_listed, listed_set
from kmc.compiler.lowering.set_ranges import each_function, each_sequence
from kmc.compiler.values.code import Draft, Origin
from kmc.compiler.values.keys import key_code, key_value
from kmc.compiler.values.listed_sets import is_list
from kmc.compiler.values.masks import Mask, each_number, put_number
from kmc.compiler.values.packing import array_head, collection, element, keep_words, keys_mask, unwrap, words
from kmc.compiler.values.scope import Scope
from kmc.compiler.values.value import (
    AllFunctions,
    AllSequences,
    Chosen,
    Comprehension,
    EmptySet,
    Entries,
    Generator,
    Joint,
    MapItems,
    MapLiteral,
    MapUpdate,
    Messages,
    Net,
    Num,
    Numbers,
    Packed,
    Picked,
    Python,
    SeqLiteral,
    SetLiteral,
    SetOp,
    Several,
    Stored,
    Subsets,
    Sym,
    Value,
)
from kmc.compiler.values.value_types import joined_type, type_of
from kmc.lang.tree import expression_at, placed_like
from kmc.lang.types import BoolType, MapType, PairType, SeqType, SetType, SymbolMeta, Type, UnionType
from kmc.runtime.state_layout import WORD, is_listed, is_plain_key, key_count, layout_of

_MESSAGES_MAX = 1 << 20
"""More messages than any network holds."""


def each(low: Lowering, whole: Value, body: Body, node: Origin, unroll: int = UNROLL, *, once: bool = True) -> None:
    """Call `body` with every element of a collection; `once` is false where equal ones do no harm."""
    whole = collection(low.code, whole, node)
    unroll = 0 if low.levels else unroll  # each copy would have all deeper levels of the recursion in it
    match whole:
        case Python(cls) if isinstance(cls, SymbolMeta):
            _range(low, Const(0), Const(len(cls.members)), lambda i: body(Sym(cls, i)), unroll, len(cls.members))
        case Numbers():
            _numbers(low, whole, body, unroll)
        case SeqLiteral(items) | Several(items):
            for item in items:
                body(item)
        case SetLiteral(items):
            _different(low, items, body, node)
        case Comprehension():
            if once and may_repeat(low, whole):
                elements = as_set(low, whole)
                if elements is None:
                    each_different(low, whole, body, node)
                else:
                    each(low, elements, body, node, unroll)
            else:
                run(low, whole, body, once=once)
        case Messages() | Net():
            low.repeated(_MESSAGES_MAX, lambda: each_message(low, whole, body, node))
        case SetOp() | Chosen() | Picked() | Generator():
            each_lazy(low, whole, body, node)
        case MapItems(items=()) | EmptySet():
            pass
        case MapItems() | MapLiteral():
            each(low, as_map(low, whole, node), body, node, unroll)
        case Subsets(inner):
            _subsets(low, inner, body, node)
        case AllFunctions():
            keys, values = (_settled(low, part, node) for part in (whole.keys, whole.values))
            each_function(low, AllFunctions(keys, values, whole.different), body, node)
        case AllSequences():
            each_sequence(low, AllSequences(_settled(low, whole.elements, node), whole.longest), body, node)
        case Joint(networks):
            _each_joint(low, networks, body, node)
        case Entries(owner, kind):
            _entries(low, owner, kind, body, node)
        case MapUpdate(declared):
            each(low, whole.base, body, node, unroll)
        case Packed(declared) | Stored(declared):
            _each_of(low, whole, declared, body, node, unroll)
        case _:
            low.code.refuse(node, "iterating over this value")


def _each_joint(low: Lowering, networks: tuple[Messages, ...], body: Body, node: Origin) -> None:
    """The messages of several networks, those that are in an earlier one left out."""
    for position, messages in enumerate(networks):

        def one(message: Value, position: int = position) -> None:
            new: Expr = x.ONE
            for earlier in networks[:position]:
                new = x.both(new, x.negate(among(low, earlier, message, node)))
            low.code.branch(new, low.code.capture(lambda: body(message)))

        each_message(low, messages, one, node)


def _entries(low: Lowering, owner: Value, kind: str, body: Body, node: Origin) -> None:
    """`values()` and `items()` of a map, `counts()` of a bag."""

    def one(key: Value) -> None:
        value = low.entry(owner, key, node)
        body(value if kind == "values" else Several((key, value)))

    each(low, owner, one, node)


def _different(low: Lowering, items: tuple[Value, ...], body: Body, node: Origin) -> None:
    """The elements of a set literal, equal ones once."""
    for position, item in enumerate(items):
        new: Expr = x.ONE
        for earlier in items[:position]:
            new = x.both(new, x.negate(low.same(item, earlier, node)))
        if new != x.ZERO:
            low.code.branch(new, low.code.capture(lambda item=item: body(item)))  # type: ignore[misc]  # bound now


def _range(low: Lowering, start: Expr, stop: Expr, body: Callable[[Expr], object], unroll: int, most: int) -> None:
    """Count from `start` to `stop`, `most` rounds at most."""
    if isinstance(start, Const) and isinstance(stop, Const) and stop.value - start.value <= unroll:
        for value in range(start.value, stop.value):
            body(Const(value))
    else:
        low.repeated(most, lambda: low.code.count_up(start, stop, body))


def _numbers(low: Lowering, whole: Numbers, body: Body, unroll: int) -> None:
    start, stop, step = whole.start, whole.stop, whole.step
    if step == 1:
        span = (start.low, max(start.low, stop.high - 1))
        _range(low, start.code, stop.code, lambda i: body(Num(i, *span)), unroll, stop.high - start.low)
        return
    rounds = range_length(whole)
    ends = (start.low, start.high, start.low + step * rounds.high, start.high + step * rounds.high)
    first = low.code.keep(start.code)

    def one(index: Expr) -> None:
        body(Num(x.add(first, x.binary("mul", index, Const(step))), min(ends), max(ends)))

    _range(low, x.ZERO, low.code.keep(rounds.code), one, unroll, rounds.high)


def range_length(whole: Numbers) -> Num:
    """len(range(start, stop, step))."""
    start, stop, step = whole.start, whole.stop, whole.step
    if step < 0:
        start, stop, step = stop, start, -step
    distance = x.add(x.sub(stop.code, start.code), Const(step - 1))
    count = x.binary("udiv", distance, Const(step))
    there = x.binary("slt", start.code, stop.code)
    most = max(0, (stop.high - start.low + step - 1) // step)
    return Num(x.select(there, count, x.ZERO), 0, most)


def _each_of(low: Lowering, whole: Packed | Stored, declared: Type, body: Body, node: Origin, unroll: int) -> None:
    match declared:
        case SetType() if is_listed(declared):
            each_listed(low, whole, body)
        case SetType(inner) | PairType(inner):
            _each_member(low, words(whole), inner, body, unroll)
        case SeqType(_, capacity):
            length = low.code.keep(array_head(whole), "len")
            if capacity <= unroll:
                for code in range(capacity):
                    draft = low.code.capture(lambda code=code: body(element(whole, Const(code))))  # type: ignore[misc]  # bound now
                    low.code.branch(x.binary("slt", Const(code), length), draft)
            else:
                low.repeated(capacity, lambda: low.code.count_up(Const(0), length, lambda i: body(element(whole, i))))
        case MapType(key, _, total):
            if total:
                count = key_count(key)
                _range(low, Const(0), Const(count), lambda code: body(key_value(key, code)), unroll, count)
            else:
                _each_member(low, keys_mask(whole), key, body, unroll, "keys")
        case _:
            low.code.refuse(node, "iterating over this value")


def _each_member(low: Lowering, members: Mask, inner: Type, body: Body, unroll: int, name: str = "mask") -> None:
    """Call `body` with each value of a type that is in a mask."""
    count = key_count(inner)
    if len(members) > 1:
        low.repeated(count, lambda: each_number(low.code, members, lambda number: body(key_value(inner, number))))
        return
    mask = low.code.keep(members[0], name)

    def if_member(code: Expr) -> None:
        draft = low.code.capture(lambda: body(key_value(inner, code)))
        low.code.branch(x.extract(mask, code, 1), draft)

    _range(low, Const(0), Const(count), if_member, unroll, count)


def _settled(low: Lowering, whole: Value, node: Origin) -> Value:
    """Each element of a collection once: a set in words, if it can be one."""
    is_listed = isinstance(whole, Numbers) or repeats(low, whole)
    return as_collection(low, whole, node) if is_listed else materialize(low, whole, node)


def _subsets(low: Lowering, whole: Value, body: Body, node: Origin) -> None:
    """All subsets of a set of identifiers: submasks, counted up."""
    whole = materialize(low, whole, node)
    if isinstance(whole, EmptySet):
        body(whole)
        return
    if isinstance(whole, Numbers):
        whole = as_collection(low, whole, node)
    is_long = isinstance(whole, Packed | Stored) and (is_list(whole) or len(words(whole)) > 1)
    if is_long or not isinstance(whole, Packed | Stored) or not isinstance(whole.type, SetType):
        if not is_collection(whole):
            low.code.refuse(node, "the subsets of this value")
        low.repeated(1 << 31, lambda: picked_subsets(low, whole, body, node))
        return
    inner, full = whole.type.element, low.code.keep(words(whole)[0], "full")
    label, name = low.code.fresh("loop"), low.code.fresh("subset")
    low.code.emit(Let(name, x.ZERO))
    draft: Draft = []
    low.repeated(
        1 << key_count(inner),
        lambda: draft.extend(low.code.capture(lambda: body(Packed(SetType(inner), (Var(name),))))),
    )
    # The next submask of `full`: fill the gaps with ones, add one, take the gaps out again.
    following = x.binary("and", x.add(x.binary("or", Var(name), x.binary("xor", full, Const(-1))), x.ONE), full)
    draft += [Let(name, following), If(x.eq(Var(name), x.ZERO), (Break(label),))]
    low.code.loop(label, draft)


def run(low: Lowering, comprehension: Comprehension, body: Body, *, once: bool = True) -> None:
    """Call `body` with every value of a comprehension, with equal ones as often as they come."""
    _Comprehended(low, comprehension.node, comprehension.scope.child(), body, once).generator(0)


@dataclass(frozen=True, slots=True)
class _Comprehended:
    """A comprehension whose generators are lowered one inside of the other.

    As functions that call one another they would be a cycle, and whatever is lowered would live until it is collected.
    """

    low: Lowering
    node: ast.GeneratorExp | ast.SetComp
    scope: Scope
    body: Body
    once: bool

    def generator(self, depth: int) -> None:
        """Lower the generators from this one on, and the element."""
        if depth == len(self.node.generators):
            self.body(self.low.evaluate(self.node.elt, self.scope))
            return
        generator = self.node.generators[depth]

        def item(value: Value) -> None:
            self.low.assign(generator.target, value, self.scope)
            self.condition(depth, 0)

        each(self.low, self.low.evaluate(generator.iter, self.scope), item, generator.iter, once=self.once)

    def condition(self, depth: int, position: int) -> None:
        """Lower the conditions of a generator from this one on, and the generators after it."""
        low, tests = self.low, self.node.generators[depth].ifs
        if position == len(tests):
            self.generator(depth + 1)
            return
        test = tests[position]
        truth = low.truth(low.evaluate(test, self.scope), test)
        if isinstance(truth, Const) and not truth.value:
            return
        draft = low.code.capture(lambda: self.condition(depth, position + 1))
        low.code.branch(truth, draft)


def count_of(low: Lowering, whole: Value, node: Origin) -> Num:
    """The number of true elements."""
    total = low.code.fresh("n")
    low.code.emit(Let(total, x.ZERO))
    most = [0]
    outer = low.times

    def tally(item: Value) -> None:
        most[0] += low.times // outer
        low.code.emit(Let(total, x.add(Var(total), low.truth(item, node))))

    each(low, whole, tally, node)
    return Num(Var(total), 0, most[0])


def as_set(low: Lowering, comprehension: Comprehension) -> Value | None:
    """A comprehension of scalars or pairs as a mask; None for one of anything else."""
    return _collected(low, lambda body: run(low, comprehension, body, once=False), comprehension.node)


def _set_kind(low: Lowering, source: Callable[[Body], object], node: Origin) -> Type | None:
    """The type of the set of the elements of `source`: SetType with a mask, _NO_ELEMENTS, or None if it has no mask."""
    kinds: list[Type] = []

    def look(item: Value) -> None:
        kind = type_of(_plain(low, item, node))
        joined = joined_type(kinds[0], kind) if kinds and kind is not None else kind
        if joined is None or not _has_mask(joined):
            raise _NoMask
        kinds[:] = [joined]

    try:
        low.capture_only(lambda: source(look))
    except _NoMask:
        return None
    if not kinds:
        return _NO_ELEMENTS
    return SetType(kinds[0])


_NO_ELEMENTS = SetType(BoolType())


class _NoMask(Exception):
    """The elements of a collection are not scalars, or lie too far apart for a mask."""


def _has_mask(kind: Type) -> bool:
    return is_plain_key(kind) and key_count(kind) <= WORD


def _collected(
    low: Lowering, source: Callable[[Body], object], node: Origin, declared: Type | None = None
) -> Value | None:
    """The set of the scalars that `source` yields; iterated once before unless their type is given."""
    kind = _set_kind(low, source, node) if declared is None else SetType(declared)
    if kind is _NO_ELEMENTS:
        return EmptySet()
    if not isinstance(kind, SetType):
        return None
    element_type = kind.element
    names = [low.code.fresh("set") for _ in range(layout_of(kind).words)]
    low.code.emit(*(Let(name, x.ZERO) for name in names))

    def collect(item: Value) -> None:
        if not is_plain_key(element_type):
            item = Packed(element_type, keep_words(low.code, low.words_as(item, element_type, node)))
        put_number(low.code, names, key_code(low.code, item, element_type, node))

    source(collect)
    return Packed(kind, tuple(Var(name) for name in names))


def _plain(low: Lowering, item: Value, node: Origin) -> Value:
    """An element of a set as its kind; None may be one, and has no place in a mask."""
    if isinstance(item, Packed | Stored) and isinstance(item.type, UnionType) and item.type.optional:
        raise _NoMask
    return unwrap(low.code, item, node) if isinstance(item, Packed | Stored) else item


def check_elements(low: Lowering, comprehension: Comprehension) -> None:
    """Let all checks of a set comprehension run where it is written, as in Python; it is evaluated where it is used."""
    before = len(low.code.checks)
    draft = low.code.capture(lambda: run(low, comprehension, lambda item: None, once=False))
    if len(low.code.checks) > before:
        low.code.slot().extend(draft)


def materialize(low: Lowering, value: Value, node: Origin) -> Value:
    """A collection of scalars as a set, a map that is written here as a map; anything else as it is."""
    if isinstance(value, Comprehension):
        return as_set(low, value) or value
    if isinstance(value, SetLiteral):
        return _collected(low, lambda body: [body(item) for item in value.items], node) or value
    if isinstance(value, SetOp | Chosen):
        return _collected(low, lambda body: each(low, value, body, node, once=False), node) or value
    if isinstance(value, Python) and isinstance(value.object, SymbolMeta):
        if _is_wide_type(value):
            return value
        members = value.object.members
        return Packed(SetType(value.object.kmc_type), (x.low_mask(len(members)),))  # type: ignore[attr-defined]  # as below
    return value


def _is_wide_type(value: Value) -> bool:
    """Return whether a value is a type of so many symbols that no mask holds a set of them."""
    return isinstance(value, Python) and isinstance(value.object, SymbolMeta) and len(value.object.members) > WORD


def as_collection(low: Lowering, value: Value, node: Origin) -> Value:
    """`set(...)`: the set of the elements of a value that can be iterated over."""
    source = expression_at("{item for item in items}", node)
    assert isinstance(source, ast.SetComp)
    if isinstance(value, Comprehension) and isinstance(value.node, ast.GeneratorExp):
        tree = ast.SetComp(value.node.elt, value.node.generators)
        return materialize(low, Comprehension(placed_like(tree, value.node), value.scope), node)
    if is_collection(value) and not _is_wide_type(value):
        return materialize(low, value, node)
    return materialize(low, Comprehension(source, Scope({}, {"items": value})), node)


def typed_set(low: Lowering, value: Value, declared: SetType, node: Origin) -> Value:
    """A collection as a set of declared elements."""
    if is_listed(declared):
        return listed_set(low, value, declared, node)
    collected = _collected(low, lambda body: each(low, value, body, node, once=False), node, declared.element)
    assert collected is not None
    return collected


def is_collection(value: Value) -> bool:
    """Whether a value is a set, in whatever form."""
    match value:
        case Comprehension(node):
            return isinstance(node, ast.SetComp)
        case Packed(kind) | Stored(kind):
            return isinstance(kind, SetType | PairType)
        case Python(spec_value):
            return isinstance(spec_value, SymbolMeta)
        case SetLiteral() | EmptySet() | Messages() | Joint() | SetOp() | Picked():
            return True
        case Chosen(options):
            return all(is_collection(option) for _, option in options)
        case _:
            return False


def kind_of(low: Lowering, value: Value, node: Origin) -> Type | None:
    """The type of a value once it is settled; None for a value without words."""
    match value:
        case Comprehension() | SetLiteral() | SetOp() | Chosen() | Python() if is_collection(value):
            kind = _set_kind(low, lambda body: each(low, value, body, node, once=False), node)
            return None if kind is _NO_ELEMENTS else kind
        case MapItems() | MapLiteral():
            return map_kind(low, value, node)
        case _:
            return type_of(value)
