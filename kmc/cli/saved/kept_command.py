"""The command line that a saved run keeps, read back: a run may be copied, moved or forged."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import Any

from kmc.errors import CommandLineError
from kmc.frontend.shipped import is_there, shipped_specs
from kmc.shards.level.sharding import SHARDS_MAX

_TEXT, _SWITCH, _NUMBER = (str,), (bool,), (int, NoneType)
_NEEDED: Mapping[str, tuple[type, ...]] = {
    "spec": _TEXT,
    "model": (str, NoneType),
    "sets": (list,),
    "deadlock": (bool, NoneType),
    "keep_going": _SWITCH,
    "start": (str, NoneType),
}
# Older runs lack some of these.
_OPTIONAL: Mapping[str, tuple[type, ...]] = {
    "spec_path": (str, NoneType),
    "abstractions": (list,),
    "no_abstractions": _SWITCH,
    "verify_abstractions": _SWITCH,
    "fingerprint_bits": _TEXT,
    "shards": _NUMBER,
    "keep_states": _SWITCH,
    "storage": (str, NoneType),
    "limits": (dict,),
}


def check_about(about: Any, place: Path | str) -> Mapping[str, Any]:
    """Return the command line saved in a run; SystemFault KMC551 if it does not have the form of one."""
    # Imported here, because numpy takes a tenth of a second.
    from kmc.engine.files.run_manifest import damaged

    if not (
        isinstance(about, Mapping)
        and _NEEDED.keys() <= about.keys()
        and all(type(about[name]) in kinds for name, kinds in {**_NEEDED, **_OPTIONAL}.items() if name in about)
        and all(type(text) is str for text in (*about["sets"], *about.get("abstractions", ())))
        and about.get("fingerprint_bits", "64") in ("64", "128", "auto")
        and (about.get("shards") is None or 1 <= about["shards"] <= SHARDS_MAX)
        and are_limits(about.get("limits", {}))
    ):
        raise damaged(place, "it does not say what was checked")
    return about


def spec_path(spec: str) -> str | None:
    """Return the absolute path of a spec that is typed as a path; None for a shipped spec, which has its name."""
    return None if spec in shipped_specs() or "://" in spec else os.path.abspath(spec)


def locate_spec(about: Mapping[str, Any], run: Path | str) -> str:
    """Find the spec of a run: at its absolute path, else at the path that was typed, or by its shipped name.

    A typed path leads from where the run's own folder lies in `.kmc/runs`, and from the working directory: a run may be
    copied to another machine with its spec. CommandLineError KMC609 where there is none.
    """
    absolute, typed = about.get("spec_path"), about["spec"]
    if absolute is None and typed in shipped_specs():
        return str(typed)
    folder = Path(os.path.abspath(run))
    homes = [folder.parents[2]] if folder.parts[-3:-1] == (".kmc", "runs") else []
    paths = [Path(path) for path in (absolute, *(home / typed for home in homes), typed) if path is not None]
    for candidate in paths:
        if is_there(candidate.exists):
            return str(candidate)
    raise CommandLineError(
        "KMC609",
        f"the spec of the run {run} is not at {paths[0]}",
        help=f"put it back, or say where it is: kmc check SPEC [MODEL] --resume {run}; kmc states {run} --spec SPEC",
    )


def are_limits(limits: Any) -> bool:
    """Return whether these are limits that a run may keep."""
    return isinstance(limits, Mapping) and all(
        value is None or (type(value) is int and 0 < value < 1 << 63) for value in limits.values()
    )
