"""Error codes: the hundred says what kind of mistake it is, and each code stands in a test or on the tested page.

Here are also the tests of the codes that belong nowhere else.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.source_tree import ROOT, Source, sources, tree_of
from support.specs.small import model_of

from kmc.errors import InternalError, ModelError, SpecError, TraceError
from kmc.frontend.loader import load_spec
from kmc.frontend.shipped import find_model, find_spec_root
from kmc.lang import Bool, constant
from kmc.reference.conformance.corpus import value_of
from kmc.reference.search import Search
from kmc.spec import spec
from kmc.spec.variables import decode_state

CODE = re.compile(r"KMC\d{3}")
HUNDREDS = {
    "SpecError": "0178",
    "EvaluationError": "2",
    "DomainError": "2",
    "InvariantError": "2",
    "ModelError": "3",
    "AssumptionError": "3",
    "InvariantLevelError": "3",
    "TautologyError": "3",
    "TraceError": "4",
    "SystemFault": "5",
    "CommandLineError": "6",
    "InternalError": "9",
}
# What the checks of the language should have refused before; seen only if they have a gap.
BACKSTOPS = {"KMC242", "KMC245"}
# Each of their examples is run, and must give the error that stands beside it.
TESTED_PAGES = ("language.md", "compiled.md")


def raised(source: Source) -> Iterator[tuple[str, str]]:
    """The class and the code of each error that a source makes by name."""
    for node in ast.walk(tree_of(source)):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(code)), *_]) if name in HUNDREDS:
                yield name, code


@pytest.mark.slow
def test_the_hundred_of_a_code_tells_the_class_of_its_error() -> None:
    assert [
        (source.path, name, code)
        for source in sources("kmc")
        for name, code in raised(source)
        if not CODE.fullmatch(code) or code[3] not in HUNDREDS[name]
    ] == []


def test_every_code_is_held_by_a_test() -> None:
    # tests/house reads the sources and raises nothing, so a code that only it names is not tested.
    files = [
        path for path in (ROOT / "tests").rglob("*") if path.suffix in (".py", ".txt") and "house" not in path.parts
    ]
    pages = [ROOT / "docs" / name for name in TESTED_PAGES]
    held = {code for path in (*files, *pages) for code in CODE.findall(path.read_text(encoding="utf-8"))}
    made = {code for source in sources("kmc") for code in CODE.findall(source.text)}
    assert sorted(made - held - BACKSTOPS) == []


def test_a_spec_that_is_imported_is_refused() -> None:
    for declare in (lambda: constant("N", Bool, "A constant"), lambda: spec.view("view", drop=[])):
        with pytest.raises(SpecError, match="a spec is loaded by kmc") as caught:
            declare()
        assert caught.value.code == "KMC161"


def test_a_spec_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_bytes(b"\xff")
    with pytest.raises(SpecError, match="cannot be read") as caught:
        load_spec(tmp_path)
    assert caught.value.code == "KMC192"


def test_a_null_byte_in_a_spec_is_refused_at_the_start_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text("n = 1\nm = '\0'\n", encoding="utf-8")
    with pytest.raises(
        SpecError, match="Python cannot read this: source code string cannot contain null bytes"
    ) as caught:
        load_spec(tmp_path)
    span = caught.value.span
    assert span is not None
    assert (caught.value.code, span.line, span.column) == ("KMC193", 1, 1)


def test_of_several_models_one_must_be_named(tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text('[models.a]\ndescription = "One"\n[models.b]\ndescription = "Other"\n')
    with pytest.raises(ModelError) as caught:
        find_model(tmp_path, None)
    assert (caught.value.code, caught.value.help) == ("KMC350", "name one of its models: a, b")


def test_a_state_without_one_of_the_variables_is_refused() -> None:
    die_hard = load_spec(find_spec_root("die_hard"))
    with pytest.raises(TraceError) as caught:
        decode_state({"big": 0}, die_hard.state_class, die_hard.variables)
    assert (caught.value.code, caught.value.message) == ("KMC413", "variable 'small' is missing")


def test_a_value_of_a_corpus_that_is_none_has_a_code() -> None:
    with pytest.raises(TraceError) as caught:
        value_of(None)
    assert caught.value.code == "KMC433"


UNFAIR = """
Client = constant("Client", IdentSet(symmetric=True), "Who may go on")


class State(Record):
    chosen: Client
    gone: Bool


@spec.init
def init():
    yield State(chosen=Client.at(2), gone=False)
    yield State(chosen=Client.at(1), gone=False)


def second(kind):
    return kind.at(2)  # of a type by its name, this is refused: KMC156


@spec.action
def go(st):
    if st.chosen == second(Client):
        yield st.set(gone=True)


spec.symmetry("clients", Client)


@spec.invariant
def NoClientGoes(st):
    return not st.gone
"""


def test_a_spec_that_breaks_its_symmetry_is_told_so(tmp_path: Path) -> None:
    model = model_of(tmp_path, UNFAIR, "CONSTANT Client = {a, b} SYMMETRY clients INVARIANT NoClientGoes")
    with pytest.raises(InternalError) as caught:
        Search(model).run()
    assert caught.value.code == "KMC901"
    assert "check without symmetry" in str(caught.value.help)
