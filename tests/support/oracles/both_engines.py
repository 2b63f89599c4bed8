"""Whole checks of a model on both engines, with assumed ranges that begin narrow and are not remembered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from support.oracles.results import told

from kmc.compiler.view_order import fingerprint_order
from kmc.engine import assumed_integers
from kmc.engine.assumed_integers import RememberedRange
from kmc.engine.check_model import check_native
from kmc.frontend.model import Model
from kmc.lang.assumed_range import AssumedRange
from kmc.reference.search import Search
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits, Result


@contextmanager
def beginning_with(assumed: AssumedRange) -> Iterator[None]:
    """Let each native search of the block begin with a range, whatever its first states are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assumed_integers, "observed_range", lambda model, start=None: assumed)
        patch.setattr(RememberedRange, "read", lambda self: None)
        patch.setattr(RememberedRange, "write", lambda self, assumed: None)
        yield


def interpreted(model: Model, **options: Any) -> dict[str, Any]:
    """Return the interpreter's result."""
    search = Search(model, Limits(), view_order=fingerprint_order, problem=accepted_problem(model), **options)
    return told(search.run())


def compiled(model: Model, lines: list[str] | None = None, **options: Any) -> Result:
    """Return the native engine's result; `lines` gets what it says of restarts."""
    note = (lambda text: None) if lines is None else lines.append
    return check_native(model, Limits(), problem=accepted_problem(model), note=note, **options)
