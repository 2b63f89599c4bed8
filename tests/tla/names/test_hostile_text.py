r"""Damaged TLA+ modules and `.cfg` files: each is a model, or one error of kmc, never anything else."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.modules.loading import load_text

from kmc.errors import KmcError, SpecError
from kmc.tla.names.loading import load_model

DATA = Path(__file__).parents[2] / "data" / "tla"
MODULE = (DATA / "Constructs.tla").read_text(encoding="utf-8")
FILE = (DATA / "Constructs.cfg").read_text(encoding="utf-8")
JUNK = ("(", ")", "[", "]", "{", "<<", ">>", '"', "(*", "*)", "\\*", "==", "====", "----", "\\", "!", "'", "@", "\n")
WORDS = (
    "IN",
    "LET",
    "LOCAL",
    "INSTANCE",
    "EXTENDS",
    "RECURSIVE",
    "CHOOSE",
    "Node",
    "Next",
    "\x00",
    "é",
    "∀",
    "9" * 5000,
)


def damaged(text: str, draw: random.Random) -> str:
    """The text with one to three damages: a piece removed, doubled, moved, replaced or put in."""
    for _ in range(draw.randint(1, 3)):
        start = draw.randrange(len(text))
        end = min(len(text), start + draw.choice((1, 3, 10, 80)))
        piece = text[start:end]
        other = draw.randrange(len(text))
        new = draw.choice(("", piece * 2, text[other : other + 10], draw.choice(JUNK), draw.choice(WORDS)))
        text = text[:start] + new + text[end if draw.random() < 0.7 else start :]
    return text


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_module_or_file_is_a_model_or_one_error(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    for _ in range(15):
        is_module = draw.random() < 0.75
        (tmp_path / "Constructs.tla").write_text(damaged(MODULE, draw) if is_module else MODULE, encoding="utf-8")
        (tmp_path / "Constructs.cfg").write_text(FILE if is_module else damaged(FILE, draw), encoding="utf-8")
        assert is_clear(error_of(tmp_path / "Constructs.tla"))


def error_of(path: Path) -> KmcError | None:
    """The error of kmc that loading a module raises, None if it loads."""
    try:
        load_model(path, None)
    except KmcError as error:
        return error
    return None


def is_clear(error: KmcError | None) -> bool:
    """Whether an error says what is wrong, where in a file, and what to do; what is expected is said by its text."""
    if error is None:
        return True
    has_place = error.span is None or error.span.line >= 1
    return bool(error.message) and has_place and bool(error.help or error.code == "KMC001")


def test_definitions_that_need_each_other_too_deeply_are_one_error(tmp_path: Path) -> None:
    chain = "\n".join(["EXTENDS Naturals", "VARIABLE y", "d0 == y", *(f"d{n} == d{n - 1} + 1" for n in range(1, 3000))])
    body = "VARIABLE x\nI == INSTANCE Chain WITH y <- x\nUse == I!d2999"
    with pytest.raises(SpecError, match="KMC003"):
        load_text(tmp_path, body, "", {"Chain": chain})
