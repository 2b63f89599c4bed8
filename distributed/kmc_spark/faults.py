"""Errors across Spark: those of kmc as texts of failed tasks and back, and the text of Spark's own."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from kmc import errors
from kmc.errors import KmcError, SystemFault

FAULT = "KMC-FAULT:"
"""Before the description of an error of kmc in the text of a failed task."""

# The errors that a call into the JVM raises, and those of reading its answers when the JVM is gone.
OF_SPARK = (Py4JError, PySparkException, OSError, EOFError)

_JAVA_CAUSE = re.compile(r"^(?:: |Caused by: )(?:[\w.$]+: )?(.+)$", re.MULTILINE)
_PYTHON_REASON = re.compile(r"^[\w.]+(?:Error|Exit|Fault|Exception): .+$", re.MULTILINE)

_NO_ANSWER = "JAVA_GATEWAY_EXITED"
"""The word of PySpark for a JVM that ended before it took calls."""

FROM_SPARK = (Py4JError, PySparkException)
"""Those of them that nothing else raises."""

# A worker that is not started, or cannot read a task: no such interpreter, another version of it, no kmc in it.
_OTHER_PYTHON = re.compile(r"PYTHON_VERSION_MISMATCH|No module named|Cannot run program")


class TaskFault(Exception):
    """An error of kmc in a task; its text is what `fault_in` reads."""


def described(error: KmcError) -> str:
    """An error as text that survives a Java stack trace."""
    return f"{FAULT}{json.dumps([type(error).__name__, error.code, error.message, error.help])}"


def fault_in(text: str) -> KmcError | None:
    """The error that a task described in a text; None if there is none."""
    place = text.find(FAULT)
    if place < 0:
        return None
    try:
        (name, code, message, advice), _ = json.JSONDecoder().raw_decode(text[place + len(FAULT) :])
        kind = getattr(errors, name)
    except (ValueError, AttributeError):
        return None
    error: KmcError = kind(code, message, help=advice)
    return error


def meant(error: BaseException) -> BaseException:
    """The error of kmc that made a job fail, where its text holds one; KMC560 or KMC564 for an error of Spark's own."""
    if not isinstance(error, OF_SPARK):
        return error
    text = _text_of(error)
    found = fault_in(text)
    if found is not None:
        return found
    # The last line of a Python traceback, or what Spark says first.
    reasons = _PYTHON_REASON.findall(text) or [line for line in text.splitlines() if "failure" in line] or [text]
    reason = reasons[-1].strip().removeprefix(": ")
    if _OTHER_PYTHON.search(text):
        return SystemFault(
            "KMC564",
            f"an executor cannot run tasks of kmc: {reason}",
            help="install the same kmc and Python on all hosts, and name it by PYSPARK_PYTHON",
        )
    return SystemFault("KMC560", f"a Spark job failed: {reason}", help="see the logs of the executors")


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except OF_SPARK:  # the text of a Java error comes from the JVM
        return "Spark's JVM has ended"


def not_started(error: BaseException, settings: Mapping[str, str]) -> SystemFault:
    """KMC563, with the last cause that Spark gives; the help names the settings of a person that may be at fault."""
    text = _text_of(error)
    causes = _JAVA_CAUSE.findall(text) or text.splitlines() or [type(error).__name__]
    advice = "is the master right, and does it run? For example --spark 'local[2]' or --spark spark://HOST:7077"
    if suspects := _suspects(text, causes[-1], settings):
        advice = f"is this right: --conf {', --conf '.join(f'{key}=...' for key in suspects)}?"
    if _NO_ANSWER in text:
        advice += " The lines above have the reason"
    return SystemFault("KMC563", f"Spark did not start: {causes[-1].strip()}", help=advice)


def _suspects(text: str, cause: str, settings: Mapping[str, str]) -> list[str]:
    """The keys of the settings that a text names, or whose values its cause has; all if the JVM gave no reason."""
    named = [key for key in settings if key in text]
    named = named or [key for key, value in settings.items() if re.search(rf"(?<!\w){re.escape(value)}(?!\w)", cause)]
    return named or (list(settings) if _NO_ANSWER in text else [])
