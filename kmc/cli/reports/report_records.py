"""The records of a report: the result of each model of a manifest as data, with the machine that gave it.

A record identifies kmc, the machine and the meaning of the spec; it is kept until that meaning changes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kmc.checking.expectation import differences
from kmc.errors import SystemFault
from kmc.frontend.binding import bind
from kmc.model_files.manifest import Manifest
from kmc.model_files.model_file import ModelFile
from kmc.model_files.raw_values import render_raw
from kmc.result import Bound

RECORDED_FIELDS = (
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
    "shards",
    "engine",
    "digest",
    "levels",
)
"""The fields of the object of `kmc check --json` that a record has too."""

BOUNDS_OF_THE_MODEL = (None, Bound.DEPTH.value, Bound.CONSTRAINT.value)
"""The bounds of a check that was not cut short: levels and constraints are part of a model."""


def digest_of(root: Path, file: ModelFile) -> str:
    """The digest that identifies the meaning of a check of this model; raises SpecError or ModelError."""
    return bind(root, file).digest


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
            **({"abstractions": [word.text for word in file.abstractions]} if file.abstractions else {}),
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
        report: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return dict(report["models"])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError):
        raise SystemFault(
            "KMC548", f"{path} does not contain a report", help="remove it, and run kmc report again"
        ) from None


def stale(entries: Mapping[str, ModelFile], records: Mapping[str, Any], root: Path) -> Sequence[str]:
    """The models that have no record, or one of another meaning of spec or model, or of a check that failed."""
    return [
        name
        for name, file in entries.items()
        if name not in records or records[name].get("digest") != digest_of(root, file)
    ]


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; raises SystemFault KMC503."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(path.name + ".new")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise SystemFault("KMC503", f"cannot write {path}: {error.strerror}", help="give another --out DIR") from None
