"""Code grows with what is written, not with its powers: that of each construct here once doubled with every element."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import model_of

from kmc.compiler.ir.emit_llvm import emit_llvm
from kmc.compiler.model_kernels import build_kernels
from kmc.engine.check_model import check_native
from kmc.result import Limits

SPEC = """
class Node(Record):
    ends: Map[Int(1, SIZE), Int(0, 15)]


class State(Record):
    n: Int(1, SIZE)
    path: Seq[Int(0, 15), SIZE]
    node: Map[Int(1, 2), Node]


@spec.init
def init():
    yield State(n=1, path=[], node={s: Node(ends={k: 0 for k in range(1, SIZE + 1)}) for s in {1, 2}})


@spec.action
def step(st):
    yield st.set(CHANGE)
"""

CHANGES = {
    "a list in several words": "path=[st.n % 16 for _ in range(0, SIZE)]",
    "a map in several words": "node=st.node.set(1, st.node[1].set(ends=st.node[1].ends.set(st.n, 3)))",
}


def code_length(change: str, size: int, folder: Path) -> int:
    """The length of the code of a step, when lists and maps are so large."""
    source = SPEC.replace("CHANGE", change).replace("SIZE", str(size))
    return len(emit_llvm(build_kernels(model_of(folder, source)).module))


@pytest.mark.parametrize("kind", CHANGES)
def test_code_grows_with_the_number_of_elements(kind: str, tmp_path: Path) -> None:
    small, large = (code_length(CHANGES[kind], size, tmp_path / str(size)) for size in (40, 60))
    assert large < 2 * small
    assert large < 200_000


def test_nested_choices_from_sets_that_are_written_out_have_no_copy_for_each_way(tmp_path: Path) -> None:
    loops = "".join(f"{'    ' * (depth + 1)}for bit_{depth} in {{False, True}}:\n" for depth in range(12))
    bits = ", ".join(f"{depth}: bit_{depth}" for depth in range(12))
    source = (
        "class State(Record):\n    bits: Map[Int(0, 11), Bool]\n\n\n"
        "@spec.init\ndef init():\n    yield State(bits={n: False for n in range(0, 12)})\n\n\n"
        f"@spec.action\ndef choose(st):\n{loops}{'    ' * 13}yield st.set(bits={{{bits}}})\n"
    )
    model = model_of(tmp_path, source)
    assert len(emit_llvm(build_kernels(model).module)) < 300_000
    result = check_native(model, Limits())
    assert (result.counters.generated, result.counters.distinct) == (4096 * 4096 + 1, 4096)
