"""The translation of a module for the native engine, how its results are read, and the cache that keeps it.

Invariant: an entry of the cache is keyed by everything that decides a translation: the texts of all modules and of the
`.cfg` file, the constants of the command line, and the code that translates. A search may have widened the types of an
entry, and learned from states that no type fitted, which changes no meaning. Whatever is wrong with an entry, the
module is translated again.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from kmc import __version__, tla
from kmc.errors import Span, SpecError
from kmc.tla.run.program import ModuleProgram, State
from kmc.tla.shapes.observation import Sample, observe
from kmc.tla.shapes.shape import Atom, RecordKey
from kmc.tla.translate.decoding import Decoder
from kmc.tla.translate.folder import TranslatedFolder
from kmc.tla.translate.temporal_atoms import NO_ATOMS, TemporalAtoms
from kmc.tla.translate.translated import TranslatedModel, translate_model, used_names
from kmc.tla.values.kinds import TlaModelValue

_RECORD_FILE = "translation.json"
_COMPARED_FOLDER = "compared"
_FORMAT = 2


@dataclass(frozen=True, slots=True)
class NativeTranslation:
    """A translation on disk, with all that is needed to read results of its spec in the names of the module.

    `names` are the names of actions and properties in the module by those in the spec, `places` the place of each line.
    `record` is what is kept of it beside its files.
    """

    root: Path
    decoder: Decoder
    names: Mapping[str, str]
    places: Sequence[Span | None]
    record: Mapping[str, Any]
    widening: int = 0

    def original(self, name: str) -> str:
        """Return the name in the module of an action or a property of the spec."""
        return self.names[name]

    def place(self, span: Span | None) -> Span | None:
        """Return the place in the module of a place in the spec; None if it has none."""
        if span is None or Path(span.path).parent != self.root or not 0 < span.line <= len(self.places):
            return None
        return self.places[span.line - 1]


@dataclass(frozen=True, slots=True)
class Widening:
    """The widening after earlier searches: bits that are added to guessed bounds, and states that did not fit.

    `refused` is the refusal of a translation that declares truth values as the elements of collections that were always
    empty. With it, these are numbers.
    """

    bits: int = 0
    states: tuple[State, ...] = ()
    refused: SpecError | None = None


NOT_WIDENED = Widening()


class TranslationCache:
    """The translations of one model, in a folder; the last one that was written is the current one.

    `model` is the key of the model wherever its files are, which says what a packed translation is one of.
    """

    def __init__(self, folder: Path, key: str, model: str = "") -> None:
        self._model = model
        self._folder = folder / key

    def current(self) -> NativeTranslation | None:
        """Return the translation that was written last; None if there is none that can be read."""
        with suppress(OSError, ValueError, KeyError, TypeError, IndexError):
            record = json.loads((self._folder / _RECORD_FILE).read_text(encoding="utf-8"))
            root = self._folder / record["digest"]
            paths = [path for path in root.iterdir() if path.is_file()]
            files = {path.name: path.read_text(encoding="utf-8") for path in paths}
            is_own = all(map(_is_own, (self._folder / _RECORD_FILE, root, *paths)))
            if is_own and record["format"] == _FORMAT and TranslatedFolder(files).checksum == record["digest"]:
                return _read(root, record)
        return None

    def write(self, translated: TranslatedModel, widening: int) -> NativeTranslation:
        """Write a translation and make it the current one; other processes may read the one before."""
        root = self._write_files(translated.folder)
        record = _record(translated, translated.folder.checksum, widening)
        _replace(self._folder / _RECORD_FILE, json.dumps(record))
        return _read(root, record)

    def _write_files(self, folder: TranslatedFolder) -> Path:
        root = self._folder / folder.checksum
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, text in folder.files.items():
            _replace(root / name, text)
        return root

    def was_compared(self, key: str) -> bool:
        """Return whether compiled code of this module was compared with it before, and found equal."""
        with suppress(OSError):
            folder = self._folder / _COMPARED_FOLDER
            return _is_own(folder) and _is_own(folder / key)
        return False

    def remember_comparison(self, key: str) -> None:
        """Remember that compiled code of this module was found equal; `key` is that of all that decides this."""
        folder = self._folder / _COMPARED_FOLDER
        with suppress(OSError):  # it is compared again
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _replace(folder / key, "")

    def packed(self, translation: NativeTranslation) -> bytes:
        """Return a translation as one file, for a run that another process goes on with."""
        files = {path.name: path.read_text(encoding="utf-8") for path in translation.root.iterdir() if path.is_file()}
        return json.dumps({"model": self._model, "record": translation.record, "files": files}).encode()

    def unpacked(self, data: bytes, paths: Sequence[str]) -> NativeTranslation | None:
        """Write the files of a translation that was packed; None if it is not one of this model, or damaged.

        `paths` are those of the files of the model, which may have been elsewhere when it was packed.
        """
        with suppress(ValueError, KeyError, TypeError, IndexError, AttributeError):
            packed = json.loads(data)
            folder, record = TranslatedFolder(packed["files"]), packed["record"]
            names_only = all(Path(name).name == name for name in folder.files)
            is_whole = record["format"] == _FORMAT and folder.checksum == record["digest"]
            if packed["model"] == self._model and names_only and is_whole:
                now = {Path(path).name: path for path in paths}
                files = [now.get(Path(path).name, path) for path in record["files"]]
                return _read(self._write_files(folder), {**record, "files": files})
        return None


def translate_for_native(
    program: ModuleProgram,
    cache: TranslationCache,
    widening: Widening,
    sample: Sample,
    temporal: TemporalAtoms = NO_ATOMS,
) -> NativeTranslation:
    """Translate a module and the atoms of its temporal properties, with types that fit the states of a widening.

    `sample` has the states that are observed first. SpecError KMC812 where a translation is not possible.
    """
    observation = observe(sample, program, used_names(program.model), widening.states)
    refused = widening.refused
    unseen = "Bool" if refused is None else "Int(0, 1)"
    translated = translate_model(program.model, program, observation, widening.bits, temporal=temporal, unseen=unseen)
    if refused is not None and not translated.parts.t.has_unseen and not widening.states:
        raise refused
    return cache.write(translated, widening.bits)


def translation_key(
    program: ModuleProgram, configuration: Sequence[str], temporal: Sequence[str] = (), *, has_paths: bool = True
) -> str:
    """Return the key of a module with the parts of its model: the text of the `.cfg` file, and each `--set`.

    `temporal` are the texts of the atoms of its temporal properties, which functions of the translation are. Without
    `has_paths`, the names of the files count, and not where they are.
    """
    digest = sha256()
    files = list(dict.fromkeys((program.model.path, *program.model.files)))
    names = files if has_paths else [Path(file).name for file in files]
    for part in (str(len(files)), *names, *configuration, str(_FORMAT), str(len(temporal)), *temporal):
        _add_part(digest, part.encode())
    for file in map(Path, files):
        _add_part(digest, file.read_bytes() if file.is_file() else b"")
    _add_part(digest, _digest_of_translator())
    return digest.hexdigest()


def files_of(program: ModuleProgram) -> list[str]:
    """Return the paths of all modules of a program, and of its `.cfg` file."""
    model = program.model
    return [model.path, *model.files, *([model.configuration] if model.configuration is not None else [])]


def _add_part(digest: Any, part: bytes) -> None:
    """Add a part behind its length, so that no text of one part is read as the beginning of another."""
    digest.update(len(part).to_bytes(8, "little") + part)


@cache
def _digest_of_translator() -> bytes:
    """Return the digest of the code that makes translations; a version of kmc has many states while it is written."""
    digest = sha256(__version__.encode())
    for file in sorted(Path(tla.__file__).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.digest()


def _is_own(path: Path) -> bool:
    """Return whether only this user can have written a file: what it says is checked instead of the module."""
    entry = path.lstat()
    return entry.st_uid == os.geteuid() and not entry.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all, even if other processes write the same one."""
    descriptor, name = tempfile.mkstemp(dir=path.parent)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:  # Ctrl-C too leaves no unfinished file
        with suppress(OSError):
            os.unlink(name)
        raise


