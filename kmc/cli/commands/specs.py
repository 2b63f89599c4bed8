"""`kmc specs`: the list of specs, and the declarations of one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from kmc.checking.model_text import first_line
from kmc.cli.modules.module_argument import is_module
from kmc.cli.options.completion import SPEC_TYPE
from kmc.cli.options.shared_options import debug_option, set_option
from kmc.cli.text.console import show
from kmc.errors import ExitStatus, KmcError
from kmc.frontend.shipped import shipped_specs
from kmc.frontend.sources import read_doc

_EPILOG = """\b
Examples:
  kmc specs                  the shipped specs, such as Kafka's KRaft
  kmc specs kraft            actions, invariants, constants and models of one
  kmc specs ./my_spec        the same for your own
  kmc specs Lease.tla        a TLA+ module, with Lease.cfg beside it
  kmc specs X.tla Other.cfg  a TLA+ module, with another model
"""


@click.command(epilog=_EPILOG, short_help="List the shipped specs, or the declarations of one.")
@click.argument("spec", type=SPEC_TYPE, required=False)
@click.argument("model", required=False)
@set_option
@debug_option
def specs(spec: str | None, model: str | None, sets: tuple[str, ...]) -> int:
    """List the shipped specs, or the declarations of SPEC: actions, properties, constants and models.

    SPEC is the name of a shipped spec, the folder of your own, or a TLA+ module. MODEL is the .cfg file of a module.
    """
    if spec is None:
        show(_list_lines())
        return ExitStatus.OK
    if is_module(spec):
        # Imported here, because a list of specs does not need the layer of TLA+.
        from kmc.cli.modules.declarations import module_lines

        show(module_lines(spec, model, sets))
        return ExitStatus.OK
    if model is not None:
        raise click.UsageError(f"all models of {spec} are listed: leave {model} out")
    # Imported here: these load the compiler, and the list needs none of it.
    from kmc.cli.text.spec_text import loaded, spec_lines

    show(spec_lines(*loaded(spec, sets), spec))
    return ExitStatus.OK


def _list_lines() -> Iterator[str]:
    roots = shipped_specs()
    if not roots:
        yield "This installation has no shipped specs; give the folder of your own: kmc specs ./my_spec"
        return
    width = max(map(len, roots))
    for name, root in roots.items():
        yield f"{name:<{width}}  {_in_one_line(root)}"
    yield ""
    yield f"More about one: kmc specs {next(iter(roots))}"


def _in_one_line(root: Path) -> str:
    try:
        return first_line(read_doc(root))
    except KmcError as error:
        # One broken spec must not hide the others from the list.
        return f"does not load: {error.message}"
