"""Which models of a manifest are checked: kinds, and a limit on their cost. What is left out is named with the reason.

A model costs as many states as its manifest expects. One without figures is never left out: nothing says what it costs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from kmc.errors import CommandLineError
from kmc.lang.manifest import Manifest
from kmc.lang.modelfile import ModelFile
from kmc.spec.shipped import MANIFEST_NAME, find_spec_root, manifest_of

STATES_MAX = 1_000_000
KINDS = ("model", "finding", "mutant")


@dataclass(frozen=True, slots=True)
class ChosenEntry:
    """A model of a manifest, and why it is left out, if it is. `spec` is what a person types for its spec."""

    spec: str
    kind: str
    file: ModelFile
    left_out: str | None

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.file.name


def too_large(file: ModelFile, states_max: int, option: str) -> str | None:
    """Why a model is left out where `option` sets the limit; None if it is not."""
    states = (file.expect or {}).get("distinct")
    if isinstance(states, int) and states > states_max:
        return f"{states:,} states expected, more than {option} {states_max:,}"
    return None


def specs_in(typed: str) -> dict[str, Manifest]:
    """The manifests that a person means by `typed`, by what to type for each: of a spec, or of all specs in a folder.

    Raises CommandLineError KMC605 where there is no such spec, and KMC626 where there is nothing to check.
    """
    root = find_spec_root(typed)
    found = {typed: manifest_of(root)}
    if found[typed] is None and root.is_dir():
        folders = sorted(path for path in root.iterdir() if (path / MANIFEST_NAME).is_file())
        found = {str(Path(typed) / path.name): manifest_of(path) for path in folders}
    manifests = {name: manifest for name, manifest in found.items() if manifest is not None and manifest.entries}
    if not manifests:
        message = f"neither {typed} nor a folder in it has a manifest with models"
        raise CommandLineError("KMC626", message, help=f"describe models in {typed}/{MANIFEST_NAME}")
    return manifests


def choices(manifests: dict[str, Manifest], kinds: Collection[str], states_max: int) -> list[ChosenEntry]:
    """The models of these kinds: by spec, then by kind. Raises CommandLineError KMC627 if there is none."""
    found = [choice for typed, manifest in manifests.items() for choice in _of(typed, manifest, kinds, states_max)]
    if not found:
        message = f"no spec here has a {' or a '.join(kinds)}"
        raise CommandLineError("KMC627", message, help=f"leave out --kind; there are {_present(manifests)}")
    if all(choice.left_out for choice in found):
        message = f"all {len(found)} models are left out: each has more than {states_max:,} states"
        raise CommandLineError("KMC627", message, help="give a larger --max-cost N")
    return found


def _of(typed: str, manifest: Manifest, kinds: Collection[str], states_max: int) -> Iterator[ChosenEntry]:
    for kind, entries in manifest.by_kind.items():
        for file in entries.values() if kind in kinds else ():
            yield ChosenEntry(typed, kind, file, too_large(file, states_max, "--max-cost"))


def _present(manifests: dict[str, Manifest]) -> str:
    counts = {kind: sum(len(manifest.by_kind[kind]) for manifest in manifests.values()) for kind in KINDS}
    return " and ".join(f"{count} {kind}{'s' * (count != 1)}" for kind, count in counts.items() if count)
