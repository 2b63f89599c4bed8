"""Before level 1: does every executor run this kmc, and does it see the folder of the run?"""

from __future__ import annotations

import platform
import socket
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from pyspark import SparkContext

from kmc import __version__
from kmc.engine.files.durable_folder import DurableFolder
from kmc.engine.loops.compiled_loops import engine_digest
from kmc.errors import KmcError, SystemFault
from kmc.shards.store import FolderStore, ShardStore, new_name
from kmc.shards.tasks import WordFile
from kmc.shards.word_files import read_words, write_words

_TASKS_PER_SLOT = 2
_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Facts:
    """What must be the same everywhere."""

    kmc: str
    python: str
    engine: str

    @classmethod
    def here(cls) -> Facts:
        """Those of this process."""
        return cls(__version__, platform.python_version(), engine_digest())


@dataclass(frozen=True, slots=True)
class Found:
    """What one task of the probe met: on which host, and why it cannot use the folder, if it cannot."""

    host: str
    facts: Facts
    trouble: str | None
    file: WordFile | None


def _look(folder: str, file: WordFile, tasks: Iterable[int]) -> Iterator[Found]:
    for number in tasks:
        # So that no executor takes the tasks of all.
        time.sleep(_SECONDS)
        written = trouble = None
        try:
            with DurableFolder(Path(folder)) as opened:
                store = FolderStore(opened)
                read_words(store, file)
                written = write_words(store, new_name("words", 0, number), [np.arange(number + 1)])
        except KmcError as error:
            trouble = error.message
        yield Found(socket.gethostname(), Facts.here(), trouble, written)


def probe(context: SparkContext, store: ShardStore, folder: Path) -> None:
    """Raise SystemFault KMC561 to KMC563 for an executor that cannot take part; it says which host, and what to do."""
    file = write_words(store, new_name("words", 0, 0), [np.arange(8)])
    tasks = _TASKS_PER_SLOT * max(1, context.defaultParallelism)
    path = str(folder)
    context.setJobGroup("kmc", "compare the executors with the driver", interruptOnCancel=False)
    found = context.parallelize(range(tasks), tasks).mapPartitions(lambda part: _look(path, file, part)).collect()
    written = [each.file for each in found if each.file is not None]
    try:
        for each in found:
            _compare(each)
        for each in found:
            if each.trouble is not None:
                raise SystemFault(
                    "KMC562",
                    f"an executor on {each.host} cannot use {folder}: {each.trouble}",
                    help="give a --run-dir on a disk that all executors see under the same path",
                )
        for told in written:
            read_words(store, told)
    finally:
        store.remove([file.name, *(told.name for told in written)])


def _compare(found: Found) -> None:
    here = Facts.here()
    differing = [name for name, value in asdict(here).items() if asdict(found.facts)[name] != value]
    if differing:
        name = differing[0]
        raise SystemFault(
            "KMC561",
            f"an executor on {found.host} has another {_TITLES[name]}: "
            f"{asdict(found.facts)[name]}, and the driver has {asdict(here)[name]}",
            help="install the same kmc and Python on all hosts, and name it by PYSPARK_PYTHON",
        )


_TITLES = {"kmc": "version of kmc", "python": "Python", "engine": "build of kmc's engine"}
