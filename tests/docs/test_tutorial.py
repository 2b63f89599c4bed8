"""The tutorial is true: its spec, its model file and its commands, taken from the page, give the output that it shows.

Python blocks go into the spec in the order of the page: the first is the file, a later one changes definitions in it,
and one that begins with `# a mistake` counts for the next command only. Set KMC_UPDATE_GOLDEN=1 to write what the
commands print now into the page.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
from pathlib import Path

import pytest
from support.cli_runner import kmc, steady

PAGE = Path(__file__).parents[2] / "docs" / "writing_a_spec.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPEC = Path("election") / "spec.py"
MODELS = Path("election") / "models.toml"


def changed(source: str, change: str) -> str:
    """The source with every definition of `change` put in the place of the one of that name, or after the first."""
    for node in ast.parse(change).body:
        new = "\n".join(change.splitlines()[_first_line(node) - 1 : node.end_lineno])
        lines = source.splitlines()
        old = [other for other in ast.parse(source).body if _name(other) == _name(node)]
        if old:
            lines[_first_line(old[0]) - 1 : old[0].end_lineno] = new.splitlines()
        else:
            constants = [other for other in ast.parse(source).body if isinstance(other, ast.Assign)]
            lines[constants[-1].end_lineno : constants[-1].end_lineno] = new.splitlines()
        source = "\n".join(lines) + "\n"
    return source


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return decorators[0].lineno if decorators else node.lineno


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.ImportFrom):
        return f"import {node.module}"
    return ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else ""


def shown(command: str) -> str:
    """What a console block shows of a command: the command and its output."""
    words = shlex.split(command.removeprefix("$ kmc "))
    return f"{command}\n{kmc(*words).output.rstrip()}\n"


def rewritten(page: str) -> str:
    """The page with the output that its commands have now."""
    SPEC.parent.mkdir(exist_ok=True)
    spec = ""
    result = page
    for language, text in FENCE.findall(page):
        if language == "python" and text.startswith("# a mistake"):
            SPEC.write_text(changed(spec, text), encoding="utf-8")
        elif language == "python":
            spec = changed(spec, text) if spec else text
            SPEC.write_text(spec, encoding="utf-8")
        elif language == "toml":
            MODELS.write_text(text, encoding="utf-8")
        elif language == "console":
            command = text.partition("\n")[0]
            result = result.replace(text, shown(command))
            SPEC.write_text(spec, encoding="utf-8")
    return result


def test_the_commands_of_the_tutorial_print_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    found = rewritten(page)
    if os.environ.get("KMC_UPDATE_GOLDEN"):
        PAGE.write_text(found, encoding="utf-8")
    assert steady(found) == steady(page)


def test_the_tutorial_shows_a_violation_a_mistake_and_a_proof() -> None:
    page = PAGE.read_text(encoding="utf-8")
    console = "\n".join(text for language, text in FENCE.findall(page) if language == "console")
    assert ["is violated" in console, "error[KMC" in console, "Proved:" in console] == [True, True, True]
