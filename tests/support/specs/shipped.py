"""Models of the shipped specs by name, and rows of theirs with the entries of networks in another order."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from typing import Any

from kmc.frontend.binding import bind, bind_all
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model, find_spec_root, manifest_of
from kmc.model_files.manifest import Manifest
from kmc.model_files.model_file import ModelFile
from kmc.model_files.value_text import parse_set


@cache
def shipped_model(spec: str, name: str, *settings: str) -> Model:
    """A shipped model without symmetry, with all properties of the spec."""
    root = find_spec_root(spec)
    file = find_model(root, name)
    assert file is not None
    file = replace(file.with_overrides([parse_set(text) for text in settings]), symmetry=(), view=None)
    model = bind(root, file)
    everything = bind_all(root, [parse_set(text) for text in settings]) if not file.constants else model
    return replace(model, invariants=everything.invariants, deadlock=False)


def shipped_manifest(spec: str) -> Manifest:
    """The manifest of a shipped spec."""
    found = manifest_of(find_spec_root(spec))
    assert found is not None
    return found


def expected_figure(file: ModelFile, key: str) -> int:
    """A number that a manifest expects of a model."""
    assert file.expect is not None
    found = file.expect[key]
    assert isinstance(found, int)
    return found


def shuffle_entries(row: list[int], layout: Any, rng: random.Random) -> list[int]:
    """The same state with the entries of each network in another order."""
    shuffled, position = row[: layout.entries], layout.entries
    for number, (_, network) in enumerate(layout.networks):
        size = row[layout.counts + number] * network.words
        entries = [row[k : k + network.words] for k in range(position, position + size, network.words)]
        rng.shuffle(entries)
        shuffled += [word for entry in entries for word in entry]
        position += size
    return shuffled
