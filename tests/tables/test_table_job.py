"""Tables are written where there is no spec, no compiler and no translation of loops: from the bytes of a job."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support.runs.kept import SMALL, checked, kept
from support.specs.shipped import shipped_model

from kmc.result import Limits
from kmc.shards.storage.store_place import StorePlace
from kmc.tables.parts import parts_of
from kmc.tables.state_tables import StateReader, write_states
from kmc.tables.step_tables import write_edges
from kmc.tables.table_job import TableJob

ELSEWHERE = """
import importlib.abc, pickle, sys
from pathlib import Path

class Bare(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("kmc.compiler", "kmc_specs", "specs", "kmc.cli")):
            raise ImportError(f"{name} is not there")

sys.meta_path.insert(0, Bare())
from kmc.tables.state_tables import write_states
from kmc.tables.step_tables import write_edges

out = Path(sys.argv[1])
job, parts = pickle.loads((out / "job").read_bytes())
reader = job.reader()
for part in parts:
    write_states(reader, part, out / f"states-{part.number}")
    write_edges(reader, part, out / f"edges-{part.number}")
assert "kmc.engine.native.translate" not in sys.modules
"""


@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.slow
def test_parts_are_written_elsewhere_from_the_bytes_of_a_job(bits: int, tmp_path: Path) -> None:
    model = shipped_model("kraft", "smoke")
    checked(model, tmp_path, SMALL, bits=bits, limits=Limits(depth=7))
    out = tmp_path / "out"
    out.mkdir()
    with kept(model, tmp_path, bits) as (compiled, states):
        parts = list(parts_of(states, 10))
        job = TableJob.of(compiled.spec, states.state.shards, StorePlace.at(tmp_path / "checkpoint"))
        (out / "job").write_bytes(pickle.dumps((job, parts)))
        environment = {"KMC_CACHE_DIR": str(tmp_path / "empty"), "PYTHONPATH": str(Path(__file__).parents[2])}
        command = [sys.executable, "-c", ELSEWHERE, str(out)]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        assert not (tmp_path / "empty").exists(), "loops that travelled are not compiled, and kernels are ready"
        reader = StateReader(compiled.spec, states.store, states.state.shards)
        assert len(parts) > 3
        for part in parts:
            for name, write in (("states", write_states), ("edges", write_edges)):
                write(reader, part, out / "here")
                there = out / f"{name}-{part.number}"
                assert pq.read_table(there).to_pylist() == pq.read_table(out / "here").to_pylist()