def _record(translated: TranslatedModel, digest: str, widening: int) -> dict[str, Any]:
    """Return what is kept of a translation beside its files."""
    decoder = translated.decoder
    places = translated.text.places
    files = sorted({place.path for place in places if place is not None})
    return {
        "format": _FORMAT,
        "digest": digest,
        "widening": widening,
        "names": translated.names,
        "atoms": {name: [_atom_record(atom) for atom in atoms] for name, atoms in decoder.atoms.items()},
        "records": {name: [list(key.fields), key.is_tuple] for name, key in decoder.records.items()},
        "fields": list(decoder.fields),
        "files": files,
        "places": [None if place is None else _place_record(place, files) for place in places],
    }


def _place_record(place: Span, files: list[str]) -> list[int | None]:
    return [files.index(place.path), place.line, place.column, place.end_line, place.end_column]


def _atom_record(atom: Atom) -> list[str]:
    return ["value", atom.name] if isinstance(atom, TlaModelValue) else ["string", atom]


def _atom(record: Sequence[str]) -> Atom:
    kind, text = record
    return TlaModelValue(text) if kind == "value" else text


def _read(root: Path, record: Mapping[str, Any]) -> NativeTranslation:
    atoms = {name: tuple(map(_atom, members)) for name, members in record["atoms"].items()}
    records = {name: RecordKey(tuple(fields), is_tuple) for name, (fields, is_tuple) in record["records"].items()}
    files = record["files"]
    places = [None if one is None else Span(files[one[0]], *one[1:]) for one in record["places"]]
    decoder = Decoder(atoms, records, tuple(record["fields"]))
    return NativeTranslation(root, decoder, record["names"], places, record, record["widening"])
