"""The register of error codes is complete: each code is raised, has one meaning, and stands on the page.

docs/error_codes.toml holds the meanings; `make docs` writes docs/errors.md from it and from the sources.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from support.pages.error_sites import CODE, Site, Unknown, sites_of
from support.pages.errors import PAGE, REGISTER, exit_status, meanings_of, page, sites_by_code
from support.source_tree import Source, sources

# A code of one meaning that several files raise; a code that is not here belongs to one file.
SEVERAL_FILES = {
    "KMC003": "nesting in a text, and definitions that need each other",
    "KMC007": "a module in itself, by EXTENDS and by INSTANCE",
    "KMC010": "an instance that is not meant, and one that is missing before a '!'",
    "KMC012": "an operator with other parameters, as an argument and as what is substituted",
    "KMC024": "ways that a formula is true that kmc does not count, and a level that TLC reads before it searches",
    "KMC103": "a file that is imported as a whole, by a star or by its name",
    "KMC118": "a name of Python, called or only named",
    "KMC166": "a declaration that lacks its meaning: a constant, an abstraction",
    "KMC273": "an abstraction that gives no state, seen in its kind or in its value",
    "KMC123": "a name that may have no value yet, and a value too late for the function that reads it",
    "KMC125": "a name that is taken: by a field, by another file, by the language",
    "KMC140": "a set whose order would matter: written, or what a helper gives",
    "KMC152": "an annotation without a finite domain, seen in its text or in its value",
    "KMC161": "an imported spec, whose first declaration may be a constant or not",
    "KMC186": "a recursion, direct or through other helpers",
    "KMC194": "an import, which is looked up in three places",
    "KMC201": "a value outside of a domain, when it is stored and where its kind alone shows it",
    "KMC203": "a sequence that is too long, when it is appended to and when it is stored",
    "KMC206": "what a network does not hold, when it is stored and where its kind alone shows it",
    "KMC212": "a field that a record does not have, read and set",
    "KMC226": "a key that a map does not have, when it is looked up and where its kind alone shows it",
    "KMC230": "values that cannot be unpacked, as Python and as a sequence sees it",
    "KMC242": "a name without a value yet, when its line runs and as the base of a record that is made",
    "KMC246": "values without an order: records, sequences and what Python compares",
    "KMC248": "a call that does not fit the kinds of its values, likewise",
    "KMC249": "a condition that is not a Bool, when it is evaluated and where its kind alone shows it",
    "KMC251": "a successor that is not a state, likewise",
    "KMC261": "a property that does not return a Bool, likewise",
    "KMC271": "a spec without an initial state, in Python and in TLA+",
    "KMC272": "an initial state that is not a state, likewise",
    "KMC302": "a text that is not in the form of a model file: a token, a value",
    "KMC304": "sections of a model, in a .cfg file and in a manifest",
    "KMC306": "the assignment of a constant, in a .cfg file and behind --set",
    "KMC308": "a collection: in a .cfg file, in a manifest, made in code",
    "KMC310": "a name listed twice, in a .cfg file and in a manifest",
    "KMC322": "a name or a value of the wrong form: in a table of any file, of a model, of a claim",
    "KMC351": "an assumption, of a spec in Python and of a TLA+ module",
    "KMC420": "a trace that cannot be read, or is not there, where its name is nearly that of one or not",
    "KMC422": "the shape of a trace, in each format",
    "KMC423": "a value of a trace, in each format",
    "KMC428": "a property that is to be replayed and is not there, of a spec in Python or of a module",
    "KMC429": "a trace of other variables, replayed by a spec in Python or by a module",
    "KMC503": "a file of results, written by four commands",
    "KMC671": "a condition of the explorer, in kmc's language and in TLA+",
    "KMC803": "a network inside of a value, at its field or seen by the layout",
    "KMC921": "compiled code against the interpreter, in a check and in a single step",
}


def unreadable(found: Iterable[Source]) -> list[str]:
    """Codes in a form that `support.pages.error_sites` does not know, so that the register would miss them."""
    return [
        f"{site.path}:{site.line}: {site.code} is raised in an unknown form: support/pages/error_sites.py must read it"
        for source in found
        for site in sites_of(source)
        if isinstance(site, Unknown)
    ]


def unregistered(meanings: Mapping[str, str], sites: Mapping[str, list[Site]]) -> list[str]:
    """Codes that are raised and not registered, or registered and not raised."""
    missing = [f"{sites[code][0].path}: add the meaning of {code} to docs/error_codes.toml" for code in sites]
    stale = [f"docs/error_codes.toml: nothing raises {code}" for code in meanings if code not in sites]
    return [text for text, code in zip(missing, sites, strict=True) if code not in meanings] + stale


def shared_meanings(meanings: Mapping[str, str]) -> list[str]:
    """Codes with the same meaning, so that one of them is superfluous."""
    texts = list(meanings.values())
    return [code for code, text in meanings.items() if texts.count(text) > 1]


def several_meanings(sites: Mapping[str, list[Site]], several_files: Iterable[str]) -> list[str]:
    """Codes that are raised with different exit statuses, or in several files without a reason why they are one."""
    found = []
    for code, places in sites.items():
        paths = sorted({place.path for place in places})
        if len({exit_status(place.kind) for place in places}) > 1:
            found.append(f"{code} has several exit statuses: {', '.join(paths)}")
        if (len(paths) > 1) != (code in several_files):
            found.append(
                f"{code} is raised in {', '.join(paths)}: give each meaning its own code, or see SEVERAL_FILES"
            )
    return found


@pytest.mark.slow
def test_every_error_is_read() -> None:
    assert unreadable(sources("kmc", "distributed")) == []


def test_every_code_is_registered_and_raised() -> None:
    assert unregistered(meanings_of(REGISTER), sites_by_code()) == []


def test_every_meaning_is_a_sentence_of_its_own() -> None:
    meanings = meanings_of(REGISTER)
    assert shared_meanings(meanings) == []
    assert [code for code, text in meanings.items() if not re.fullmatch(r"[A-Z`].*\.", text)] == []


def test_every_code_has_one_meaning() -> None:
    assert several_meanings(sites_by_code(), SEVERAL_FILES) == []


def test_the_register_is_sorted() -> None:
    codes = list(meanings_of(REGISTER))
    assert codes == sorted(codes)
    assert [code for code in codes if not CODE.fullmatch(code)] == []


def test_the_page_is_what_make_docs_writes() -> None:
    written = page(meanings_of(REGISTER), sites_by_code())
    assert PAGE.read_text(encoding="utf-8") == written, "docs/errors.md is out of date: run `make docs`"


def sites_in(path: str, text: str) -> dict[str, list[Site]]:
    """The places of one made-up source, by code."""
    found: dict[str, list[Site]] = {}
    for site in sites_of(Source(path, text)):
        assert isinstance(site, Site)
        found.setdefault(site.code, []).append(site)
    return found


def test_a_code_in_an_unknown_form_is_found() -> None:
    assert len(unreadable([Source("kmc/x.py", 'complain("KMC101")\n')])) == 1


def test_a_code_that_is_not_registered_is_found() -> None:
    sites = sites_in("kmc/x.py", 'raise SpecError("KMC101", "no")\n')
    assert len(unregistered({}, sites)) == 1
    assert len(unregistered({"KMC101": "One.", "KMC102": "Two."}, sites)) == 1
    assert unregistered({"KMC101": "One."}, sites) == []


def test_two_codes_of_one_meaning_are_found() -> None:
    assert shared_meanings({"KMC101": "One.", "KMC102": "One.", "KMC103": "Two."}) == ["KMC101", "KMC102"]


def test_a_code_of_two_meanings_is_found() -> None:
    one = sites_in("kmc/x.py", 'raise SystemFault("KMC541", "these bytes")\n')["KMC541"]
    other = sites_in("kmc/y.py", 'raise SystemFault("KMC541", "a run ended")\n')["KMC541"]
    assert len(several_meanings({"KMC541": [*one, *other]}, ())) == 1
    assert several_meanings({"KMC541": [*one, *other]}, ("KMC541",)) == []
    assert len(several_meanings({"KMC541": one}, ("KMC541",))) == 1


def test_a_code_of_two_exit_statuses_is_found() -> None:
    text = 'raise SystemFault("KMC541", "a")\nraise CommandLineError("KMC541", "b")\n'
    assert len(several_meanings(sites_in("kmc/x.py", text), ())) == 1


def test_a_code_cannot_be_registered_twice(tmp_path: Path) -> None:
    register = tmp_path / "codes.toml"
    register.write_text('KMC101 = "One."\nKMC101 = "Two."\n')
    with pytest.raises(tomllib.TOMLDecodeError):
        meanings_of(register)


TEXTS = """
HELP = "see the page"

