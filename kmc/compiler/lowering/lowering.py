"""The top of this package: a `Lowering` that holds every operation which its modules call back.

Each module of this package imports only those below it; functions of modules above it are called through `Operations`.
"""

from __future__ import annotations

from kmc.compiler.lowering.branch_merge import merge
from kmc.compiler.lowering.context import Lowering, Operations
from kmc.compiler.lowering.expressions import evaluate
from kmc.compiler.lowering.iteration import each
from kmc.compiler.lowering.map_operations import entry, words_as
from kmc.compiler.lowering.membership import member, same
from kmc.compiler.lowering.statements import statements
from kmc.compiler.values.code import Code
from kmc.runtime.state_layout import RowLayout

_OPERATIONS = Operations(
    evaluate=evaluate,
    run=statements,
    each=each,
    member=member,
    same=same,
    entry=entry,
    words_as=words_as,
    merge=merge,
)


def new_lowering(code: Code, row: RowLayout) -> Lowering:
    """The lowering that writes one kernel of states with this layout."""
    return Lowering(code, _OPERATIONS, row=row)
