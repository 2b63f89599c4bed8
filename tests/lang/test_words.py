"""The table of words: each row is a word that exists, and each function of the language has a row."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.drawing.values import Server, VoteRequest
from support.pages.words import PAGE, page_with_section

import kmc.lang
import kmc.spec
from kmc.compiler.checks.kinds.kinds_of_words import RULES
from kmc.compiler.lowering.words import LOWERED
from kmc.errors import SpecError
from kmc.frontend.checks.call_arguments import METHODS
from kmc.lang.meanings import FUNCTIONS as MEANINGS
from kmc.lang.types import as_type
from kmc.lang.words import ARITIES, BRACKETS, CALLED, FORMULAS, MANY, PYTHON_FUNCTIONS, WORDS, WordKind, named

STUB = ast.parse(Path(kmc.lang.__file__).with_name("__init__.pyi").read_text(encoding="utf-8"))
FUNCTIONS = {name for name in kmc.lang.__all__ if inspect.isfunction(getattr(kmc.lang, name))} - named(
    WordKind.DECLARATION
)


def test_no_word_of_a_kind_has_two_rows() -> None:
    assert len({(word.kind, word.name) for word in WORDS}) == len(WORDS)


def test_each_row_is_a_word_of_its_kind() -> None:
    assert all(hasattr(builtins, name) for name in PYTHON_FUNCTIONS)
    assert named(WordKind.FUNCTION) == FUNCTIONS
    assert named(WordKind.METHOD) <= {*METHODS, "set"}
    assert named(WordKind.TYPE) <= set(kmc.lang.__all__)


def test_a_function_that_may_be_called_has_an_arity_unless_it_is_a_type() -> None:
    assert {*ARITIES, "bool", "int"} == PYTHON_FUNCTIONS | FUNCTIONS


@pytest.mark.parametrize(
    ("table", "left_out"),
    [(MEANINGS, set()), (RULES, set()), (LOWERED, {"bool", "int"})],
    ids=["meanings", "kinds", "lowerings"],
)
def test_each_function_has_its_entry(table: Mapping[str, Callable[..., Any]], left_out: set[str]) -> None:
    assert set(table) == set(CALLED) - left_out


def test_each_maker_of_formulas_is_a_word_of_specs() -> None:
    assert {name for name in kmc.spec.__all__ if inspect.isfunction(getattr(kmc.spec, name))} == FORMULAS


def stub_arities() -> dict[str, tuple[int, int]]:
    """The arguments by position that the stub of `kmc.lang` declares for each function."""
    found = {}
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef) and node.name in FUNCTIONS:
            most = MANY if node.args.vararg is not None else len(node.args.args)
            found[node.name] = (len(node.args.args) - len(node.args.defaults), most)
    return found


def test_the_stub_declares_the_arguments_of_the_table() -> None:
    assert stub_arities() == {name: (ARITIES[name].least, ARITIES[name].most) for name in FUNCTIONS}


def arguments_of(name: str, more: int = 0) -> Any:
    """The arguments of a type in brackets, in the form in which Python passes them."""
    element = VoteRequest if name.startswith("Message") else Server
    given = (*[element] * BRACKETS[name].types, *[1] * (BRACKETS[name].bounds + more))
    return given if len(given) > 1 else given[0]


@pytest.mark.parametrize("name", sorted(BRACKETS))
def test_a_type_takes_the_arguments_of_its_row_and_no_more(name: str) -> None:
    word = getattr(kmc.lang, name)
    made = word[arguments_of(name)]
    assert as_type(made, name) == made
    with pytest.raises(SpecError):
        word[arguments_of(name, more=1)]


def test_the_page_shows_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page_with_section(page) == page, "run make docs"
