"""Tasks of a sharded search run where there is no spec, no compiler and no translation of loops: from the bytes of a
job.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from support.specs.shipped import shipped_model
from support.specs.small import BALLOT, model_of

from kmc.engine.check_model import check_native
from kmc.engine.compiled_model import compile_model
from kmc.engine.files.durable_folder import DurableFolder
from kmc.engine.layout.word_dictionary import Dictionary
from kmc.reference.states.initial import initial_states
from kmc.result import Limits
from kmc.shards.executors.travel import ShardJob
from kmc.shards.files.store import FolderStore, new_name
from kmc.shards.files.word_files import write_words
from kmc.shards.level.sharding import Sharding
from kmc.shards.level.tasks import ExpandTask, LevelSource, RowsTask
from kmc.shards.storage.store_place import StorePlace

ELSEWHERE = """
import importlib.abc, json, pickle, sys

class Bare(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith(("kmc.compiler", "kmc_specs", "specs", "kmc.cli")):
            raise ImportError(f"{name} is not there")

sys.meta_path.insert(0, Bare())
from kmc.shards.level.tasks import ExpandTask, LevelSource, MergeTask, RowsTask, SeekTask, SegmentRef

with open(sys.argv[1], "rb") as file:
    job, source, task = pickle.load(file)
worker = job.worker()
initial = [record.fingerprint for record in task.initial]
levels, runs, sought, failed = [], [()] * job.sharding.shards, [], 0
while True:
    number = len(levels) + 1
    expanded, sent = worker.expand(source, task)
    merged = [worker.merge(MergeTask(number, shard, runs[shard]), [sent[shard]]) for shard in range(len(runs))]
    if sum(part.new for part in merged) == 0:
        break
    levels.append(sum(part.new for part in merged))
    runs = [part.runs for part in merged]
    segments = tuple(SegmentRef(expanded.file, index) for index in range(len(expanded.file.segments)))
    rows = RowsTask(number + 1, 0, segments)
    source = LevelSource(tuple(part.bits for part in merged), source.dictionary)
    failed += sum(worker.check(source, rows, stored=True).failed)
    sought.append(len(worker.seek(source, SeekTask(rows, tuple(initial), False))))
    task = ExpandTask(rows, len(runs))
translates = "kmc.engine.native.translate" in sys.modules
print(json.dumps({"levels": levels, "failed": failed, "sought": sought, "translates": translates}))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bits"), [("smoke", 64), ("smoke", 128), ("a view", 64), ("a view", 128)])
def test_tasks_run_elsewhere_from_the_bytes_of_a_job(name: str, bits: int, tmp_path: Path) -> None:
    cfg = "CONSTANT Server = {a, b} TrustOne = 40 TrustTwo = 40 VIEW forgetful CHECK_DEADLOCK FALSE"
    model = model_of(tmp_path, BALLOT, cfg) if name == "a view" else shipped_model("kraft", name)
    here = check_native(model, Limits(), fingerprint_bits=bits)
    compiled = compile_model(model, bits)
    store = FolderStore(DurableFolder(tmp_path))
    sharding = Sharding(3, slots_min=8, piece=100)
    job = ShardJob.of(compiled, sharding, deadlock=model.deadlock, place=StorePlace.at(tmp_path))
    dictionary = Dictionary(compiled.kernels.plain_words, compiled.kernels.implied_words)
    words = write_words(store, new_name("words", 0, 0), [dictionary.words])
    initial = tuple(compiled.record(state) for state in initial_states(model))
    source, task = LevelSource((), words), ExpandTask(RowsTask(1, 0, ()), 3, initial)
    (tmp_path / "job").write_bytes(pickle.dumps((job, source, task)))
    environment = {"KMC_CACHE_DIR": str(tmp_path / "empty"), "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", ELSEWHERE, str(tmp_path / "job")]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    there = json.loads(ran.stdout)
    assert there["levels"] == list(here.levels)
    assert (there["failed"], there["translates"]) == (0, False)
    assert there["sought"] == [1] + [0] * (len(here.levels) - 1)
    assert not (tmp_path / "empty").exists(), "loops that travelled are not compiled, and kernels are ready"
