"""Claims of documents, and the models that are evidence for them.

A folder of specs lists the claims in `claims.toml`; a model, finding or mutant names the numbers of those that it is
evidence for (`claims` in `models.toml`). Its expected result decides which side it shows: that the claim holds, or that
the claim fails, as without the mechanism. A claim needs both sides; if it lacks one, `open` says which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kmc.errors import ModelError
from kmc.model_files.manifest import Manifest
from kmc.model_files.model_file import ModelFile, Word, read_model_text
from kmc.model_files.toml_tables import TomlTable, read_table
from kmc.result import Verdict

CLAIMS_NAME = "claims.toml"


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of a document: `title` in one sentence, `document` with the section, `without` the promise that fails
    otherwise.

    `condition` says where the claim fails, or which condition it needs that the document does not name; mostly empty.
    `open` says which side no model shows yet; it is empty for a claim that is shown from both sides.
    """

    number: int
    title: str
    document: str
    without: str
    open: str = ""
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A model, finding or mutant of a spec that names a claim; `kind` is one of these three words."""

    spec: str
    kind: str
    file: ModelFile

    @property
    def holds(self) -> bool:
        """Return whether nothing is expected to fail in the model."""
        return (self.file.expect or {}).get("result") in _HOLDS


_HOLDS = (Verdict.OK.value, Verdict.BOUND_REACHED.value)


@dataclass(frozen=True, slots=True)
class ShownClaim:
    """A claim with its evidence: the models in which it holds, and those in which a promise falls."""

    claim: Claim
    holds: tuple[Evidence, ...] = field(default=())
    falls: tuple[Evidence, ...] = field(default=())

    @property
    def has_both_sides(self) -> bool:
        """Return whether there is evidence on both sides."""
        return bool(self.holds) and bool(self.falls)


def read_claims(folder: Path) -> dict[int, Claim]:
    """Read the claims that a folder of specs lists, by number; none if it has no `claims.toml`.

    Raises ModelError: KMC301 when the file cannot be read, KMC320 to KMC323 for its mistakes.
    """
    path = folder / CLAIMS_NAME
    if not path.is_file():
        return {}
    root = read_table(read_model_text(path), str(path), CLAIMS_NAME)
    root.only(("claims",))
    return dict(_claims(root.table("claims", "'claims'")))


def _claims(tables: TomlTable) -> Iterator[tuple[int, Claim]]:
    for key in tables.data:
        if not key.isascii() or not key.isdigit() or key != str(int(key)) or key == "0":
            message = f"'{key}' cannot name a claim"
            raise tables.mistake("KMC322", message, "claims have numbers from 1, as in [claims.1]", key)
        table = tables.table(key, f"claim {key}")
        table.only(("title", "document", "without", "open", "condition"))
        for needed, example in (("title", "what the document says"), ("document", "page 7"), ("without", "...")):
            table.needs(needed, f'"{example}"')
        number = int(key)
        yield number, Claim(number, *map(table.text, ("title", "document", "without", "open", "condition")))


def shown_claims(claims: Mapping[int, Claim], manifests: Mapping[str, Manifest]) -> list[ShownClaim]:
    """Return each claim with its evidence, sorted by number; `manifests` are those of the specs by name.

    Raises ModelError KMC355 for a model that names a claim which is not listed.
    """
    evidence_of = [
        (word, Evidence(spec, kind, file))
        for spec, manifest in manifests.items()
        for kind, files in manifest.by_kind.items()
        for file in files.values()
        for word in file.claims
    ]
    for word, evidence in evidence_of:
        if int(word.text) not in claims:
            raise _unknown(word, evidence)
    return [
        ShownClaim(
            claims[number],
            tuple(e for word, e in evidence_of if int(word.text) == number and e.holds),
            tuple(e for word, e in evidence_of if int(word.text) == number and not e.holds),
        )
        for number in sorted(claims)
    ]


def _unknown(word: Word, evidence: Evidence) -> ModelError:
    message = f"{evidence.kind} '{evidence.file.name}' names claim {word.text}, which {CLAIMS_NAME} does not list"
    return ModelError("KMC355", message, word.span, f"list it in {CLAIMS_NAME} beside the folders of the specs")
