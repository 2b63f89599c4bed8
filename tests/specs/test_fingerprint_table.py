"""The spec of the fingerprint table follows the code that it names, and each of its rules is needed.

That the models and mutants come out as they say is held by test_manifests.py.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from dataclasses import replace
from types import ModuleType

import pytest
from support.source_tree import ROOT as SOURCES
from support.specs.shipped import shipped_manifest

from kmc.engine.loops import expand, fingerprint_table_64, fingerprint_table_128
from kmc.engine.native import intrinsics
from kmc.engine.search import level_maker
from kmc.engine.stores import fingerprint_table
from kmc.frontend.binding import bind
from kmc.frontend.loader import load_spec
from kmc.frontend.shipped import find_spec_root
from kmc.model_files.model_file import ModelFile
from kmc.reference.search import Search
from kmc.result import Limits, Verdict

ROOT = find_spec_root("fingerprint_table")
MANIFEST = shipped_manifest("fingerprint_table")
MUTANTS = MANIFEST.mutants
SPEC = load_spec(ROOT, MANIFEST.models["smoke"].constants)
MUTATIONS = {constant.name for constant in SPEC.constants.values() if constant.meaning.startswith("Mutant: ")}
OF_THE_MACHINE = {"LineIsTorn", "LineIsReadTwice"}
"""How a line is read: by the processor, and as compiled."""

FOLLOWED = {
    "insert.py": (fingerprint_table_64, fingerprint_table_128, expand, level_maker, intrinsics, fingerprint_table),
    "growth.py": (fingerprint_table_64, fingerprint_table_128, level_maker, fingerprint_table),
}
"""The modules whose functions the actions and helpers of a file follow."""

OPEN = {"insert.py": {"init"}, "growth.py": {"end_range"}}


def weakened(file: ModelFile) -> set[str]:
    """The constants of a model that weaken the code."""
    return {constant.name for constant in file.constants} & (MUTATIONS | OF_THE_MACHINE)


def named_functions(text: str) -> set[str]:
    """The functions that a docstring names in backquotes, such as `claim` and `LevelMaker._run`."""
    words = re.findall(r"`([\w.]+)(?:\([^`]*\))?`", text)
    return {word for word in words if word[:1].islower() or word[:1] == "_" or "._" in word or ".grow" in word}


def is_function_of(name: str, modules: tuple[ModuleType, ...]) -> bool:
    """Whether one of the modules defines a function, a method or an intrinsic of this name."""
    for module in modules:
        value: object = module
        for word in name.split("."):
            value = getattr(value, word, None)
        if inspect.isroutine(value) or isinstance(value, intrinsics.LoopIntrinsic):
            return True
    return False


def actions_of(file: str) -> dict[str, str]:
    """The docstrings of the actions in a file of the spec."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {
        node.name: ast.get_docstring(node) or ""
        for node in functions
        if any("action" in ast.dump(decorator) for decorator in node.decorator_list)
    }


@pytest.mark.parametrize("file", FOLLOWED)
def test_each_action_names_a_function_of_the_code_that_it_follows(file: str) -> None:
    named = {action: named_functions(text) for action, text in actions_of(file).items()}
    assert [action for action, names in named.items() if not names] == []
    unknown = {name for names in named.values() for name in names if not is_function_of(name, FOLLOWED[file])}
    assert unknown <= {"alone"}


def test_a_function_that_is_not_in_the_code_is_noticed() -> None:
    assert is_function_of("claim", FOLLOWED["insert.py"])
    assert is_function_of("FingerprintTable._move", FOLLOWED["growth.py"])
    assert not is_function_of("claimed", FOLLOWED["insert.py"])
    assert named_functions("`claim` of `Shared.count`, `LevelMaker._run`") == {"claim", "LevelMaker._run"}


def test_the_page_names_functions_that_exist() -> None:
    page = (SOURCES / "docs" / "fingerprint_table.md").read_text(encoding="utf-8")
    places = re.findall(r"`(\w+)` \(`kmc/([\w/]+)\.py`\)", page)
    assert places
    for name, path in places:
        module = importlib.import_module("kmc." + path.replace("/", "."))
        assert hasattr(module, name), (name, path)


def test_every_mutation_has_a_mutant_and_models_have_none() -> None:
    assert set().union(*map(weakened, MUTANTS.values())) >= MUTATIONS
    assert all(weakened(file) for file in MUTANTS.values())
    assert not any(weakened(file) & MUTATIONS for file in (*MANIFEST.models.values(), *MANIFEST.findings.values()))


@pytest.mark.slow
@pytest.mark.parametrize("file", [pytest.param(file, id=name) for name, file in MUTANTS.items()])
def test_nothing_fails_as_early_with_the_rule(file: ModelFile) -> None:
    assert file.expect is not None
    whole = tuple(constant for constant in file.constants if constant.name not in MUTATIONS | OF_THE_MACHINE)
    result = Search(bind(ROOT, replace(file, constants=whole)), Limits(states=8_000)).run()
    assert result.verdict in (Verdict.OK, Verdict.BOUND_REACHED)
