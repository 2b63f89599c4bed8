"""The section "Every word" of docs/language.md, from the table of words; `make docs` writes it."""

from __future__ import annotations

from pathlib import Path

from kmc.lang.words import WORDS, LanguageWord, WordKind

PAGE = Path(__file__).parents[3] / "docs" / "language.md"
BEGIN = "<!-- Written by `make docs` from kmc/lang/words.py; do not edit. -->\n"
END = "<!-- The end of what `make docs` writes. -->\n"
TITLES = {
    WordKind.BUILTIN: "Functions of Python",
    WordKind.FUNCTION: "Functions of `kmc.lang`",
    WordKind.METHOD: "Methods of values",
    WordKind.TYPE: "Types",
    WordKind.FORMULA: "Temporal formulas, from `kmc.spec`",
    WordKind.DECLARATION: "Declarations",
}
NAMES_OF_TYPES = ("bool", "int")
"""Words that only `isinstance` and errors name; a spec never calls them."""


def section() -> str:
    """The tables, one for each kind of word."""
    tables = []
    for kind, title in TITLES.items():
        rows = [_row(word) for word in WORDS if word.kind is kind and word.name not in NAMES_OF_TYPES]
        tables.append("\n".join([f"**{title}**", "", "| word | written | TLA+ |", "|---|---|---|", *rows, ""]))
    return "\n" + "\n".join(tables) + "\n"


def _row(word: LanguageWord) -> str:
    return f"| `{word.name}` | {code_cell(written_form(word))} | {code_cell(word.tla)} |"


def written_form(word: LanguageWord) -> str:
    """The form of a word in Python."""
    return word.usage.removeprefix("write ") or f"{word.name}(...)"


def code_cell(text: str) -> str:
    """The text as code in a cell of a table, where a bar or the end of a line would end the cell."""
    return f"<code>{'<br>'.join(map(_escaped, text.splitlines()))}</code>" if text else ""


def _escaped(line: str) -> str:
    shown = line.lstrip(" ")
    indent = "&nbsp;" * (len(line) - len(shown))
    return indent + shown.replace("|", "&#124;").replace("<", "&lt;").replace(">", "&gt;")


def page_with_section(page: str) -> str:
    """The page with its section as the table of words is now."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return before + BEGIN + section() + END + after


if __name__ == "__main__":
    PAGE.write_text(page_with_section(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
