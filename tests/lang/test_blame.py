"""An error in an author's code stands at the author's place: the right lines, and columns that count characters."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from kmc.errors import EvaluationError, KmcError, Span
from kmc.lang.errors.blame import author_span, blamed, in_characters, instruction_span, yield_span

FILE = "spec.py"


@pytest.fixture
def execute(tmp_path: Path) -> Callable[[str, str], dict[str, Any]]:
    """Writes a file and executes it; the file's names."""

    def run(text: str, name: str = FILE) -> dict[str, Any]:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        found = spec_from_file_location("executed", path)
        assert found is not None
        assert found.loader is not None
        module = module_from_spec(found)
        found.loader.exec_module(module)
        return vars(module)

    return run


Execute = Callable[..., dict[str, Any]]


def raised(function: Callable[[], object]) -> Exception:
    """What a call raises."""
    with pytest.raises(Exception) as caught:  # noqa: PT011  # whatever it is
        function()
    return caught.value


def text_of(span: Span | None) -> str:
    """The lines of a span, cut at its ends."""
    assert span is not None
    lines = Path(span.path).read_text(encoding="utf-8").splitlines()[span.line - 1 : span.end_line]
    assert span.end_column is not None
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "expression",
    [
        "x.log",
        "(1 + x.log)",
        "(1 +\n        x.log)",
        "('é' == x.log)",
        "('é' == 'ü' or\n        x.log)",
        "('a' == 'ü' or x.log or\n   'é')",
        "f(\n  'é', x.log)",
    ],
)
def test_the_place_of_an_error_is_the_expression_that_raised_it(expression: str, execute: Execute) -> None:
    names = execute(f"def f(*a):\n    return 0\ndef go(x):\n    return {expression}\n")
    error = raised(lambda: names["go"](None))
    path = names["go"].__code__.co_filename
    assert text_of(author_span(error.__traceback__, {path})) == "x.log"


@pytest.mark.parametrize(
    ("call", "columns"),
    [
        ("g('é',\n      1)", (12, 9)),
        ("g('é',\n      'üü')", (12, 12)),
        ("g('e',\n      'üü')", (12, 12)),
        ("'é' + g(1,\n      2)", (18, 9)),
    ],
)
def test_a_place_of_several_lines_ends_in_its_last_line(call: str, columns: tuple[int, int], execute: Execute) -> None:
    names = execute(f"def g(*a):\n    raise KeyError(a)\ndef go():\n    return {call}\n")
    path = names["go"].__code__.co_filename
    error = raised(names["go"])
    assert error.__traceback__ is not None
    frame = error.__traceback__.tb_next
    assert frame is not None
    span = instruction_span(frame.tb_frame.f_code, frame.tb_lasti, frame.tb_lineno)
    assert (span.path, span.line, span.end_line, (span.column, span.end_column)) == (path, 4, 5, columns)


def test_the_innermost_place_in_a_file_of_the_spec_is_taken(execute: Execute) -> None:
    inner = execute("def g():\n    return [][3]\n", "library.py")["g"]
    names = execute("def go(g):\n    return g()\ndef outer(g):\n    return go(g)\n")
    error = raised(lambda: names["outer"](inner))
    spec, library = names["go"].__code__.co_filename, inner.__code__.co_filename
    assert text_of(author_span(error.__traceback__, {spec})) == "g()"
    assert text_of(author_span(error.__traceback__, {spec, library})) == "[][3]"
    assert author_span(error.__traceback__, {"other.py"}) is None
    assert author_span(None, {spec}) is None


def test_an_instruction_without_columns_has_its_line() -> None:
    def function() -> int:
        return 1

    code: CodeType = function.__code__
    span = instruction_span(code.replace(co_linetable=b"", co_filename="none.py"), 0, 7)
    assert (span.path, span.line, span.column, span.end_line, span.end_column) == ("none.py", 7, 1, None, None)
    behind = instruction_span(code.replace(co_filename="none.py"), 10_000, 7)
    assert (behind.line, behind.column, behind.end_line, behind.end_column) == (7, 1, None, None)


def test_columns_of_a_file_that_cannot_be_read_stay_as_they_are() -> None:
    span = Span("none.py", 3, 5, 4, 9)
    assert in_characters(span) is span


