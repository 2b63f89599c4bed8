"""The house rules that a machine can hold: sizes, docstrings, names, and what must not be written.

Types are mypy's, imports are test_layers.py's. A rule is a function from a source to its breaches; each is shown to
fail on a bad snippet at the end of this file.
"""

from __future__ import annotations

import ast
import io
import re
import statistics
import tokenize
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from support.source_tree import Source, nodes_of, sources, tree_of

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 60
MEDIAN_FUNCTION_LINES_MAX = 12
HALF_OF_FILES_LINES_MAX = 200

EMPTY_NAMES = frozenset({"utils", "util", "helpers", "helper", "misc", "common"})
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b")
SILENCED = re.compile(r"#\s*(?:noqa|type:\s*ignore)(?::\s*[\w, ]+|\[[\w, -]+\])?(?P<reason>.*)")
REASON = re.compile(r"\s*#?\s*\w+\s+\w+")
BROAD = frozenset({"Exception", "BaseException"})

# Public classes and modules of kmc that may share a name, each with the reason why no other name is better.
SAME_NAMES = {
    "Search": "each engine has its search, and is imported from its own package",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Rule = Callable[[Source], list[str]]


def functions_of(source: Source) -> list[Function]:
    """Every function of a source: methods and inner functions too."""
    return [node for node in nodes_of(source) if isinstance(node, Function)]


def length_of(function: Function) -> int:
    """The lines of a function from `def` to its end, docstring included, decorators not."""
    return (function.end_lineno or function.lineno) - function.lineno + 1


@cache
def comments_of(source: Source) -> list[tuple[int, str]]:
    """The comments of a source with their lines."""
    if "#" not in source.text:
        return []
    tokens = tokenize.generate_tokens(io.StringIO(source.text).readline)
    return [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]


def long_files(source: Source) -> list[str]:
    """A file that holds more than one sitting can read."""
    count = len(source.text.splitlines())
    return [source.at(count, f"{count} lines, at most {FILE_LINES_MAX}")] if count > FILE_LINES_MAX else []


def long_functions(source: Source) -> list[str]:
    """Functions that hold more than one idea."""
    return [
        source.at(function.lineno, f"{function.name} has {length_of(function)} lines, at most {FUNCTION_LINES_MAX}")
        for function in functions_of(source)
        if length_of(function) > FUNCTION_LINES_MAX
    ]


def modules_without_docstring(source: Source) -> list[str]:
    """A module that does not say what it is."""
    return [] if ast.get_docstring(tree_of(source)) else [source.at(1, "the module has no docstring")]


def _decorators(node: Function | ast.ClassDef) -> set[str]:
    """The last names of the decorators: `override`, `setter`, `action` of `@spec.action(fair=WEAK)`."""
    called = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
    return {item.attr if isinstance(item, ast.Attribute) else getattr(item, "id", "") for item in called}


def _explained_elsewhere(node: Function | ast.ClassDef) -> bool:
    """Whether the docstring of another definition speaks for this one."""
    return bool(_decorators(node) & {"overload", "override", "setter", "deleter"}) or bool(
        re.match(r"(?:visit|depart)_[A-Z]", node.name)  # the names that ast.NodeVisitor calls
    )


def _public(body: list[ast.stmt]) -> Iterator[Function | ast.ClassDef]:
    """The public classes and functions of a body, and those of its public classes."""
    for node in body:
        if isinstance(node, ast.If | ast.Try):
            yield from _public([*node.body, *node.orelse])
        elif isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from _public(node.body)


def public_names_without_docstring(source: Source) -> list[str]:
    """Public classes, functions and methods that do not say what they mean."""
    return [
        source.at(node.lineno, f"{node.name} has no docstring")
        for node in _public(tree_of(source).body)
        if not _explained_elsewhere(node) and not ast.get_docstring(node)
    ]


def declarations_without_docstring(source: Source) -> list[str]:
    """Actions, invariants and the like of a spec (its decorated functions) that do not name what they mirror."""
    return [
        source.at(function.lineno, f"{function.name} has no docstring")
        for function in functions_of(source)
        if function.decorator_list and not ast.get_docstring(function)
    ]


def _does_nothing(body: list[ast.stmt]) -> bool:
    """Whether a body is `pass`, `...`, `continue` or a bare string."""
    return all(
        isinstance(item, ast.Pass | ast.Continue)
        or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
        for item in body
    )


def _names_broad(node: ast.expr | None) -> bool:
    """Whether an expression names Exception or BaseException."""
    return node is not None and any(isinstance(part, ast.Name) and part.id in BROAD for part in ast.walk(node))


def swallowed_errors(source: Source) -> list[str]:
    """Bare `except:`, and broad ones (`suppress(Exception)` too) that throw the error away."""
    found = []
    for node in nodes_of(source):
        match node:
            case ast.ExceptHandler(type=None):
                found.append(source.at(node.lineno, "a bare except catches every error"))
            case ast.ExceptHandler(type=caught, body=body) if _names_broad(caught) and _does_nothing(body):
                found.append(source.at(node.lineno, "a broad except throws the error away"))
            case ast.Call(func=ast.Name(id="suppress") | ast.Attribute(attr="suppress"), args=args):
                if any(_names_broad(item) for item in args):
                    found.append(source.at(node.lineno, "a broad suppress throws the error away"))
    return found


def empty_names(source: Source) -> list[str]:
    """Modules and packages whose name says nothing of what they hold."""
    return [source.at(1, f"'{name}' says nothing") for name in source.module.split(".") if name in EMPTY_NAMES]


def names_given_twice(found: tuple[Source, ...]) -> dict[str, list[str]]:
    """The public classes of these sources that share a name, with their places; modules have their rooms."""
    places: dict[str, list[str]] = {}
    for source in found:
        for node in nodes_of(source):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(f"{source.path}:{node.lineno}")
    return {name: where for name, where in places.items() if len(where) > 1}


def unfinished_work(source: Source) -> list[str]:
    """Notes to oneself in comments and docstrings; what is left to do belongs to the issues."""
    bare = [
        (node.lineno, node.value.value)
        for node in nodes_of(source)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    # Comments stand in the text as they are, and finding them takes long.
    texts = [*(comments_of(source) if UNFINISHED.search(source.text) else ()), *bare]
    return [source.at(line, "unfinished work is noted here") for line, text in texts if UNFINISHED.search(text)]


def silence_without_reason(source: Source) -> list[str]:
    """A linter or type checker is silenced, and no words on the same line say why."""
    return [
        source.at(line, f"give the reason: {comment}")
        for line, comment in (comments_of(source) if SILENCED.search(source.text) else ())
        if (silenced := SILENCED.search(comment)) and not REASON.match(silenced["reason"])
    ]


def code_from_text_without_reason(source: Source) -> list[str]:
    """Calls of exec and eval with no comment on the same line or the line above."""
    called = [
        (node.lineno, node.func.id)
        for node in nodes_of(source)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("exec", "eval")
    ]
    explained = {line for line, _ in comments_of(source)} if called else set()
    return [
        source.at(line, f"{name} needs a comment with the reason")
        for line, name in called
        if not explained & {line, line - 1}
    ]


def median_function_lines(found: tuple[Source, ...]) -> float:
    """The length of the median function of these sources."""
    return statistics.median(length_of(function) for source in found for function in functions_of(source))


def median_file_lines(found: tuple[Source, ...]) -> float:
    """The length of the median file of these sources."""
    return statistics.median(len(source.text.splitlines()) for source in found)


# tests/data holds specs with mistakes in them, made to be reported.
GENERIC = tuple(sources("kmc", "distributed"))
SPECS = tuple(sources("specs"))
TESTS = tuple(source for source in sources("tests") if not source.path.startswith("tests/data/"))
EVERYWHERE = (*GENERIC, *SPECS, *TESTS)


def breaches(rule: Rule, found: tuple[Source, ...]) -> list[str]:
    """What `rule` finds in these sources."""
    return [breach for source in found for breach in rule(source)]


def test_files_fit_their_limit() -> None:
    assert breaches(long_files, EVERYWHERE) == []


def test_half_of_the_files_are_short() -> None:
    assert median_file_lines(GENERIC) <= HALF_OF_FILES_LINES_MAX


@pytest.mark.slow
def test_functions_fit_their_limit() -> None:
    assert breaches(long_functions, EVERYWHERE) == []


def test_the_median_function_is_short() -> None:
    assert median_function_lines(GENERIC) <= MEDIAN_FUNCTION_LINES_MAX


def test_every_module_says_what_it_is() -> None:
    assert breaches(modules_without_docstring, EVERYWHERE) == []


def test_every_public_name_says_what_it_means() -> None:
    assert breaches(public_names_without_docstring, GENERIC) == []


def test_every_declaration_of_a_spec_says_what_it_means() -> None:
    assert breaches(declarations_without_docstring, SPECS) == []


@pytest.mark.slow
def test_no_error_is_swallowed() -> None:
    assert breaches(swallowed_errors, EVERYWHERE) == []


def test_no_module_has_an_empty_name() -> None:
    assert breaches(empty_names, EVERYWHERE) == []


def test_no_class_has_the_name_of_another_without_a_reason() -> None:
    found = names_given_twice(tuple(sources("kmc")))
    assert {name: found[name] for name in found if name not in SAME_NAMES} == {}
    assert [name for name in SAME_NAMES if name not in found] == []


@pytest.mark.slow
def test_no_unfinished_work_is_noted_in_the_sources() -> None:
    assert breaches(unfinished_work, EVERYWHERE) == []


def test_no_checker_is_silenced_without_a_reason() -> None:
    assert breaches(silence_without_reason, EVERYWHERE) == []


def test_no_text_is_run_as_code_without_a_reason() -> None:
    assert breaches(code_from_text_without_reason, EVERYWHERE) == []


LONG = "def f():\n" + "    x = 1\n" * 12


def test_a_long_median_is_found() -> None:
    found = (Source("kmc/x.py", LONG), Source("kmc/y.py", LONG + "def g(): ...\n"))
    assert median_function_lines(found) > MEDIAN_FUNCTION_LINES_MAX


def test_long_files_move_the_median() -> None:
    found = (Source("kmc/x.py", ""), Source("kmc/y.py", LONG * 20), Source("kmc/z.py", LONG * 20))
    assert median_file_lines(found) > HALF_OF_FILES_LINES_MAX


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (long_files, "\n" * 501),
        (long_functions, "def f():\n" + "    x = 1\n" * 60),
        (long_functions, "class C:\n    async def f(self):\n" + "        x = 1\n" * 60),
        (modules_without_docstring, "x = 1\n"),
        (public_names_without_docstring, "def f(): ...\n"),
        (public_names_without_docstring, "class C: ...\n"),
        (public_names_without_docstring, "class C:\n    '''C.'''\n    def f(self): ...\n"),
        (public_names_without_docstring, "if x:\n    def f(): ...\n"),
        (declarations_without_docstring, "@spec.action(fair=WEAK)\ndef f(st): ...\n"),
        (swallowed_errors, "try: f()\nexcept: g()\n"),
        (swallowed_errors, "try: f()\nexcept Exception: pass\n"),
        (swallowed_errors, "for x in y:\n    try: f()\n    except (OSError, BaseException) as e: continue\n"),
        (swallowed_errors, "with contextlib.suppress(Exception): f()\n"),
        (unfinished_work, "x = 1  # TODO: two\n"),
        (unfinished_work, "def f():\n    '''FIXME'''\n"),
        (silence_without_reason, "import x  # noqa\n"),
        (silence_without_reason, "import x  # noqa: F401\n"),
        (silence_without_reason, "x = f()  # type: ignore[no-any-return]\n"),
        (code_from_text_without_reason, "exec(text)\n"),
        (code_from_text_without_reason, "def f():\n    return eval(text)\n"),
    ],
)
def test_a_breach_is_found(rule: Rule, text: str) -> None:
    assert len(rule(Source("kmc/x.py", text))) == 1


