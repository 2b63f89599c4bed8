"""Warnings for words of a command line that may mean something else than their author thinks."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

_SPEC_COMMANDS = ("bench", "check", "eval", "explore", "graph", "plan", "report", "simulate", "specs")


def word_warnings(words: Sequence[str]) -> Iterator[str]:
    """The warnings for a command line, each a line of text."""
    yield from _split_sets(words)
    if words[:1] and words[0] in _SPEC_COMMANDS:
        yield from _hidden_folders(words[1:])
        if words[0] == "check":
            yield from _idle_memory_limit(words)


def _split_sets(words: Sequence[str]) -> Iterator[str]:
    """A warning for words that bash makes of `--set=Server={a,b}` without quotes; a script may mean them, too."""
    pairs = [word.split("=", 2) if word.startswith("--set=") and word.count("=") > 1 else [word] for word in words]
    for (_, *name), group in groupby(pairs, key=lambda pair: pair[:2] if len(pair) > 2 else pair[:1]):
        values = [pair[-1] for pair in group]
        if name and len(values) > 1 and not any(value.startswith("{") for value in values):
            whole = shlex.quote(f"{name[0]}={{{','.join(values)}}}")
            given = f"--set={name[0]}= is given {len(values)} times in a row, and the last counts: {values[-1]}"
            yield f"Warning: {given}. If you typed a set, quote it: --set={whole}"


def _hidden_folders(words: Sequence[str]) -> Iterator[str]:
    """A warning for a name that is a shipped spec's, and also that of a folder here which is another one."""
    here = [word for word in words if word.isidentifier() and os.path.isdir(word)]
    if not here:
        return
    # Imported here, because few command lines need it.
    from kmc.frontend.shipped import shipped_specs

    shipped = shipped_specs()
    for word in here:
        if word in shipped and not Path(word).samefile(shipped[word]) and any(Path(word).glob("*.py")):
            yield f"Warning: {word} is the spec that kmc ships. For the one in the folder here write ./{word}"


def _idle_memory_limit(words: Sequence[str]) -> Iterator[str]:
    """A warning for a limit of memory beside shards, which it does not bind."""
    options = {word.partition("=")[0] for word in words}
    if "--memory" in options and not options.isdisjoint(("--shards", "--spark")):
        yield (
            "Warning: --memory does not end a search in shards: its states are in files, and its tasks take what they "
            "need. It only decides whether temporal properties are judged in memory."
        )
