"""CHOOSE among records or tuples: the least one in the order of the interpreter, by a number for each.

The number of a record has a digit for each field, the most significant one for the field that is compared first: the
distance of a number from its least value, the place of a Boolean or an atom in its order. The least number is decoded
to the record. The helpers assert that each value is one of its type.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmc.errors import Span
from kmc.tla.resolved.nodes import ChooseExpr
from kmc.tla.shapes.shape import AtomShape, BooleanShape, NumberShape, RecordKey, RecordShape, Shape
from kmc.tla.translate.iteration import choose
from kmc.tla.translate.literals import class_placeholder
from kmc.tla.translate.names import field_name, unique
from kmc.tla.translate.narrowing import guard
from kmc.tla.translate.scope import SpecLocal, TranslationScope, TypedSource
from kmc.tla.translate.translation import Translation, WrittenLine

_RANKS_MAX = 1 << 60


@dataclass(frozen=True, slots=True)
class _Digit:
    """A field as a digit: the number of its values, the digit of `value`, and the value of a digit."""

    size: int
    digit: str
    value: str
    test: str = ""


def least_record(t: Translation, node: ChooseExpr, scope: TranslationScope) -> TypedSource | None:
    """Return the least record that satisfies the condition, None where its fields have no order here."""
    assert node.range is not None
    choice = choose(t, node.range.domain, scope, node.range.bindings[0].name)
    if choice is None or not isinstance(choice.entry, SpecLocal):
        return None
    code = choice.entry.code
    if not isinstance(code.shape, RecordShape) or len(code.shape.classes) != 1:
        return None
    (key,) = code.shape.classes
    helpers = _helpers(t, key, node.place)
    if helpers is None:
        return None
    rank, record = helpers
    test, _ = guard(t, node.body, scope.bind(((node.range.bindings[0], choice.entry),)))
    clauses = " ".join(clause.text for clause in choice.clauses)
    source = f"{record}_level_0(min({rank}_level_0({code.source}) {clauses} if {test}))"
    return t.narrowed_code(TypedSource(source, code.shape))


def _helpers(t: Translation, key: RecordKey, place: Span) -> tuple[str, str] | None:
    """Write the helpers of a class, the number of a record and the record of a number, unless they are written."""
    names = [str(name) for name in t.in_order(frozenset(key.fields))]
    digits = [(name, _digit(t, t.records.fields[key][name], f"record.{field_name(name)}")) for name in names]
    stride, ranks, tests, values = 1, list[str](), list[str](), dict[str, str]()
    for name, digit in reversed(digits):
        if digit is None:
            return None
        ranks.append(f"{digit.digit} * {stride}")
        tests.extend([digit.test] if digit.test else [])
        values[name] = digit.value.replace("DIGIT", f"(rank // {stride} % {digit.size})")
        stride *= digit.size
    if stride > _RANKS_MAX:
        return None
    fields = ", ".join(f"{field_name(name)}={values[name]}" for name in key.fields)
    rank = [*(WrittenLine(1, f"assert {test}", place) for test in tests)]
    rank.append(WrittenLine(1, f"return {' + '.join(reversed(ranks))}", place))
    record = [WrittenLine(1, f"return {class_placeholder(t.records, key)}({fields})", place)]
    return _helper(t, "rank", "record", rank, place), _helper(t, "record", "rank", record, place)


def _helper(t: Translation, name: str, parameter: str, body: list[WrittenLine], place: Span) -> str:
    texts = [line.text for line in body]
    for known, lines in t.helpers.items():
        if [line.text for line in lines[1:]] == texts:
            return known
    helper = unique(name, t.helpers)
    t.helpers[helper] = [WrittenLine(0, f"def {helper}_level_0({parameter}):", place), *body]
    return helper


def _digit(t: Translation, shape: Shape, value: str) -> _Digit | None:
    """Return a field as a digit, None for a kind without an order here."""
    match shape:
        case BooleanShape():
            return _Digit(2, f"(1 if {value} else 0)", "DIGIT == 1")
        case NumberShape(int(), int()):
            least, greatest = t.universe.bounds.of(shape)
            size = greatest - least + 1
            return _Digit(size, f"({value} - {least})", f"DIGIT + {least}", f"{least} <= {value} <= {greatest}")
        case AtomShape(atoms):
            if any(group.is_symmetric and atoms & set(group.atoms) for group in t.names.groups):
                return None
            members = [t.literal(atom).source for atom in t.in_order(frozenset(atoms))]
            *others, last = members
            ranks = "".join(f"{index} if {value} == {member} else " for index, member in enumerate(others))
            found = "".join(f"{member} if DIGIT == {index} else " for index, member in enumerate(others))
            test = f"{value} in {{{', '.join(members)}}}"
            return _Digit(len(members), f"({ranks}{len(others)})", f"({found}{last})", test)
        case _:
            return None
