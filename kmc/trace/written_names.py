"""Names and strings of TLA+ in a format that has only strings: how names are written, and how they are read again.

A trace of a TLA+ module may have the model value n1 beside the string "n1". In the file both are strings, so the name
is written differently where the trace has a string like it, and the file lists the names that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import assert_never

from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet, TlaText
from kmc.trace.untyped_trace import FileStep, TraceFile

_SUFFIX = "_OF_MODEL_VALUES"


def written_names(file: TraceFile) -> dict[str, str] | None:
    """Return the names of a trace by the strings that stand for them; None for a trace without strings of TLA+."""
    leaves = [leaf for tree in _trees(file) for leaf in _leaves(tree)]
    strings = {str(leaf) for leaf in leaves if isinstance(leaf, TlaText)}
    if not strings:
        return None
    names = {leaf for leaf in leaves if not isinstance(leaf, TlaText)}
    found: dict[str, str] = {}
    for name in sorted(names):
        written = name
        while written in strings or written in found or (written != name and written in names):
            written += _SUFFIX
        found[written] = name
    return found


def with_written_names(file: TraceFile, names: Mapping[str, str]) -> TraceFile:
    """Return the trace with the strings that stand for its names."""
    written = {name: string for string, name in names.items()}
    return _changed(file, lambda leaf: leaf if isinstance(leaf, TlaText) else written[leaf])


def with_read_names(file: TraceFile, names: Mapping[str, str]) -> TraceFile:
    """Return the trace that was written: a string that stands for no name is a string of TLA+."""
    return _changed(file, lambda leaf: names[leaf] if leaf in names else TlaText(leaf))


def _trees(file: TraceFile) -> Iterator[Tla]:
    for step in (*file.steps, *([file.closing] if file.closing is not None else [])):
        yield from step.variables.values()
        yield from (value for _, value in step.arguments)
        if step.message is not None:
            yield step.message


def _leaves(tree: Tla) -> Iterator[str]:
    match tree:
        case bool() | int():
            return
        case str():
            yield tree
        case TlaSet(elements) | TlaSeq(elements):
            for element in elements:
                yield from _leaves(element)
        case TlaMap(pairs):
            for key, value in pairs:
                yield from _leaves(key)
                yield from _leaves(value)
        case TlaRecord(fields):
            for _, value in fields:
                yield from _leaves(value)
        case _:
            assert_never(tree)


def _changed(file: TraceFile, change: Callable[[str], str]) -> TraceFile:
    def of_tree(tree: Tla) -> Tla:
        match tree:
            case bool() | int():
                return tree
            case str():
                return change(tree)
            case TlaSet(elements):
                return TlaSet(tuple(map(of_tree, elements)))
            case TlaSeq(elements):
                return TlaSeq(tuple(map(of_tree, elements)))
            case TlaMap(pairs):
                return TlaMap(tuple((of_tree(key), of_tree(value)) for key, value in pairs))
            case TlaRecord(fields):
                return TlaRecord(tuple((name, of_tree(value)) for name, value in fields))
            case _:
                assert_never(tree)

    def of_step(step: FileStep) -> FileStep:
        return replace(
            step,
            variables={name: of_tree(value) for name, value in step.variables.items()},
            arguments=tuple((name, of_tree(value)) for name, value in step.arguments),
            message=None if step.message is None else of_tree(step.message),
        )

    closing = None if file.closing is None else of_step(file.closing)
    return replace(file, steps=tuple(map(of_step, file.steps)), closing=closing)
