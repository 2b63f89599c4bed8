r"""TLC's `.cfg` model files, read strictly.

Invariant: everything in a file either becomes part of the ModelFile or is an error; nothing is skipped. The subset is
CONSTANT(S), SPECIFICATION or INIT and NEXT, INVARIANT(S), PROPERTY/PROPERTIES, CONSTRAINT(S), ACTION_CONSTRAINT(S),
SYMMETRY, VIEW and CHECK_DEADLOCK, with comments `\* ...` and nested `(* ... *)`; ABSTRACTION(S) are kmc's own. As in
TLC, layout is free and a list ends at the next keyword. Unlike in TLC, a word that is nearly a keyword is an error; TLC
reads it as one more name of the list. Whether the spec declares these names is checked elsewhere.

A constant of a Python spec may also be a sequence, a record or a function, and `X <- Y` gives it the value of a
definition of the spec. The file of a TLA+ module may replace definitions (`X <- Y`, `X <- [M] Y`, `X = [M] value`), and
have ALIAS and POSTCONDITION(S); a Python spec has nothing that these could mean. It may have `_PERIODIC` and
`_RL_REWARD`, which TLC reads in simulations only: their names must be defined, and mean nothing here.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Literal, TypeAlias

from kmc.errors import ModelError, did_you_mean
from kmc.model_files.model_file import (
    KEYWORDS,
    KEYWORDS_NOT_SUPPORTED,
    Assignment,
    ModelFile,
    Substitution,
    Word,
    behaviour_mistake,
    is_name,
    read_model_text,
)
from kmc.model_files.raw_values import render_raw
from kmc.model_files.tokens import Token, Tokens
from kmc.model_files.value_text import read_definition, read_value

# At this ratio one wrong, missing or swapped letter is a near miss, and so are two in a long keyword.
_NEAR_MISS_RATIO = 0.8

Section: TypeAlias = Literal[
    "constants",
    "specification",
    "init",
    "next",
    "invariants",
    "properties",
    "constraints",
    "action_constraints",
    "symmetry",
    "abstractions",
    "view",
    "check_deadlock",
    "verify_abstractions",
    "alias",
    "postconditions",
    "periodic",
    "rl_reward",
]

_SECTIONS: dict[str, Section] = {
    "CONSTANT": "constants",
    "CONSTANTS": "constants",
    "SPECIFICATION": "specification",
    "INIT": "init",
    "NEXT": "next",
    "INVARIANT": "invariants",
    "INVARIANTS": "invariants",
    "PROPERTY": "properties",
    "PROPERTIES": "properties",
    "CONSTRAINT": "constraints",
    "CONSTRAINTS": "constraints",
    "ACTION_CONSTRAINT": "action_constraints",
    "ACTION_CONSTRAINTS": "action_constraints",
    "SYMMETRY": "symmetry",
    "ABSTRACTION": "abstractions",
    "ABSTRACTIONS": "abstractions",
    "VIEW": "view",
    "CHECK_DEADLOCK": "check_deadlock",
    "VERIFY_ABSTRACTIONS": "verify_abstractions",
}
_MODULE_SECTIONS: dict[str, Section] = {
    **_SECTIONS,
    "ALIAS": "alias",
    "POSTCONDITION": "postconditions",
    "POSTCONDITIONS": "postconditions",
    "_PERIODIC": "periodic",
    "_RL_REWARD": "rl_reward",
}
_LISTS: tuple[Section, ...] = (
    "invariants",
    "properties",
    "constraints",
    "action_constraints",
    "symmetry",
    "abstractions",
    "postconditions",
)
_SEVERAL_TIMES = frozenset(("constants", *_LISTS))


@dataclass(slots=True)
class _Draft:
    """The words read so far: names per section, and the first keyword of each section."""

    constants: list[Assignment] = field(default_factory=list)
    substitutions: list[Substitution] = field(default_factory=list)
    words: dict[Section, list[Word]] = field(default_factory=dict)
    check_deadlock: bool | None = None
    verify_abstractions: bool = False
    keywords: dict[Section, Token] = field(default_factory=dict)

    def one(self, section: Section) -> Word | None:
        """The name in a section that holds one name at most."""
        words = self.words.get(section, [])
        return words[0] if words else None

    def many(self, section: Section) -> tuple[Word, ...]:
        """The names in a section that is a list."""
        return tuple(self.words.get(section, ()))


def read_cfg(path: Path, for_module: bool = False) -> ModelFile:
    """The model in this `.cfg` file; raises ModelError as `parse_cfg` does, and KMC301 when it cannot be read."""
    return parse_cfg(read_model_text(path), str(path), for_module)


def parse_cfg(text: str, path: str, for_module: bool = False) -> ModelFile:
    """The model that the text of a `.cfg` file describes; `path` names the file in spans.

    `for_module` says that the file belongs to a TLA+ module, and not to a spec in Python.

    Raises ModelError at the offending token: KMC302 for an unknown token, KMC303 for an unknown word, KMC304 for
    sections that exclude, need or repeat each other, KMC305 for a constant given twice, KMC306 for a constant without
    `=` or value, KMC308 for a bad collection, KMC309 for a section without a name, KMC310 for a
    name listed twice (once counts for a module), KMC311 for anything but TRUE or FALSE where one of them is needed.
    """
    tokens = Tokens(text, path, for_module)
    draft = _Draft()
    while tokens.peek().kind != "end":
        _read_section(tokens, draft)
    model = ModelFile(
        name=PurePath(path).stem,
        path=path,
        constants=tuple(draft.constants),
        specification=draft.one("specification"),
        init=draft.one("init"),
        next=draft.one("next"),
        invariants=draft.many("invariants"),
        properties=draft.many("properties"),
        constraints=draft.many("constraints"),
        action_constraints=draft.many("action_constraints"),
        symmetry=draft.many("symmetry"),
        abstractions=draft.many("abstractions"),
        view=draft.one("view"),
        check_deadlock=draft.check_deadlock,
        verify_abstractions=draft.verify_abstractions,
        substitutions=tuple(draft.substitutions),
        alias=draft.one("alias"),
        postconditions=draft.many("postconditions"),
        only_simulated=(*draft.many("periodic"), *draft.many("rl_reward")),
    )
    mistake = behaviour_mistake(model)
    if mistake is not None:
        raise mistake
    return model


def _read_section(tokens: Tokens, draft: _Draft) -> None:
    keyword = tokens.take()
    sections = _sections(tokens)
    if keyword.kind != "name" or keyword.text not in sections:
        raise _unknown_word(keyword)
    section = sections[keyword.text]
    first = draft.keywords.setdefault(section, keyword)
    if section not in _SEVERAL_TIMES and first is not keyword:
        note = f"first in line {first.span.line}"
        raise ModelError("KMC304", f"{keyword.text} is given twice", keyword.span, "keep one of the two", (note,))
    match section:
        case "constants":
            _read_constants(tokens, keyword, draft)
        case "check_deadlock":
            draft.check_deadlock = _read_truth_value(tokens, keyword)
        case "verify_abstractions":
            draft.verify_abstractions = _read_truth_value(tokens, keyword)
        case "specification" | "init" | "next" | "view" | "alias" | "periodic" | "rl_reward":
            draft.words[section] = [_read_name(tokens, keyword)]
        case _:
            assert section in _LISTS, section
            _read_names(tokens, keyword, draft.words.setdefault(section, []))


def _sections(tokens: Tokens) -> dict[str, Section]:
    return _MODULE_SECTIONS if tokens.for_module else _SECTIONS


def _ends_section(tokens: Tokens) -> bool:
    token = tokens.peek()
    return token.kind == "end" or (token.kind == "name" and token.text in _sections(tokens))


def _unknown_word(token: Token) -> ModelError:
    if token.text in KEYWORDS_NOT_SUPPORTED:
        help_line = "remove the section; its content belongs in the spec"
        return ModelError("KMC303", f"TLC's keyword {token.text} is not supported", token.span, help_line)
    message = f"{token.shown()} stands where a keyword is needed"
    return ModelError("KMC303", message, token.span, did_you_mean(token.text, KEYWORDS))


def _refuse_near_keyword(token: Token) -> None:
    """Raise KMC303 for an all upper-case word that a person most likely meant as a keyword."""
    word = token.text
    if word in KEYWORDS_NOT_SUPPORTED:
        raise _unknown_word(token)
    near = difflib.get_close_matches(word, KEYWORDS, n=1, cutoff=_NEAR_MISS_RATIO) if word.isupper() else []
    if near and word not in KEYWORDS:
        help_line = f"did you mean '{near[0]}'? names this close to a keyword are refused"
        message = f"'{word}' is read as a name here, but it is nearly a keyword"
        raise ModelError("KMC303", message, token.span, help_line)


def _missing_name(tokens: Tokens, keyword: Token) -> ModelError:
    token = tokens.peek()
    if _ends_section(tokens):
        message = f"{keyword.text} is empty: {token.shown()} follows immediately"
        return ModelError("KMC309", message, keyword.span, "add a name, or remove the keyword")
    message = f"{token.shown()} stands where {keyword.text} needs a name"
    return ModelError("KMC309", message, token.span, "write a name that the spec defines")


def _read_name(tokens: Tokens, keyword: Token) -> Word:
    token = tokens.peek()
    if token.text in KEYWORDS_NOT_SUPPORTED:
        raise _unknown_word(token)
    if token.kind != "name" or not is_name(token.text):
        raise _missing_name(tokens, keyword)
    _refuse_near_keyword(token)
    tokens.take()
    return Word(token.text, token.span)


def _read_names(tokens: Tokens, keyword: Token, words: list[Word]) -> None:
    # TLC accepts a keyword without names, and a module's file may have all of them commented out.
    while not tokens.for_module or not _ends_section(tokens):
        word = _read_name(tokens, keyword)
        earlier = next((one for one in words if one.text == word.text), None)
        if earlier is None:
            words.append(word)
        elif not tokens.for_module:  # TLC accepts it, and a translation of PlusCal writes PROPERTY Termination above
            message = f"'{word.text}' is listed twice under {keyword.text}"
            note = f"first in line {earlier.span.line}"
            raise ModelError("KMC310", message, word.span, "list it once", (note,))
        if _ends_section(tokens):
            return


def _read_truth_value(tokens: Tokens, keyword: Token) -> bool:
    token = tokens.peek()
    if token.text not in ("TRUE", "FALSE"):
        found = "nothing" if _ends_section(tokens) else token.shown()
        span = keyword.span if _ends_section(tokens) else token.span
        message = f"{keyword.text} takes TRUE or FALSE, not {found}"
        raise ModelError("KMC311", message, span, f"write {keyword.text} TRUE or {keyword.text} FALSE")
    return tokens.take().text == "TRUE"


def _value_text(given: Assignment | Substitution) -> str:
    return f"<- {given.target.text}" if isinstance(given, Substitution) else render_raw(given.value)


def _read_constants(tokens: Tokens, keyword: Token, draft: _Draft) -> None:
    # As in `_read_names`.
    if not tokens.for_module and _ends_section(tokens):
        raise _missing_name(tokens, keyword)
    while not _ends_section(tokens):
        assignment = _read_assignment(tokens)
        given: list[Assignment | Substitution] = [*draft.constants, *draft.substitutions]
        known = [one for one in given if (one.name, one.module) == (assignment.name, assignment.module)]
        for earlier in known:
            if _value_text(earlier) != _value_text(assignment):
                message = f"the constant '{assignment.name}' is given twice"
                note = f"first in line {earlier.span.line}"
                raise ModelError("KMC305", message, assignment.span, "keep one of the two", (note,))
        if known:
            continue  # pcal.trans writes a line for defaultInitValue beside the one of the author
        if isinstance(assignment, Substitution):
            draft.substitutions.append(assignment)
        else:
            draft.constants.append(assignment)


def _read_assignment(tokens: Tokens) -> Assignment | Substitution:
    name = tokens.take()
    if name.kind not in ("name", "operator") or name.text in ("TRUE", "FALSE"):
        message = f"{name.shown()} stands where the name of a constant is needed"
        raise ModelError("KMC306", message, name.span, "write NAME = VALUE for each constant")
    if tokens.take_mark("<-") is not None:
        return _read_substitution(tokens, name)
    equals = tokens.take_mark("=")
    if equals is None:
        raise _missing_equals(name, tokens.peek())
    if not is_name(name.text):
        raise ModelError("KMC306", f"'{name.text}' is a keyword of TLC", name.span, "rename the constant")
    module = _read_module(tokens) if tokens.for_module else ""
    return Assignment(name.text, read_value(tokens, name.text, equals), name.span, module)


def _read_substitution(tokens: Tokens, name: Token) -> Assignment | Substitution:
    """Read what follows `X <-`: of a spec in Python a definition of the spec, of a module one of the module."""
    if not tokens.for_module:
        return Assignment(name.text, read_definition(tokens, name.text), name.span)
    module = _read_module(tokens)
    target = tokens.take()
    if target.kind != "operator" and (target.kind != "name" or not is_name(target.text)):
        message = f"{target.shown()} stands where the definition that replaces '{name.text}' is needed"
        raise ModelError("KMC306", message, target.span, f"write {name.text} <- Definition")
    return Substitution(name.text, Word(target.text, target.span), name.span, module)


def _read_module(tokens: Tokens) -> str:
    """Read the module `[M]` whose definition is meant; empty if there is none."""
    opening = tokens.take_mark("[")
    if opening is None:
        return ""
    name = tokens.take()
    if name.kind != "name" or tokens.take_mark("]") is None:
        raise ModelError("KMC306", "this is not the name of a module in brackets", opening.span, "write [Module]")
    return name.text


def _missing_equals(name: Token, following: Token) -> ModelError:
    _refuse_near_keyword(name)
    near = difflib.get_close_matches(name.text.upper(), KEYWORDS, n=1, cutoff=_NEAR_MISS_RATIO)
    help_line = f"did you mean the keyword '{near[0]}'?" if near else f"write {name.text} = VALUE"
    return ModelError(
        "KMC306", f"the constant '{name.text}' has no '=': {following.shown()} follows", name.span, help_line
    )
