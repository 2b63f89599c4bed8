r"""Sets that are described, not listed, and the operators of sets.

Membership in `Nat`, `Seq(S)`, `SUBSET S` or `[S -> T]` is tested without a list of elements; a list is made where
elements are needed. Sets in states, in other values and on both sides of `=` are lists (`stored`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, combinations, product
from math import comb, prod

from kmc.budget import polled
from kmc.tla.values.failures import not_enumerable, wrong_kind
from kmc.tla.values.functions import function_of, stored
from kmc.tla.values.kinds import FALSE, TRUE, FunctionValue, SymbolicSet, TlaModelValue, Value
from kmc.tla.values.order import described, incomparable, ordered, written

AnySet = frozenset[Value] | SymbolicSet
BOOLEANS: frozenset[Value] = frozenset((TRUE, FALSE))


def _number_or_refusal(value: Value) -> bool:
    """Return whether a value is a number; EvaluationError KMC257 if TLC cannot say so."""
    if type(value) is int:
        return True
    if isinstance(value, TlaModelValue):
        return False
    raise incomparable(value, 0)


class Interval(SymbolicSet):
    """`low..high`."""

    __slots__ = ("high", "low")

    def __init__(self, low: int, high: int) -> None:
        self.low = low
        self.high = high

    def contains(self, value: Value) -> bool:
        """Return whether the value is a number between the ends."""
        if type(value) is int:
            return self.low <= value <= self.high
        return self.low <= self.high and _number_or_refusal(value)

    def elements(self) -> Iterator[Value]:
        """Enumerate the numbers upwards."""
        return iter(range(self.low, self.high + 1))

    def size(self) -> int:
        """Return the number of numbers."""
        return max(0, self.high - self.low + 1)

    def text(self) -> str:
        """Return `low..high`."""
        return f"{self.low}..{self.high}"


class InfiniteSet(SymbolicSet):
    """`Nat`, `Int`, `Real` or `STRING`: a name and a test."""

    __slots__ = ("_name", "_test")

    @property
    def is_finite(self) -> bool:
        """Whether it is finite: never."""
        return False

    def __init__(self, name: str, test: Callable[[Value], bool]) -> None:
        self._name = name
        self._test = test

    def contains(self, value: Value) -> bool:
        """Return whether the value passes the test."""
        return self._test(value)

    def elements(self) -> Iterator[Value]:
        """Refuse to enumerate."""
        raise not_enumerable(self._name)

    def text(self) -> str:
        """Return the name."""
        return self._name


def _is_string(value: Value) -> bool:
    if isinstance(value, (str, TlaModelValue)):
        return isinstance(value, str)
    raise incomparable(value, "")


NATURALS = InfiniteSet("Nat", lambda value: _number_or_refusal(value) and isinstance(value, int) and value >= 0)
INTEGERS = InfiniteSet("Int", _number_or_refusal)
STRINGS = InfiniteSet("STRING", _is_string)
ANYTHING = InfiniteSet("Any", lambda _: True)


class PowerSet(SymbolicSet):
    """`SUBSET base`."""

    __slots__ = ("base",)

    def __init__(self, base: AnySet) -> None:
        self.base = base

    @property
    def is_finite(self) -> bool:
        """Whether the base is finite."""
        return is_finite(self.base)

    def contains(self, value: Value) -> bool:
        """Return whether the value is a subset of the base; a model value is an error here, unlike in other sets."""
        return is_subset(as_set(value, "SUBSET"), self.base)

    def elements(self) -> Iterator[Value]:
        """Enumerate the subsets by size."""
        listed = ordered(self.base)
        sizes = (combinations(listed, size) for size in range(len(listed) + 1))
        return (frozenset(chosen) for chosen in chain.from_iterable(sizes))

    def size(self) -> int:
        """Return 2 to the power of the base's size."""
        return 1 << size_of(self.base)

    def text(self) -> str:
        """Return `SUBSET base`."""
        return f"SUBSET {written(self.base)}"


