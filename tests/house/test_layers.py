"""Imports point only downwards, and each thing that belongs to one layer stays in it.

An import counts wherever it stands: inside a function and under TYPE_CHECKING too, since both tie the modules.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from graphlib import CycleError, TopologicalSorter

import pytest
from support.layers import RANK, Import, imports_of, layer_of
from support.source_tree import ROOT, Source, is_within, nodes_of, sources, tree_of

# The rooms of the large packages, lowest first. A package's own modules lie above its rooms unless OWN places them.
OWN = "the modules of the package itself"
ROOMS = {
    "kmc.lang": (OWN, "errors"),
    "kmc.frontend": ("modules", "checks"),  # modules: how the files of a spec are named
    "kmc.reference": ("states", "temporal", "conformance"),
    "kmc.compiler": ("ir", "values", "lowering", "checks", "symmetry", "successor", "passes"),
    "kmc.engine": ("native", "layout", "loops", "files", "stores", "checkpoint", "search", "behaviour_graph", "lassos"),
    "kmc.shards": ("files", "storage", "level", "executors", "graph"),
    "kmc.story": ("parts", "explain"),
    "kmc.tla": ("syntax", "resolved", "names", "values", "run", "temporal", "shapes", "translate"),
    "kmc.cli": ("options", "reports", "saved", "text", "running", "modules", "commands"),
}

# The only layers that may import these packages.
HOMES = {
    "click": ("kmc.cli",),
    "rich": ("kmc.cli",),
    "pyspark": ("kmc_spark",),
    "llvmlite": ("kmc.runtime", "kmc.engine"),
    # Only tests import it: they compare loops with what it makes of them.
    "numba": (),
    # Not kmc.reference: the oracle knows neither rows nor fingerprints.
    "kmc.runtime": ("kmc.runtime", "kmc.compiler", "kmc.engine", "kmc.shards", "kmc.tables", "kmc_spark"),
    "pyarrow": ("kmc.shards", "kmc.tables", "kmc_spark"),
    "duckdb": ("kmc.tables",),
    "mypy": ("kmc.mypy_plugin",),
    "starlette": ("kmc.explorer",),
    "uvicorn": ("kmc.explorer",),
}

# The modules of commands and of the API that may call what explains a trace, and import it when they run. What a check
# does is in the first two alone: each is inside of `kmc.unexplained.try_explaining`.
EXPLAINERS = {
    "kmc.checking.counterexample": "the boundary of checks and simulations",
    "kmc.checking.modules.module_counterexample": "the story of a module, drawn inside of the boundary of checks",
    "kmc.checking.modules.module_reasons": "names the type of an obstacle",
    "kmc.checking.modules.retaken_trace": "replays, and says why an action is not enabled inside of the boundary",
    "kmc.api.result_views": "the boundary of the API",
    "kmc.api.found_violation": "names the type of a story",
    "kmc.cli.commands.trace": "shows a view that is asked for, inside of the boundary",
    "kmc.cli.saved.traced_story": "tells what kmc.cli.commands.trace shows",
    "kmc.cli.commands.replay": "replays, which explains nothing, and says why inside of the boundary",
    "kmc.cli.saved.regression_file": "writes a test that is asked for",
    "kmc.cli.commands.eval": "writes a value that is asked for",
    "kmc.cli.commands.graph": "writes a graph that is asked for",
}

# The modules whose public words a spec is written in.
FACADES = ("kmc.lang", "kmc.spec")

# What `import kmc` gives is imported when it is used first; type checkers read it in the root under TYPE_CHECKING.
GIVEN_BY_THE_ROOT = ("kmc.api", "kmc.errors")

# What the shipped specs share; it imports none of them.
SHARED_BY_SPECS = "specs.consensus"

# Matched as whole words of an identifier or a string, so that `draft` and `skip` are free.
PROTOCOL_WORDS = frozenset({"kafka", "kraft", "raft", "kip"})
WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def modules_without_layer(source: Source) -> list[str]:
    """A module of kmc or distributed whose package is in no row of LAYERS."""
    layer = layer_of(source.module)
    return [] if layer in RANK else [source.at(1, f"{source.module} belongs to no layer")]


def lines_for_type_checkers(source: Source) -> frozenset[int]:
    """The lines that run for type checkers only."""
    return frozenset(
        line
        for node in tree_of(source).body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )


def upward_imports(source: Source) -> list[str]:
    """Imports of a higher layer, of another layer of the same row, or of one that does not exist."""
    free = lines_for_type_checkers(source) if source.path == "kmc/__init__.py" else frozenset()
    own = layer_of(source.module)
    breaches = []
    for item in imports_of(source):
        layer = layer_of(item.target)
        if layer is None or layer == own or (item.line in free and layer in GIVEN_BY_THE_ROOT):
            continue
        if layer not in RANK or RANK[layer] >= RANK.get(own or "", -1):
            breaches.append(source.at(item.line, f"{own} must not import {layer}"))
    return list(dict.fromkeys(breaches))  # once per import, however many names it takes


def room_of(dotted: str, package: str) -> int:
    """The rank of the room of `package` that a dotted path belongs to; own modules lie where OWN is, or above all."""
    room = dotted.removeprefix(package).lstrip(".").split(".")[0]
    rooms = ROOMS[package]
    own = rooms.index(OWN) if OWN in rooms else len(rooms)
    return rooms.index(room) if room in rooms else own


def imports_of_a_room_above(source: Source) -> list[str]:
    """Imports by a room of a large package of a room above it in the same package, or of the package's own modules."""
    package = layer_of(source.module) or ""
    if package not in ROOMS:
        return []
    own = room_of(source.module, package)
    breaches = [
        source.at(item.line, f"{source.module} must not import {item.target}: its room lies above")
        for item in imports_of(source)
        if is_within(item.target, package) and room_of(item.target, package) > own
    ]
    return list(dict.fromkeys(breaches))


