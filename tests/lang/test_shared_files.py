"""Files that several specs share lie beside their folders, and belong to each spec that imports them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmc.engine.check_model import check_native
from kmc.errors import KmcError, SpecError
from kmc.frontend.binding import bind_all
from kmc.frontend.loader import load_spec
from kmc.model_files.value_text import parse_set
from kmc.reference.search import Search
from kmc.result import Limits

COUNTING = """\
from kmc.lang import Int, Record, constant

Most = constant("Most", Int(0, 9), "How far to count")


class Counter(Record):
    value: Int(0, Most)


def can_count(counter):
    return counter.value < Most


def counted(counter):
    return counter.set(value=counter.value + 1)
"""

SPEC = """\
from kmc.lang import Record
from kmc.spec import spec

from ..counting import Counter, can_count, counted


class State(Record):
    counter: Counter


@spec.init
def init():
    yield State(counter=Counter(value=0))


@spec.action
def count(st):
    if can_count(st.counter):
        yield st.set(counter=counted(st.counter))


@spec.invariant
def Small(st):
    return st.counter.value < 8
"""


def laid_out(folder: Path, **files: str) -> Path:
    """Write files, `a__b` meaning a/b.py, and give the folder of the spec `one`."""
    for name, text in {"counting": COUNTING, "one__spec": SPEC, **files}.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "one"


def distinct(root: Path, most: int, native: bool = False) -> int:
    """How many states the spec at `root` reaches with Most = `most`."""
    model = bind_all(root, [parse_set(f"Most={most}")])
    result = check_native(model, Limits(), threads=1) if native else Search(model).run()
    return result.counters.distinct


def mistake(root: Path) -> SpecError:
    """The error with which the spec at `root` is refused."""
    with pytest.raises(SpecError) as caught:
        load_spec(root, [parse_set("Most=2")])
    return caught.value


def place(error: KmcError) -> tuple[str, int]:
    """The file and line of an error."""
    assert error.span is not None
    return Path(error.span.path).name, error.span.line


def test_each_model_executes_a_shared_file_with_its_own_constants(tmp_path: Path) -> None:
    root = laid_out(tmp_path)
    assert [distinct(root, most) for most in (2, 5)] == [3, 6]


def test_two_specs_share_a_file(tmp_path: Path) -> None:
    root = laid_out(tmp_path, two__spec=SPEC.replace("value=0", "value=1"))
    assert (distinct(root, 4), distinct(tmp_path / "two", 4)) == (5, 4)


@pytest.mark.parametrize("name", ["one/spec", "counting"])
def test_a_file_that_changes_is_read_anew(tmp_path: Path, name: str) -> None:
    """Within one process a text is checked once, but not longer than it stands in the file."""
    root = laid_out(tmp_path)
    path = tmp_path / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    changed = text.replace("value=0", "value=1").replace("value + 1", "value + 2")
    digest = load_spec(root, [parse_set("Most=4")]).source_digest
    assert distinct(root, 4) == 5
    path.write_text(changed, encoding="utf-8")
    assert distinct(root, 4) == (4 if name == "one/spec" else 3)
    assert load_spec(root, [parse_set("Most=4")]).source_digest != digest
    path.write_text(text + "\n\nclass Empty(Nothing):\n    pass\n", encoding="utf-8")
    assert place(mistake(root)) == (path.name, len(text.splitlines()) + 3)
    path.write_text(text, encoding="utf-8")
    assert distinct(root, 4) == 5
    assert load_spec(root, [parse_set("Most=4")]).source_digest == digest


def test_a_file_that_was_executed_is_checked_with_another_spec(tmp_path: Path) -> None:
    """A file is rewritten before it is executed; what other specs are checked with is the author's text."""
    literal = COUNTING.replace("counter.value < Most", "counter.value in {0, 1, 2} and len([0, Most]) == 2")
    root = laid_out(tmp_path, counting=literal, two__spec=SPEC)
    digest = load_spec(root, [parse_set("Most=9")]).source_digest
    assert [distinct(spec, 9) for spec in (root, tmp_path / "two", root)] == [4, 4, 4]
    assert {load_spec(spec, [parse_set("Most=9")]).source_digest for spec in (root, tmp_path / "two")} == {digest}