def test_two_classes_of_one_name_are_found() -> None:
    found = (Source("kmc/a/x.py", "class C: ...\n"), Source("kmc/b/y.py", "x = 1\nclass C: ...\n"))
    assert names_given_twice(found) == {"C": ["kmc/a/x.py:1", "kmc/b/y.py:2"]}


def test_modules_of_different_rooms_may_share_a_name() -> None:
    assert names_given_twice((Source("kmc/a/x.py", ""), Source("kmc/b/x.py", ""))) == {}


def test_private_classes_may_share_a_name() -> None:
    assert names_given_twice((Source("kmc/x.py", "class _C: ...\n"), Source("kmc/y.py", "class _C: ...\n"))) == {}


@pytest.mark.parametrize("path", ["kmc/utils.py", "kmc/helpers/x.py", "kmc/common/__init__.py"])
def test_an_empty_name_is_found(path: str) -> None:
    assert len(empty_names(Source(path, ""))) == 1


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (long_files, "\n" * 500),
        (long_functions, "def f():\n" + "    x = 1\n" * 59),
        (public_names_without_docstring, "def _f(): ...\nclass C:\n    '''C.'''\n    def __eq__(self, o): ...\n"),
        (public_names_without_docstring, "class V(ast.NodeVisitor):\n    '''V.'''\n    def visit_Name(self, n): ...\n"),
        (declarations_without_docstring, "def helper(st): ...\n"),
        (swallowed_errors, "try: f()\nexcept Exception as e: raise Wrong() from e\n"),
        (swallowed_errors, "try: f()\nexcept OSError: pass\n"),
        (unfinished_work, "x = 'TODO'\n"),
        (silence_without_reason, "x = f()  # type: ignore[no-any-return]  # the stub of f says Any\n"),
        (code_from_text_without_reason, "# The text was generated here and has source lines to blame.\nexec(text)\n"),
        (code_from_text_without_reason, "model.eval(text)\n"),
    ],
)
def test_what_is_allowed_is_not_a_breach(rule: Rule, text: str) -> None:
    assert rule(Source("kmc/x.py", text)) == []
