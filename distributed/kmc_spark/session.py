"""A Spark context for a sharded search, with the settings that it needs and the reason for each.

The settings that a person makes take precedence: by `--conf`, in spark-defaults.conf, or by `PYSPARK_PYTHON`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pyspark import SparkConf, SparkContext, java_gateway
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway

from kmc_spark import worker_daemon
from kmc_spark.class_archive import archive_file, archive_options, make_later
from kmc_spark.faults import FROM_SPARK, OF_SPARK, meant, not_started
from kmc_spark.java import java_program, java_variables
from kmc_spark.master import require_reachable, require_registered
from kmc_spark.submitted import is_submitted

SETTINGS = {
    # A task of a few milliseconds takes 50 more over TCP: half of the time of a small level.
    "spark.python.unix.domain.socket.enabled": "true",
    # A worker keeps kernels and buffers from task to task. Nothing else of a task outlives it.
    "spark.python.worker.reuse": "true",
    # Rows lie in files that every executor sees, so no place is better than another.
    "spark.locality.wait": "0s",
    # Fingerprints are sent, and they do not shrink.
    "spark.shuffle.compress": "false",
    "spark.rdd.compress": "false",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    # A long run has thousands of jobs.
    "spark.ui.retainedJobs": "200",
    "spark.ui.retainedStages": "200",
    # The text that a worker writes on a crash names the loop it was in.
    "spark.python.worker.faulthandler.enabled": "true",
    "spark.task.maxFailures": "8",
}

# One row of a progress bar per stage would cover kmc's own. Shells have it unless it is disabled at their start.
_ASKED = {"spark.ui.showConsoleProgress": "false"}

# On hosts of few cores the optimising compiler and the parallel collector of the JVM take more CPU than they save.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_FEW_CORES = 4
_LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")

DRIVER_OPTIONS = "SPARK_SUBMIT_OPTS"
"""Options of the driver's JVM that come before those of spark-defaults.conf, so that these win."""

_LAUNCHER_OPTIONS = "SPARK_LAUNCHER_OPTS"
"""Options of the JVM that writes the driver's command line and ends."""

_MASTERS = ("local", "spark://", "yarn", "k8s://")
_PYTHON = "PYSPARK_PYTHON"
_END_SECONDS = 20.0


@contextmanager
def spark_context(
    master: str | None,
    name: str,
    settings: Mapping[str, str] = MappingProxyType({}),
    *,
    end_seconds: float = _END_SECONDS,
) -> Iterator[SparkContext]:
    """A context of its own; at the end of the block its JVM has ended. SystemFault KMC563 if Spark does not start.

    `master` is None under `spark-submit`, which knows it. `settings` are those that a person gave. A JVM that does not
    end within `end_seconds` is killed.
    """
    try:
        if master is not None and not master.startswith(_MASTERS):
            raise ValueError(f"there is no master {master}")
        context = _started(master, name, settings)
    except (*OF_SPARK, ValueError) as error:
        fault = not_started(error, settings)  # it calls the JVM
        _end_java()
        raise fault from None
    except BaseException:  # Ctrl-C too leaves no JVM; it is raised again
        _end_java()
        raise
    try:
        yield context
    except OF_SPARK as error:  # of calls between jobs
        if isinstance(error, FROM_SPARK) or _java_ended():
            raise meant(error) from None
        raise
    finally:
        try:
            _stopped(context)
        finally:
            _end_java(end_seconds)
    make_later(archive_here())


def archive_here() -> Path | None:
    """Return the place of the archive of classes for a driver's JVM; None if it can have none, or is not of kmc."""
    return None if is_submitted() else archive_file(java_program(), _java_options(), _find_spark_home())


def _started(master: str | None, name: str, settings: Mapping[str, str]) -> SparkContext:
    before = signal.getsignal(signal.SIGINT)
    asked = {**_ASKED, **settings, "spark.app.name": name, **({} if master is None else {"spark.master": master})}
    _begin_java(asked)
    conf = with_our_settings(SparkConf(), asked)
    # Spark reads it when a context is made, and neither the setting nor the interpreter of the driver.
    os.environ[_PYTHON] = conf.get("spark.pyspark.python") or sys.executable
    require_reachable(conf)
    context = SparkContext(conf=conf)
    require_registered(context)
    context.setLogLevel("ERROR")
    if threading.current_thread() is threading.main_thread():
        # Spark's own handler calls the JVM from within the handler, where another call may be open.
        signal.signal(signal.SIGINT, before)
    return context


