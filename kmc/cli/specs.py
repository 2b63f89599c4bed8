"""`kmc specs`: the list of specs, and the declarations of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from kmc.cli.console import show
from kmc.cli.model_choice import first_constants, override
from kmc.cli.model_text import first_line
from kmc.cli.options import debug_option, set_option
from kmc.cli.spec_text import spec_lines
from kmc.compiler.checks.kinds.spec_kinds import check_kinds
from kmc.errors import ExitStatus, KmcError
from kmc.lang.manifest import Manifest
from kmc.lang.modelfile import ModelFile
from kmc.spec.loader import Spec, load_spec
from kmc.spec.shipped import find_spec_root, manifest_of, shipped_specs

_EPILOG = """\b
Examples:
  kmc specs                  the shipped specs, such as Kafka's KRaft
  kmc specs kraft            actions, invariants, constants and models of one
  kmc specs ./my_spec        the same for your own
"""


@click.command(epilog=_EPILOG, short_help="List the shipped specs, or the declarations of one.")
@click.argument("spec", required=False)
@set_option
@debug_option
def specs(spec: str | None, sets: tuple[str, ...]) -> int:
    """List the shipped specs, or the declarations of SPEC: actions, properties, constants and models.

    SPEC is the name of a shipped spec or the folder of your own.
    """
    show(_list_lines() if spec is None else spec_lines(*loaded(spec, sets), spec))
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


def loaded(name: str, sets: Sequence[str] = ()) -> tuple[Spec, Manifest | None]:
    """A spec with the constants of `sets`, of its first model, and with placeholders for those without a value."""
    root = find_spec_root(name)
    file = override(ModelFile("", "", first_constants(root)), sets)
    spec = load_spec(root, file.constants, allow_missing=True)
    check_kinds(spec)
    return spec, manifest_of(root)