def test_the_native_engine_takes_shared_helpers(tmp_path: Path) -> None:
    assert distinct(laid_out(tmp_path), 5, native=True) == 6


def test_a_spec_of_one_file_shares_what_lies_beside_its_folder(tmp_path: Path) -> None:
    assert distinct(laid_out(tmp_path) / "spec.py", 3) == 4


def test_a_spec_named_by_a_dot_shares_what_lies_beside_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(laid_out(tmp_path))
    assert distinct(Path(), 3) == 4


def test_a_shared_folder_holds_files_that_import_each_other(tmp_path: Path) -> None:
    spec = SPEC.replace("..counting import", "..tools.steps import")
    steps = (
        "from .counters import Counter\nfrom ..limits import is_below\n\n\ndef can_count(c):\n    return is_below(c)\n"
    )
    steps += "\n\ndef counted(c):\n    return c.set(value=c.value + 1)\n"
    counters = COUNTING.partition("\n\ndef can_count")[0]
    limits = "from .tools.counters import Most\n\n\ndef is_below(c):\n    return c.value < Most\n"
    root = laid_out(tmp_path, one__spec=spec, tools__steps=steps, tools__counters=counters, limits=limits)
    assert distinct(root, 3) == 4


def test_a_file_in_a_folder_of_the_spec_takes_a_dot_more(tmp_path: Path) -> None:
    actions = SPEC.replace("..counting", "...counting").replace("class State", "class Unused")
    actions = actions.replace("from kmc.spec import spec", "from kmc.spec import spec\n\nfrom ..types import State")
    types = SPEC.partition("\n\n@spec.init")[0]
    root = laid_out(tmp_path, one__actions__count=actions, one__types=types)
    (root / "spec.py").unlink()
    assert distinct(root, 3) == 4


def test_a_file_may_be_imported_itself(tmp_path: Path) -> None:
    root = laid_out(tmp_path, one__spec="from . import other\n" + SPEC, one__other="")
    assert distinct(root, 3) == 4
    laid_out(tmp_path, one__actions__early="from . import late\n", one__actions__late="")
    assert distinct(root, 3) == 4


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("from . import othre", "'__init__.py' has no 'othre'"),
        ("from . import late", "'__init__.py' has no 'late'"),
        ("from .actions import late", "this spec has no file 'actions.py'"),
    ],
)
def test_a_file_is_imported_itself_only_from_the_files_own_folder(line: str, message: str, tmp_path: Path) -> None:
    root = laid_out(tmp_path, one__spec=f"{line}\n{SPEC}", one__other="", one__actions__late="")
    error = mistake(root)
    assert (error.code, error.message, place(error)) == ("KMC194", message, ("spec.py", 1))


def test_a_record_may_derive_from_one_that_stands_further_down_in_its_own_file(tmp_path: Path) -> None:
    spec = SPEC.replace("class State", "class Own(Counter):\n    pass\n\n\nclass State").replace(": Counter", ": Own")
    root = laid_out(tmp_path, one__spec=spec.replace("counter=Counter(", "counter=Own("), counting="\n" * 20 + COUNTING)
    assert distinct(root, 3) == 4


def test_a_package_of_shared_files_is_executed_too(tmp_path: Path) -> None:
    root = laid_out(tmp_path, one__spec=SPEC.replace("..counting", "..tools.counting"), tools__counting=COUNTING)
    (tmp_path / "tools" / "__init__.py").write_text("x = 1 +\n")
    assert place(mistake(root)) == ("__init__.py", 1)