class SubsetsOfSize(SymbolicSet):
    """`kSubset(k, S)`: the subsets with `count` elements."""

    __slots__ = ("base", "count")

    def __init__(self, count: int, base: AnySet) -> None:
        self.count = count
        self.base = base

    def contains(self, value: Value) -> bool:
        """Return whether the value is a subset of that size."""
        if isinstance(value, TlaModelValue):
            return False
        subset = as_set(value, "kSubset")
        return size_of(subset) == self.count and is_subset(subset, self.base)

    def elements(self) -> Iterator[Value]:
        """Enumerate the subsets in order."""
        return (frozenset(chosen) for chosen in combinations(ordered(self.base), max(0, self.count)))

    def size(self) -> int:
        """Return the binomial coefficient."""
        return comb(size_of(self.base), max(0, self.count))

    def text(self) -> str:
        """Return the subsets."""
        return written(stored(self))


class FunctionSet(SymbolicSet):
    """`[domain -> codomain]`."""

    __slots__ = ("codomain", "domain")

    def __init__(self, domain: AnySet, codomain: AnySet) -> None:
        self.domain = domain
        self.codomain = codomain

    @property
    def is_finite(self) -> bool:
        """Whether both sets are finite."""
        return is_finite(self.domain) and is_finite(self.codomain)

    def contains(self, value: Value) -> bool:
        """Return whether the value is a function between the sets."""
        if isinstance(value, tuple):
            images = value
        elif isinstance(value, FunctionValue):
            images = value.values
        elif isinstance(value, TlaModelValue):
            return False
        else:
            raise wrong_kind("[S -> T]", "a function as an element", value)
        if not self._has_domain(value):
            return False
        return all(member(image, self.codomain) for image in images)

    def _has_domain(self, value: tuple[Value, ...] | FunctionValue) -> bool:
        if isinstance(value, FunctionValue):
            return stored(self.domain) == value.domain.key_set
        if isinstance(self.domain, Interval):
            return self.domain.size() == len(value) and (self.domain.low == 1 or not value)
        return stored(self.domain) == frozenset(range(1, len(value) + 1))

    def elements(self) -> Iterator[Value]:
        """Enumerate the functions, the result of the last argument changing fastest."""
        keys, images = ordered(self.domain), ordered(self.codomain)
        return (function_of(dict(zip(keys, chosen, strict=True))) for chosen in product(images, repeat=len(keys)))

    def size(self) -> int:
        """Return the number of functions."""
        return int(size_of(self.codomain) ** size_of(self.domain))

    def text(self) -> str:
        """Return `[domain -> codomain]`."""
        return f"[{written(self.domain)} -> {written(self.codomain)}]"


class RecordSet(SymbolicSet):
    """`[a: S, b: T]`."""

    __slots__ = ("fields",)

    def __init__(self, fields: dict[str, AnySet]) -> None:
        self.fields = dict(sorted(fields.items()))

    @property
    def is_finite(self) -> bool:
        """Whether the sets of all fields are finite."""
        return all(map(is_finite, self.fields.values()))

    def contains(self, value: Value) -> bool:
        """Return whether the value is a record with these fields."""
        if isinstance(value, TlaModelValue):
            return False
        if not isinstance(value, FunctionValue):
            if isinstance(value, tuple):
                return False
            raise wrong_kind("[a: S]", "a record as an element", value)
        if value.domain.index.keys() != self.fields.keys():
            return False
        return all(member(value.values[value.domain.index[name]], values) for name, values in self.fields.items())

    def elements(self) -> Iterator[Value]:
        """Enumerate the records, the last field changing fastest."""
        names: tuple[Value, ...] = ordered(frozenset(self.fields))
        choices = [ordered(self.fields[str(name)]) for name in names]
        return (function_of(dict(zip(names, chosen, strict=True))) for chosen in product(*choices))

    def size(self) -> int:
        """Return the number of records."""
        return prod(map(size_of, self.fields.values()))

    def text(self) -> str:
        """Return `[a: S, b: T]`."""
        return "[" + ", ".join(f"{name}: {written(values)}" for name, values in self.fields.items()) + "]"


