"""Maps that a step changes, makes or filters are those of the interpreter, wherever their entries lie."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.drawing.states import random_state
from support.oracles.steps import Kernels, differences
from support.specs.small import model_of

from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.model_kernels import build_kernels
from kmc.frontend.model import Model
from kmc.runtime.codec import encode_row

SOURCE = """
K = Int(0, 3)


class Inner(Record):
    n: Bool
    m: MAP


class State(Record):
    k: K
    j: K
    m: MAP
    inner: Inner
    maybe: Opt[MAP]
    v: ENTRY


@spec.init
def init():
    for v in [FIRST]:
        yield State(k=0, j=0, m=MADE, inner=Inner(n=True, m=MADE), maybe=None, v=v)
"""
ENTRIES = {
    "entries in one word with all": ("Int(0, 9)", "0"),
    "entries that share words": ("Seq[Int(0, 3), 9]", "[]"),
    "entries of a word each": ("Seq[Int(0, 3), 24]", "[]"),
    "entries of many words": ("Seq[Int(0, 3), 60]", "[]"),
}
BODIES = {
    "one entry": "require(st.k in st.m)\n    yield st.set(m=st.m.set(st.k, st.v))",
    "an entry at a known key": "require(2 in st.m)\n    yield st.set(m=st.m.set(2, st.v))",
    "two entries": "require(st.k in st.m and st.j in st.m)\n"
    "    yield st.set(m=st.m.set(st.k, st.v).set(st.j, st.m[st.k]))",
    "an inner entry": "require(st.k in st.inner.m)\n"
    "    yield st.set(inner=st.inner.set(n=not st.inner.n, m=st.inner.m.set(st.k, st.v)))",
    "an entry of a copy": "require(st.k in st.m)\n    yield st.set(inner=Inner(n=True, m=st.m.set(st.k, st.v)))",
    "an optional map": "require(st.k in st.m)\n    yield st.set(maybe=st.m.set(st.k, st.v))",
    "a map": "yield st.set(m=st.inner.m, maybe=st.m)",
    "exchanged entries": "require(st.k in st.m and st.j in st.m)\n"
    "    yield st.set(m={i: st.m[st.j] if i == st.k else st.m[st.k] if i == st.j else e for i, e in st.m.items()})",
    "entries of a changed map": "require(st.k in st.m)\n"
    "    yield st.set(m={i: e for i, e in st.m.set(st.k, st.v).items()})",
    "entries of a map changed at a known key": "require(2 in st.m)\n"
    "    yield st.set(m={i: e for i, e in st.m.set(2, st.v).items()})",
    "the same for all keys": "yield st.set(m={i: st.v for i in range(0, 4)})",
    "an optional map for all keys": "yield st.set(maybe={i: st.v for i in range(0, 4)})",
}
PARTIAL_BODIES = {
    "an entry more": "require(st.k not in st.m)\n    yield st.set(m=st.m.add(st.k, st.v))",
    "an entry less": "require(st.k in st.m)\n    yield st.set(m=st.m.without(st.k))",
    "less and more": "require(st.k in st.m)\n    yield st.set(m=st.m.without(st.k).add(st.k, st.v))",
    "some entries": "yield st.set(m={i: e for i, e in st.m.items() if i != st.k and e != st.v})",
    "some keys": "yield st.set(m={i: st.v for i in range(0, 4) if i > st.k})",
    "a few keys": "yield st.set(m={i: st.v for i in range(1, 3)}, maybe={i: st.v for i in range(0, 4) if i in st.m})",
    "every other key": "yield st.set(m={i: st.v for i in range(0, 4, 2)})",
    "one key": "yield st.set(m={st.k: st.v})",
    "no key": "yield st.set(m={}, maybe={})",
}


def states_of(model: Model) -> list[Any]:
    """Random states, the same in every run."""
    chance = Random(1)
    found = [random_state(model, chance) for _ in range(20)]
    for key in range(4):
        found.append(found[-1].set(k=key, j=3 - key))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Map", "PartialMap"])
@pytest.mark.parametrize("entries", ENTRIES)
def test_a_map_is_made_and_changed_as_in_the_interpreter(entries: str, kind: str, tmp_path: Path) -> None:
    entry, first = ENTRIES[entries]
    made = f"{{i: {first} for i in range(0, 4)}}"
    source = SOURCE.replace("MAP", f"{kind}[K, {entry}]").replace("ENTRY", entry).replace("FIRST", first)
    # No action fails: the kernel would end the expansion of the state, and say nothing of the others.
    bodies = BODIES if kind == "Map" else {**BODIES, **PARTIAL_BODIES}
    for title, body in bodies.items():
        source += f"\n\n@spec.action\ndef {title.replace(' ', '_')}(st):\n    {body}\n"
    model = model_of(tmp_path, source.replace("MADE", made), "CHECK_DEADLOCK FALSE")
    kernels = Kernels(model, emit_python(build_kernels(model).module).call)
    states = states_of(model)
    assert all(kernels.expand(encode_row(state)) for state in states)
    assert list(differences(kernels, states))[:2] == []


@pytest.mark.slow
@pytest.mark.parametrize("keys", ["range(0, 5)", "range(-1, 4)", "range(0, 3)", "range(1, 4)", "range(0, 4, 2)"])
@pytest.mark.parametrize("kind", ["Map", "PartialMap"])
def test_keys_that_are_not_those_of_the_map_fail_as_in_the_interpreter(kind: str, keys: str, tmp_path: Path) -> None:
    entry, first = ENTRIES["entries in one word with all"]
    source = SOURCE.replace("MAP", f"{kind}[K, {entry}]").replace("ENTRY", entry).replace("FIRST", first)
    source += f"\n\n@spec.action\ndef change(st):\n    yield st.set(m={{i: st.v for i in {keys}}})\n"
    model = model_of(tmp_path, source.replace("MADE", "{i: 0 for i in range(0, 4)}"), "CHECK_DEADLOCK FALSE")
    kernels = Kernels(model, emit_python(build_kernels(model).module).call)
    states = states_of(model)
    fails = "-1" in keys or "5" in keys or kind == "Map"
    assert {kernels.expand(encode_row(state)) is None for state in states} == {fails}
    assert list(differences(kernels, states))[:2] == []
