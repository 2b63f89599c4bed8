"""The reference card has every word of the language, and no other; it is what its rows and the table of words say."""

from __future__ import annotations

import ast
from functools import cache

import pytest
from support.pages.card import BY_NAME, PAGE, TOPICS, Topic, forms, page

import kmc.lang
import kmc.spec
from kmc.lang.words import WordKind, named

ROWS = [row for topic in TOPICS for row in topic.rows]
CODE = [python for _, python in map(forms, ROWS)]
DECLARATIONS = {name for name in dir(kmc.spec.spec) if not name.startswith("_")}
METHODS = named(WordKind.METHOD)


FOR_PEOPLE = {
    "largest count": "largest",
    " for ... in ...": " for x in s",
    "=value, ...": "=value",
    " or @": "\n@",
    ", @": "\n@",
}
"""Ellipses and words between two forms, and how Python writes them."""


@cache
def trees() -> tuple[ast.AST, ...]:
    """The trees of all cells in Python; decorators without a function get one."""
    return tuple(map(tree_of, CODE))


def tree_of(code: str) -> ast.AST:
    """The tree of one cell."""
    for shown, python in FOR_PEOPLE.items():
        code = code.replace(shown, python)
    return ast.parse(f"{code}\ndef a(st):\n    yield st" if code.startswith("@") and "def" not in code else code)


def test_the_card_is_what_make_docs_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run make docs"


def test_every_word_has_one_row() -> None:
    assert sorted(row for row in ROWS if isinstance(row, str)) == sorted(BY_NAME)


def test_the_card_calls_no_method_and_no_declaration_that_the_language_lacks() -> None:
    called = {
        node.func.attr
        for tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert called - METHODS - DECLARATIONS == {"count"}


@pytest.mark.parametrize("name", sorted({*kmc.lang.__all__, *kmc.spec.__all__, *DECLARATIONS}))
def test_the_card_has_every_public_name(name: str) -> None:
    used = {
        node.id if isinstance(node, ast.Name) else node.attr
        for tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.Attribute)
    }
    assert name in used


@pytest.mark.parametrize("topic", TOPICS, ids=[topic.title for topic in TOPICS])
def test_a_topic_fits_on_a_screen(topic: Topic) -> None:
    assert sum(len(forms(row)[1].splitlines()) for row in topic.rows) <= 40
