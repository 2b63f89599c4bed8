"""Settings of all tests: no deadlines, drawn examples that repeat, Ctrl-C that is heard, one process more than CPUs.

A test that draws examples draws the same ones whenever it runs after the same tests, so a red run is about its commit.
After other tests it may draw a few others, because Hypothesis also draws constants of the modules that are loaded; the
`@reproduce_failure` line of a red test repeats its example everywhere. `make fuzz` draws others, and more of them.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support.commands.forked_kmc import ForkingProcess, forking_process
from support.runs.s3_server import CREDENTIALS, S3Server, s3_server
from support.runs.warm_processes import warm_processes

from kmc.process import usable_cpus
from kmc.runtime.object_code import KERNELS_VARIABLE

shared = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("kmc", shared, derandomize=True, database=None)
settings.register_profile("fuzz", shared, max_examples=2000)
settings.load_profile("kmc")

# An explanation that fails costs a user nothing else, so it would be silent here: it fails the test instead.
os.environ["KMC_EXPLANATION_ERRORS"] = "raise"

# Sessions of Spark use an archive of classes that `make test-cluster` has made, and make none beside the tests.
os.environ.setdefault("KMC_JAVA_ARCHIVE", "read")

# Most tests search few states, and then LLVM's optimisations take longer than they save: some tests want them.
# `KMC_KERNELS=optimised make test` optimises all kernels.
os.environ.setdefault(KERNELS_VARIABLE, "unoptimised")

# As the program does: numpy's library for linear algebra would start idle threads in each process.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# pytest has read it; each pytest that a test starts would read it too.
os.environ.pop("PYTEST_ADDOPTS", None)

# A shell that starts the tests in the background has them and their children ignore Ctrl-C, which some of them send.
signal.signal(signal.SIGINT, signal.default_int_handler)


# The collector finds little to free in trees of a compiler and states of a search: looking less often saves 5 to 10 %.
gc.set_threshold(50_000, 20, 20)

# While tests are collected there is almost none: looking for it takes an eighth of that time.
gc.disable()


def pytest_collection_finish() -> None:
    """Thousands of tests live as long as the process: no collection of garbage needs to look at them again."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def _frozen_afterwards() -> Iterator[None]:
    """What a module leaves behind, caches and compiled code, is not looked at again by collections of garbage."""
    yield
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Look for garbage in everything once, where pytest looks five times for it when a session has ended."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


# Python frees at its end what is not frozen; some libraries print what is left.
atexit.register(gc.unfreeze)


@pytest.fixture(scope="session", autouse=True)
def _quick_syncs() -> Iterator[None]:
    """A sync costs nothing: this machine does not lose its power, and a killed process loses no writes.

    What a sync is for is tested with disks that lose what was not synced (`support/faults/crashes.py`).
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _warm_processes() -> Iterator[None]:
    """Sharded searches have their processes at once, where they would import kmc first."""
    with warm_processes():
        yield


@pytest.fixture(scope="session", autouse=True)
def _compiled_here() -> Iterator[None]:
    """Loops are compiled in the process that needs them: the other CPUs have tests of their own to run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kmc.engine.loops.background_compile.usable_cpus", lambda: 1)
        yield


def pytest_xdist_auto_num_workers() -> int:
    """For `-n auto`: one more than the CPUs that this process may run on, since tests wait for processes and files."""
    return usable_cpus() + 1


@pytest.fixture
def compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches of one model in this test share what was compiled of it."""
    from support.kernels.compiling import compile_each_model_once  # which loads the compiler, and most tests need none

    compile_each_model_once(monkeypatch)


@pytest.fixture(scope="module")
def compiled_once_in_module() -> Iterator[None]:
    """Searches of one model in all tests of a module share what was compiled of it: for models that the tests share."""
    from support.kernels.compiling import compile_each_model_once

    with pytest.MonkeyPatch.context() as patch:
        compile_each_model_once(patch)
        yield


@pytest.fixture
def optimised_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Specs are compiled with LLVM's optimisations from the start: for tests of the compiler and for long searches."""
    monkeypatch.setenv(KERNELS_VARIABLE, "optimised")


@pytest.fixture(scope="session")
def forking() -> Iterator[ForkingProcess]:
    """A process that has imported kmc and forks others, each of which is the program."""
    with forking_process() as process:
        yield process


@pytest.fixture
def forked_checks(forking: ForkingProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks of `kmc report` and `kmc check --all` are forked processes. Other tests start Python for each."""

    def run(words: Sequence[str]) -> tuple[int, str, str]:
        ended = forking.run(*words, cwd=Path.cwd())
        return ended.returncode, ended.stdout, ended.stderr

    monkeypatch.setattr("kmc.cli.running.child_check.run", run)


@pytest.fixture(params=["rows kept", "rows dropped"])
def rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches in shards, in this process, with the rows of all levels and with those of their last level only."""
    from support.runs.shards import drop_rows  # which loads the engine

    if request.param == "rows dropped":
        drop_rows(monkeypatch)


@pytest.fixture(scope="session")
def shared_s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A server that no test stops."""
    with s3_server(tmp_path_factory.mktemp("s3") / "log") as server:
        yield server


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server asks for is in the environment."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def s3(shared_s3: S3Server, credentials: None) -> S3Server:
    """A server that is used from this process."""
    return shared_s3


@pytest.fixture
def address_of(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], str]:
    """The address of a new, empty storage of a kind: `directory` or `s3`."""

    def address(kind: str) -> str:
        if kind == "directory":
            return f"file://{tmp_path}/storage"
        server: S3Server = request.getfixturevalue("s3")
        return server.address(tmp_path.name)

    return address