def folders_without_room(source: Source) -> list[str]:
    """A folder of a large package that is not in its row of ROOMS."""
    package = layer_of(source.module) or ""
    folder = source.path.removeprefix(package.replace(".", "/") + "/").split("/")[:-1]
    known = package not in ROOMS or not folder or folder[0] in ROOMS[package]
    return [] if known else [source.at(1, f"{folder[0]} is not among the rooms of {package}")]


def modules_imported(found: Iterable[Source]) -> dict[str, set[str]]:
    """For each of these modules, those among them that it imports, wherever the import stands."""
    sources_found = tuple(found)
    modules = {source.module for source in sources_found}
    graph: dict[str, set[str]] = {}
    for source in sources_found:
        targets = {item.target if item.target in modules else item.module for item in imports_of(source)}
        graph[source.module] = (targets & modules) - {source.module}
    return graph


def circle_of_imports(found: Iterable[Source]) -> list[str]:
    """Modules that import each other in a circle, the first one last again; empty if there is none."""
    try:
        TopologicalSorter(modules_imported(found)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def packages_away_from_home(source: Source) -> list[str]:
    """Imports of a package by a module outside the layers that may use it."""
    return [
        source.at(item.line, f"{item.target} may be imported in {', '.join(homes)} only")
        for item in imports_of(source)
        for package, homes in HOMES.items()
        if is_within(item.target, package) and not any(is_within(source.module, home) for home in homes)
    ]


def explanations_outside_the_boundary(source: Source) -> list[str]:
    """Imports of `kmc.story` and `kmc.views` by modules of commands and of the API that are not among EXPLAINERS."""
    free = lines_for_type_checkers(source)
    return [
        source.at(item.line, f"{source.module} may not call {item.target}, which may fail: see kmc.unexplained")
        for item in imports_of(source)
        if (is_within(item.target, "kmc.story") or is_within(item.target, "kmc.views"))
        and item.line not in free
        and source.module not in EXPLAINERS
    ]


def shipped_specs() -> frozenset[str]:
    """The names of the spec packages in this checkout."""
    return frozenset(path.name for path in (ROOT / "specs").iterdir() if path.is_dir() and path.name[0] not in "._")


def protocol_imports(source: Source) -> list[str]:
    """Imports of a spec: kmc loads specs by name, it never imports one."""
    roots = {"specs", "kmc_specs", *shipped_specs()}
    return [
        source.at(item.line, f"kmc must not import the spec {item.target}")
        for item in imports_of(source)
        if not item.relative and item.module.split(".")[0] in roots
    ]


def _texts(source: Source) -> Iterator[tuple[int, str]]:
    """Every identifier and every string of a source but docstrings, with the line where it starts."""
    bare = {id(node.value) for node in nodes_of(source) if isinstance(node, ast.Expr)}
    for node in nodes_of(source):
        if isinstance(node, ast.Constant) and id(node) in bare:
            continue
        for _, value in ast.iter_fields(node):
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str):
                    yield getattr(node, "lineno", 1), text


