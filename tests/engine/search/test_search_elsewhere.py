"""A search runs where there is no spec, no compiler and no translation of loops: from the bytes of a compiled spec and
its loops.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.specs.shipped import shipped_model
from support.specs.small import model_of

from kmc.engine.check_model import check_native
from kmc.engine.compiled_model import compile_model
from kmc.engine.loops import compiled_loops
from kmc.engine.native.specialization import Specialization
from kmc.frontend.model import Model
from kmc.reference.states.initial import initial_states
from kmc.result import Limits
from kmc.runtime.compiled_spec import CompiledSpec

ELSEWHERE = """
import importlib.abc, json, sys

class Bare(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("kmc.compiler", "kmc_specs", "kmc.cli")):
            raise ImportError(f"{name} is not there")

sys.meta_path.insert(0, Bare())
import numpy as np
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.loops.compiled_loops import receive
from kmc.engine.search.breadth_first import Search
from kmc.result import Limits
from kmc.runtime.compiled_spec import CompiledSpec

with open(sys.argv[1], "rb") as file:
    spec = CompiledSpec.from_bytes(file.read())
receive(spec.loops)
initial = [PackedState(spec.fingerprint(row), 0, row) for row in np.load(sys.argv[2])]
settings = Settings(threads=2, limits=Limits(depth=spec.rules.max_depth), deadlock=spec.rules.deadlock)
search = Search(KernelTable.of(spec), initial, settings)
outcome = search.run()
last = len(outcome.levels) - 1
some = min(record.fingerprint for record in search.predecessors.kept(last + 1))
print(json.dumps({
    "levels": outcome.levels,
    "by action": outcome.generated_by_action,
    "failed": outcome.failed,
    "findings": len(outcome.findings),
    "steps": len(search.predecessors.steps_into(last, [some])[some]),
    "translates": "kmc.engine.native.translate" in sys.modules,
}))
"""

FORGETFUL = """
Limit = constant("Limit", Int(1, 9), "How far the walk goes")


class State(Record):
    place: Int(0, 9)
    steps: Int(0, 30)


spec.view("places", drop=["steps"])


@spec.init
def init():
    yield State(place=0, steps=0)


@spec.action
def walk(st):
    if st.place < Limit:
        yield st.set(place=st.place + 1, steps=st.steps + 1)
        yield st.set(place=st.place + 1, steps=st.steps + 2)


@spec.invariant
def Near(st):
    return st.place <= 9
"""


def forgetful(folder: Path) -> Model:
    return model_of(folder, FORGETFUL, "CONSTANT Limit = 6 VIEW places INVARIANT Near CHECK_DEADLOCK FALSE")


@pytest.mark.slow
@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("name", ["smoke", "a view"])
def test_a_search_elsewhere_finds_the_same(name: str, bits: int, tmp_path: Path) -> None:
    model = forgetful(tmp_path) if name == "a view" else shipped_model("kraft", name)
    here = check_native(model, Limits(), fingerprint_bits=bits)
    compiled = compile_model(model, bits)
    specialization = Specialization(wide=bits == 128, ranked=model.view is not None)
    (tmp_path / "spec.bin").write_bytes(
        compiled.spec.with_loops(compiled_loops.object_codes(compiled_loops.loops_of(specialization))).to_bytes()
    )
    np.save(tmp_path / "initial.npy", np.array([compiled.record(state).row for state in initial_states(model)]))
    command = [sys.executable, "-c", ELSEWHERE, *(str(tmp_path / file) for file in ("spec.bin", "initial.npy"))]
    environment = {"KMC_CACHE_DIR": str(tmp_path / "empty"), "PYTHONPATH": str(Path(__file__).parents[3])}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    there = json.loads(ran.stdout)
    assert there["levels"] == list(here.levels)
    assert there["by action"] == list(here.generated_by_action.values())
    assert (sum(there["failed"]), there["findings"]) == (0, 0)
    assert there["steps"] > 0
    assert not there["translates"]
    assert not (tmp_path / "empty").exists(), "loops that travelled are not compiled, and kernels are ready"


def test_rules_travel_with_a_spec_and_tell_digests_apart(tmp_path: Path) -> None:
    spec = compile_model(forgetful(tmp_path)).spec
    again = CompiledSpec.from_bytes(spec.with_loops({"a key": b"code"}).to_bytes())
    assert (again.rules, again.loops, again.digest) == (spec.rules, {"a key": b"code"}, spec.digest)
    assert (spec.rules.view, spec.rules.deadlock, spec.rules.max_depth) == (True, False, None)
    other = model_of(tmp_path, FORGETFUL, "CONSTANT Limit = 6 VIEW places INVARIANT Near")
    assert compile_model(other).spec.digest != spec.digest


def test_code_of_another_key_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_loops, "_received", {})
    compiled_loops.receive({"another": b"no code"})
    assert compiled_loops.seek_loop().object_code() != b"no code"
