"""The runs of a report: each model of a manifest, checked in a process of its own.

With a process per model, the memory of one model is not counted for the next, and a crash costs only one line.
"""

from __future__ import annotations

import math
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kmc.bench.machine import commit, machine
from kmc.checking.collision_odds import enough_bits
from kmc.checking.refusal import INTERPRETER_TAKES_IT
from kmc.cli.reports.report_records import RECORDED_FIELDS
from kmc.cli.running.child_check import check_apart
from kmc.model_files.model_file import ModelFile
from kmc.process import available_bytes
from kmc.trace.files import pick
from kmc.trace.text import label


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options with which each model is run: the words for `kmc check`, such as `--engine native --threads 1
    --timeout 10m`.

    `fingerprint_bits` is "64", "128", or "auto" for the answer of `enough_bits` for the number of states that the
    manifest expects and for the memory; None for an engine without fingerprints. `memory` is the limit that `words`
    set. A model that the compiler refuses and the interpreter accepts is run with the words `interpreted`, if there are
    any.
    """

    words: tuple[str, ...]
    fingerprint_bits: str | None = None
    memory: int | None = None
    interpreted: tuple[str, ...] = ()
    in_memory: bool = True

    def words_for(self, file: ModelFile) -> tuple[str, ...]:
        """The words for one model."""
        if self.fingerprint_bits is None:
            return self.words
        bits = self.fingerprint_bits
        if bits == "auto":
            room = (self.memory or available_bytes()) if self.in_memory else math.inf
            bits = str(enough_bits(_expected_states(file), room))
        return self.words if bits == "64" else (*self.words, "--fingerprint-bits", bits)


def _expected_states(file: ModelFile) -> int | None:
    expected = (file.expect or {}).get("distinct")
    return expected if isinstance(expected, int) else None


def run(spec: str, file: ModelFile, options: RunOptions) -> dict[str, Any]:
    """Check a model of a spec; the record of its result. `failed` has the last lines of a check without a result."""
    record, said = _checked(spec, file, options.words_for(file))
    if options.interpreted and INTERPRETER_TAKES_IT in said:
        record, _ = _checked(spec, file, options.interpreted)
    return record


def _checked(spec: str, file: ModelFile, options: Sequence[str]) -> tuple[dict[str, Any], str]:
    """The record of one check, and its text on stderr."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["check", spec, file.name, *options]
        ran = check_apart([*words, "--run-dir", folder])
        about = {"command": shlex.join(["kmc", *words]), "machine": machine(), "commit": commit()}
        result = ran.result
        if result is None:
            return {**about, "failed": [f"ended with status {ran.status}", *ran.last_lines]}, ran.stderr
        if result["generated"] is None:
            return {**about, "failed": [result["error"]["message"]]}, ran.stderr
        trace = _labels(Path(result["trace_file"])) if result["trace_file"] else None
        return {**about, **{key: result[key] for key in RECORDED_FIELDS}, "trace": trace}, ran.stderr


def _labels(path: Path) -> list[str]:
    """The actions of a saved trace, the initial state left out."""
    file, _ = pick(str(path))
    return [label(step) for step in file.steps[1:]]
