"""How a spec and a model are found: a shipped spec by name, a path, a model of the manifest or a `.cfg` file."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmc.errors import CommandLineError, ModelError
from kmc.frontend import shipped
from kmc.frontend.shipped import find_model, find_spec_root, manifest_of, shipped_folder, shipped_specs

ONE = '[models.only]\ndescription = "One"\n'
TWO = ONE + '[models.smoke]\ndescription = "Other"\n'


def folder_with(folder: Path, manifest: str | None) -> Path:
    """A spec's folder with this manifest, `spec.py` and `extra.cfg`."""
    for name, text in (("models.toml", manifest), ("spec.py", ""), ("extra.cfg", "CHECK_DEADLOCK FALSE\n")):
        if text is not None:
            (folder / name).write_text(text, encoding="utf-8")
    return folder


def name_of(root: Path, model: str | None) -> str | None:
    """The name of the model that is found."""
    found = find_model(root, model)
    return None if found is None else found.name


class TestSpecs:
    def test_shipped_specs_are_found_by_name_and_sorted(self) -> None:
        folder = shipped_folder()
        assert folder is not None
        assert find_spec_root("kraft") == folder / "kraft"
        assert list(shipped_specs()) == sorted(shipped_specs())
        assert "consensus" not in shipped_specs()  # which specs share, and is not one

    def test_an_installed_kmc_has_them_in_a_package_of_its_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shipped, "__file__", str(tmp_path / "kmc" / "spec" / "shipped.py"))
        assert (shipped_folder(), shipped_specs()) == (None, {})
        (tmp_path / "kmc_specs" / "small").mkdir(parents=True)
        folder_with(tmp_path / "kmc_specs" / "small", ONE)
        monkeypatch.syspath_prepend(tmp_path)
        assert shipped_specs() == {"small": tmp_path / "kmc_specs" / "small"}

    def test_a_folder_or_a_python_file_is_a_spec(self, tmp_path: Path) -> None:
        folder_with(tmp_path, None)
        assert find_spec_root(str(tmp_path)) == tmp_path
        assert find_spec_root(str(tmp_path / "spec.py")) == tmp_path / "spec.py"

    @pytest.mark.parametrize("name", ["extra.cfg", "missing", "missing.py"])
    def test_nothing_else_is(self, name: str, tmp_path: Path) -> None:
        folder_with(tmp_path, None)
        with pytest.raises(CommandLineError, match="there is no spec"):
            find_spec_root(str(tmp_path / name))

    def test_the_manifest_lies_beside_a_spec_of_one_file(self, tmp_path: Path) -> None:
        folder_with(tmp_path, ONE)
        for root in (tmp_path, tmp_path / "spec.py"):
            manifest = manifest_of(root)
            assert manifest is not None
            assert list(manifest.entries) == ["only"]

    def test_a_spec_may_have_no_manifest(self, tmp_path: Path) -> None:
        assert manifest_of(folder_with(tmp_path, None)) is None


class TestModels:
    @pytest.mark.parametrize(
        ("manifest", "model", "name"),
        [(None, None, None), (ONE, None, "only"), (TWO, None, "smoke"), (TWO, "only", "only"), (TWO, "smoke", "smoke")],
    )
    def test_without_a_name_it_is_smoke_or_the_only_one(
        self, manifest: str | None, model: str | None, name: str | None, tmp_path: Path
    ) -> None:
        root = folder_with(tmp_path, manifest)
        assert name_of(root, model) == name_of(root / "spec.py", model) == name

    @pytest.mark.parametrize("model", ["extra", "extra.cfg", "PATH/extra.cfg"])
    @pytest.mark.parametrize("root", ["", "spec.py"])
    def test_a_cfg_file_is_a_model_by_its_name_in_the_folder_or_by_its_path(
        self, model: str, root: str, tmp_path: Path
    ) -> None:
        found = find_model(folder_with(tmp_path, ONE) / root, model.replace("PATH", str(tmp_path)))
        assert found is not None
        assert (found.name, found.check_deadlock) == ("extra", False)

    @pytest.mark.parametrize(
        ("model", "code", "help"),
        [
            ("missing.cfg", "KMC348", "give a .cfg file, or the name of a model"),
            ("models/missing", "KMC348", "give a .cfg file, or the name of a model"),
            ("onli", "KMC349", "did you mean 'only'?"),
        ],
    )
    def test_a_model_that_is_not_there_is_refused(self, model: str, code: str, help: str, tmp_path: Path) -> None:
        with pytest.raises(ModelError) as caught:
            find_model(folder_with(tmp_path, ONE), model)
        assert (caught.value.code, caught.value.help) == (code, help)
