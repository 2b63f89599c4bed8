"""A module checked three ways: by the interpreter of TLA+, and its translation interpreted and compiled.

All that a search counts and finds has to be the same. Where evaluation fails, the counts depend on how far each engine
gets with the level, so only the verdict, the error and the length of the trace are compared.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kmc.checking.modules.check_module import ModuleRequest, check_module
from kmc.checking.outcome import Outcome
from kmc.checking.request import Engine
from kmc.compiler.view_order import fingerprint_order
from kmc.engine import check_model
from kmc.errors import KmcError
from kmc.frontend.model import Model
from kmc.reference.search import Search
from kmc.result import Limits, Result

LIMITS = Limits(depth=6, states=300)


@dataclass(frozen=True, slots=True)
class Checked:
    """What a module does in each way: figures by name, or the error that ended the check."""

    module: dict[str, object]
    translations: dict[str, dict[str, object]] = field(default_factory=dict)

    @property
    def is_refused(self) -> bool:
        """True if the native engine has no translation for the module."""
        return any(one.get("error") == "KMC812" for one in self.translations.values())

    def differences(self) -> list[str]:
        """Return what the translations do otherwise than the module; a refusal does not count.

        Where compiled code refuses the translation, its interpretation is never asked for.
        """
        if "error" in self.module:
            return [f"the module: {self.module}"]
        if self.translations.get("compiled", {}).get("error") == "KMC812":
            return []
        return [
            f"{way}: {name} is {found.get(name)!r} where the module has {self.module.get(name)!r}"
            for way, found in self.translations.items()
            if found.get("error") != "KMC812"
            for name in dict.fromkeys((*found, *self.module))
            if found.get(name) != self.module.get(name)
        ]


def check_ways(folder: Path, module: str, configuration: str, *, compiles: bool = True) -> Checked:
    """Check a module `Protocol` and its `.cfg` file in three ways; without compiled code unless `compiles`."""
    path = folder / "Protocol.tla"
    path.write_text(module, encoding="utf-8")
    path.with_suffix(".cfg").write_text(configuration, encoding="utf-8")
    with patch.dict(os.environ, {"KMC_CACHE_DIR": str(folder / "cache")}):
        checked = Checked(_checked(path, Engine.PYTHON))
        with _interpreting():
            checked.translations["interpreted"] = _checked(path, Engine.NATIVE)
        if compiles:
            checked.translations["compiled"] = _checked(path, Engine.NATIVE)
    return checked


@contextmanager
def _interpreting() -> Iterator[None]:
    """Let the interpreter of kmc's language search translations."""

    def search(model: Model, limits: Limits, *, keep_going: bool, **_: Any) -> Result:
        return Search(model, limits, keep_going=keep_going, view_order=fingerprint_order).run()

    with patch.object(check_model, "check_native", search):
        yield


def _checked(path: Path, engine: Engine) -> dict[str, object]:
    request = ModuleRequest(path, path.with_suffix(".cfg"), limits=LIMITS, engine=engine, threads=1)
    try:
        return _figures(check_module(request))
    except KmcError as error:
        return {"error": error.code, "text": f"{error} {' '.join(map(str, error.notes))}"}


def _figures(outcome: Outcome) -> dict[str, object]:
    result, violation = outcome.result, outcome.result.violation
    figures: dict[str, object] = {"exit status": outcome.status, "verdict": result.verdict}
    if violation is not None:
        figures |= {"violated": violation.name, "trace length": len(violation.trace)}
    if violation is not None and violation.error is not None:
        return {**figures, "failure": getattr(violation.error, "code", str(violation.error))}
    counters = result.counters
    return figures | {
        "generated": counters.generated,
        "distinct": counters.distinct,
        "depth": counters.depth,
        "left": counters.left,
        "initial": result.initial,
        "levels": tuple(result.levels),
        "actions": dict(result.generated_by_action),
        "cut": result.cut,
        "properties": result.properties,
    }