def advice(flag):
    return "write x" if flag else f"write {flag.name}"

def check(self, node, value):
    raise SpecError("KMC101", f"{value} is wrong: {shown(value)}", None, advice(value))
    message = "one" + " text"
    self._refuse(node, "KMC102", message, HELP)
    place.refuse("of a trace", "the format", "KMC423")
    self.fail("KMC911", "of the IR")
    raise EvaluationError("KMC201", "with help", help=did_you_mean("x", "y"))
"""


def test_texts_are_read_from_the_source() -> None:
    found = {code: (site.messages, site.helps) for code, (site,) in sites_in("kmc/x.py", TEXTS).items()}
    assert found == {
        "KMC101": (("{value} is wrong: {...}",), ("write x", "write {name}")),
        "KMC102": (("one text",), ("see the page",)),
        "KMC423": (("of a trace",), ("the format",)),
        "KMC911": (("of the IR",), ()),
        "KMC201": (("with help",), ("did you mean '...'?",)),
    }


@pytest.mark.slow
def test_the_page_shows_meaning_text_and_help() -> None:
    text = page({"KMC101": "It is wrong."}, sites_in("kmc/x.py", TEXTS))
    assert "### KMC101\n\nIt is wrong.\n\n- `{value} is wrong: {...}`\n  → `write x`, or `write {name}`\n" in text
