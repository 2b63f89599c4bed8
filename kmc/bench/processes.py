"""Child processes of a benchmark. No child outlives the call that started it, even if that call is interrupted."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kmc.bench.job import Request
from kmc.errors import SystemFault

_LAST_LINES = 6


def run_timed(
    words: Sequence[str], environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, its output as text; it is killed when this call is interrupted."""
    return subprocess.run(list(words), env=environment, cwd=folder, capture_output=True, text=True, check=False)


def children_cpu_seconds() -> float:
    """CPU seconds, user and system, of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_job(request: Request, folder: Path) -> dict[str, Any]:
    """One measured search in a fresh process; SystemFault with its last lines when it fails."""
    asked = folder / "request.json"
    asked.write_text(json.dumps(asdict(request)), encoding="utf-8")
    return run_module("kmc.bench.job", [str(asked)], f"a run of {request.states:,} states", folder)


def run_module(module: str, words: Sequence[str], title: str, folder: Path) -> dict[str, Any]:
    """The answer of a module of kmc that runs in a fresh process and writes it to the file that the last word names.

    SystemFault KMC546 with its last lines when it fails; `title` is the subject of the message.
    """
    answered = folder / "answer.json"
    answered.unlink(missing_ok=True)
    ran = run_timed([sys.executable, "-m", module, *words, str(answered)])
    if ran.returncode != 0 or not answered.exists():
        raise SystemFault(
            "KMC546",
            f"{title} ended with status {ran.returncode}",
            help="see the same model with kmc check; status -9 means that the system ran out of memory",
            notes=tuple(ran.stderr.strip().splitlines()[-_LAST_LINES:]),
        )
    answer: dict[str, Any] = json.loads(answered.read_text(encoding="utf-8"))
    return answer
