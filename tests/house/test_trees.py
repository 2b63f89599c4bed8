"""The files of a loaded spec become trees in one module, so all readers of a function read the same tree."""

from __future__ import annotations

import ast

from support.source_tree import Source, nodes_of, sources

# Every module that parses Python, with what it parses. The files of a loaded spec are parsed in kmc.lang.tree only.
PARSERS = {
    "kmc.lang.tree": "the files of a loaded spec, and expressions of kmc's own",
    "kmc.lang.errors.blame": "the expression at a place, from which an error names its subject",
    "kmc.tla.translate.formatting": "a statement of generated code, to break it into lines",
    "kmc.tla.translate.shared_calls": "the body of a generated helper, to find calls that it makes several times",
    "kmc.engine.native.syntax": "the files of the engine's loops, to translate them",
    "kmc.frontend.sources": "the files of a spec that is not loaded yet, with an error for each mistake",
    "kmc.frontend.loader": "a file once more, to rewrite it",
    "kmc.frontend.typed_expression": "an expression that a person types",
    "kmc.story.explain.scopes": "an expression as a person reads it",
}


def parsing(source: Source) -> list[str]:
    """The calls of `ast.parse` in a source."""
    return [
        source.at(node.lineno, "ast.parse")
        for node in nodes_of(source)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "ast.parse"
    ]


def test_only_the_named_modules_parse_python() -> None:
    assert {source.module for source in sources("kmc", "distributed") if parsing(source)} == set(PARSERS)


def test_a_call_of_the_parser_is_seen() -> None:
    assert parsing(Source("kmc/x.py", "import ast\n\ndef f():\n    return ast.parse('1')\n")) != []
