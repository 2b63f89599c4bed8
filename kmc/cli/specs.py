"""`kmc specs`: what specs there are, and what one of them declares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from kmc.cli.console import show
from kmc.cli.model_text import first_line
from kmc.cli.options import debug_option
from kmc.cli.spec_text import spec_lines
from kmc.errors import ExitStatus, KmcError
from kmc.lang.manifest import Manifest
from kmc.lang.modelfile import Assignment
from kmc.spec.loader import Spec, load_spec
from kmc.spec.shipped import find_spec_root, manifest_of, shipped_specs

_EPILOG = """\b
Examples:
  kmc specs                  the shipped specs, such as Kafka's KRaft
  kmc specs kraft            actions, invariants, constants and models of one
  kmc specs ./my_spec        the same of your own
"""


@click.command(epilog=_EPILOG, short_help="List the shipped specs, or say what one declares.")
@click.argument("spec", required=False)
@debug_option
def specs(spec: str | None) -> int:
    """List the shipped specs; or say what SPEC declares: actions, properties, constants, and its models.

    SPEC is the name of a shipped spec or the folder of your own.
    """
    show(_list_lines() if spec is None else _one(spec))
    return ExitStatus.OK


def _list_lines() -> Iterator[str]:
    found = shipped_specs()
    if not found:
        yield "This installation has no shipped specs; give the folder of your own: kmc specs ./my_spec"
        return
    width = max(map(len, found))
    for name in found:
        yield f"{name:<{width}}  {_in_one_line(name)}"
    yield ""
    yield f"More about one: kmc specs {next(iter(found))}"


def _in_one_line(name: str) -> str:
    try:
        return first_line(loaded(name)[0].doc)
    except KmcError as error:
        # One broken spec must not hide the others from the list.
        return f"does not load: {error.message}"


def _one(name: str) -> Iterator[Any]:
    spec, manifest = loaded(name)
    return spec_lines(spec, manifest)


def loaded(name: str) -> tuple[Spec, Manifest | None]:
    """A spec with the constants of its first model, and with stand-ins for those that nobody gives."""
    root = find_spec_root(name)
    return load_spec(root, first_constants(root), allow_missing=True), manifest_of(root)


def first_constants(root: Path) -> tuple[Assignment, ...]:
    """The constants of the first model in the manifest, none without one."""
    manifest = manifest_of(root)
    first = next(iter(manifest.models.values()), None) if manifest else None
    return first.constants if first else ()
