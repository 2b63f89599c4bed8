"""The stderr of an application that spark-submit started.

spark-submit joins the stderr of a Python application to its stdout (`PythonRunner`), which is for results alone. So
`sys.stderr` hands texts to the JVM, which writes them to the stderr of spark-submit.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext

_GATEWAY_PORT = "PYSPARK_GATEWAY_PORT"


def is_submitted() -> bool:
    """Return whether spark-submit started this process, so that its JVM is there already."""
    return _GATEWAY_PORT in os.environ


class JavaStream(io.TextIOBase):
    """A stream of text that a print stream of the JVM writes. It is silent once the JVM has ended."""

    encoding = "utf-8"

    def __init__(self, printer: Any) -> None:
        super().__init__()
        self._printer = printer

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, text: str) -> int:
        """Write a text at once."""
        try:
            self._printer.print(text)
            self._printer.flush()
        except (Py4JError, OSError):
            pass
        return len(text)


@contextmanager
def stderr_of_spark() -> Iterator[None]:
    """During the block, `sys.stderr` is that of spark-submit, if it started this process."""
    if not is_submitted():
        yield
        return
    SparkContext._ensure_initialized()
    jvm: Any = SparkContext._jvm
    before, sys.stderr = sys.stderr, JavaStream(jvm.java.lang.System.err)
    try:
        yield
    finally:
        sys.stderr = before
