"""Comments and states of a module in one line."""

from __future__ import annotations

from kmc.tla.run.program import ModuleProgram, State
from kmc.tla.values.texts import text_of


def first_sentence(comment: str) -> str:
    """Return the first paragraph of a comment, in one line."""
    return " ".join(comment.strip().split("\n\n")[0].split())


def state_line(program: ModuleProgram, state: State) -> str:
    """Return the values of the variables of a state, in one line."""
    named = zip(program.model.variables, state, strict=True)
    return " /\\ ".join(f"{name} = {text_of(value)}" for name, value in named)