class ProductSet(SymbolicSet):
    r"""`S \X T`."""

    __slots__ = ("factors",)

    def __init__(self, factors: tuple[AnySet, ...]) -> None:
        self.factors = factors

    @property
    def is_finite(self) -> bool:
        """Whether all factors are finite."""
        return all(map(is_finite, self.factors))

    def contains(self, value: Value) -> bool:
        """Return whether the value is a tuple of elements of the factors."""
        if isinstance(value, (TlaModelValue, FunctionValue)):
            return False
        if not isinstance(value, tuple):
            raise wrong_kind("\\X", "a tuple as an element", value)
        if len(value) != len(self.factors):
            return False
        return all(member(item, factor) for item, factor in zip(value, self.factors, strict=True))

    def elements(self) -> Iterator[Value]:
        """Enumerate the tuples, the last item changing fastest."""
        return product(*map(ordered, self.factors))

    def size(self) -> int:
        """Return the product of the sizes."""
        return prod(map(size_of, self.factors))

    def text(self) -> str:
        r"""Return `S \X T`."""
        return " \\X ".join(map(written, self.factors))


class SequenceSet(SymbolicSet):
    """`Seq(base)`."""

    __slots__ = ("base",)

    @property
    def is_finite(self) -> bool:
        """Whether it is finite: never."""
        return False

    def __init__(self, base: AnySet) -> None:
        self.base = base

    def contains(self, value: Value) -> bool:
        """Return whether the value is a sequence of elements of the base."""
        if isinstance(value, (TlaModelValue, FunctionValue)):
            return False
        if not isinstance(value, tuple):
            raise wrong_kind("Seq(S)", "a sequence as an element", value)
        return all(member(item, self.base) for item in value)

    def elements(self) -> Iterator[Value]:
        """Refuse to enumerate."""
        raise not_enumerable(self.text())

    def text(self) -> str:
        """Return `Seq(base)`."""
        return f"Seq({written(self.base)})"


class CombinedSet(SymbolicSet):
    r"""A union, intersection, difference or filter with an infinite part: a test, and perhaps a list, made once."""

    __slots__ = ("_elements", "_listed", "_test", "_text")

    def __init__(
        self, text: Callable[[], str], test: Callable[[Value], bool], listed: Callable[[], AnySet] | None = None
    ) -> None:
        self._text = text
        self._test = test
        self._listed = listed
        self._elements: tuple[Value, ...] | None = None

    @property
    def is_finite(self) -> bool:
        """Whether the set has a list of elements."""
        return self._listed is not None

    def contains(self, value: Value) -> bool:
        """Return whether the value passes the test."""
        return self._test(value)

    def elements(self) -> Iterator[Value]:
        """Enumerate the list."""
        if self._listed is None:
            raise not_enumerable(self._text())
        if self._elements is None:
            self._elements = ordered(self._listed())
        return iter(self._elements)

    def text(self) -> str:
        """Return the set as it was made."""
        return self._text()


def as_set(value: Value, operator: str) -> AnySet:
    """Return the value, which is a set; EvaluationError KMC258 if it is not."""
    if isinstance(value, (frozenset, SymbolicSet)):
        return value
    raise wrong_kind(operator, "a set", value)


def is_finite(values: AnySet) -> bool:
    """Return whether a set is finite."""
    return isinstance(values, frozenset) or values.is_finite


def domain_of(function: Value) -> frozenset[Value] | SymbolicSet:
    """Return the domain of a function."""
    if isinstance(function, tuple):
        return Interval(1, len(function))
    if isinstance(function, FunctionValue):
        return function.domain.key_set
    raise wrong_kind("DOMAIN", "a function or a sequence", function)


def size_of(values: AnySet) -> int:
    """Return the number of elements; EvaluationError KMC266 for an infinite set."""
    if isinstance(values, frozenset):
        return len(values)
    if not values.is_finite:
        raise not_enumerable(values.text())
    return values.size()


def listed(values: AnySet) -> frozenset[Value]:
    """Return the set as the list of its elements."""
    return values if isinstance(values, frozenset) else frozenset(polled(values.elements()))


def _family(value: Value) -> object:
    if isinstance(value, (tuple, FunctionValue)):
        return tuple
    return frozenset if isinstance(value, SymbolicSet) else type(value)