@pytest.mark.parametrize("end_line", [1, None])
def test_columns_count_characters(end_line: int | None, tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.write_text("é = 'ü' + x\n", encoding="utf-8")
    span = Span(str(path), 1, len("é = 'ü' + ".encode()) + 1, end_line, len("é = 'ü' + x".encode()) + 1)
    assert in_characters(span) == Span(str(path), 1, 11, end_line, 12)
    open_ended = Span(str(path), 1, 4, end_line, None)
    assert in_characters(open_ended) == Span(str(path), 1, 3, end_line, None)


def test_a_mistake_of_a_class_stands_at_its_name(execute: Execute, tmp_path: Path) -> None:
    text = "class Meta(type):\n    def __new__(*a):\n        raise KeyError(1)\n"
    text += "def go():\n    class Node(metaclass=Meta):\n        x: int\n        y: int\n    return Node\n"
    names = execute(text)
    error = raised(names["go"])
    path = names["go"].__code__.co_filename
    assert error.__traceback__ is not None
    frame = error.__traceback__.tb_next
    assert frame is not None
    span = instruction_span(frame.tb_frame.f_code, frame.tb_lasti, frame.tb_lineno)
    assert span.path == path
    assert text_of(span) == "Node"


def test_the_place_of_a_generator_is_its_yield(execute: Execute) -> None:
    names = execute("def inner():\n    yield 1\n    yield 2\ndef outer():\n    yield 0\n    yield from inner()\n")
    path = names["outer"].__code__.co_filename
    going = names["outer"]()
    places = []
    for _ in going:
        span = yield_span(going, {path})
        assert span is not None
        places.append((span.line, text_of(span)))
    assert places == [(5, "yield 0"), (2, "yield 1"), (3, "yield 2")]
    assert yield_span(going, {path}) is None
    assert yield_span(iter([1]), {path}) is None
    going = names["outer"]()
    next(going)
    assert yield_span(going, {"other.py"}) is None


SUBJECTS = [
    ("st.log.at(9)", "this sequence has no such element", "'st.log' has no such element"),
    ("st.log[9]", "this map has no such key", "'st.log' has no such key"),
    ("st.log.send(9)", "this network is full", "'st.log' is full"),
    ("st.log(9)", "this network is full", "this network is full"),
    ("st.log.other(9)", "this network is full", "this network is full"),
    ("st.log.at(9)", "'log' of State: this sequence is full", "'log' of State: this sequence is full"),
    ("st.log.at(9)", "nothing of it", "nothing of it"),
    ("st.one_two_three.four_five_six_seven_eigh[9]", "this map", "this map"),
    ("st.one_two_three.four_five_six_seven_eig[9]", "this map", "'st.one_two_three.four_five_six_seven_eig'"),
    ("st.log.at(\n      9)", "this sequence", "'st.log'"),
    ("1 < st.log.at(9) < 3", "this sequence", "'st.log'"),
    ("1 < st.log.at(\n  9) < 3", "this sequence", "'st.log'"),
    ("st.log[\n   9\n   ] == 3", "this map", "'st.log'"),
]


@pytest.mark.parametrize(("call", "message", "shown"), SUBJECTS)
def test_an_error_names_what_it_is_about_as_the_author_wrote_it(
    call: str, message: str, shown: str, execute: Execute
) -> None:
    text = (
        "class St:\n    def __getattr__(self, name):\n        return St() if not name.startswith('__') else object.no\n"
    )
    text += f"def go(st):\n    return ({call})\n"
    names = execute(text)
    path = names["go"].__code__.co_filename
    # The methods of values lie in kmc, not in a file of the spec.
    names["St"].__call__ = refusing(message)
    names["St"].__getitem__ = refusing(message)
    found = blamed(raised(lambda: names["go"](names["St"]())), {path})
    assert (found.code, found.message) == ("KMC223", shown)
    subject = shown.partition("'")[2].partition("'")[0] if shown != message else "..."
    assert found.help == f"mind len({subject})"


def refusing(message: str) -> Callable[..., object]:
    """A method that raises."""

    def refuse(*_: object) -> object:
        raise EvaluationError("KMC223", message, help="mind len(...)")

    return refuse


def test_an_error_that_has_a_place_keeps_it() -> None:
    error = EvaluationError("KMC223", "this map", Span("a.py", 1, 2))
    assert blamed(error, {"a.py"}) is error


@pytest.mark.parametrize(("statement", "code"), [("assert x", "KMC290"), ("x.y", "KMC241")])
def test_an_exception_of_python_is_put_into_the_words_of_the_language(
    statement: str, code: str, execute: Execute
) -> None:
    names = execute(f"def go(x):\n    {statement}\n")
    path = names["go"].__code__.co_filename
    found: KmcError = blamed(raised(lambda: names["go"](None)), {path})
    assert (found.code, found.span and found.span.line) == (code, 2)
