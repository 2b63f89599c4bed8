"""The choice of models of a manifest by kind and by a limit on their cost. Each model that is left out is named with
the reason.

A model costs as many states as its manifest expects. One without figures is never left out: its cost is unknown.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kmc.checking.spec_folders import spec_folders
from kmc.error_text import error_text, shown_path
from kmc.errors import CommandLineError, ModelError
from kmc.frontend.shipped import MANIFEST_NAME, find_spec_root, manifest_of
from kmc.model_files.manifest import Manifest, read_manifest
from kmc.model_files.model_file import ModelFile

STATES_MAX = 1_000_000
KINDS = ("model", "finding", "mutant")
MANIFEST_KIND = "manifest"
"""The kind of an entry that represents a whole manifest, which has no models or cannot be read."""


@dataclass(frozen=True, slots=True)
class ChosenEntry:
    """A model of a manifest, and why it is left out, if it is. `spec` is the word for its spec on a command line.

    `file` is None if the entry represents the manifest itself: one of a spec without models, or one with the mistake in
    `fault`.
    """

    spec: str
    kind: str
    file: ModelFile | None
    left_out: str | None
    fault: str | None = None

    @property
    def name(self) -> str:
        """The name of the model, or of the manifest."""
        return self.file.name if self.file is not None else MANIFEST_NAME


@dataclass(frozen=True, slots=True)
class WantedModels:
    """The models that are chosen: their kinds, the numbers of the claims that they name, and the most states of one.

    Without `claims`, a model need not name any.
    """

    kinds: Collection[str]
    claims: Collection[int]
    states_max: int

    def takes(self, kind: str, file: ModelFile) -> bool:
        """Return whether a model of this kind is chosen, whatever its cost."""
        return kind in self.kinds and (not self.claims or any(int(word.text) in self.claims for word in file.claims))


def too_large(file: ModelFile, states_max: int, option: str) -> str | None:
    """The reason why a model is left out, if `option` sets the limit; None if the model is not left out."""
    states = (file.expect or {}).get("distinct")
    if isinstance(states, int) and states > states_max:
        return f"{states:,} states expected, more than {option} {states_max:,}"
    return None


def specs_in(typed: str) -> dict[str, Manifest | ModelError | None]:
    """The manifests that a person means by `typed`, by the word for each on a command line: of a spec, and of those in
    a folder.

    The value is None for a spec without a manifest, and an error for a manifest that cannot be read. Raises
    CommandLineError KMC605 if there is no such spec, KMC626 if there is nothing to check, and the error of a manifest
    if there is no other manifest.
    """
    root = find_spec_root(typed)
    if root.is_dir():
        manifests = {typed if folder == root else str(folder): _read(folder) for folder in spec_folders(root)}
    else:
        manifests = {typed: manifest_of(root)}
    if not any(isinstance(manifest, Manifest) and manifest.entries for manifest in manifests.values()):
        for manifest in manifests.values():
            if isinstance(manifest, ModelError):
                raise manifest
        message = f"neither {typed} nor a folder in it has a manifest with models"
        help_line = f"describe models in {typed}/{MANIFEST_NAME}"
        if typed == os.curdir:
            help_line = "go to the folder of your specs, or name a spec or a folder: kmc check SPEC --all"
        raise CommandLineError("KMC626", message, help=help_line)
    return manifests


def folder_hint(typed: str) -> str | None:
    """Return the option or path to type if `typed` is a folder of specs without models of its own; else None."""
    root = find_spec_root(typed)
    if not root.is_dir() or (root / MANIFEST_NAME).is_file():
        return None
    specs = [folder for folder in spec_folders(root) if folder != root and (folder / MANIFEST_NAME).is_file()]
    return f"{typed} is a folder of specs: add --all, or give one, such as {shown_path(specs[0])}" if specs else None


def only_spec_in(typed: str) -> str | None:
    """The one spec with models in a folder that is not a spec itself; None for a spec, or where there are others."""
    root = find_spec_root(typed)
    if not root.is_dir() or (root / MANIFEST_NAME).is_file() or any(root.glob("*.py")):
        return None
    folders = spec_folders(root)
    return str(folders[0]) if len(folders) == 1 and (folders[0] / MANIFEST_NAME).is_file() else None


def _read(folder: Path) -> Manifest | ModelError | None:
    try:
        return read_manifest(folder / MANIFEST_NAME) if (folder / MANIFEST_NAME).is_file() else None
    except ModelError as error:
        return error


def choices(manifests: Mapping[str, Manifest | ModelError | None], wanted: WantedModels) -> list[ChosenEntry]:
    """The wanted models: by spec, then by kind; and each manifest without models, or with a mistake.

    Raises CommandLineError KMC627 if there is no model to check, KMC652 if none names the wanted claims.
    """
    entries = [choice for typed, manifest in manifests.items() for choice in _of(typed, manifest, wanted)]
    models = [choice for choice in entries if choice.file is not None]
    if any(choice.fault for choice in entries):
        return entries
    if not models and wanted.claims:
        numbers = " or ".join(map(str, sorted(wanted.claims)))
        raise CommandLineError("KMC652", f"no model here names claim {numbers}", help="kmc claims lists those that do")
    if not models:
        message = f"no spec here has a {' or a '.join(wanted.kinds)}"
        raise CommandLineError("KMC627", message, help=f"leave out --kind; there are {_present(manifests)}")
    if all(choice.left_out for choice in models):
        message = f"all {len(models)} models are left out: each has more than {wanted.states_max:,} states"
        raise CommandLineError("KMC627", message, help="give a larger --max-cost N")
    return entries


def _of(typed: str, manifest: Manifest | ModelError | None, wanted: WantedModels) -> Iterator[ChosenEntry]:
    match manifest:
        case None:
            yield ChosenEntry(typed, MANIFEST_KIND, None, f"{shown_path(typed)} has no {MANIFEST_NAME}")
        case ModelError():
            yield ChosenEntry(typed, MANIFEST_KIND, None, None, error_text(manifest))
        case Manifest(entries=entries) if not entries:
            yield ChosenEntry(typed, MANIFEST_KIND, None, "it has no models")
        case Manifest():
            for kind, files in manifest.by_kind.items():
                for file in files.values():
                    if wanted.takes(kind, file):
                        yield ChosenEntry(typed, kind, file, too_large(file, wanted.states_max, "--max-cost"))


def _present(manifests: Mapping[str, Manifest | ModelError | None]) -> str:
    read = [manifest for manifest in manifests.values() if isinstance(manifest, Manifest)]
    counts = {kind: sum(len(manifest.by_kind[kind]) for manifest in read) for kind in KINDS}
    return " and ".join(f"{count} {kind}{'s' * (count != 1)}" for kind, count in counts.items() if count)
