"""Processes of a sharded search, forked from one that has imported kmc: for tests of what such a search finds.

A process of kmc starts a new Python and imports kmc, half a second of CPU for each. How such processes start, end and
die is tested with kmc's own, in `tests/shards/test_processes.py`; the other tests compare counts and traces only. Here
too a process gets its job, the environment and nothing else from the process of the search.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import BaseContext
from typing import Any

import pytest

from kmc.shards.executors import on_processes


@contextmanager
def warm_processes() -> Iterator[None]:
    """Fork the processes of this process's sharded searches meanwhile; those of its own children start as kmc's do."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([on_processes.__name__])
    owner = os.getpid()

    def context_of(method: str) -> BaseContext:
        # A fork server has one parent: a fork of this process cannot use it.
        return context if os.getpid() == owner else multiprocessing.get_context(method)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_processes, "get_context", context_of)
        patch.setattr(on_processes, "ProcessPoolExecutor", _pool)
        yield


@contextmanager
def cold_processes() -> Iterator[None]:
    """Start processes as kmc does, also while they are forked otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_processes, "get_context", multiprocessing.get_context)
        patch.setattr(on_processes, "ProcessPoolExecutor", ProcessPoolExecutor)
        yield


def _pool(
    processes: int, context: BaseContext, begin: Callable[..., None], arguments: tuple[Any, ...]
) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, context, _begin, (dict(os.environ), begin, arguments))


def _begin(environment: dict[str, str], begin: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Begin with the environment of the search, where the fork server has that of the first one."""
    os.environ.clear()
    os.environ.update(environment)
    begin(*arguments)