def with_our_settings(conf: SparkConf, asked: Mapping[str, str]) -> SparkConf:
    """A configuration with the requested settings, and with our settings for the others."""
    for key, value in asked.items():
        conf.set(key, value)
    for key, value in SETTINGS.items():
        conf.setIfMissing(key, value)
    if is_local(conf.get("spark.master", "")):
        # The page of a run on this machine takes half a second of CPU time to start, and kmc shows what it would.
        conf.setIfMissing("spark.ui.enabled", "false")
    conf.setIfMissing("spark.pyspark.python", os.environ.get(_PYTHON) or sys.executable)
    if is_local(conf.get("spark.master", "")) and conf.get("spark.pyspark.python") == sys.executable:
        # Another host, or another Python, may get kmc with the tasks: its daemon may not have it yet.
        conf.setIfMissing("spark.python.daemon.module", worker_daemon.__name__)
    conf.setIfMissing("spark.executor.extraJavaOptions", _java_options())
    return conf


def is_local(master: str | None) -> bool:
    """Whether all tasks run in the driver's own JVM: local, local[2], local[*,3]."""
    return master is not None and (master == "local" or master.startswith("local["))


def _java_options() -> str:
    return JAVA_OPTIONS if (os.cpu_count() or 1) <= _FEW_CORES else ""


def _begin_java(asked: Mapping[str, str]) -> None:
    """Make a JVM answer calls: that of spark-submit, or a new one. Settings of spark-defaults.conf are known then."""
    if is_submitted():
        SparkContext._ensure_initialized()
        return
    conf = SparkConf(loadDefaults=False)
    for key, value in asked.items():
        conf.set(key, value)
    options = f"{_java_options()} {archive_options(archive_here())} -Dlog4j2.configurationFile={_LOG_SETTINGS}"
    options = f"{options} {os.environ.get(DRIVER_OPTIONS, '')}"
    launcher = f"{_java_options()} {os.environ.get(_LAUNCHER_OPTIONS, '')}"
    variables = {**java_variables(), DRIVER_OPTIONS: options.strip(), _LAUNCHER_OPTIONS: launcher.strip()}
    with _environment(variables), _messages.writer() as stderr, _ended_if_interrupted():
        # In a session of its own: a signal to the group of the terminal or of `timeout` is for kmc, which then stops
        # Spark. The JVM ends by itself when kmc is no longer there, whatever the reason.
        popen = {"start_new_session": True, "stderr": stderr}
        gateway = launch_gateway(conf, popen)  # type: ignore[no-untyped-call] # it has no types
        SparkContext._ensure_initialized(gateway=gateway)


@contextmanager
def _ended_if_interrupted() -> Iterator[None]:
    """A block in which PySpark starts a JVM: if it is left by an exception, such as Ctrl-C, nothing of the JVM stays.

    PySpark removes the folder in which the JVM announces itself then, and a JVM that cannot do so never ends.
    """
    begun: list[subprocess.Popen[bytes]] = []

    class Begun(subprocess.Popen[bytes]):
        def __init__(self, *given: Any, **named: Any) -> None:
            begun.append(self)
            super().__init__(*given, **named)

    before = vars(java_gateway)["Popen"]
    vars(java_gateway)["Popen"] = Begun
    try:
        yield
    except BaseException:  # as above
        for process in begun:
            # Without a number it did not start.
            if getattr(process, "pid", None) is not None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                if process.stdin is not None:
                    process.stdin.close()
        raise
    finally:
        vars(java_gateway)["Popen"] = before


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class _Messages:
    """The lines that the JVM and the Python workers below it write to stderr: passed on until Spark is stopped.

    PySpark's workers print tracebacks of broken pipes when it stops while they wait.
    """

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self.passing: threading.Thread | None = None

    @contextmanager
    def writer(self) -> Iterator[int]:
        """A descriptor for a process that is started in the block."""
        self._stopping = stopping = threading.Event()
        readable, writable = os.pipe()
        self.passing = threading.Thread(target=_pass_on, args=(readable, stopping), name="spark-messages", daemon=True)
        self.passing.start()
        try:
            yield writable
        finally:
            os.close(writable)

    def end(self) -> None:
        """Nothing more is passed on."""
        self._stopping.set()


_messages = _Messages()


def _pass_on(readable: int, stopping: threading.Event) -> None:
    """Copy the lines of the pipe to stderr, until the last writer has closed it."""
    with open(readable, "rb") as lines:
        for line in lines:
            if not stopping.is_set():
                with suppress(OSError):
                    os.write(2, line)


def _stopped(context: SparkContext) -> None:
    _messages.end()
    with suppress(*OF_SPARK):
        if context._jsc is not None:
            context._jsc.stop()
        context._jsc = None  # the remaining work does not need the JVM
    context._jsc = None
    context.stop()


def _java_ended() -> bool:
    """Whether the JVM that was started here has ended by itself."""
    process: subprocess.Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
    return process is not None and process.poll() is not None


def _end_java(seconds: float = _END_SECONDS) -> None:
    """End the JVM that was started here, and wait for that; after some seconds it is killed."""
    gateway: Any = SparkContext._gateway
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    if process is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    with suppress(*OF_SPARK):
        gateway.shutdown()
    if process.stdin is not None:
        process.stdin.close()  # it ends when its input does
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