def test_a_neighbour_that_is_not_imported_is_not_read(tmp_path: Path) -> None:
    root = laid_out(tmp_path, neighbour="this is not Python\n")
    assert distinct(root, 2) == 3


def test_the_digest_covers_the_meaning_of_shared_files(tmp_path: Path) -> None:
    root = laid_out(tmp_path)
    before = load_spec(root, [parse_set("Most=2")]).source_digest
    laid_out(tmp_path, counting=f"# Only a comment.\n{COUNTING}", neighbour="x = 1\n")
    same = load_spec(root, [parse_set("Most=2")]).source_digest
    laid_out(tmp_path, counting=COUNTING.replace("value + 1", "value + 2"))
    other = load_spec(root, [parse_set("Most=2")]).source_digest
    assert (before == same, before == other) == (True, False)


def test_a_construct_that_is_refused_is_shown_in_the_shared_file(tmp_path: Path) -> None:
    error = mistake(laid_out(tmp_path, counting=COUNTING.replace("value + 1", "valeu + 1")))
    assert (error.code, place(error)) == ("KMC126", ("counting.py", 15))


def test_an_error_while_running_is_shown_in_the_shared_file(tmp_path: Path) -> None:
    root = laid_out(tmp_path, counting=COUNTING.replace("value < Most", "value <= Most"))
    violation = Search(bind_all(root, [parse_set("Most=2")])).run().violation
    error = violation.error if violation is not None else None
    assert error is not None
    assert (error.code, place(error)) == ("KMC201", ("counting.py", 15))


def test_a_name_that_the_shared_file_lacks_is_corrected(tmp_path: Path) -> None:
    error = mistake(laid_out(tmp_path, one__spec=SPEC.replace("can_count, counted", "can_cont, counted")))
    assert (error.code, error.message) == ("KMC194", "'../counting.py' has no 'can_cont'")
    assert error.help == "did you mean 'can_count'?"


def test_a_name_that_another_shared_file_has_is_found_there(tmp_path: Path) -> None:
    spec = SPEC.replace("Counter, can_count, counted", "Counter, can_count").replace("st.set(counter=counted", "(")
    error = mistake(laid_out(tmp_path, one__spec=spec.replace("yield ((", "yield (counted(")))
    assert (error.code, error.help) == ("KMC124", "write from ..counting import counted")


@pytest.mark.parametrize(
    ("written", "message", "help_text"),
    [
        ("..cuonting", "there is no 'cuonting.py' beside the spec's folder", "did you mean 'counting'?"),
        ("..one.types", "this is the spec itself", "leave out the name of the folder, or share what both need"),
        (
            "...counting",
            "these dots lead out of the folder that the spec lies in",
            "one dot for the file's own folder, one more for each folder around it",
        ),
        ("..", "this names no file", "write from ..file import name, or from .file"),
    ],
)
def test_an_import_that_leads_nowhere_is_refused(written: str, message: str, help_text: str, tmp_path: Path) -> None:
    error = mistake(laid_out(tmp_path, one__spec=SPEC.replace("..counting", written)))
    assert (error.code, error.message, error.help, place(error)) == ("KMC194", message, help_text, ("spec.py", 4))


def test_a_shared_file_imports_from_no_spec(tmp_path: Path) -> None:
    error = mistake(laid_out(tmp_path, counting=f"from .one.spec import State\n{COUNTING}"))
    assert (error.message, place(error)) == ("a shared file belongs to no spec", ("counting.py", 1))


def test_shared_files_that_import_each_other_in_a_circle_are_named(tmp_path: Path) -> None:
    root = laid_out(tmp_path, counting=f"from .limits import Low\n{COUNTING}", limits="from .counting import Most\n")
    (tmp_path / "limits.py").write_text("from .counting import Most\n\nLow = Most\n", encoding="utf-8")
    error = mistake(root)
    assert (error.code, error.message) == (
        "KMC187",
        "files import each other: ../counting.py -> ../limits.py -> ../counting.py",
    )