def protocol_words(source: Source) -> list[str]:
    """Words of a protocol in identifiers, strings and the module's own name; prose may cite what it likes."""
    return [
        source.at(line, f"generic code names a protocol: {text!r}")
        for line, text in [(1, source.module), *_texts(source)]
        if PROTOCOL_WORDS & {word.lower() for word in WORD.findall(text)}
    ]


def public_words(module: str) -> frozenset[str]:
    """The names in `__all__` of a facade, read without importing it."""
    for source in sources(module.replace(".", "/")):
        for node in tree_of(source).body if source.module == module else []:
            match node:
                case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                    return frozenset(ast.literal_eval(value))
    return frozenset()


def _spec_may_import(item: Import, own_specs: list[str]) -> bool:
    """Whether a spec may import this: modules of these specs, shared ones, the facades' public words, `__future__`."""
    if item.relative:
        return any(is_within(item.target, each) for each in (*own_specs, SHARED_BY_SPECS))
    return item.module == "__future__" or (item.module in FACADES and item.name in public_words(item.module))


def imports_foreign_to_a_spec(source: Source) -> list[str]:
    """Imports of a spec that reach beyond the spec language, be it Python's library or kmc's insides."""
    own_spec = ".".join(source.module.split(".")[:2])
    refined = [f"specs.{name}" for name in re.findall(r'^@spec\.refines\("(\w+)"\)', source.text, re.MULTILINE)]
    return [
        source.at(item.line, f"a spec imports relative modules and the public words of {', '.join(FACADES)}: {item}")
        for item in imports_of(source)
        if not _spec_may_import(item, [own_spec, *refined])
    ]


def stray_prints(source: Source) -> list[str]:
    """Calls of print outside the command line."""
    if is_within(source.module, "kmc.cli"):
        return []
    return [
        source.at(node.lineno, "only kmc.cli prints")
        for node in nodes_of(source)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]


Rule = Callable[[Source], list[str]]


def breaches(rule: Rule, *folders: str, but: tuple[str, ...] = ()) -> list[str]:
    """What `rule` finds in every source of these folders, those under the prefixes `but` left out."""
    return [breach for source in sources(*folders) if not source.path.startswith(but) for breach in rule(source)]


def test_the_walk_finds_the_sources() -> None:
    assert {"kmc", "kmc.errors", "kmc.lang"} <= {source.module for source in sources("kmc")}


def test_every_module_belongs_to_a_layer() -> None:
    assert breaches(modules_without_layer, "kmc", "distributed") == []


def test_imports_point_downwards() -> None:
    assert breaches(upward_imports, "kmc", "distributed") == []


def test_imports_between_rooms_point_downwards() -> None:
    assert breaches(imports_of_a_room_above, "kmc") == []


def test_every_folder_of_a_large_package_is_a_room() -> None:
    assert breaches(folders_without_room, "kmc") == []


def test_what_explains_is_called_inside_its_boundary_only() -> None:
    assert breaches(explanations_outside_the_boundary, "kmc/checking", "kmc/cli", "kmc/api", "distributed") == []
    assert breaches(explanations_outside_the_boundary, "kmc/explorer") != []


@pytest.mark.slow
def test_no_modules_import_each_other_in_a_circle() -> None:
    # The root names for type checkers what it imports on first use, and other modules import its version.
    found = [source for source in sources("kmc", "distributed") if source.path != "kmc/__init__.py"]
    assert sum(map(len, modules_imported(found).values())) > len(found)
    assert circle_of_imports(found) == []


@pytest.mark.parametrize(
    "closing",
    ["from kmc.lang import a", "def f():\n    from kmc.lang.a import g", "if TYPE_CHECKING:\n    import kmc.lang.a"],
)
def test_a_circle_of_imports_is_found(closing: str) -> None:
    found = [
        Source("kmc/lang/a.py", "from kmc.lang.b import g"),
        Source("kmc/lang/b.py", "from . import c"),
        Source("kmc/lang/c.py", closing),
    ]
    assert set(circle_of_imports(found)) == {"kmc.lang.a", "kmc.lang.b", "kmc.lang.c"}
    assert circle_of_imports(found[:2]) == []


