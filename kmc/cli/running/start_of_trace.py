"""SPEC and MODEL of a check that starts in a saved trace, where the command line names neither: those of the trace.

Invariant: options on the command line take precedence. A trace of a changed model (`--set`) means the model that was
saved with its run.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kmc.cli.saved.saved_runs import MODEL_NAME, recorded_spec
from kmc.cli.saved.trace_place import trace_place
from kmc.cli.saved.traced_model import spec_of_trace
from kmc.cli.text.console import show, stderr
from kmc.error_text import shown_path
from kmc.frontend.shipped import find_spec_root, manifest_of
from kmc.model_files.model_file import render_cfg
from kmc.trace.files import pick
from kmc.trace.untyped_trace import TLA


def spec_of_start(start: str, run_dir: str, *, quiet: bool) -> tuple[str, str | None]:
    """The SPEC and MODEL with which a check continues from this trace; they are printed, unless `quiet`.

    Raises CommandLineError KMC660 where nothing names a spec, and TraceError as `trace_place` does.
    """
    place = trace_place(start, run_dir)
    file = pick(place.where)[0]
    folder = place.path.parent
    recorded = recorded_spec(folder)
    spec = shown_path(recorded) if recorded is not None else spec_of_trace(file, f"name the spec before --from {start}")
    if file.about.get("language") == TLA:
        saved = folder / MODEL_NAME
        model = shown_path(saved) if recorded is not None and saved.is_file() else None
    else:
        model = _model(spec, file.about, folder / MODEL_NAME)
    if not quiet:
        show([f"{start} is a trace of {' '.join(filter(None, (spec, model)))}, which is checked."], stderr())
    return spec, model


def _model(spec: str, about: Mapping[str, str], saved: Path) -> str | None:
    """The name in the manifest, or the saved model where that is another one."""
    name = about.get("model")
    manifest = manifest_of(find_spec_root(spec))
    entry = manifest.entries.get(name or "") if manifest is not None else None
    if entry is not None and render_cfg(entry) == about.get("constants"):
        return name
    return shown_path(saved) if saved.is_file() else name
