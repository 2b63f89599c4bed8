"""A page that builds a spec step by step: the files that a reader has when the page shows a command.

Python blocks go into the spec in the order of the page: one that begins with a docstring is the file, another one
changes definitions in it, and one that begins with `# a mistake` or `# an example` counts for the next command only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def rewritten(page: str, folder: Path, shown: Callable[[str], str]) -> str:
    """The page with `shown(command)` in the place of each console block; `folder` holds the files of the reader."""
    folder.mkdir(exist_ok=True)
    file = folder / "spec.py"
    spec = ""
    result = page
    for language, text in FENCE.findall(page):
        if language == "python" and text.startswith(("# a mistake", "# an example")):
            file.write_text(changed(spec, text), encoding="utf-8")
        elif language == "python":
            spec = text if text.startswith('"""') else changed(spec, text)
            file.write_text(spec, encoding="utf-8")
        elif language == "toml":
            (folder / "models.toml").write_text(text, encoding="utf-8")
        elif language == "console":
            result = result.replace(text, shown(text.partition("\n")[0]))
            file.write_text(spec, encoding="utf-8")
    return result


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
