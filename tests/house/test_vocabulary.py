"""The field's words and plain English: what names and prose must not say, and what to say instead.

A text is read as its words: identifiers are split at underscores and capitals, so `row_thrown_away`, `RowThrownAway`
and "a row thrown away" are the same. Read are the sources with their comments, and the pages in Markdown; not test
data, and not what tools write. A word in capitals stays in capitals, so `is NO_ELEMENTS` is not English.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.source_tree import ROOT, Source, sources

WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\w\s#]")


@dataclass(frozen=True, slots=True)
class Ban:
    """Words that are not used, as a pattern over lower-case words, and what to say instead.

    The ban holds in the files whose path begins with one of `only`. In the rooms of `until`, the words are still to be
    replaced; a room that has become clean must leave the list.
    """

    pattern: str
    instead: str
    only: tuple[str, ...] = ("",)
    until: tuple[str, ...] = ()


BANS = (
    # Plain English.
    Ban(
        r"(?<!there )(?<!here )\b(?:is|are|was|were|be) no "
        r"(?!(?:longer|more|other|such|better|worse|larger|smaller|need|way|use|doubt)\b)[a-z]",
        "is not a",
    ),
    Ban(r"\bhas not (?:a|an|the)\b", "does not have"),
    Ban(r"\bforesees?\b|\bforesaw\b|\bforeseen\b", "is unpredictable; predicts"),
    Ban(r"\bnobody\b", "never; no one can; no server, no other process"),
    Ban(r"\bin the midst\b", "interrupted; halfway"),
    Ban(r"\bthrown away\b", "unused; discarded"),
    Ban(r"\b\w+ ' s affair\b", "say who decides it, or that it does not matter"),
    Ban(r"\bruns? through once\b|\brun through only once\b", "iterated only once"),
    Ban(r"\bgolden cases?\b", "a case that TLC counted", only=("kmc/", "docs/", "README.md")),
    Ban(r"\b(view|model|spec) \1\b", "the view NAME"),
    # One spelling, one word.
    Ban(r"\bstand - ins?\b", "placeholder"),
    Ban(r"\blook - ups?\b", "lookup"),
)


def words_of(text: str) -> list[str]:
    """The words of a text."""
    return [word if word.isupper() and len(word) > 1 else word.lower() for word in WORD.findall(text)]


def line_at(text: str, words: list[str], place: int) -> int:
    """The line of a text that has the word at a place in its words with one blank between them."""
    before = " ".join(words)[:place].count(" ")
    found = next(itertools.islice(WORD.finditer(text), before, None))
    return 1 + text.count("\n", 0, found.start())


def banned(source: Source, bans: Iterable[Ban] = BANS) -> Iterator[tuple[Ban, str]]:
    """Each use of banned words in a file, with the breach as the tests report it."""
    text = f"{source.path.removesuffix('.py').removesuffix('.md')} {source.text}"
    words = words_of(text)
    joined = " ".join(words)
    for ban in bans:
        if source.path.startswith(ban.only):
            for found in re.finditer(ban.pattern, joined):
                line = line_at(text, words, found.start())
                yield ban, source.at(line, f"'{found[0]}': say {ban.instead}")


def is_exempt(ban: Ban, path: str) -> bool:
    """Whether the words of a ban are still to be replaced in the room of a file."""
    return bool(ban.until) and path.startswith(ban.until)


def breaches(found: Iterable[Source], bans: Iterable[Ban] = BANS) -> list[str]:
    """The uses of banned words, but not those that are still to be replaced."""
    bans = tuple(bans)
    return [text for source in found for ban, text in banned(source, bans) if not is_exempt(ban, source.path)]


def stale_exemptions(found: Iterable[Source], bans: Iterable[Ban] = BANS) -> list[str]:
    """Rooms that a ban exempts and that do not use its words any more."""
    bans = tuple(ban for ban in bans if ban.until)
    rooms = tuple(room for ban in bans for room in ban.until)
    used = {(ban, room) for source in found if source.path.startswith(rooms) for ban, _ in banned(source, bans)
            for room in ban.until if source.path.startswith(room)}  # fmt: skip
    return [
        f"{room} is clean: remove it from `until` of {ban.pattern}"
        for ban in bans
        for room in ban.until
        if (ban, room) not in used
    ]


def pages() -> list[Source]:
    """The Markdown that people write: results and the page of error codes are written by tools."""
    paths = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "specs").rglob("*.md"),
        *(ROOT / "tests").glob("*.md"),
    ]
    kept = sorted(path for path in paths if path != ROOT / "docs" / "errors.md")
    return [Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in kept]


# This file names the words; tests/data holds specs with mistakes and what comes of them.
EVERYWHERE = (
    *(
        source
        for source in sources("kmc", "distributed", "specs", "tests")
        if not source.path.startswith("tests/data/") and source.path != f"tests/house/{Path(__file__).name}"
    ),
    *pages(),
)


def test_no_banned_word_is_used() -> None:
    found = breaches(EVERYWHERE)
    assert not found, "\n".join(found)


def test_no_exemption_is_stale() -> None:
    found = stale_exemptions(EVERYWHERE)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        '"""What is no field."""\n',
        "# These are no\n# keywords.\n",
        "def test_what_is_no_value(): ...\n",
        "Whether a state is new cannot be foreseen.",
        "What nobody imports is not read.",
        "class ThrownAwayRow: ...\n",
        "rows_thrown_away = 1\n",
        "def foresee(): ...\n",
        "the caller's affair",
        "ModelModel()\n",
        "# A stand-in.\n",
        "a look-up of the table",
        "The spec has not the field.",
    ],
)
def test_a_banned_word_is_found(text: str) -> None:
    assert len(breaches([Source("docs/x.md", text)])) == 1


@pytest.mark.parametrize(
    "text",
    [
        "It is not a field.",
        "There is no field.",
        "It is no longer a field.",
        "if kind is NO_ELEMENTS: ...\n",
        "if kind is None: ...\n",
        "look up = lookup\n",
        "the affairs of a run",
    ],
)
def test_other_words_are_allowed(text: str) -> None:
    assert breaches([Source("docs/x.md", text)]) == []


def test_a_breach_names_its_place_and_what_to_say() -> None:
    assert breaches([Source("kmc/cli/x.py", "x = 1\n\ndef nobody(): ...\n")]) == [
        "kmc/cli/x.py:3: 'nobody': say never; no one can; no server, no other process"
    ]


def test_the_name_of_a_file_is_read() -> None:
    assert len(breaches([Source("kmc/cli/nobody.py", "")])) == 1


def test_an_exempt_room_may_use_the_word_until_it_is_clean() -> None:
    ban = Ban(r"\bcrown\b", "x", until=("kmc/engine/",))
    used = Source("kmc/engine/x.py", "crown()\n")
    assert breaches([used], [ban]) == stale_exemptions([used], [ban]) == []
    assert len(breaches([Source("kmc/cli/x.py", "crown()\n")], [ban])) == 1
    assert len(stale_exemptions([Source("kmc/engine/x.py", "")], [ban])) == 1


def test_a_ban_holds_only_where_it_is_meant() -> None:
    ban = Ban(r"\bpromised\b", "x", only=("kmc/engine/",))
    assert breaches([Source("specs/x.py", "promised\n")], [ban]) == []
    assert len(breaches([Source("kmc/engine/x.py", "promised\n")], [ban])) == 1
