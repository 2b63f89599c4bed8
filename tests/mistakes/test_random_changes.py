"""A spec with a random change is checked, or gives one error at a place in its files, in its author's words.

The changes are made in the syntax tree: a name or field for another, a literal for a value, a lost argument or line, a
call or brackets too many. No Python error ends kmc, and no error speaks of what an author cannot know.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from kmc.errors import ExitStatus, InternalError, KmcError
from kmc.frontend.binding import bind
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.reference.search import Search
from kmc.result import Limits

CHANGES_PER_SEED = 12
STATES_MAX = 200
INTERNAL = re.compile(r"kmc_|__kmc|(Map|Seq|Set|Bag)Value\b|Meta\b|NoneType|frozenset|object at 0x|<locals>")
# Errors of a whole spec: it declares no state, init or action, or the model does not fit its constants.
WITHOUT_PLACE = {"KMC195", "KMC196", "KMC197", "KMC344"}

Change = Callable[[ast.Module, Random], ast.Module]


class _Replacer(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.expr) -> None:
        self._old = old
        self._new = new

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.copy_location(self._new, node) if node is self._old else self.generic_visit(node)


def _replaced(tree: ast.Module, old: ast.expr, new: ast.expr) -> ast.Module:
    changed = _Replacer(old, new).visit(tree)
    assert isinstance(changed, ast.Module)
    return changed


def _values(tree: ast.Module) -> list[ast.expr]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.expr) and not isinstance(getattr(n, "ctx", None), ast.Store)]


def _other_name(tree: ast.Module, random: Random) -> ast.Module:
    names = [node.id for node in _values(tree) if isinstance(node, ast.Name)]
    return _replaced(tree, random.choice(_values(tree)), ast.Name(random.choice(names), ast.Load()))


def _other_field(tree: ast.Module, random: Random) -> ast.Module:
    fields = [node for node in _values(tree) if isinstance(node, ast.Attribute)]
    random.choice(fields).attr = random.choice(fields).attr
    return tree


def _literal(tree: ast.Module, random: Random) -> ast.Module:
    literals: list[ast.expr] = [ast.Constant(value) for value in (None, 0, 1, True, -1, 99)]
    literals += [ast.Set([ast.Constant(1)]), ast.List([], ast.Load()), ast.Dict([], []), ast.Tuple([], ast.Load())]
    return _replaced(tree, random.choice(_values(tree)), random.choice(literals))


def _lost_argument(tree: ast.Module, random: Random) -> ast.Module:
    call = random.choice([n for n in _values(tree) if isinstance(n, ast.Call) and (n.args or n.keywords)])
    arguments: list[ast.expr] | list[ast.keyword] = call.args or call.keywords
    arguments.pop(random.randrange(len(arguments)))
    return tree


def _lost_call(tree: ast.Module, random: Random) -> ast.Module:
    call = random.choice([node for node in _values(tree) if isinstance(node, ast.Call)])
    return _replaced(tree, call, call.func)


def _another_call(tree: ast.Module, random: Random) -> ast.Module:
    value = random.choice(_values(tree))
    return _replaced(tree, value, ast.Call(value, [], []))


def _brackets(tree: ast.Module, random: Random) -> ast.Module:
    value = random.choice(_values(tree))
    return _replaced(tree, value, ast.Subscript(value, ast.Constant(0), ast.Load()))


def _other_comparison(tree: ast.Module, random: Random) -> ast.Module:
    comparison = random.choice([node for node in _values(tree) if isinstance(node, ast.Compare)])
    comparison.ops[0] = random.choice([ast.Lt(), ast.In(), ast.Eq(), ast.NotEq(), ast.NotIn(), ast.GtE(), ast.Is()])
    return tree


def _lost_line(tree: ast.Module, random: Random) -> ast.Module:
    blocks = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef | ast.If) and len(n.body) > 1]
    block = random.choice(blocks)
    block.body.pop(random.randrange(len(block.body)))
    return tree


CHANGES: tuple[Change, ...] = (
    _other_name,
    _other_field,
    _literal,
    _lost_argument,
    _lost_call,
    _another_call,
    _brackets,
    _other_comparison,
    _lost_line,
)


def _changed(text: str, random: Random) -> str:
    """The text of a file with a change that fits it."""
    while True:
        try:
            tree = random.choice(CHANGES)(ast.parse(text), random)
        except IndexError:
            continue
        return ast.unparse(ast.fix_missing_locations(tree))


def _error(folder: Path, spec: str) -> KmcError | None:
    """The error of checking the spec in `folder` with the smoke model of `spec`, if there is one."""
    model = find_model(find_spec_root(spec), "smoke")
    assert model is not None
    try:
        result = Search(bind(folder, model), Limits(states=STATES_MAX)).run()
    except KmcError as error:
        return error
    return result.violation.error if result.violation else None


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["die_hard", "two_phase_commit", "kraft"])
@pytest.mark.parametrize("seed", range(6))
def test_a_changed_spec_is_checked_or_gives_one_error_in_its_authors_words(
    spec: str, seed: int, tmp_path: Path
) -> None:
    random = Random(f"{spec} {seed}")
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(find_spec_root(spec).glob("*.py"))}
    for number in range(CHANGES_PER_SEED):
        folder = tmp_path / str(number)
        folder.mkdir()
        name = random.choice(list(texts))
        changed = _changed(texts[name], random)
        for other, text in {**texts, name: changed}.items():
            (folder / other).write_text(text, encoding="utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            error = _error(folder, spec)
        if error is not None:
            _check(error, folder)


def _check(error: KmcError, folder: Path) -> None:
    said = f"{error.message}\n{error.help}\n{error.span}"
    assert not isinstance(error, InternalError), said
    assert not INTERNAL.search(f"{error.message} {error.help}"), said
    assert error.help is not None, said
    if error.exit_status is not ExitStatus.MODEL_FILE and error.code not in WITHOUT_PLACE:
        assert error.span is not None, said
        assert Path(error.span.path).parent == folder, said
        assert error.span.source_line(), said
