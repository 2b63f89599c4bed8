"""The wheel has everything that kmc needs, and an installed kmc takes nothing from the checkout."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands.installed_kmc import InstalledKmc
from support.pages.printed_commands import ROOT

PACKAGES = {"kmc": "kmc", "specs": "kmc_specs", "distributed/kmc_spark": "kmc_spark"}


def names_in_the_wheel(installed: InstalledKmc) -> set[str]:
    """The files of the wheel, but those about it."""
    with zipfile.ZipFile(installed.wheel) as wheel:
        return {name for name in wheel.namelist() if ".dist-info/" not in name}


def names_in_the_checkout() -> Iterator[str]:
    """The files that a wheel of the checkout should have."""
    for folder, package in PACKAGES.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and ".kmc" not in path.parts:
                yield f"{package}/{path.relative_to(ROOT / folder)}"


def test_the_wheel_has_every_file_of_the_packages_and_no_other(installed: InstalledKmc) -> None:
    assert names_in_the_wheel(installed) == set(names_in_the_checkout())


@pytest.mark.parametrize("kind", [".js", ".css", ".html", ".pyi", ".toml", ".txt", ".md", ".properties", "py.typed"])
def test_the_wheel_has_files_of_each_kind_that_is_not_python(kind: str, installed: InstalledKmc) -> None:
    assert any(name.endswith(kind) for name in names_in_the_wheel(installed))


@pytest.mark.parametrize("package", PACKAGES.values())
def test_a_package_comes_from_the_environment(package: str, installed: InstalledKmc, tmp_path: Path) -> None:
    program = f"import importlib.util as u; print(*u.find_spec('{package}').submodule_search_locations)"
    status, printed = installed.run(f'python -c "{program}"', tmp_path)
    assert (status, Path(printed.strip()).is_relative_to(installed.environment)) == (0, True)


def test_nothing_that_a_command_finds_leads_to_the_checkout(installed: InstalledKmc, tmp_path: Path) -> None:
    _, paths = installed.run('python -c "import sys; print(*sys.path, sep=chr(10))"', tmp_path)
    assert [path for path in paths.splitlines() if Path(path).is_relative_to(ROOT)] == []
    assert [value for value in installed.variables().values() if str(ROOT) in value] == []
