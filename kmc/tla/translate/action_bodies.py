"""The bodies of actions and of the initial states: what is written at the end of each way through a formula."""

from __future__ import annotations

from itertools import pairwise, takewhile

from kmc.errors import Span
from kmc.tla.resolved.nodes import ConjunctionExpr, Expression
from kmc.tla.shapes.refusal import refusal
from kmc.tla.translate.actions import ActionWriter
from kmc.tla.translate.scope import TranslationScope
from kmc.tla.translate.translation import Assigned, StateReading, Translation, WrittenLine


def write_action(t: Translation, node: Expression, scope: TranslationScope, depth: int) -> list[WrittenLine]:
    """Write the body of an action: a choice that yields successors."""
    t.reading = StateReading.ACTION
    writer = ActionWriter(t)

    def end(assigned: Assigned, depth: int) -> None:
        missing = [name for index, name in enumerate(t.model.variables) if index not in assigned]
        if missing:
            # TLC stops at such a step, if there is one.
            writer.lines.append(WrittenLine(depth, "assert False", node.place))
            return
        changes = [f"{t.fields[index]}={code.source}" for index, code in sorted(assigned.items()) if code is not None]
        text = f"yield st.set({', '.join(changes)})" if changes else "yield st"
        writer.lines.append(WrittenLine(depth, text, node.place))

    try:
        writer.walk(node, scope, {}, depth, end)
    finally:
        t.reading, t.assigned = StateReading.STATE, {}
    return writer.lines


def write_initial(t: Translation, conditions: tuple[Expression, ...], depth: int) -> list[WrittenLine]:
    """Write the body of the initial states."""
    t.reading = StateReading.INITIAL
    writer = ActionWriter(t)
    whole = ConjunctionExpr(place=conditions[0].place, items=conditions)

    def end(assigned: Assigned, depth: int) -> None:
        missing = [name for index, name in enumerate(t.model.variables) if index not in assigned]
        if missing:
            raise refusal(f"an initial predicate that does not give {', '.join(missing)} a value", whole.place)
        values = [f"{t.fields[index]}={code.source}" for index, code in sorted(assigned.items()) if code is not None]
        writer.lines.append(WrittenLine(depth, f"yield State({', '.join(values)})", whole.place))

    try:
        writer.walk(whole, TranslationScope(), {}, depth, end)
    finally:
        t.reading, t.assigned = StateReading.STATE, {}
    return writer.lines


def with_yields(lines: list[WrittenLine], place: Span, depth: int = 1) -> list[WrittenLine]:
    """Return an action whose loops, and the action itself, have a `yield` each, and that still stops where it did."""
    if not _yields(lines):
        return _without_steps(lines, place) or _no_steps(depth, place)
    kept: list[WrittenLine] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        kept.append(line)
        if line.text.startswith("for "):
            block = _block(lines[index:], line.depth)
            kept.extend(with_yields(block, place, line.depth + 1))
            index += len(block)
    return kept


def _block(lines: list[WrittenLine], depth: int) -> list[WrittenLine]:
    return list(takewhile(lambda inner: inner.depth > depth, lines))


def _yields(lines: list[WrittenLine]) -> bool:
    return any(line.text.startswith("yield") for line in lines)


def _without_steps(lines: list[WrittenLine], place: Span) -> list[WrittenLine]:
    """Return a block that has no step, with a loop of no steps at the end of each block in it."""
    kept: list[WrittenLine] = []
    for line, after in pairwise([*lines, WrittenLine(0, "", place)]):
        depth = line.depth - line.text.startswith("return ") + line.text.endswith(":")
        if line.text != "pass":
            kept.append(line)
        if after.depth < depth or line.text == "pass":
            kept.extend(_no_steps(depth, place))
    return kept


def _no_steps(depth: int, place: Span) -> list[WrittenLine]:
    return [WrittenLine(depth, "for _ in range(0):", place), WrittenLine(depth + 1, "yield st", place)]
