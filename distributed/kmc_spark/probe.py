"""Before level 1: can every executor run tasks of this kmc, and does it see the files of the run?

An executor that comes later is compared when it runs its first task, see `tasks.workers_of`.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from pyspark import SparkContext

from kmc.errors import KmcError, SystemFault
from kmc.shards.files.store import ShardStore, new_name
from kmc.shards.files.word_files import WordFile, read_words, write_words
from kmc.shards.storage.storage_faults import busy_elsewhere, is_busy
from kmc.shards.storage.store_place import StorePlace
from kmc_spark.facts import Facts
from kmc_spark.jobs import Jobs
from kmc_spark.tasks import told

_TASKS_PER_SLOT = 2
_SECONDS = 0.05
_ADVICE = "the run (--run-dir) and its tables (--out) lie on a disk that all executors see under the same path"
_STORAGE_ADVICE = (
    "give that host pyarrow, a way to the storage, and its credentials: --conf spark.executorEnv.NAME=VALUE"
)


@dataclass(frozen=True, slots=True)
class Found:
    """The result of one task of the probe: its host, why it cannot use the folder, if it cannot, and its file."""

    host: str
    trouble: str | None
    file: WordFile | None


@told
def look(facts: Facts, place: StorePlace, file: WordFile, tasks: Iterable[int]) -> Iterator[Found]:
    """Check the folder in a task's process: read the driver's file, and write one file per task."""
    facts.require_here()
    for number in tasks:
        if place.storage is None and not Path(place.folder).is_dir():
            yield Found(socket.gethostname(), "it is not there", None)
            continue
        # So that no executor takes the tasks of all.
        time.sleep(_SECONDS)
        written = trouble = None
        try:
            with place.opened() as store:
                read_words(store, file)
                written = write_words(store, new_name("words", 0, number), [np.arange(number + 1)])
        except KmcError as error:
            trouble = error.message
        yield Found(socket.gethostname(), trouble, written)


def probe(context: SparkContext, store: ShardStore, place: StorePlace) -> None:
    """Raise SystemFault KMC561 or KMC562 for an executor that cannot take part; the error names the host and the
    remedy.

    KMC573 if the storage is at fault, and not the access of that host to it.
    """
    file = write_words(store, new_name("words", 0, 0), [np.arange(8)])
    tasks = _TASKS_PER_SLOT * max(1, context.defaultParallelism)
    looked = context.parallelize(range(tasks), tasks).mapPartitions(partial(look, Facts.here(), place, file))
    written: list[WordFile] = []
    try:
        found = Jobs(context).run("compare the executors with the driver", looked.collect)
        written = [each.file for each in found if each.file is not None]
        for each in found:
            if each.trouble is not None:
                raise fault_on(each.host, place, each.trouble)
        for told_of in written:
            read_words(store, told_of)
    finally:
        store.remove([file.name, *(told_of.name for told_of in written)])


def fault_on(host: str, place: StorePlace, why: str) -> SystemFault:
    """Return the error of an executor that could not read and write: KMC573 if the storage was busy, else KMC562."""
    if is_busy(why):
        return busy_elsewhere(host, why)
    return cannot_use(host, place, why)


def cannot_use(host: str, place: StorePlace, why: str) -> SystemFault:
    """KMC562: an executor does not see a folder or a storage of the driver, or not as the driver does."""
    return SystemFault(
        "KMC562",
        f"an executor on {host} cannot use {place}: {why}",
        help=_ADVICE if place.storage is None else _STORAGE_ADVICE,
    )
