"""Small models for tests of 128-bit fingerprints."""

from __future__ import annotations

from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root


def model_named(spec: str, name: str) -> Model:
    """A shipped model as it is, with its symmetry and view."""
    root = find_spec_root(spec)
    file = find_model(root, name)
    assert file is not None
    return bind(root, file)
