"""How tasks are divided among those of Spark, which exchange a master has, and what Spark's processes print."""

import io
import os
import signal
import subprocess
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark import java_gateway
from support.spark.cluster import processes, waited_for

from kmc.shards.executors.parts import in_parts
from kmc_spark import session


@given(st.integers(0, 200), st.integers(1, 16), st.integers(1, 4), st.integers(1, 40))
def test_parts_hold_all_tasks_in_their_order(tasks: int, slots: int, least: int, most: int) -> None:
    parts = in_parts(range(tasks), slots, least, most)
    assert [task for part in parts for task in part] == list(range(tasks))
    assert all(min(least, most) <= len(part) <= max(least, most) for part in parts[:-1])


def test_parts_get_smaller() -> None:
    assert [len(part) for part in in_parts(range(33), 2, 1, 100)] == [17, 8, 4, 2, 1, 1]


def test_no_part_is_larger_than_what_may_be_lost() -> None:
    assert [len(part) for part in in_parts(range(33), 2, 1, 10)] == [10, 10, 7, 3, 2, 1]


def test_a_part_keeps_all_threads_of_a_task_busy() -> None:
    assert [len(part) for part in in_parts(range(9), 2, 3, 100)] == [5, 3, 1]


@pytest.mark.parametrize(
    ("master", "local"),
    [
        ("local", True),
        ("local[2]", True),
        ("local[*,3]", True),
        ("local-cluster[2,1,1024]", False),
        ("spark://host:7077", False),
        (None, False),
    ],
)
def test_tasks_of_a_local_master_run_in_its_own_jvm(master: str | None, local: bool) -> None:
    assert session.is_local(master) is local


def test_what_processes_print_is_passed_on_until_spark_stops(capfd: pytest.CaptureFixture[str]) -> None:
    messages = session._Messages()
    with messages.writer() as descriptor:
        written = os.dup(descriptor)
    with io.FileIO(written, "w") as out:
        out.write(b"before\n")
        printed = ""
        until = time.monotonic() + 30
        while "before" not in printed and time.monotonic() < until:
            printed += capfd.readouterr().err
            time.sleep(0.01)
        messages.end()
        out.write(b"after\n")
    assert messages.passing is not None
    messages.passing.join(30)
    assert (printed, capfd.readouterr().err) == ("before\n", "")


def begun_by_pyspark(*command: str) -> subprocess.Popen[bytes]:
    """A process that is started as PySpark starts a JVM."""
    process: subprocess.Popen[bytes] = vars(java_gateway)["Popen"](command, start_new_session=True)
    return process


def test_a_jvm_whose_start_is_interrupted_ends() -> None:
    begun: list[subprocess.Popen[bytes]] = []
    with suppress(KeyboardInterrupt), session._ended_if_interrupted():
        # As `spark-submit`, which starts others in its session.
        begun.append(begun_by_pyspark("sh", "-c", "sleep 600 & sleep 600"))
        raise KeyboardInterrupt
    assert begun[0].returncode == -signal.SIGKILL
    session_of = begun[0].pid
    waited_for(lambda: None if any(each.session == session_of for each in processes()) else True, "the end of both")
    assert vars(java_gateway)["Popen"] is subprocess.Popen


def test_a_jvm_that_started_stays() -> None:
    with session._ended_if_interrupted():
        process = begun_by_pyspark("sleep", "600")
    assert process.poll() is None
    process.kill()
    process.wait()


def test_a_jvm_that_cannot_start_leaves_the_error_of_the_system() -> None:
    with pytest.raises(FileNotFoundError), session._ended_if_interrupted():
        begun_by_pyspark("/there/is/none")
