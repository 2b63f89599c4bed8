"""The pytest plugin: the models of a manifest as tests, and fixtures for assertions of one's own.

`pytest specs/` checks every model, finding and mutant of each `models.toml` below `specs/`, and compares the result
with what the manifest expects, violations included. Invariant: a manifest is collected only on request, by a path on
the command line or in `testpaths`, or by `--kmc`; and a `models.toml` that lies beside no spec of kmc is left alone.

Every pytest run in an environment with kmc loads this module, so it imports nothing but pytest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from kmc.api.check_result import CheckResult
    from kmc.api.loaded_spec import LoadedSpec
    from kmc.model_files.model_file import ModelFile

MANIFEST = "models.toml"

_Returned = TypeVar("_Returned")

_LOADED = pytest.StashKey[dict[str, Any]]()
_CHECKED = pytest.StashKey[dict[str, Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, all with the prefix `--kmc`."""
    group = parser.getgroup("kmc", "models of kmc specs as tests")
    group.addoption("--kmc", action="store_true", help="Collect the models of all kmc specs, not only of named paths.")
    group.addoption(
        "--kmc-max-states",
        metavar="N",
        type=int,
        help="Skip models that have more states by their manifest, unless one is named (default: as check --all).",
    )
    group.addoption("--kmc-engine", choices=["native", "python"], default="native", help="The engine of all checks.")
    group.addoption("--kmc-threads", metavar="N", type=int, help="Threads of a check (default: all, 1 under xdist).")
    group.addoption("--kmc-timeout", metavar="SECONDS", type=float, help="A check that takes longer fails.")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and the caches of this session."""
    config.addinivalue_line("markers", "kmc(kind): a model of a kmc spec; kind is 'model', 'finding' or 'mutant'")
    config.stash[_LOADED] = {}
    config.stash[_CHECKED] = {}


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A requested manifest beside a spec of kmc."""
    if file_path.name != MANIFEST or not _is_wanted(file_path, parent.config):
        return None
    collector: pytest.Collector = ManifestFile.from_parent(parent, path=file_path)
    return collector


@pytest.hookimpl(optionalhook=True)  # pytest 7 has no such hook, and must run too
def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """The folder of a spec is not a package of Python: its `__init__.py` is loaded by kmc, never imported."""
    manifest = path / MANIFEST
    if not manifest.is_file() or not _is_wanted(manifest, parent.config):
        return None
    folder: pytest.Collector = pytest.Dir.from_parent(parent, path=path)
    return folder


def _is_wanted(manifest: Path, config: pytest.Config) -> bool:
    return _is_asked_for(manifest, config) and _is_beside_a_spec(manifest)


def _is_asked_for(manifest: Path, config: pytest.Config) -> bool:
    """Whether a path names the manifest or a folder around it; the working directory counts as no path."""
    if config.getoption("--kmc"):
        return True
    here = config.invocation_params.dir
    named = [(here / str(word).partition("::")[0]).resolve() for word in config.args]
    return any(path != here.resolve() and manifest.resolve().is_relative_to(path) for path in named)


def _is_beside_a_spec(manifest: Path) -> bool:
    """Whether a file of Python in the folder uses the language of kmc."""
    return any(
        words in source
        for path in sorted(manifest.parent.glob("*.py"))
        for source in [path.read_text(encoding="utf-8", errors="replace")]
        for words in ("from kmc.spec import", "from kmc.lang import")
    )


class ManifestFile(pytest.File):
    """The models, findings and mutants of a manifest."""

    def collect(self) -> Iterator[ModelTest]:
        """A test for each; CollectError for a manifest with a mistake."""
        from kmc.errors import KmcError
        from kmc.model_files.manifest import read_manifest

        try:
            manifest = read_manifest(self.path)
        except KmcError as error:
            raise self.CollectError(_error_text(error)) from None
        lines = self.path.read_text(encoding="utf-8").splitlines()
        for name, file in manifest.entries.items():
            test: ModelTest = ModelTest.from_parent(self, name=name)
            test.prepare(manifest.kind_of(name), file, _line_of(name, lines))
            yield test


def _line_of(name: str, lines: Sequence[str]) -> int:
    """The line at which the table of a model begins."""
    tables = {f"[{kind}.{name}]" for kind in ("models", "findings", "mutants")}
    return next((index for index, line in enumerate(lines) if line.strip() in tables), 0)


