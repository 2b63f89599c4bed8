"""The page of error codes: the register's meanings beside what the sources say; `make docs` writes it.

The register (docs/error_codes.toml) holds one sentence for each code. Everything else on the page (classes, exit
statuses, texts, help lines) is read from the sources, so it cannot be out of date.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from support.pages.error_sites import CLASS_OF_HUNDRED, Site, sites_of
from support.source_tree import ROOT, sources

import kmc.errors

REGISTER = ROOT / "docs" / "error_codes.toml"
PAGE = ROOT / "docs" / "errors.md"

HEAD = """# Error codes

*Written by `make docs` from [error_codes.toml](error_codes.toml) and the sources; do not edit.*

Every error of kmc has a code, and every code has one meaning. An error is shown with its place, its text and one line
of help. Below, each code has its meaning, then the texts that it is shown with, each with its help after an arrow.
In a text, `{name}` and `{...}` stand for what is known only at run time.

The exit status of the process follows from the class of the error. An error while an invariant, an action property or
a reachable property is evaluated has status 76 instead of 75, and a failed `assert` (KMC290) has status 14.
"""
TITLES = {
    "0": "Reading TLA+ modules",
    "1": "Loading a spec",
    "2": "Evaluating a spec",
    "3": "Model files, manifests and constants",
    "4": "Traces and corpora",
    "5": "The system",
    "6": "The command line",
    "7": "Temporal formulas",
    "8": "What the compiler refuses",
    "9": "Mistakes of kmc",
}


def meanings_of(register: Path) -> dict[str, str]:
    """The meaning of each code in a register; TOML refuses a code that stands in it twice."""
    return tomllib.loads(register.read_text(encoding="utf-8"))


def sites_by_code() -> dict[str, list[Site]]:
    """All places in kmc that raise a code, by code."""
    found: dict[str, list[Site]] = {}
    for source in sources("kmc", "distributed"):
        for site in sites_of(source):
            if isinstance(site, Site):
                found.setdefault(site.code, []).append(site)
    return found


def exit_status(kind: str) -> int:
    """The exit status of a class of `kmc.errors`."""
    return int(getattr(kmc.errors, kind).exit_status)


def _status(kind: str) -> str:
    """`SpecError`, exit status 150."""
    return f"`{kind}`, exit status {exit_status(kind)}"


def _code(text: str) -> str:
    """A text as code in Markdown, whatever backticks it has."""
    fence = "``" if "`" in text else "`"
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def _texts(sites: Iterable[Site]) -> Iterator[str]:
    """The lines of a code: its texts, and what each advises."""
    for site in sites:
        shown = [text for text in site.messages if text.strip(".")]
        if shown or site.helps:
            message = " or ".join(map(_code, shown)) or "(a text of another error)"
            yield f"- {message}" + (f"\n  → {', or '.join(map(_code, site.helps))}" if site.helps else "")


def _entry(code: str, meaning: str, sites: list[Site], usual: str) -> str:
    """One code of the page."""
    kinds = sorted({site.kind for site in sites if exit_status(site.kind) != exit_status(usual)})
    classes = f" ({', '.join(map(_status, kinds))})" if kinds else ""
    lines = dict.fromkeys(_texts(sites))
    return "\n".join([f"### {code}", "", f"{meaning}{classes}", *([""] if lines else []), *lines, ""])


def page(meanings: Mapping[str, str], sites: Mapping[str, list[Site]]) -> str:
    """The text of the page."""
    parts = [HEAD]
    for hundred, title in TITLES.items():
        usual = CLASS_OF_HUNDRED[hundred]
        parts.append(f"## {title} (KMC{hundred}xx)\n\nUsually {_status(usual)}.\n")
        parts += [
            _entry(code, meanings[code], sites.get(code, []), usual) for code in sorted(meanings) if code[3] == hundred
        ]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(meanings_of(REGISTER), sites_by_code()), encoding="utf-8")
