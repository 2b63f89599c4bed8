"""The lookup of specs and models: shipped specs by name, a user's own by path.

Shipped specs lie in the folder `specs/`, which an installed kmc holds as the package `kmc_specs`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from kmc.errors import CommandLineError, ModelError, did_you_mean
from kmc.model_files.cfg import read_cfg
from kmc.model_files.manifest import Manifest, read_manifest
from kmc.model_files.model_file import ModelFile
from kmc.near_words import nearest

MANIFEST_NAME = "models.toml"
_OF_MODULES = tuple(
    f"kmc {name}"
    for name in (
        "check",
        "simulate",
        "explore",
        "eval",
        "trace",
        "replay",
        "specs",
        "plan",
        "graph",
        "conform",
        "bench",
    )
)
FOLDERS_MAX = 20_000
"""A folder with more folders in it is a disk, and not a place of specs: it is not searched to its end."""


def shipped_folder() -> Path | None:
    """The folder that holds the shipped specs, if this installation has it."""
    beside = Path(__file__).resolve().parents[2] / "specs"
    if beside.is_dir():
        return beside
    module = find_spec("kmc_specs")
    if module is not None and module.submodule_search_locations:
        return Path(next(iter(module.submodule_search_locations)))
    return None


def shipped_specs() -> dict[str, Path]:
    """The shipped specs by name, sorted."""
    folder = shipped_folder()
    if folder is None:
        return {}
    return {path.name: path for path in sorted(folder.iterdir()) if (path / MANIFEST_NAME).is_file()}


def find_spec_root(name_or_path: str) -> Path:
    """The folder or file of a spec; CommandLineError when it does not exist."""
    known = shipped_specs()
    if name_or_path in known:
        return known[name_or_path]
    path = Path(name_or_path)
    if is_there(path.is_dir) or (is_there(path.is_file) and path.suffix == ".py"):
        return path
    if path.suffix == ".tla":
        raise CommandLineError(
            "KMC698",
            f"'{name_or_path}' is a TLA+ module, and this needs a spec in Python",
            help=f"{', '.join(_OF_MODULES[:-1])} and {_OF_MODULES[-1]} read TLA+ modules",
        )
    module = path.with_suffix(".tla") if path.name else path
    if is_there(module.is_file):
        help = f"give the TLA+ module: kmc check {module}{f' {path}' if path.suffix == '.cfg' else ''}"
    else:
        help = f"{did_you_mean(name_or_path, known)} (or give the path of a spec folder)"
    raise CommandLineError("KMC605", f"there is no spec '{name_or_path}'", help=help)


def is_there(test: Callable[[], bool]) -> bool:
    """The answer of `Path.is_file` and the like; False for a text that cannot be a path, as a name that is too long."""
    try:
        return test()
    except OSError:
        return False


def manifest_of(root: Path) -> Manifest | None:
    """The spec's manifest, if it has one."""
    path = (root if root.is_dir() else root.parent) / MANIFEST_NAME
    return read_manifest(path) if path.is_file() else None


def find_model(root: Path, model: str | None) -> ModelFile | None:
    """The model called `model` of the spec at `root`, or in the `.cfg` file at that path.

    Without a name: the manifest's `smoke`, else its only model; None for a spec without a manifest, which is then
    checked with all its invariants and the constants of the command line.
    """
    manifest = manifest_of(root)
    models = manifest.entries if manifest else {}
    if model is None:
        if "smoke" in models or len(models) == 1:
            return models.get("smoke") or next(iter(models.values()))
        if not models:
            return None
        assert manifest is not None, "it has models"
        raise ModelError("KMC350", f"{root} has several models", help=f"name one of its {manifest.names}")
    if model in models:
        return models[model]
    folder = root if root.is_dir() else root.parent
    for path in (Path(model), folder / model, folder / f"{model}.cfg"):
        if is_there(path.is_file):
            return read_cfg(path)
    if model.endswith(".cfg") or "/" in model:
        raise ModelError("KMC348", f"there is no model file {model}", help="give a .cfg file, or the name of a model")
    raise ModelError("KMC349", f"the spec has no model '{model}'", help=near_miss(model, manifest))


def near_miss(model: str, manifest: Manifest | None) -> str:
    """`did you mean 'x'?`, or else the models of the manifest by kind; for the help line of an error."""
    near = nearest(model, manifest.entries if manifest is not None else ())
    if near is not None:
        return f"did you mean '{near}'?"
    return f"known {manifest.names}" if manifest is not None and manifest.entries else "there are none"
