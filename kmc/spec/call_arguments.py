"""The arguments of calls in a spec: records made with their fields, helpers called with their parameters."""

from __future__ import annotations

import ast

from kmc.errors import did_you_mean
from kmc.spec.declared_fields import Fields
from kmc.spec.flow import parameters
from kmc.spec.names import Meaning, Names


def check_call(names: Names, fields: Fields, module: str, node: ast.Call, callee: Meaning | None) -> None:
    """Refuse (KMC127, KMC128) a call whose arguments do not fit the record or helper that its name stands for."""
    if callee is not None and isinstance(callee.node, ast.FunctionDef):
        _check_arguments(names, module, node, callee.node)
    elif callee is not None and isinstance(callee.node, ast.ClassDef):
        _check_fields(names, fields, module, node, callee)
    elif isinstance(node.func, ast.Attribute) and node.func.attr == "set":
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in fields.all:
                message = f"no record of this spec has a field '{keyword.arg}'"
                names.refuse(module, keyword, "KMC127", message, did_you_mean(keyword.arg, fields.all))


def _check_fields(names: Names, fields: Fields, module: str, node: ast.Call, callee: Meaning) -> None:
    known = fields.of(callee)
    if known is None:
        advice = "write " + " or ".join(f"{callee.name}.{member}" for member in sorted(fields.members(callee)))
        names.refuse(module, node, "KMC127", f"{callee.name} is an enumeration; its members are not made", advice)
    usage = f"write {callee.name}({', '.join(f'{name}=...' for name in known)})"
    if node.args:
        names.refuse(module, node.args[0], "KMC127", f"{callee.name} takes its fields by name", usage)
    if fields.is_abstract(callee):
        names.refuse(
            module, node, "KMC127", f"{callee.name} is abstract", "make one of the records that derive from it"
        )
    given = {keyword.arg for keyword in node.keywords}
    for keyword in node.keywords:
        if keyword.arg not in known:
            message = f"{callee.name} has no field '{keyword.arg}'"
            names.refuse(module, keyword, "KMC127", message, did_you_mean(str(keyword.arg), known))
    missing = [name for name in known if name not in given]
    if missing:
        names.refuse(module, node, "KMC127", f"{callee.name} needs a value for {_listed(missing)}", usage)


def _check_arguments(names: Names, module: str, node: ast.Call, helper: ast.FunctionDef) -> None:
    arguments = helper.args
    positional = [argument.arg for argument in arguments.args]
    declared = list(parameters(arguments))
    usage = f"it is declared {helper.name}({', '.join(declared)})"
    if len(node.args) > len(positional):
        message = f"{helper.name} takes fewer arguments than the {len(node.args)} that are given"
        names.refuse(module, node.args[len(positional)], "KMC128", message, usage)
    given = set(positional[: len(node.args)])
    for keyword in node.keywords:
        if keyword.arg not in declared or keyword.arg in given:
            twice = f"{helper.name} is given '{keyword.arg}' twice"
            message = twice if keyword.arg in given else f"{helper.name} has no parameter '{keyword.arg}'"
            names.refuse(module, keyword, "KMC128", message, usage)
        given.add(str(keyword.arg))
    optional = positional[len(positional) - len(arguments.defaults) :]
    optional += [a.arg for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default]
    missing = [name for name in declared if name not in given and name not in optional]
    if missing:
        names.refuse(module, node, "KMC128", f"{helper.name} needs a value for {_listed(missing)}", usage)


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(f"'{name}'" for name in names[:-1])] * (len(names) > 1) + [f"'{names[-1]}'"])
