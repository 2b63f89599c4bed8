"""Check that a standalone Spark master answers, within seconds; Spark itself waits a minute before it fails."""

from __future__ import annotations

import socket
from contextlib import suppress
from urllib.parse import urlsplit

from pyspark import SparkConf, SparkContext

_SCHEME = "spark://"
_UNREGISTERED = "spark-application-"
"""With this begins the name that an application has until its master gives it one."""

_TIMEOUT = "spark.rpc.lookupTimeout"
_SECONDS = "10s"


def require_reachable(conf: SparkConf) -> None:
    """Raise ConnectionError if the configured masters are standalone ones, and none of them accepts a connection.

    Each has as long as `spark.rpc.lookupTimeout` says, or 10 seconds.
    """
    master = conf.get("spark.master") or ""
    if not master.startswith(_SCHEME):
        return
    seconds = conf._jconf.getTimeAsSeconds(_TIMEOUT, _SECONDS)  # type: ignore[union-attr] # there is a JVM
    if not any(_accepts(address, seconds) for address in master.removeprefix(_SCHEME).split(",")):
        raise ConnectionError(f"no connection to {master}")


def require_registered(context: SparkContext) -> None:
    """Raise ConnectionError where a standalone master did not answer: a context is made nevertheless, and ends soon."""
    if (context.master or "").startswith(_SCHEME) and context.applicationId.startswith(_UNREGISTERED):
        raise ConnectionError(f"no answer from {context.master}")


def _accepts(address: str, seconds: float) -> bool:
    with suppress(OSError):
        place = urlsplit(_SCHEME + address)
        if place.hostname is None or place.port is None:
            return True  # Spark says what is wrong with it
        socket.create_connection((place.hostname, place.port), seconds).close()
        return True
    return False