class ModelTest(pytest.Item):
    """The check of one model; it passes if the result is the one that the manifest expects."""

    def prepare(self, kind: str, file: ModelFile, line: int) -> None:
        """Mark it by its kind, and to be skipped if it is too large; `line` of the manifest, from 0, is its table."""
        self._line = line
        self.add_marker(pytest.mark.kmc(kind=kind))
        self.extra_keyword_matches.add(kind)
        from kmc.checking.selection import STATES_MAX, too_large

        most = self.config.getoption("--kmc-max-states")
        reason = too_large(file, STATES_MAX if most is None else most, "--kmc-max-states")
        if reason is not None and not self._is_named():
            self.add_marker(pytest.mark.skip(reason=reason))

    def _is_named(self) -> bool:
        return any(str(word).endswith(f"{MANIFEST}::{self.name}") for word in self.config.args)

    def runtest(self) -> None:
        """Check the model; a weakness of its result is a warning of pytest, and with `-W error` a failure.

        During the check, SIGTERM acts as Ctrl-C: the session ends with its reports, which it would not have otherwise.
        """
        from kmc.ending_signals import terminated_as_interrupted

        with terminated_as_interrupted():
            result = _check(self.config, str(self.path.parent), self.name, {})
        result.assert_expected()
        from kmc.errors import ModelWarning

        for text in result.warnings:
            self.warn(ModelWarning(f"{self.path.parent.name} {self.name}: {text}"))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The output of the check, without a traceback of kmc's."""
        from kmc.errors import KmcError, ModelWarning

        match excinfo.value:
            case KmcError() as error:
                return _error_text(error)
            case AssertionError() | ModelWarning() as error:
                return str(error)
            case _:
                return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The location of the test."""
        return self.path, self._line, f"{self.path.parent.name} {self.name}"


def _error_text(error: Any) -> str:
    from kmc.error_text import error_text

    return error_text(error)


@pytest.fixture
def kmc_spec(request: pytest.FixtureRequest) -> Callable[..., LoadedSpec]:
    """`kmc.load`, with paths from the folder of the test file; a spec is loaded once in a session.

    `spec = kmc_spec("../specs/election", Server=["a", "b"])`.
    """

    def load(spec: str | Path, model: str | None = None, **constants: Any) -> LoadedSpec:
        __tracebackhide__ = True
        import kmc

        path, known = _placed(spec, request.path.parent), request.config.stash[_LOADED]
        key = repr((path, model, sorted(constants.items())))
        if key not in known:
            known[key] = _briefly(lambda: kmc.load(path, model, **constants))
        loaded: LoadedSpec = known[key]
        return loaded

    return load


@pytest.fixture
def kmc_check(request: pytest.FixtureRequest) -> Callable[..., CheckResult]:
    """`kmc.check`, with paths from the folder of the test file, and engine and threads from the command line.

    A model is checked once in a session: `kmc_check("../specs/election", "fixed").assert_ok()`.
    """

    def check(spec: LoadedSpec | str | Path, model: str | None = None, **arguments: Any) -> CheckResult:
        __tracebackhide__ = True
        given = _placed(spec, request.path.parent) if isinstance(spec, str | Path) else spec
        return _briefly(lambda: _check(request.config, given, model, arguments))

    return check


def _briefly(call: Callable[[], _Returned]) -> _Returned:
    """The result of `call`; a KmcError leaves without the frames of kmc, so that a report ends at the line of a
    test.
    """
    __tracebackhide__ = True
    from kmc.errors import KmcError

    try:
        return call()
    except KmcError as error:
        raise error.with_traceback(None) from None


def _placed(spec: str | Path, folder: Path) -> str:
    """A path from the folder of a test, where there is one; else the name of a shipped spec, or a path from here."""
    path = folder / spec
    return str(path) if path.exists() else str(spec)


def _check(config: pytest.Config, spec: LoadedSpec | str, model: str | None, arguments: dict[str, Any]) -> CheckResult:
    """The result of a check with the options of the command line, from this session if it is there."""
    import kmc

    threads = config.getoption("--kmc-threads") or (1 if hasattr(config, "workerinput") else None)
    asked = {
        "engine": config.getoption("--kmc-engine"),
        "threads": threads,
        "timeout": config.getoption("--kmc-timeout"),
        **arguments,
    }
    known = config.stash[_CHECKED]
    key = repr((spec if isinstance(spec, str) else id(spec), model, sorted(asked.items())))
    if key not in known:
        # The spec stays with its result, so that no other can get its id.
        known[key] = (kmc.check(spec, model, **asked), spec)
    result: CheckResult = known[key][0]
    return result
