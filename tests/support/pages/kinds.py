"""The kind of a finding, such as a flaw of the text or a bound of the model: tests/data/pages/kinds.toml has them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from typing import cast

from support.source_tree import ROOT

from kmc.frontend.shown_claims import Evidence

KINDS = ROOT / "tests" / "data" / "pages" / "kinds.toml"


@cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    return cast(Mapping[str, Mapping[str, str]], tomllib.loads(KINDS.read_text(encoding="utf-8")))


def meanings() -> Mapping[str, str]:
    """Return the kinds in the order of the page, each with its meaning."""
    return _tables()["meanings"]


def kinds_of(spec: str) -> Mapping[str, str]:
    """Return the kinds of the findings of a spec, by model."""
    return _tables()[spec]


def kind_of(one: Evidence) -> str:
    """Return the kind of what fails: that of the finding, or that it is a mutant."""
    if one.kind == "mutant" or one.file.description.startswith("Mutant: "):
        return "mutant"
    kind = kinds_of(one.spec)[one.file.name]
    assert kind in meanings(), f"{kind} has no meaning in {KINDS.name}"
    return kind
