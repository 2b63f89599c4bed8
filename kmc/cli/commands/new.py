"""`kmc new`: a folder with a spec, its models and its tests, to be changed into one's own."""

from __future__ import annotations

import keyword
import sys
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

import click

from kmc.cli.options.shared_options import debug_option
from kmc.cli.text.console import show
from kmc.errors import CommandLineError, ExitStatus

_EPILOG = """\b
Examples:
  kmc new my_spec                       processes that count, in ./my_spec
  kmc new my_spec --template messages   servers that elect a leader by messages
  kmc new specs/my_spec                 beside other specs
"""
# The subject of each template, and the name of its model that fails on purpose.
_FINDINGS = {"counter": "lost_update", "messages": "two_leaders"}
_EVERY = "every"
# Templates are not Python files of kmc, so they have another suffix.
_SUFFIX = ".txt"


@click.command("new", epilog=_EPILOG, short_help="Write the folder of a new spec, with models and tests.")
@click.argument("name")
@click.option(
    "--template",
    type=click.Choice(list(_FINDINGS)),
    default="counter",
    show_default=True,
    help="The subject of the spec: processes and a counter, or servers and messages.",
)
@debug_option
def new_spec(name: str, template: str) -> int:
    """Write a new spec into the folder NAME: a spec that checks, its models, one that fails on purpose, and tests.

    Nothing is overwritten. The last part of NAME names the spec: letters, digits and _.
    """
    folder = Path(name)
    _require_name(folder.name)
    if folder.exists() or folder.is_symlink():
        raise CommandLineError("KMC646", f"{folder} exists already", help="choose another name, or remove it first")
    written = _write(folder, template)
    show(_written_lines(folder, written, template))
    return ExitStatus.OK


def _require_name(name: str) -> None:
    """CommandLineError unless Python can call a module so: mypy and pytest read a spec as one."""
    if keyword.iskeyword(name):
        why = "it is a word of Python"
    elif not (name.isascii() and name.isidentifier()):
        why = "a name is a letter, then letters, digits and _"
    elif name in sys.stdlib_module_names:
        why = "Python has a module of this name"
    else:
        return
    raise CommandLineError("KMC645", f"a spec cannot be called '{name}': {why}", help="write a name such as my_spec")


def _write(folder: Path, template: str) -> list[Path]:
    folder.mkdir(parents=True)
    words = {"name": folder.name, "finding": _FINDINGS[template]}
    written = []
    for source in (*_files(template), *_files(_EVERY)):
        file = source.name.removesuffix(_SUFFIX)
        path = folder / (f"test_{folder.name}.py" if file == "test.py" else file)
        path.write_text(Template(source.read_text(encoding="utf-8")).substitute(words), encoding="utf-8")
        written.append(path)
    return sorted(written)


def _files(template: str) -> list[Traversable]:
    return list((files("kmc.cli.commands") / "templates" / template).iterdir())


def _written_lines(folder: Path, written: list[Path], template: str) -> list[str]:
    """The lines on which files were written, and which commands to type next."""
    spec = folder if folder.is_absolute() else f"./{folder}"
    return [
        *(f"Wrote {path}" for path in written),
        "",
        f"Check it:  kmc check {spec}",
        f"A mistake: kmc check {spec} {_FINDINGS[template]}",
        f"Test it:   pytest {folder}",
        f"Types:     mypy --config-file {folder / 'pyproject.toml'} {folder}",
        f"More:      {folder / 'README.md'}",
    ]
