"""A regression test as a file for pytest: the steps of a counterexample, and whether they may still violate."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from kmc import __version__
from kmc.lang.naming import snake_case
from kmc.story.regression import RegressionTest, StepText


def pytest_text(
    test: RegressionTest, spec: str, is_path: bool, model: str, labels: Sequence[str], *, is_fixed: bool, doc: str = ""
) -> str:
    """The file. `spec` is a shipped spec, or a path from the folder of the file; `labels` say the steps to people."""
    named = f"Path(__file__).parent / {_quoted(spec)}" if is_path else _quoted(spec)
    return "\n".join(_lines(test, named, model, labels, is_fixed, doc)) + "\n"


def _lines(
    test: RegressionTest, spec: str, model: str, labels: Sequence[str], is_fixed: bool, doc: str
) -> Iterator[str]:
    must = "must not occur any more" if is_fixed else "still occurs"
    yield f'"""A counterexample that kmc {__version__} found, as a regression test: it {must}.'
    yield ""
    yield "The steps are actions with their arguments. `kmc replay TRACE --pytest FILE` wrote this; edit it freely."
    yield '"""'
    yield ""
    yield from ("from pathlib import Path", "") if spec.startswith("Path") else ()
    yield "from kmc.story.regression import assert_trace"
    yield ""
    yield f"SPEC = {spec}"
    yield f"MODEL = {_block(model)}"
    yield "STEPS = ["
    yield from (f"    {_tuple(step)},  # {_comment(label)}" for step, label in zip(test.steps, labels, strict=False))
    yield "]"
    yield ""
    yield ""
    words = [test.failure.name or test.failure.verdict.value, "is fixed" if is_fixed else "fails"]
    yield f"def test_{'_'.join(re.sub(r'[^a-z0-9]+', '_', snake_case(word)) for word in words)}() -> None:"
    if _is_plain(doc):
        yield f'    """{doc}"""'
    yield "    assert_trace("
    yield from (f"        {argument}," for argument in _arguments(test, is_fixed))
    yield "    )"


def _arguments(test: RegressionTest, is_fixed: bool) -> Iterator[str]:
    yield from ("SPEC", "MODEL", "STEPS")
    yield f"fails={_quoted(test.failure.name) if test.failure.name is not None else None}"
    if test.failure.name is None:
        yield f"verdict={_quoted(test.failure.verdict.value)}"
    if test.back_to is not None:
        yield f"back_to={test.back_to}"
    if test.closing is not None:
        yield f"closing={_tuple(test.closing)}"
    yield f"expect={_quoted('fixed' if is_fixed else 'violation')}"


def _tuple(step: StepText) -> str:
    inner = ", ".join(map(_quoted, step))
    return f"({inner},)" if len(step) == 1 else f"({inner})"


def _comment(label: str) -> str:
    return re.sub(r"[^ -~]+", " ", label)


def _block(model: str) -> str:
    lines = [line for line in model.splitlines() if not line.startswith("\\*")]
    text = "\n".join(["", *lines, ""])
    return f'"""{text}"""' if _is_plain(text) else _quoted(text)


def _quoted(text: str) -> str:
    """A string of Python: JSON writes strings as Python reads them."""
    return json.dumps(text)


def _is_plain(text: str) -> bool:
    """Whether a text can be written between triple quotes without a change."""
    return bool(text) and "\\" not in text and '"""' not in text and not text.endswith('"')
