"""What compiling one kind of node needs of the compiler of all kinds."""

from __future__ import annotations

from typing import Protocol

from kmc.tla.resolved.nodes import Argument, NameBinding
from kmc.tla.run.analysis import Analysis
from kmc.tla.run.frames import Act, Code, Listing, Test
from kmc.tla.run.scopes import FunctionAct, RunScope, Units


class NodeCompiler(Protocol):
    """The compiler, as the modules for kinds of nodes see it. `variables` are the names of the model's,
    and `function_acts` the recursive functions that are being compiled as formulas."""

    variables: tuple[str, ...]
    analysis: Analysis
    units: Units
    warnings: list[str]
    function_acts: dict[NameBinding, FunctionAct]

    def level(self, node: Argument, scope: RunScope) -> int:
        """Return the level of an expression at its place."""
        ...

    def is_constant(self, node: Argument, scope: RunScope) -> bool:
        """Return whether an expression has one value at its place, which depends on nothing that a frame has."""
        ...

    def value(self, node: Argument, scope: RunScope) -> Code:
        """Compile an expression to a closure that returns its value, symbolic or not."""
        ...

    def stored(self, node: Argument, scope: RunScope) -> Code:
        """Compile an expression to a closure that returns its value as it is stored."""
        ...

    def test(self, node: Argument, scope: RunScope, operator: str = "a formula") -> Test:
        """Compile a formula to a closure that returns a bool of Python."""
        ...

    def listing(self, node: Argument, scope: RunScope) -> Listing:
        """Compile a set to a closure that returns its elements in order."""
        ...

    def act(self, node: Argument, scope: RunScope) -> Act:
        """Compile a formula to what enumerates the ways in which it can be true."""
        ...
