"""Every claim of the documents is shown from both sides, or says what is missing; and claims are read without slips."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmc.errors import ModelError
from kmc.frontend.shipped import manifest_of, shipped_folder, shipped_specs
from kmc.frontend.shown_claims import CLAIMS_NAME, ShownClaim, read_claims, shown_claims
from kmc.model_files.manifest import Manifest, parse_manifest

_CLAIM = '[claims.3]\ntitle = "t"\ndocument = "d"\nwithout = "w"\n'


def _shipped() -> list[ShownClaim]:
    folder = shipped_folder()
    assert folder is not None
    manifests = {name: manifest_of(root) for name, root in shipped_specs().items()}
    return shown_claims(read_claims(folder), {name: found for name, found in manifests.items() if found is not None})


@pytest.mark.slow
def test_the_twenty_claims_of_the_documents_are_listed() -> None:
    assert [shown.claim.number for shown in _shipped()] == list(range(1, 21))


@pytest.mark.parametrize("shown", _shipped(), ids=lambda shown: str(shown.claim.number))
def test_a_claim_without_both_sides_says_what_is_missing(shown: ShownClaim) -> None:
    assert shown.has_both_sides or shown.claim.open, "name the claim in a model that holds and in one that fails"


def _manifest(text: str) -> dict[str, Manifest]:
    return {"toy": parse_manifest(text, "models.toml")}


_MODEL = '[models.m]\ndescription = "d"\nclaims = [3]\n[models.m.expect]\norigin = "o"\nresult = "{}"\n'


@pytest.mark.parametrize(
    ("result", "holds"), [("ok", True), ("bound reached", True), ("violation", False), ("liveness", False)]
)
def test_the_expected_result_decides_the_side(tmp_path: Path, result: str, holds: bool) -> None:
    (tmp_path / CLAIMS_NAME).write_text(_CLAIM)
    (shown,) = shown_claims(read_claims(tmp_path), _manifest(_MODEL.format(result)))
    assert (bool(shown.holds), bool(shown.falls)) == (holds, not holds)
    assert not shown.has_both_sides


def test_a_model_that_names_an_unlisted_claim_is_an_error_at_its_place(tmp_path: Path) -> None:
    (tmp_path / CLAIMS_NAME).write_text(_CLAIM.replace("3", "4"))
    with pytest.raises(ModelError) as caught:
        shown_claims(read_claims(tmp_path), _manifest(_MODEL.format("ok")))
    assert (caught.value.code, caught.value.span and caught.value.span.line) == ("KMC355", 3)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[claims.x]\n", "KMC322"),
        ("[claims.0]\n", "KMC322"),
        ("[claims.03]\n", "KMC322"),
        ("[claim.3]\n", "KMC321"),
        (_CLAIM + 'opened = "o"\n', "KMC321"),
        ('[claims.3]\ntitle = "t"\ndocument = "d"\n', "KMC323"),
        (_CLAIM + "open = 3\n", "KMC322"),
        ("[claims", "KMC320"),
    ],
)
def test_a_slip_in_the_list_of_claims_is_an_error(tmp_path: Path, text: str, code: str) -> None:
    (tmp_path / CLAIMS_NAME).write_text(text)
    with pytest.raises(ModelError) as caught:
        read_claims(tmp_path)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("claims", "code"), [("[1, 1]", "KMC310"), ("[0]", "KMC322"), ('["1"]', "KMC322"), ("1", "KMC322")]
)
def test_a_slip_in_the_claims_of_a_model_is_an_error(claims: str, code: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_manifest(f'[models.m]\ndescription = "d"\nclaims = {claims}\n', "models.toml")
    assert caught.value.code == code