@pytest.mark.slow
def test_packages_are_imported_only_at_home() -> None:
    assert breaches(packages_away_from_home, "kmc", "distributed", "specs") == []


@pytest.mark.slow
def test_generic_code_imports_no_spec() -> None:
    assert breaches(protocol_imports, "kmc", "distributed") == []


@pytest.mark.slow
def test_generic_code_names_no_protocol() -> None:
    # The command line teaches with examples of the shipped specs, and the distribution is named after what it checks.
    assert breaches(protocol_words, "kmc", but=("kmc/cli/", "kmc/install_hint.py")) == []


def test_specs_import_only_the_spec_language() -> None:
    assert breaches(imports_foreign_to_a_spec, "specs") == []


def test_only_the_command_line_prints() -> None:
    assert breaches(stray_prints, "kmc", "distributed", "specs") == []


def test_the_folder_of_the_spark_driver_is_not_a_package() -> None:
    # `distributed` is the name of Dask's import package.
    assert not (ROOT / "distributed" / "__init__.py").exists()


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (modules_without_layer, "kmc/lnag/types.py", ""),
        (modules_without_layer, "distributed/cluster/driver.py", ""),
        (upward_imports, "kmc/lang/x.py", "import kmc.spec"),
        (upward_imports, "kmc/lang/x.py", "from kmc.spec import load, Spec"),
        (upward_imports, "kmc/lang/x.py", "from kmc import cli"),
        (upward_imports, "kmc/lang/x.py", "from ..spec import load"),
        (upward_imports, "kmc/lang/__init__.py", "from .. import spec"),
        (upward_imports, "kmc/lang/x.py", "def f():\n    from kmc.cli.main import main"),
        (upward_imports, "kmc/lang/x.py", "import importlib\nimportlib.import_module('kmc.trace')"),
        (upward_imports, "kmc/actions/x.py", "from kmc.liveness import fairness"),
        (upward_imports, "kmc/compiler/x.py", "from kmc.reference import search"),
        (upward_imports, "kmc/reference/x.py", "from kmc.compiler import view_order"),
        (upward_imports, "kmc/trace/x.py", "import kmc_spark.driver"),
        (upward_imports, "kmc/errors.py", "from kmc.lang import Record"),
        (upward_imports, "kmc/__init__.py", "from kmc.errors import KmcError"),
        (upward_imports, "kmc/__init__.py", "if TYPE_CHECKING:\n    from kmc.cli.main import main"),
        (upward_imports, "kmc/lang/x.py", "from kmc import check"),
        (upward_imports, "kmc/cli/x.py", "from kmc.api.checking import check"),
        (upward_imports, "kmc/api/x.py", "from kmc.cli.text.console import show"),
        (upward_imports, "kmc/checking/x.py", "from kmc.cli.text.console import show"),
        (upward_imports, "kmc/spec/x.py", "from kmc.lnag import Record"),
        (upward_imports, "distributed/kmc_spark/driver.py", "from kmc.cli import main"),
        (imports_of_a_room_above, "kmc/engine/loops/x.py", "from kmc.engine.search.worker import Worker"),
        (imports_of_a_room_above, "kmc/engine/loops/x.py", "from kmc.engine.search import worker"),
        (imports_of_a_room_above, "kmc/engine/search/x.py", "from kmc.engine.check_model import check_native"),
        (imports_of_a_room_above, "kmc/compiler/ir/x.py", "from kmc.compiler import model_kernels"),
        (imports_of_a_room_above, "kmc/cli/saved/x.py", "from kmc.cli.text.console import show"),
        (imports_of_a_room_above, "kmc/cli/commands/x.py", "from kmc.cli.main import main"),
        (folders_without_room, "kmc/engine/serach/x.py", ""),
        (packages_away_from_home, "kmc/trace/x.py", "import rich.table"),
        (packages_away_from_home, "kmc/climb.py", "import click"),
        (packages_away_from_home, "kmc/trace/x.py", "from llvmlite import ir"),
        (packages_away_from_home, "kmc/compiler/x.py", "import numba"),
        (packages_away_from_home, "kmc/compiler/x.py", "from llvmlite import binding"),
        (packages_away_from_home, "kmc/reference/x.py", "from kmc.runtime.codec import encode_row"),
        (packages_away_from_home, "kmc/cli/x.py", "from pyspark.sql import SparkSession"),
        (protocol_imports, "kmc/spec/x.py", "import kmc_specs.kraft"),
        (protocol_imports, "kmc/spec/x.py", "from specs.kraft import actions"),
        (protocol_words, "kmc/lang/x.py", "KRaftState = 1"),
        (protocol_words, "kmc/lang/x.py", "def read_kafka_log(): ..."),
        (protocol_words, "kmc/lang/x.py", "x = 'the kraft spec'"),
        (protocol_words, "kmc/lang/x.py", "x = f'{1} of kip_996'"),
        (protocol_words, "kmc/lang/x.py", "f(raft=1)"),
        (protocol_words, "kmc/lang/kraft.py", ""),
        (imports_foreign_to_a_spec, "specs/demo/actions.py", "import random"),
        (imports_foreign_to_a_spec, "specs/demo/actions.py", "from kmc.lang.records import Record"),
        (imports_foreign_to_a_spec, "specs/demo/actions.py", "from kmc.lang import records"),
        (imports_foreign_to_a_spec, "specs/demo/actions.py", "from kmc.reference import search"),
        (imports_foreign_to_a_spec, "specs/demo/actions.py", "from ..other import types"),
        (imports_foreign_to_a_spec, "specs/consensus/logs.py", "from ..demo import types"),
        (imports_foreign_to_a_spec, "specs/demo/actions.py", "from demo import types"),
        (
            imports_foreign_to_a_spec,
            "specs/demo/a.py",
            'from ..other import T\n@spec.refines("others")\ndef f(st): ...',
        ),
        (stray_prints, "kmc/trace/x.py", "def f():\n    print(1)"),
    ],
)
def test_a_breach_is_found(rule: Rule, path: str, text: str) -> None:
    assert len(rule(Source(path, text))) == 1


