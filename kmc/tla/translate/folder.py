"""The folder of a translated model: its spec, its manifest, the places of its lines, and a checksum of these.

Invariant: a folder that a person has edited is never overwritten. The checksum is that of the files as they were
written; where it differs, or a folder has no checksum, the folder is the person's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from kmc.errors import CommandLineError
from kmc.tla.translate.layout import SpecText
from kmc.tla.translate.names import text_of_atom
from kmc.tla.translate.translator import TranslatedParts

SPEC_FILE, MANIFEST_FILE, PLACES_FILE, CHECKSUM_FILE = "spec.py", "models.toml", "places.json", "checksum.txt"
_MODEL_NAME = "translated"
_LISTS = {
    "invariant": "invariants",
    "action_property": "properties",
    "constraint": "constraints",
    "action_constraint": "action_constraints",
}


@dataclass(frozen=True, slots=True)
class TranslatedFolder:
    """The files of a translated model by their names."""

    files: dict[str, str]

    @property
    def checksum(self) -> str:
        """The digest of all files but the checksum itself."""
        return digest_of(self.files)


def digest_of(files: dict[str, str]) -> str:
    """Return the digest of files by their names."""
    return sha256("".join(f"{name}\0{text}\0" for name, text in sorted(files.items())).encode()).hexdigest()


def folder_of(parts: TranslatedParts, text: SpecText) -> TranslatedFolder:
    """Return the files of a translated model."""
    return TranslatedFolder({SPEC_FILE: text.text, MANIFEST_FILE: _manifest(parts), PLACES_FILE: _places(parts, text)})


def _manifest(parts: TranslatedParts) -> str:
    model = parts.t.model
    source = Path(model.path).name if model.configuration is None else Path(model.configuration).name
    lines = [
        f"# Translated from {Path(model.path).name}; kmc translate writes this file anew unless it was edited.",
        "",
        f"[models.{_MODEL_NAME}]",
        f'description = "The model of {source}"',
    ]
    constants = [
        f"{group.name} = [{', '.join(json.dumps(text_of_atom(atom)) for atom in group.atoms)}]"
        for group in parts.t.names.groups
        if group.is_symmetric
    ]
    if constants:
        lines.append(f"constants = {{ {', '.join(constants)} }}")
    for kind, key in _LISTS.items():
        names = [function.name for function in parts.functions if function.kind == kind]
        if names:
            lines.append(f"{key} = {json.dumps(names)}")
    if parts.symmetry is not None:
        lines.append(f'symmetry = ["{parts.symmetry[0]}"]')
    if parts.view is not None:
        lines.append(f'view = "{parts.view[0]}"')
    lines.append(f"deadlock = {str(model.check_deadlock).lower()}")
    return "\n".join(lines) + "\n"


def _places(parts: TranslatedParts, text: SpecText) -> str:
    """Return the table of places: for each line of the spec the line and column of the module, in one of its files."""
    files = sorted({place.path for place in text.places if place is not None})
    lines = [None if place is None else [files.index(place.path), place.line, place.column] for place in text.places]
    names = {function.name: function.original for function in parts.functions}
    shown = [Path(file).name for file in files]
    return json.dumps({"module": parts.t.model.module, "files": shown, "names": names, "lines": lines}) + "\n"


def write_folder(folder: Path, translated: TranslatedFolder) -> None:
    """Write a translated model; CommandLineError (KMC668) where the folder holds something else or was edited."""
    if folder.exists() and not _is_untouched(folder):
        raise CommandLineError(
            "KMC668",
            f"{folder} exists and was not written by kmc translate, or was edited since",
            help="choose another folder, or remove it first",
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in translated.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / CHECKSUM_FILE).write_text(translated.checksum + "\n", encoding="utf-8")


def _is_untouched(folder: Path) -> bool:
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()} - {"__pycache__"}
    if not names:
        return True
    if CHECKSUM_FILE not in names or names - {SPEC_FILE, MANIFEST_FILE, PLACES_FILE, CHECKSUM_FILE}:
        return False
    files = {name: (folder / name).read_text(encoding="utf-8") for name in names - {CHECKSUM_FILE}}
    return (folder / CHECKSUM_FILE).read_text(encoding="utf-8").strip() == digest_of(files)
