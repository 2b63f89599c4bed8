"""A spec with two million states that compiles at once, for tests of memory: its rows are as long as a protocol's."""

from __future__ import annotations

from pathlib import Path

STATES = 2**21 - 1
"""The states of its only model, `whole`, which ends at a bound of 21 levels. The last one has half of them."""

_SPEC = """
from kmc.lang import IdentSet, Int, Map, Record, constant, require
from kmc.spec import spec

Echo = constant("Echo", IdentSet(), "Places that repeat the word")


class State(Record):
    length: Int(0, 21)
    word: Int(0, 4_194_303)
    echoes: Map[Echo, Int(0, 4_194_303)]


@spec.init
def init():
    yield State(length=0, word=0, echoes={e: 0 for e in Echo})


@spec.action
def append(st, bit: Int(0, 1)):
    require(st.length < 21)
    word = 2 * st.word + bit
    yield st.set(length=st.length + 1, word=word, echoes={e: word for e in Echo})
"""

_MODELS = f"""
[models.whole]
description = "All words of up to 20 bits"
constants = {{ Echo = ["a", "b", "c", "d", "e", "f", "g", "h"] }}
levels = 21

[models.whole.expect]
origin = "2 ** 21 - 1"
result = "bound reached"
distinct = {STATES}
"""


def write_words(folder: Path) -> None:
    """Write the spec to `words` in a folder."""
    (folder / "words").mkdir()
    (folder / "words" / "spec.py").write_text(_SPEC, encoding="utf-8")
    (folder / "words" / "models.toml").write_text(_MODELS, encoding="utf-8")
