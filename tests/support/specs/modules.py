"""Small TLA+ modules as files of a test."""

from __future__ import annotations

from pathlib import Path

from kmc.checking.modules.checked_module import CheckedModule, checked_module
from kmc.checking.modules.module_search import ModuleSearch
from kmc.result import Limits, Result
from kmc.tla.names.loading import load_model
from kmc.tla.run.program import ModuleProgram


def written_module(folder: Path, text: str, configuration: str) -> tuple[Path, Path]:
    """Write a module and its `.cfg` file under the module's name, and return their paths."""
    name = text.split("MODULE", 1)[1].split()[0]
    module, cfg = folder / f"{name}.tla", folder / f"{name}.cfg"
    module.write_text(text, encoding="utf-8")
    cfg.write_text(configuration, encoding="utf-8")
    return module, cfg


def module_of(folder: Path, text: str, configuration: str) -> CheckedModule:
    """Return a module and its `.cfg` file, given as texts, ready to be searched."""
    return checked_module(ModuleProgram(load_model(*written_module(folder, text, configuration))), deadlock=False)


def result_of(folder: Path, text: str, configuration: str, limits: Limits | None = None) -> Result:
    """Return the result of checking a module, without a check for deadlock."""
    return ModuleSearch(module_of(folder, text, configuration), limits).run()
