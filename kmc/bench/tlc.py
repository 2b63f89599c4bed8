"""Runs TLC on the same model for comparison: its counts and its costs.

TLC and the TLA+ modules belong to the user. They are copied into a temporary folder for a run and deleted after it. TLC
is stopped after some seconds, since it would need hours for what kmc explores in one minute.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory
from typing import Any

from kmc.bench.declared import Benchmark
from kmc.bench.machine import load_average
from kmc.bench.processes import children_cpu_seconds, run_timed
from kmc.errors import CommandLineError, Span, SystemFault
from kmc.model_files.model_file import Assignment, ModelFile, Word, render_cfg
from kmc.model_files.raw_values import ModelValue

JAVA = "java"
_INSTALL_JAVA = "install a Java runtime, 11 or newer, to run TLC"
_LAST_LINES = 8
_COUNTS = re.compile(r"^([\d,]+) states generated.*?, ([\d,]+) distinct states found.*?, ([\d,]+) states left", re.M)
_VERSION = re.compile(r"^TLC2 (Version .*)$", re.M)
_COMPLETE = "Model checking completed. No error has been found."
_CONSTANTS = re.compile(r"^[ \t]*CONSTANTS?\b((?:\s*\w+\s*,)*\s*\w+)", re.M)
_COMMENTS = re.compile(r"\(\*.*?\*\)|\\\*[^\n]*", re.S)


@dataclass(frozen=True, slots=True)
class Tlc:
    """The location of TLC and the TLA+ modules, and a time limit. `module` None: the one that the benchmark names.

    `libraries` are further folders of modules. `configuration` is the `.cfg` file, which is by default written from the
    model of the benchmark.
    """

    class_path: str
    folder: Path
    module: str | None = None
    seconds: int = 60
    libraries: tuple[Path, ...] = ()
    configuration: Path | None = None


def require_tlc(tlc: Tlc, benchmark: Benchmark) -> str:
    """The module that TLC runs; CommandLineError or SystemFault if the jar, folder, module or java is missing."""
    for part in tlc.class_path.split(os.pathsep):
        if not Path(part).exists():
            raise CommandLineError("KMC613", f"--tlc: there is no {part}", help="give the path of tla2tools.jar")
    module = tlc.module or benchmark.tla_module
    if module is None:
        message = f"{benchmark.title} names no TLA+ module"
        raise CommandLineError("KMC613", message, help="give --tlc-module, or tla_module in benchmarks.toml")
    if not (tlc.folder / f"{module}.tla").is_file():
        raise CommandLineError(
            "KMC613",
            f"--spec-dir: there is no {module}.tla in {tlc.folder}",
            help="give the folder of the TLA+ modules",
        )
    if shutil.which(JAVA) is None:
        raise SystemFault("KMC542", "there is no java", help=_INSTALL_JAVA)
    return module


def declared_constants(folder: Path) -> list[str]:
    """The constants that the TLA+ modules of a folder declare, in order."""
    names: dict[str, None] = {}
    for path in sorted(folder.glob("*.tla")):
        text = _COMMENTS.sub("", path.read_text(encoding="utf-8", errors="replace"))
        for match in _CONSTANTS.finditer(text):
            names.update(dict.fromkeys(re.findall(r"\w+", match[1])))
    return list(names)


def tlc_model(file: ModelFile, declared: list[str]) -> ModelFile:
    """The model for TLC: the constants that its modules declare, with model values for those that kmc does not have."""
    here = Span("TLC's model file", 1)
    given = {constant.name for constant in file.constants}
    kept = tuple(constant for constant in file.constants if constant.name in declared)
    own = tuple(Assignment(name, ModelValue(name), here) for name in declared if name not in given)
    begins = file.specification is not None or file.init is not None
    started = file if begins else replace(file, init=Word("Init", here), next=Word("Next", here))
    return replace(started, constants=(*kept, *own), title="", description="", max_depth=None)


def try_tlc(tlc: Tlc, benchmark: Benchmark) -> None:
    """Let TLC explore the model for a second, before anything is measured; CommandLineError or SystemFault if it fails.

    Only TLC itself can find out whether this Java runs this jar, the modules parse and the model fits them.
    """
    with TemporaryDirectory(prefix="kmc-bench-") as name:
        run_tlc(replace(tlc, seconds=1), benchmark, 1, Path(name) / "tlc")


def run_tlc(tlc: Tlc, benchmark: Benchmark, workers: int, folder: Path) -> dict[str, Any]:
    """Run TLC on the model in `folder`, which is made; its counts and costs.

    Raises SystemFault when TLC prints no counts or ends with an error status. A violation is an error here, too: TLC
    stops at it, so the counts and the time are not those of the search that kmc is compared with.
    """
    module = require_tlc(tlc, benchmark)
    folder.mkdir()
    for modules in (*reversed(tlc.libraries), tlc.folder):  # the first folder with a name has its module
        for path in modules.glob("*.tla"):
            shutil.copy(path, folder)
    (folder / "kmc_bench.cfg").write_text(_configuration(tlc, benchmark, folder), encoding="utf-8")
    words = [JAVA, "-XX:+UseParallelGC", f"-Dtlc2.TLC.stopAfter={tlc.seconds}", "-cp", _absolute(tlc.class_path)]
    words += ["tlc2.TLC", "-workers", str(workers), "-noGenerateSpecTE", "-metadir", "states"]
    load, before, began = load_average(), children_cpu_seconds(), time.monotonic()
    try:
        ran = run_timed([*words, "-config", "kmc_bench.cfg", f"{module}.tla"], folder=folder)
    except OSError as error:
        raise SystemFault("KMC542", f"java does not start: {error.strerror}", help=_INSTALL_JAVA) from None
    seconds, cpu = time.monotonic() - began, children_cpu_seconds() - before
    counts = read_counts(ran.stdout)
    # A spec that TLC cannot evaluate ends with a summary too: of no state.
    if counts is None or counts["generated"] == 0:
        message = f"TLC gave no counts and ended with status {ran.returncode}"
        raise SystemFault("KMC543", message, help="run TLC by hand on the same modules", notes=_last_lines(ran))
    if ran.returncode != 0:
        generated = counts["generated"]
        raise SystemFault(
            "KMC544",
            f"TLC ended with exit status {ran.returncode} after it generated {generated:,} states",
            help="the comparison needs a search without a violation or an error; run TLC by hand on the same modules",
            notes=_last_lines(ran),
        )
    return {
        "workers": workers,
        "load_before": load,
        "load_after": load_average(),
        "version": counts.pop("version"),
        **counts,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "generated_per_second": counts["generated"] / seconds,
        "distinct_per_second": counts["distinct"] / seconds,
        "cpu_ns_per_generated": cpu / max(1, counts["generated"]) * 1e9,
    }


def _configuration(tlc: Tlc, benchmark: Benchmark, folder: Path) -> str:
    """The text of the `.cfg` file for the modules in `folder`."""
    if tlc.configuration is not None:
        return tlc.configuration.read_text(encoding="utf-8")
    return render_cfg(replace(tlc_model(benchmark.file, declared_constants(folder)), abstractions=()))


def _last_lines(ran: CompletedProcess[str]) -> tuple[str, ...]:
    return tuple((ran.stdout + ran.stderr).strip().splitlines()[-_LAST_LINES:])


def read_counts(text: str) -> dict[str, Any] | None:
    """The last counts that TLC printed, its version, and whether it explored everything; None if there are none."""
    matches = list(_COUNTS.finditer(text))
    if not matches:
        return None
    generated, distinct, left = (int(count.replace(",", "")) for count in matches[-1].groups())
    version = _VERSION.search(text)
    return {
        "generated": generated,
        "distinct": distinct,
        "left": left,
        # TLC prints this too when it was stopped.
        "complete": _COMPLETE in text and left == 0,
        "version": version[1].strip() if version else None,
    }


def _absolute(class_path: str) -> str:
    return os.pathsep.join(str(Path(path).resolve()) for path in class_path.split(os.pathsep))


__all__ = ["Tlc", "declared_constants", "read_counts", "require_tlc", "run_tlc", "tlc_model", "try_tlc"]
