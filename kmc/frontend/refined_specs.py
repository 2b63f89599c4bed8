"""The specs that a spec refines: their names in its source, and the spec to which each shared file belongs.

A refined spec is executed in the package of the spec that refines it, so both have the same identifiers and the same
types of shared files. What its files declare is collected apart: its actions are not actions of the other spec.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from kmc.frontend.modules import SHARED, SpecFile, is_shared

_WORD = "refines"


def refined_names(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The names of the specs that the functions of a file say to refine, with the places of these names."""
    for function in tree.body:
        for decorator in function.decorator_list if isinstance(function, ast.FunctionDef) else ():
            match decorator:
                case ast.Call(func=ast.Attribute(attr=word), args=[ast.Constant(value=str(name)) as node]):
                    if word == _WORD:
                        yield name, node


def owners_of(modules: Mapping[str, SpecFile]) -> dict[str, str]:
    """The spec that each file belongs to: the name of a refined one, or '' for the spec itself.

    A shared file belongs to the spec itself if that imports it by a way that does not lead through a refined spec.
    """
    own = [module for module in modules.values() if not is_shared(module.name)]
    refined = list(dict.fromkeys(name for module in own for name, _ in refined_names(module.tree)))
    owners = {name: owner for owner in refined for name in modules if _is_within(name, owner)}
    for owner in ("", *refined):
        begin = own if not owner else [module for module in modules.values() if owners.get(module.name) == owner]
        _spread(owner, begin, modules, owners)
    return owners


def _is_within(name: str, refined: str) -> bool:
    """Return whether a module is a file of a refined spec."""
    return name == f"{SHARED}{refined}" or name.startswith(f"{SHARED}{refined}.")


def _spread(owner: str, begin: list[SpecFile], modules: Mapping[str, SpecFile], owners: dict[str, str]) -> None:
    """Give `owner` to these files, and to the shared ones that they import and that have none yet."""
    waiting = list(begin)
    while waiting:
        module = waiting.pop()
        owners.setdefault(module.name, owner)
        for node in module.tree.body:
            target = module.imported(node) if isinstance(node, ast.ImportFrom) and node.level else None
            if target is not None and target in modules and target not in owners:
                owners[target] = owner
                waiting.append(modules[target])