def refuse_mixture(values: Iterable[Value]) -> None:
    """Raise EvaluationError KMC257 if two values are of kinds that TLC does not compare."""
    by_family: dict[object, Value] = {}
    for value in values:
        if not isinstance(value, TlaModelValue):
            by_family.setdefault(_family(value), value)
    if len(by_family) > 1:
        first, second, *_ = sorted(by_family.values(), key=described)
        raise incomparable(first, second)


def check_comparable(first: frozenset[Value], second: frozenset[Value]) -> None:
    """Raise EvaluationError KMC257 if an element of one set cannot be compared with one of the other."""
    kinds = set(map(type, first))
    kinds.update(map(type, second))
    if len(kinds) > 1:
        refuse_mixture(chain(first, second))


def member(value: Value, values: Value) -> bool:
    r"""Return whether `value \in values`."""
    if type(values) is frozenset:
        if not isinstance(value, SymbolicSet):
            if value in values:
                return True
            if values and type(value) is not type(next(iter(values))) and type(value) is not TlaModelValue:
                refuse_mixture(chain((value,), values))
            return False
        return frozenset(value.elements()) in values
    if isinstance(values, SymbolicSet):
        return values.contains(value)
    raise wrong_kind("\\in", "a set on the right", values)


def is_subset(first: AnySet, second: AnySet) -> bool:
    """Return whether every element of `first` is one of `second`."""
    if isinstance(first, frozenset) and isinstance(second, frozenset):
        check_comparable(first, second)
        return first <= second
    if isinstance(first, PowerSet) and isinstance(second, PowerSet):
        return is_subset(first.base, second.base)
    return all(member(value, second) for value in ordered(first))


def union(first: AnySet, second: AnySet) -> AnySet:
    r"""Return `first \union second`."""
    if isinstance(first, frozenset) and isinstance(second, frozenset):
        check_comparable(first, second)
        return first | second
    return union_of([first, second])


def is_small(values: AnySet) -> bool:
    """Return whether a set is listed where it is combined with another one, as TLC does it."""
    return isinstance(values, (frozenset, Interval))


def intersection(first: AnySet, second: AnySet) -> AnySet:
    r"""Return `first \intersect second`."""
    if isinstance(first, frozenset) and isinstance(second, frozenset):
        check_comparable(first, second)
        return first & second
    if is_small(second) and not is_small(first):
        first, second = second, first
    return _filtered(first, second, "\\intersect", is_inside=True)


def difference(first: AnySet, second: AnySet) -> AnySet:
    r"""Return `first \ second`."""
    if isinstance(first, frozenset) and isinstance(second, frozenset):
        check_comparable(first, second)
        return first - second
    return _filtered(first, second, "\\", is_inside=False)


def _filtered(first: AnySet, second: AnySet, sign: str, *, is_inside: bool) -> AnySet:
    """Return the elements of the first set that are in the second one, or that are not; it is listed if it is small."""

    def kept() -> AnySet:
        whole, other = (first, second) if is_finite(first) or not is_inside else (second, first)
        return frozenset([value for value in ordered(whole) if member(value, other) == is_inside])

    if is_small(first):
        return kept()
    return CombinedSet(
        lambda: f"({written(first)} {sign} {written(second)})",
        lambda value: member(value, first) and member(value, second) == is_inside,
        kept if is_finite(first) or (is_inside and is_finite(second)) else None,
    )


def big_union(values: AnySet) -> AnySet:
    """Return `UNION values`."""
    return union_of([as_set(element, "UNION") for element in ordered(values)])


def union_of(parts: list[AnySet]) -> AnySet:
    """Return the union of sets."""
    if all(map(is_small, parts)):
        found = frozenset(chain.from_iterable(map(listed, parts)))
        if len(set(map(type, found))) > 1:
            refuse_mixture(found)
        return found
    # As TLC does: Nil is an element of SUBSET S \union {Nil}, though Nil \in SUBSET S has no value.
    tested = sorted(parts, key=is_small, reverse=True)
    return CombinedSet(
        lambda: "(" + " \\union ".join(map(written, parts)) + ")",
        lambda value: any(member(value, part) for part in tested),
        (lambda: frozenset(chain.from_iterable(map(listed, parts)))) if all(map(is_finite, parts)) else None,
    )
