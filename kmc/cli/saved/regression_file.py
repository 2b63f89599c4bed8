"""`kmc replay TRACE --pytest FILE`: the file of a regression test, written beside a person's other tests."""

from __future__ import annotations

import os
from pathlib import Path

from kmc.errors import CommandLineError, SystemFault
from kmc.frontend.model import Model
from kmc.frontend.shipped import is_there, shipped_specs
from kmc.model_files.model_file import render_cfg
from kmc.reference.recurrence import RecordedFailure, property_called
from kmc.story.regression import regression_test
from kmc.story.retaken import Retaken
from kmc.story.tell import tell
from kmc.trace.files import GIVEN
from kmc.trace.text import label
from kmc.trace.untyped_trace import TraceFile
from kmc.unexplained import Unexplained, try_explaining
from kmc.views.pytest_file import pytest_text


def write_regression_test(
    path: Path, file: TraceFile, model: Model, failure: RecordedFailure | None, replayed: Retaken, *, is_fixed: bool
) -> None:
    """Write the test. Raises CommandLineError KMC659, KMC662 to KMC664, SystemFault KMC503."""
    if failure is None:
        raise CommandLineError(
            "KMC662", f"{file.shown_path} does not say what fails, so a test of it would say nothing",
            help="name the property: --property NAME",
        )  # fmt: skip
    if file.about.get("start") == GIVEN:
        raise CommandLineError(
            "KMC659", f"{file.shown_path} begins at a given state, and a test of steps begins at an initial one",
            help="check without --from, and write a test of that trace",
        )  # fmt: skip
    test = regression_test(file, model, failure, replayed)
    if test is None:
        raise CommandLineError(
            "KMC663", f"{file.shown_path} does not name its actions, and not all of them can be found by a replay",
            help="write the test with the spec and the model that the trace was made with",
        )  # fmt: skip
    if is_there(path.exists):
        raise CommandLineError("KMC664", f"{path} exists", help="give another file, or remove it")
    labels = try_explaining(lambda: _labels(file, model, replayed))
    if isinstance(labels, Unexplained):
        labels = _recorded_labels(file)
    text = pytest_text(
        test, *_spec_for(path, model), render_cfg(model.file), labels, is_fixed=is_fixed, doc=_doc(model, failure)
    )
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SystemFault(
            "KMC503", f"cannot write {path}: {error.strerror}", help="give another --pytest FILE"
        ) from None


def _spec_for(path: Path, model: Model) -> tuple[str, bool]:
    """The word for the spec in the test: the name of a shipped one, or the path from the folder of the test."""
    root = model.spec.root
    if shipped_specs().get(root.stem) == root:
        return root.stem, False
    return Path(os.path.relpath(root.resolve(), path.resolve().parent)).as_posix(), True


def _labels(file: TraceFile, model: Model, replayed: Retaken) -> list[str]:
    """The labels of the steps for people: by the spec, or as recorded for steps that no longer hold."""
    labels = (
        [f"{step.number} {step.label}" for step in tell(model.spec, replayed.trace).steps] if replayed.steps else []
    )
    return [*labels[1:], *_recorded_labels(file)[max(0, len(labels) - 1) :]]


def _recorded_labels(file: TraceFile) -> list[str]:
    return [f"{number} {label(step)}" for number, step in enumerate(file.steps, start=1)][1:]


def _doc(model: Model, failure: RecordedFailure) -> str:
    doc = property_called(model, failure.name).doc if failure.name is not None else ""
    return doc.split("\n")[0]
