"""A compiled spec travels: as bytes, to a process that has neither the spec nor the compiler, and it says the same."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.oracles.steps import expected_mask, walk_states
from support.specs.shipped import shipped_model
from support.specs.small import copied
from support.specs.small import model_of as small_model

from kmc.actions.relation import NextStateRelation
from kmc.compiler.compile_spec import compile_spec
from kmc.errors import InternalError, SystemFault
from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model
from kmc.lang.tla import text
from kmc.runtime.blocks import RowBatch
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.runtime.native_module import host_target
from kmc.runtime.object_cache import KernelCache
from kmc.spec.variables import encode_state

OVERFLOW = """
class State(Record):
    n: Int(0, 3)
    m: Int(0, 9)

@spec.init
def init():
    yield State(n=0, m=0)

@spec.action
def increase(st):
    yield st.set(n=st.n + 1)

@spec.action
def turn(st):
    yield st.set(m=3)

@spec.invariant
def Small(st):
    return st.n < 2
"""

CHILD = """
import importlib.abc, json, sys, time


class NoCompiler(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[:2] == ["kmc", "compiler"]:
            raise ImportError("this process has no compiler")


sys.meta_path.insert(0, NoCompiler())
import numpy as np
from kmc.runtime.blocks import RowBatch
from kmc.runtime.compiled_spec import CompiledSpec

compiled, words, starts = sys.argv[1:]
rows = RowBatch(np.load(words), np.load(starts))
with open(compiled, "rb") as file:
    data = file.read()
begun = time.perf_counter()
spec = CompiledSpec.from_bytes(data)
steps = spec.expand_block(rows)
seconds = time.perf_counter() - begun
picked = spec.pick(rows, steps.parents, steps.choices)
print(json.dumps({
    "fingerprints": [str(found) for found in steps.fingerprints],
    "steps": [list(map(int, part)) for part in zip(steps.parents, steps.choices, steps.actions, steps.times)],
    "words": [str(word) for row in steps.rows for word in row],
    "picked": all((one == other).all() for one, other in zip(picked, steps.rows, strict=True)),
    "again": bool((spec.fingerprints(steps.rows) == steps.fingerprints).all()),
    "masks": spec.check(steps.rows).tolist(),
    "texts": [spec.text(row) for row in steps.rows],
    "seconds": seconds,
}))
"""


def block_of(spec: CompiledSpec, model: Model, states: list[Any]) -> RowBatch:
    """The rows of some states."""
    return RowBatch.of([spec.encode(encode_state(state, model.spec.variables)) for state in states])


def text_of(state: Any, model: Model) -> str:
    """A state as TLA+, by the spec's own classes."""
    variables = encode_state(state, model.spec.variables)
    return "\n".join(f"/\\ {name} = {text(value)}" for name, value in variables.items())


def small(tmp_path: Path) -> tuple[CompiledSpec, Model, RowBatch]:
    """A spec in which every state with n = 3 has an action that fails; four of its states."""
    model = small_model(tmp_path, OVERFLOW, "INVARIANTS Small CHECK_DEADLOCK FALSE")
    spec = compile_spec(model)
    cls: Any = model.spec.state_class
    return spec, model, block_of(spec, model, [cls(n=n, m=n) for n in (0, 3, 1, 3, 2)])


@pytest.mark.slow
def test_a_process_without_spec_and_compiler_expands_a_block(tmp_path: Path) -> None:
    folder = copied("kraft", tmp_path / "moved")
    file = find_model(folder, "standard")
    assert file is not None
    model = bind(folder, file)
    spec = compile_spec(model)
    states = walk_states(model, walks=4, depth=30, seed=5)
    rows = block_of(spec, model, states)
    steps = spec.expand_block(rows)
    (tmp_path / "spec.bin").write_bytes(spec.to_bytes())
    np.save(tmp_path / "words.npy", rows.words)
    np.save(tmp_path / "starts.npy", rows.starts)
    shutil.rmtree(folder.parent)
    files = [str(tmp_path / name) for name in ("spec.bin", "words.npy", "starts.npy")]
    run = subprocess.run(
        [sys.executable, "-c", CHILD, *files], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    found = json.loads(run.stdout)
    print(f"loaded and expanded {len(states)} states in {1000 * found.pop('seconds'):.1f} ms")
    assert len(states) > 50
    assert found == {
        "fingerprints": [str(item) for item in steps.fingerprints],
        "steps": [
            list(map(int, part)) for part in zip(steps.parents, steps.choices, steps.actions, steps.times, strict=True)
        ],
        "words": [str(word) for row in steps.rows for word in row],
        "picked": True,
        "again": True,
        "masks": spec.check(steps.rows).tolist(),
        "texts": [spec.text(row) for row in steps.rows],
    }


@pytest.mark.parametrize(
    ("name", "model"), [("die_hard", "solution"), ("kraft", "smoke"), ("kip_996", "reconfiguration")]
)
@pytest.mark.slow
def test_a_block_has_the_steps_and_texts_of_the_interpreter(name: str, model: str) -> None:
    bound = shipped_model(name, model)
    spec = CompiledSpec.from_bytes(compile_spec(bound).to_bytes())
    states = walk_states(bound, walks=3, depth=30, seed=6)
    steps = spec.expand_block(block_of(spec, bound, states))
    relation = NextStateRelation(bound.spec.actions, bound.spec.state_class, bound.spec.files)
    wanted = Counter(
        (parent, action.title, text_of(successor, bound))
        for parent, state in enumerate(states)
        for action, _, successor in relation.steps(state)
    )
    found: Counter[tuple[int, str, str]] = Counter()
    for number, row in enumerate(steps.rows):
        key = int(steps.parents[number]), spec.names.actions[steps.actions[number]], spec.text(row)
        found[key] += int(steps.times[number])
    assert wanted.total() > 0
    assert found == wanted


def test_blocks_are_checked_as_states_are(tmp_path: Path) -> None:
    spec, model, rows = small(tmp_path)
    states = [model.spec.state_class(n=n, m=n) for n in (0, 3, 1, 3, 2)]
    wanted = [expected_mask(model, model.invariants, False, state) for state in states]
    assert (spec.check(rows).tolist(), wanted) == ([0, 1, 0, 1, 1], [0, 1, 0, 1, 1])


def test_a_row_that_fails_is_named_and_the_others_are_expanded(tmp_path: Path) -> None:
    spec, _, rows = small(tmp_path)
    steps = spec.expand_block(rows)
    assert steps.failed.tolist() == [1, 3]
    assert sorted(set(steps.parents.tolist())) == [0, 2, 4]


@pytest.mark.slow
def test_successors_beyond_the_first_buffers_are_all_there() -> None:
    model = shipped_model("kraft", "smoke")
    spec = compile_spec(model)
    rows = block_of(spec, model, walk_states(model, walks=2, depth=20, seed=7))
    once = spec.expand_block(rows)
    often = spec.expand_block(RowBatch.of([*rows] * 200))
    assert once.rows.starts[-1] * 200 > 1 << 17
    assert often.fingerprints.tolist() == once.fingerprints.tolist() * 200
    assert often.rows[-1 + len(often)].tolist() == once.rows[-1 + len(once)].tolist()


@pytest.mark.slow
def test_picked_successors_are_those_of_the_block_in_any_order() -> None:
    model = shipped_model("kraft", "smoke")
    spec = compile_spec(model)
    rows = block_of(spec, model, walk_states(model, walks=2, depth=20, seed=8))
    steps = spec.expand_block(rows)
    order = np.random.default_rng(9).permutation(len(steps))
    picked = spec.pick(rows, steps.parents[order], steps.choices[order])
    assert [row.tolist() for row in picked] == [steps.rows[k].tolist() for k in order]


@pytest.mark.slow
def test_picked_successors_beyond_the_first_buffer_are_all_there() -> None:
    model = shipped_model("kraft", "smoke")
    spec = compile_spec(model)
    rows = block_of(spec, model, walk_states(model, walks=2, depth=20, seed=8))
    steps = spec.expand_block(rows)
    often = np.tile(np.arange(len(steps)), 200)
    picked = spec.pick(rows, steps.parents[often], steps.choices[often])
    assert picked.starts[-1] > 1 << 16
    assert [row.tolist() for row in picked] == [row.tolist() for row in steps.rows] * 200


def test_one_successor_is_evaluated_again(tmp_path: Path) -> None:
    spec, _, rows = small(tmp_path)
    assert spec.text(spec.successor(rows[2], 1)) == "/\\ n = 1\n/\\ m = 3"


def test_a_choice_that_a_row_does_not_have_is_an_error(tmp_path: Path) -> None:
    spec, _, rows = small(tmp_path)
    with pytest.raises(InternalError, match="row 0 has no successor number 2") as raised:
        spec.successor(rows[0], 2)
    assert raised.value.code == "KMC923"


def test_pairs_beyond_the_block_are_refused(tmp_path: Path) -> None:
    spec, _, rows = small(tmp_path)
    with pytest.raises(ValueError, match="rows of the block"):
        spec.pick(rows, np.array([5]), np.array([0]))


def test_a_block_without_slack_is_refused(tmp_path: Path) -> None:
    spec, _, rows = small(tmp_path)
    with pytest.raises(ValueError, match="slack"):
        spec.check(RowBatch(rows.words[:-1], rows.starts))


@pytest.mark.parametrize("change", ["features", "triple"])
def test_code_that_cannot_run_here_is_made_again(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "cache"))
    spec, _, rows = small(tmp_path)
    other = {
        "features": replace(host_target(), features=host_target().features + ",+feature-of-another-cpu"),
        "triple": replace(host_target(), triple="riscv64-unknown-linux-gnu"),
    }[change]
    there = CompiledSpec(
        spec.names, spec._schema_data, spec.kernels, spec.llvm_ir, b"code of another CPU", other, spec.rules
    )
    here = CompiledSpec.from_bytes(there.to_bytes())
    assert here.expand_block(rows).fingerprints.tolist() == spec.expand_block(rows).fingerprints.tolist()


def test_bytes_come_back_the_same(tmp_path: Path) -> None:
    spec, _, _ = small(tmp_path)
    again = CompiledSpec.from_bytes(spec.to_bytes())
    assert again.to_bytes() == spec.to_bytes()
    assert (again.digest, again.layout_digest) == (spec.digest, spec.layout_digest)


def damaged(data: bytes) -> dict[str, bytes]:
    """Bytes that are not a compiled spec, by what is wrong with them."""
    return {
        "they do not begin like one": b"PK" + data,
        "another version of kmc": data.replace(b"spec 3\n", b"spec 2\n", 1),
        "damaged or cut off": data[:-1],
        "damaged": data[:-100] + bytes([data[-100] ^ 1]) + data[-99:],
        "damaged or": data + b"x",
        "cut off": data[:30],
        "they do not begin": b"",
    }


@pytest.mark.parametrize("why", list(damaged(b"kmc compiled spec 3\n" + bytes(200))))
def test_bytes_that_are_not_a_compiled_spec_are_one_error(why: str, tmp_path: Path) -> None:
    spec, _, _ = small(tmp_path)
    with pytest.raises(SystemFault, match=why) as raised:
        CompiledSpec.from_bytes(damaged(spec.to_bytes())[why])
    assert raised.value.code == "KMC541"


@pytest.mark.slow
def test_the_digest_tells_specs_apart_and_the_layout_digest_only_layouts(tmp_path: Path) -> None:
    def made(source: str) -> CompiledSpec:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        return compile_spec(small_model(folder, source, "INVARIANTS Small CHECK_DEADLOCK FALSE"), KernelCache(None))

    first, comment = made(OVERFLOW), made(OVERFLOW.replace("class", "# a comment\nclass"))
    stricter, wider = made(OVERFLOW.replace("n < 2", "n < 1")), made(OVERFLOW.replace("(0, 9)", "(0, 99)"))
    assert comment.digest == first.digest
    assert stricter.digest != first.digest
    assert stricter.layout_digest == first.layout_digest
    assert wider.layout_digest != first.layout_digest
