"""The data of a report: each model of a manifest, checked in a process of its own, and its result as a record.

With a process per model, the memory of one model is not counted for the next, and a crash costs only one line. A record
identifies kmc, the machine and the meaning of the spec; it is kept until that meaning changes.
"""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kmc.bench.machine import commit, machine
from kmc.checking.collision_odds import enough_bits
from kmc.checking.expectation import differences
from kmc.checking.refusal import INTERPRETER_TAKES_IT
from kmc.cli.child_check import checked_apart
from kmc.errors import SystemFault
from kmc.frontend.model import bind
from kmc.model_files.manifest import Manifest
from kmc.model_files.model_file import ModelFile, render_raw
from kmc.process import available_bytes
from kmc.result import Bound
from kmc.trace.files import pick
from kmc.trace.text import label

_KEPT = (
    "result",
    "generated",
    "distinct",
    "depth",
    "initial",
    "left",
    "generated_by_action",
    "invariant",
    "trace_length",
    "constraints",
    "cut",
    "bound",
    "properties",
    "unreached_goals",
    "vacuous",
    "collision_bound",
    "fingerprint_bits",
    "seconds",
    "cpu_seconds",
    "peak_memory_bytes",
    "engine",
    "digest",
    "levels",
)
BOUNDS_OF_THE_MODEL = (None, Bound.DEPTH.value, Bound.CONSTRAINT.value)
"""The bounds of a check that was not cut short: levels and constraints are part of a model."""


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

    def words_for(self, file: ModelFile) -> tuple[str, ...]:
        """The words for one model."""
        if self.fingerprint_bits is None:
            return self.words
        bits = self.fingerprint_bits
        if bits == "auto":
            bits = str(enough_bits(_expected_states(file), self.memory or available_bytes()))
        return self.words if bits == "64" else (*self.words, "--fingerprint-bits", bits)


def _expected_states(file: ModelFile) -> int | None:
    expected = (file.expect or {}).get("distinct")
    return expected if isinstance(expected, int) else None


def digest_of(root: Path, file: ModelFile) -> str:
    """The digest that identifies the meaning of a check of this model; raises SpecError or ModelError."""
    return bind(root, file).digest


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
        ran = checked_apart([*words, "--run-dir", folder])
        about = {"command": shlex.join(["kmc", *words]), "machine": machine(), "commit": commit()}
        found = ran.found
        if found is None:
            return {**about, "failed": [f"ended with status {ran.status}", *ran.last_lines]}, ran.stderr
        if found["generated"] is None:
            return {**about, "failed": [found["error"]["message"]]}, ran.stderr
        trace = _labels(Path(found["trace_file"])) if found["trace_file"] else None
        return {**about, **{key: found[key] for key in _KEPT}, "trace": trace}, ran.stderr


def _labels(path: Path) -> list[str]:
    """The actions of a saved trace, the initial state left out."""
    file, _ = pick(str(path))
    return [label(step) for step in file.steps[1:]]


def described(manifest: Manifest, file: ModelFile) -> dict[str, Any]:
    """The manifest's entry for a model, as data."""
    return {
        "kind": manifest.kind_of(file.name),
        "title": file.title,
        "description": file.description,
        "asked": {
            "constants": {constant.name: render_raw(constant.value) for constant in file.constants},
            "invariants": [word.text for word in file.invariants],
            "properties": [word.text for word in file.properties],
            "symmetry": [word.text for word in file.symmetry],
            "view": file.view.text if file.view else None,
            "constraints": [word.text for word in (*file.constraints, *file.action_constraints)],
            "levels": file.max_depth,
        },
        "expect": dict(file.expect) if file.expect else None,
    }


def compared(record: dict[str, Any]) -> dict[str, Any]:
    """The record with its `differences` from the expected result; none of a check that failed or was cut short.

    A record of an earlier kmc lacks the figures that were added later: their expected values are not compared.
    """
    whole = "failed" not in record and record["bound"] in BOUNDS_OF_THE_MODEL
    expect = {key: wanted for key, wanted in (record["expect"] or {}).items() if key in record}
    return {**record, "differences": differences(expect, record) if whole else []}


def read_records(path: Path) -> dict[str, Any]:
    """The records by model that an earlier report wrote; none when there is no file. Raises SystemFault KMC548."""
    try:
        found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return dict(found["models"])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError):
        raise SystemFault(
            "KMC548", f"{path} does not contain a report", help="remove it, and run kmc report again"
        ) from None


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; raises SystemFault KMC503."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(path.name + ".new")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise SystemFault("KMC503", f"cannot write {path}: {error.strerror}", help="give another --out DIR") from None


def stale(entries: Mapping[str, ModelFile], records: Mapping[str, Any], root: Path) -> Sequence[str]:
    """The models that have no record, or one of another meaning of spec or model, or of a check that failed."""
    return [
        name
        for name, file in entries.items()
        if name not in records or records[name].get("digest") != digest_of(root, file)
    ]
