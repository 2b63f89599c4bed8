"""TLA+ modules that a test writes as text, loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from kmc.model_files.model_file import Assignment
from kmc.tla.names.loading import load_model
from kmc.tla.resolved.model import ResolvedModel


def module_text(name: str, body: str) -> str:
    """A module of this name, with a body of units."""
    return f"---- MODULE {name} ----\n{body}\n====\n"


def load_text(
    folder: Path,
    body: str,
    cfg: str = "",
    modules: Mapping[str, str] | None = None,
    constants: Iterable[Assignment] = (),
) -> ResolvedModel:
    """The model of a module M with this body and this `.cfg` file; `modules` are the bodies of modules beside it."""
    for name, text in {**(modules or {}), "M": body}.items():
        (folder / f"{name}.tla").write_text(module_text(name, text), encoding="utf-8")
    (folder / "M.cfg").write_text(cfg, encoding="utf-8")
    return load_model(folder / "M.tla", None, constants)