@pytest.mark.parametrize(
    ("rule", "path", "text"),
    [
        (modules_without_layer, "kmc/lang/types.py", ""),
        (upward_imports, "kmc/cli/main.py", "import click\nfrom kmc import __version__\nfrom kmc.trace import render"),
        (upward_imports, "kmc/lang/x.py", "import re\nfrom kmc.errors import Span\nfrom .types import Type"),
        (upward_imports, "kmc/__init__.py", "if TYPE_CHECKING:\n    from kmc.api.checking import check"),
        (imports_of_a_room_above, "kmc/engine/search/x.py", "from kmc.engine.loops.expand import work"),
        (imports_of_a_room_above, "kmc/engine/loops/x.py", "from kmc.engine.loops.pack import pack"),
        (imports_of_a_room_above, "kmc/engine/x.py", "from kmc.engine.search.worker import Worker"),
        (imports_of_a_room_above, "kmc/engine/loops/x.py", "from kmc.runtime.blocks import RowBatch"),
        (folders_without_room, "kmc/engine/x.py", ""),
        (packages_away_from_home, "kmc/cli/x.py", "import click\nfrom rich.table import Table"),
        (packages_away_from_home, "kmc/lang/x.py", "import clickhouse"),
        (protocol_imports, "kmc/spec/x.py", "from kmc.spec import specs\nfrom . import specs"),
        (protocol_words, "kmc/lang/x.py", '"""KRaft.tla."""\ndraft = skip = "craft"  # Kafka\n'),
        (imports_foreign_to_a_spec, "specs/demo/a/b.py", "from ...consensus.logs import last_epoch"),
        (imports_foreign_to_a_spec, "specs/demo/a/b.py", "from __future__ import annotations\nfrom ..types import T"),
        (imports_foreign_to_a_spec, "specs/demo/actions.py", "from kmc.lang import Record\nfrom . import types"),
        (
            imports_foreign_to_a_spec,
            "specs/demo/a.py",
            'from ..other.b import T\n@spec.refines("other")\ndef f(st): ...',
        ),
        (stray_prints, "kmc/cli/x.py", "print(1)"),
        (stray_prints, "kmc/lang/x.py", "log.print(1)"),
    ],
)
def test_what_is_allowed_is_not_a_breach(rule: Rule, path: str, text: str) -> None:
    assert rule(Source(path, text)) == []
