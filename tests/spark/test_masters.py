"""A master that is wrong or not there is told of soon, and nothing stays of the attempt."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark import SparkContext
from support.spark.cluster import processes
from support.spark.sessions import Sessions

from kmc.errors import SystemFault
from kmc_spark.faults import not_started
from kmc_spark.master import require_reachable, require_registered
from kmc_spark.session import spark_context


def configured(url: str) -> Any:
    """A configuration with a master, without a JVM."""
    return SimpleNamespace(get=lambda key: url, _jconf=SimpleNamespace(getTimeAsSeconds=lambda key, default: 5))


@pytest.fixture
def closed_port() -> int:
    """A port of this machine that refuses connections."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture
def open_port() -> Iterator[int]:
    """A port that accepts them, and then says nothing."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield int(listening.getsockname()[1])


def test_a_master_that_refuses_is_not_reachable(closed_port: int) -> None:
    with pytest.raises(ConnectionError, match=f"no connection to spark://127.0.0.1:{closed_port}"):
        require_reachable(configured(f"spark://127.0.0.1:{closed_port}"))


def test_one_of_several_masters_is_enough(closed_port: int, open_port: int) -> None:
    require_reachable(configured(f"spark://127.0.0.1:{closed_port},127.0.0.1:{open_port}"))


@pytest.mark.parametrize("url", ["local[2]", "yarn", "k8s://https://127.0.0.1:1", "spark://a-host-without-a-port"])
def test_other_masters_are_left_to_spark(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_connection", None)
    require_reachable(configured(url))


def test_a_connection_has_as_long_as_spark_says(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def connect(address: tuple[str, int], seconds: float) -> None:
        asked.append((address, seconds))
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(ConnectionError):
        require_reachable(configured("spark://[::1]:7077,other:7078"))
    assert asked == [(("::1", 7077), 5), (("other", 7078), 5)]


def test_a_context_without_an_application_is_refused() -> None:
    # By hand: a master that accepts connections and says nothing gives such a context, after a minute.
    url = "spark://127.0.0.1:7077"
    with pytest.raises(ConnectionError, match=f"no answer from {url}"):
        require_registered(made(url, "spark-application-1795373787000"))
    require_registered(made(url, "app-20261122185627-0000"))
    require_registered(made("local[2]", "local-1795373787000"))


def made(url: str, application: str) -> Any:
    """A context, without a JVM."""
    return SimpleNamespace(master=url, applicationId=application)


@pytest.mark.cluster
def test_a_jvm_that_ends_between_jobs_is_an_error_of_spark(sessions: Sessions) -> None:
    def ask_after_its_end() -> None:
        with spark_context("local[1]", "kmc tests") as context:
            gateway = SparkContext._gateway
            assert gateway is not None
            gateway.proc.kill()
            gateway.proc.wait()
            context.parallelize([1], 1)

    sessions.end()
    with pytest.raises(SystemFault, match="a Spark job failed") as caught:
        ask_after_its_end()
    assert caught.value.code == "KMC560"


@pytest.mark.slow
@pytest.mark.parametrize("url", ["spark://127.0.0.1:{port}", "cluster:7077"])
def test_a_wrong_master_leaves_nothing(url: str, closed_port: int, sessions: Sessions) -> None:
    sessions.end()
    url = url.format(port=closed_port)
    with pytest.raises(SystemFault, match="Spark did not start") as caught, spark_context(url, "kmc tests"):
        pytest.fail("it started")
    assert caught.value.code == "KMC563"
    assert url in caught.value.message
    assert not [process for process in processes() if "java" in process.command and url in process.command]


@pytest.mark.parametrize(
    ("text", "suspects"),
    [
        ("[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.", ["a.b", "a.c", "a.d"]),
        ("failed\n: java.lang.ClassNotFoundException: no.such.Class", ["a.c"]),
        ("failed\n: [INVALID_CONF_VALUE] The value 'many' in the config \"a.d\" is invalid.", ["a.d"]),
        ("failed\n: java.lang.NumberFormatException: Failed to parse byte string: abc", ["a.b"]),
        ("failed\n: org.apache.spark.SparkException: Could not parse Master URL: 'x'", []),
    ],
)
def test_a_wrong_setting_is_named_and_not_the_master(text: str, suspects: list[str]) -> None:
    settings = {"a.b": "abc", "a.c": "no.such.Class", "a.d": "many"}
    advice = not_started(OSError(text), settings).help or ""
    assert [key for key in settings if f"--conf {key}=..." in advice] == suspects
    assert ("is the master right" in advice) == (not suspects)
    assert "is the master right" in (not_started(OSError(text), {}).help or "")


@pytest.mark.slow
def test_a_jvm_that_does_not_start_is_blamed_on_the_setting(sessions: Sessions) -> None:
    sessions.end()
    settings = {"spark.driver.memory": "abc"}
    with pytest.raises(SystemFault) as caught, spark_context("local[1]", "kmc tests", settings):
        pytest.fail("it started")
    assert caught.value.code == "KMC563"
    assert caught.value.help == "is this right: --conf spark.driver.memory=...? The lines above have the reason"
