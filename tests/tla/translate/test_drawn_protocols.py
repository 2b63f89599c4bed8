"""Drawn modules in the style of large protocols: the module, its translation and compiled code agree; faults show."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from support.modules.protocol_modules import protocol_module
from support.modules.three_ways import check_ways

from kmc.tla.resolved.nodes import CaseExpr, Expression, IfExpr
from kmc.tla.translate.joined_branches import Values, _Joiner
from kmc.tla.translate.scope import Delayed, Entry, Name, SpecLocal, TranslationScope

COMPILED = (16, 18, 21, 32, 36, 54, 58, 64, 69)
INTERPRETED = (1, 3, 14, 19, 22, 25, 26, 30, 43, 46, 51, 66, 68)


@pytest.mark.parametrize("seed", COMPILED)
def test_a_drawn_module_is_checked_alike_in_three_ways(seed: int, tmp_path: Path) -> None:
    drawn = protocol_module(seed)
    checked = check_ways(tmp_path, drawn.module, drawn.configuration)
    assert checked.differences() == []
    assert not checked.is_refused


@pytest.mark.parametrize("seed", INTERPRETED)
def test_a_drawn_module_is_checked_as_its_translation(seed: int, tmp_path: Path) -> None:
    drawn = protocol_module(seed)
    checked = check_ways(tmp_path, drawn.module, drawn.configuration, compiles=False)
    assert checked.differences() == []
    assert not checked.is_refused


def without_guards(patch: pytest.MonkeyPatch) -> None:
    """Let branches with a test among their assignments be joined, without the test."""
    of = _Joiner._of

    def forgetful(self: _Joiner, node: Expression, scope: TranslationScope) -> Values | None:
        found = of(self, node, scope)
        return {} if found is None and not self.t.deep.has_primes(node, scope) else found

    patch.setattr(_Joiner, "_of", forgetful)


def with_swapped_values(patch: pytest.MonkeyPatch) -> None:
    """Give the first branch the value of the last one, and the other way round."""
    joined = _Joiner._joined

    def swapped(self: _Joiner, node: IfExpr | CaseExpr, scope: TranslationScope, values: list[Delayed]) -> Delayed:
        return joined(self, node, scope, values[::-1])

    patch.setattr(_Joiner, "_joined", swapped)


def with_shared_scopes(patch: pytest.MonkeyPatch) -> None:
    """Give two applications of an operator one scope, whatever their arguments are."""

    def shared(self: TranslationScope, pairs: Iterable[tuple[Name, Entry]]) -> TranslationScope:
        more = dict(pairs)
        if not more or any(isinstance(entry, SpecLocal) for entry in more.values()):
            return bind(self, more.items())
        key = tuple(more)
        inner = self._inner.get(key)
        if inner is None:
            inner = self._inner[key] = TranslationScope({**self.entries, **more})
        return inner

    bind = TranslationScope.bind
    patch.setattr(TranslationScope, "bind", shared)


FAULTS = {
    "guards are dropped": (without_guards, 32),
    "values are swapped": (with_swapped_values, 36),
    "scopes are shared": (with_shared_scopes, 36),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, seed = FAULTS[name]
    drawn = protocol_module(seed)
    plant(monkeypatch)
    assert check_ways(tmp_path, drawn.module, drawn.configuration, compiles=False).differences()
