"""Loading a spec package: check it, rewrite its literals, execute it once for one model, collect its declarations.

A package is a folder of `.py` files (or one file); all of them belong to the spec and import each other
relatively, as do the files beside the folder that they import. An import hook executes them under a fresh package name,
with only the built-in functions of the language. `sys.path` is not used, because there a spec's `types.py` would hide
Python's.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import itertools
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from kmc.actions.abstraction import Abstraction
from kmc.actions.action import Action
from kmc.errors import EvaluationError, KmcError, ModelError, SpecError, did_you_mean
from kmc.frontend.modules import is_shared
from kmc.frontend.placeholders import placeholder_shares
from kmc.frontend.process_columns import check_columns
from kmc.frontend.refined_fairness import with_fairness
from kmc.frontend.refined_specs import owners_of
from kmc.frontend.refinement import completed
from kmc.frontend.rewrite import INJECTED, rewritten
from kmc.frontend.sources import Source, read_sources, spec_doc
from kmc.invariants.properties import View
from kmc.lang.alike_shapes import tell_apart
from kmc.lang.constants import Constant, ConstantTable, Share, constants_of
from kmc.lang.errors.blame import blamed
from kmc.lang.meanings import BUILTINS
from kmc.lang.records import Record
from kmc.lang.types import MessageBagType, MessageSetType, RecordMeta, shapes_of
from kmc.liveness.formulas import Specification
from kmc.model_files.model_file import Assignment, same_name_model_value
from kmc.spec.declare import Declarations, Declared, declarations, declared_in
from kmc.spec.variables import VariableTable, checked_table, default_table

_NUMBERS = itertools.count()
_PREFIX = "kmc_loaded_"
_ATTEMPTS_FOR_A_MISTAKE = 4
_FOLDER = "@"
"""The package of the spec's folder within the fresh package, which represents the folder around it."""


@dataclass(frozen=True, slots=True)
class Spec:
    """A spec executed with the constants of one model.

    `properties` holds by name invariants, action properties, reachable properties, constraints, action constraints,
    views, symmetry sets and temporal properties; `source_digest` covers the meaning of the sources, not their comments
    or layout. `columns` are the variables of each process that views of a trace show: title to variable. `majorities`
    are functions that define a majority. `other_actions` are not part of Next; formulas count them after `actions`.
    `abstractions` are applied to every state that it yields (`abstracted`); a spec that was just loaded has none.
    `modules` are the names in each file: its module's name in the spec (`types`, `` for `__init__.py`, `/logs` for a
    shared file) to its namespace. `refined` are the specs that it refines, by the names that it has for them.
    """

    name: str
    root: Path
    files: frozenset[str]
    doc: str
    state_class: RecordMeta
    init: Any
    actions: tuple[Action, ...]
    other_actions: tuple[Action, ...]
    properties: Mapping[str, Declared]
    constants: Mapping[str, Constant]
    variables: VariableTable
    columns: Mapping[str, str]
    init_name: str
    next_name: str
    specification_names: tuple[str, ...]
    specifications: Mapping[str, Specification]
    majorities: tuple[Any, ...]
    source_digest: str
    modules: Mapping[str, Mapping[str, Any]]
    abstractions: tuple[Abstraction, ...] = ()
    refined: Mapping[str, Spec] = field(default_factory=dict)

    def abstracted(self, abstractions: tuple[Abstraction, ...]) -> Spec:
        """The spec whose initial states and successors are the images under `abstractions`, and no others."""
        actions, others = (
            tuple(replace(action, abstractions=abstractions) for action in group)
            for group in (self.actions, self.other_actions)
        )
        return replace(self, abstractions=abstractions, actions=actions, other_actions=others)


def load_spec(root: Path, assignments: Sequence[Assignment] = (), *, allow_missing: bool = False) -> Spec:
    """Load the spec package at `root` with constants given by `assignments`.

    Raises SpecError (exit 150) for a mistake in the spec and ModelError (exit 151) for a constant that is missing,
    unknown or outside its domain. With `allow_missing`, missing constants have placeholders with which the spec loads.
    That is enough to list its declarations, but not to check it.
    """
    sources = read_sources(root)
    given = {assignment.name: assignment for assignment in assignments}
    if not allow_missing:
        return _loaded(root, sources, given)
    failures: list[ModelError] = []
    for share in placeholder_shares():
        try:
            return _loaded(root, sources, given, share)
        except ModelError as failure:
            if failure.code != "KMC344":
                raise
            failures.append(failure)
            if len(failures) == _ATTEMPTS_FOR_A_MISTAKE and _is_mistake(failures):
                break
    raise _why_unloaded(failures)


def _loaded(
    root: Path, sources: Mapping[str, Source], given: Mapping[str, Assignment], share: Share | None = None
) -> Spec:
    """The spec with these constants; without `share`, which chooses placeholders, a missing one is an error."""
    files = frozenset(str(source.path) for source in sources.values())
    package = f"{_PREFIX}{next(_NUMBERS)}"
    owners = owners_of({name: source.module for name, source in sources.items()})
    with declarations() as declared, constants_of(given, share) as table, _importable(package, sources) as finder:
        finder.context = lambda name: _of_owner(owners[name], declared, table)
        error = _execute(package, sources, files)
        missing = [] if share is not None and error is None else table.missing
        _check_constants(missing, given, table.declared, error)
        if error is not None:
            raise error
        modules = {name: vars(sys.modules[_full_name(package, name)]) for name in sources}
    whole = _Executed(files, table.declared, sources, modules, owners)
    refined = {
        name: _assemble(_refined_root(root, name), name, inner, whole) for name, inner in declared.refined.items()
    }
    return _assemble(root, "", declared, whole, refined)


def _why_unloaded(failures: Sequence[ModelError]) -> KmcError:
    """The author's mistake if that is why all placeholders failed, else that values are missing."""
    causes = [failure.__cause__ for failure in failures if isinstance(failure.__cause__, KmcError)]
    if _is_mistake(failures):
        return causes[0]
    places = [_place(cause) for cause in causes]
    most_common = causes[places.index(max(places, key=places.count))]
    return failures[0].noting(f"with values that kmc tried: {most_common.message}")


def _is_mistake(failures: Sequence[ModelError]) -> bool:
    """Is it the same error at the same place, whatever the values are?"""
    return len({_place(failure.__cause__) for failure in failures}) == 1


def _place(error: BaseException | None) -> object:
    return (error.code, error.span) if isinstance(error, KmcError) else None


@dataclass(frozen=True, slots=True)
class _Executed:
    """The files of a package that was executed, with the spec that each belongs to, and their constants and names."""

    files: frozenset[str]
    constants: Mapping[str, Constant]
    sources: Mapping[str, Source]
    modules: Mapping[str, Mapping[str, Any]]
    owners: Mapping[str, str]

    def of(self, owner: str) -> dict[str, Source]:
        """The files of one spec."""
        return {name: source for name, source in self.sources.items() if self.owners[name] == owner}


@contextmanager
def _of_owner(owner: str, declared: Declarations, table: ConstantTable) -> Iterator[None]:
    """Let the body declare for the spec `owner`: a refined one, or '' for the spec itself."""
    with declared_in(declared, owner), table.declared_in(owner):
        yield


def _refined_root(root: Path, name: str) -> Path:
    """The folder or file of a spec beside the one at `root`."""
    path = (root if root.is_dir() else root.parent).resolve().parent.joinpath(*name.split("."))
    return path if path.is_dir() else path.with_name(f"{path.name}.py")


@contextmanager
def _importable(package: str, sources: Mapping[str, Source]) -> Iterator[_Finder]:
    finder = _Finder(package, sources)
    sys.meta_path.insert(0, finder)
    try:
        yield finder
    finally:
        sys.meta_path.remove(finder)
        for name in finder.names:
            sys.modules.pop(name, None)


class _Finder(MetaPathFinder, Loader):
    """Finds and executes the modules of one loaded package, each within its `context`."""

    def __init__(self, package: str, sources: Mapping[str, Source]) -> None:
        self._package = package
        self._by_full_name = {_full_name(package, name): source for name, source in sources.items()}
        self._packages = {package, f"{package}.{_FOLDER}"}
        for name in self._by_full_name:
            self._packages |= {name[:end] for end, sign in enumerate(name) if sign == "."}
        self._builtins = _restricted_builtins()
        self.context: Callable[[str], AbstractContextManager[None]] = lambda name: nullcontext()

    @property
    def names(self) -> Set[str]:
        """The full names of all modules that it can find."""
        return self._packages | self._by_full_name.keys()

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname != self._package and not fullname.startswith(self._package + "."):
            return None
        is_package = fullname in self._packages
        if fullname not in self._by_full_name and not is_package:
            return None
        return ModuleSpec(fullname, self, is_package=is_package)

    def exec_module(self, module: ModuleType) -> None:
        source = self._by_full_name.get(module.__name__)
        if source is None:
            return
        module.__dict__.update(INJECTED, __builtins__=self._builtins, __file__=str(source.path))
        with self.context(source.module.name):
            # Reason for exec: this is how an import hook runs a module; every frame keeps the author's file and lines.
            exec(_code(source), module.__dict__)


@lru_cache(maxsize=256)
def _code(source: Source) -> CodeType:
    """The code of a file, the same for every model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is an error of the language, or will be one when it runs
        tree = ast.parse(source.text, str(source.path))  # of its own: the rewrites change it
        code: CodeType = compile(rewritten(tree), str(source.path), "exec", dont_inherit=True)
    return code


def _restricted_builtins() -> dict[str, Any]:
    needed = ("__build_class__", "__import__", "AssertionError", "property", "classmethod")
    return {**BUILTINS, **{name: getattr(builtins, name) for name in needed}}


def _execute(package: str, sources: Mapping[str, Source], files: frozenset[str]) -> KmcError | None:
    """Import every module; the author's error if one fails."""
    for name in sources:
        try:
            importlib.import_module(_full_name(package, name))
        except ImportError as error:
            mistake = blamed(error, files)
            known = [f".{other}" for other in sources if other]
            return SpecError(
                "KMC194", _import_text(error, package), mistake.span, did_you_mean(f".{error.name}", known)
            )
        except Exception as error:
            mistake = blamed(error, files)
            if isinstance(mistake, EvaluationError):
                return SpecError(mistake.code, mistake.message, mistake.span, mistake.help, mistake.notes)
            return mistake
    return None


def _import_text(error: ImportError, package: str) -> str:
    own = f"{package}.{_FOLDER}"
    return str(error).replace(f"{own}.", ".").replace(own, "this spec").replace(f"{package}.", "..").split(" (")[0]


def _full_name(package: str, name: str) -> str:
    """The name under which a module is executed."""
    if is_shared(name):
        return f"{package}.{name[1:]}"
    return f"{package}.{_FOLDER}.{name}" if name else f"{package}.{_FOLDER}"


def _check_constants(
    missing: Sequence[str],
    given: Mapping[str, Assignment],
    declared: Mapping[str, Constant],
    error: KmcError | None,
) -> None:
    stray = [a for a in given.values() if a.name not in declared and not same_name_model_value(a)]
    unknown = stray if error is None else []
    if unknown:
        raise ModelError(
            "KMC343",
            f"the spec has no constant '{unknown[0].name}'",
            unknown[0].span,
            help=did_you_mean(unknown[0].name, declared),
        )
    if missing:
        lines = tuple(f"{name}: {declared[name].domain} - {declared[name].meaning}" for name in missing)
        raise ModelError(
            "KMC344",
            f"no value for constant{'s' * (len(missing) > 1)} {', '.join(missing)}",
            help=f"give one in a model file, or with --set {missing[0]}=...",
            notes=lines,
        ) from error


def _state_class(modules: Sequence[Mapping[str, Any]], root: Path) -> RecordMeta:
    files = {names["__name__"] for names in modules}
    for names in modules:
        cls = names.get("State")
        if isinstance(cls, RecordMeta) and issubclass(cls, Record) and cls.__module__ in files:
            return cls
    raise SpecError("KMC195", f"{root} declares no state", help="write class State(Record) with a field per variable")


def _assemble(
    root: Path, owner: str, declared: Declarations, whole: _Executed, refined: Mapping[str, Spec] | None = None
) -> Spec:
    """The spec at `root`: the one that was executed for its own sake, with owner '', or one that it refines."""
    sources = whole.of(owner)
    state_class = _state_class([whole.modules[name] for name in sources], root)
    if declared.init is None:
        raise SpecError(
            "KMC196", f"{root} declares no initial states", help="write @spec.init def init(): yield State(...)"
        )
    actions = [_with_network(action, state_class) for action in declared.actions]
    if not any(action.in_next for action in actions):
        raise SpecError("KMC197", f"{root} declares no action", help="write @spec.action def name(st): yield ...")
    table = checked_table(declared.variables or default_table(state_class), state_class)
    check_columns(declared.columns, table, state_class, declared.columns_span)
    table = replace(table, naming=tell_apart(state_class, table.naming))
    meanings = (whole.sources if not owner else sources).values()
    digest = sha256("\n".join(source.meaning for source in meanings).encode()).hexdigest()[:16]
    for view in (p for p in declared.properties.values() if isinstance(p, View)):
        stray = sorted(view.dropped - set(state_class.fields))
        if stray:
            raise _stray_field(view, stray[0], state_class)
    return Spec(
        name=root.stem if root.is_file() else root.resolve().name,
        root=root,
        files=whole.files,
        doc=spec_doc(sources, lambda name: sources[name].module.tree),
        state_class=state_class,
        init=declared.init,
        actions=tuple(action for action in actions if action.in_next),
        other_actions=tuple(action for action in actions if not action.in_next),
        properties=with_fairness(completed(declared.properties, refined or {}), refined or {}),
        constants=whole.constants,
        variables=table,
        columns=dict(declared.columns),
        init_name=declared.init_name,
        next_name=declared.next_name,
        specification_names=tuple(dict.fromkeys((*declared.specification_names, *declared.specifications))),
        specifications=declared.specifications,
        majorities=tuple(declared.majorities),
        source_digest=digest,
        modules={name: whole.modules[name] for name in (whole.sources if not owner else sources)},
        refined=refined or {},
    )


def _stray_field(view: View, path: str, state_class: RecordMeta) -> SpecError:
    """The error of a view that drops something besides the fields of State."""
    if path.isidentifier():
        return SpecError("KMC198", f"State has no field '{path}'", view.span, did_you_mean(path, state_class.fields))
    advice = "a view drops fields of State: give what it drops one of its own, such as ctr: Map[Server, int]"
    return SpecError("KMC198", f"State has no field '{path}'", view.span, advice)


def _with_network(action: Action, state_class: RecordMeta) -> Action:
    if action.message is None:
        return action
    received: set[Any] = set(action.message.shapes)
    networks = {f: kind for f, kind in state_class.fields.items() if isinstance(kind, MessageSetType | MessageBagType)}
    holding = [name for name, kind in networks.items() if received & set(shapes_of(kind.messages))]
    name = action.network or next(iter([*holding, *networks]), None)
    if name in networks and name not in holding:
        message = f"{action.title} receives {action.message.__name__} from '{name}', which never holds it"
        advice = f'write network="{holding[0]}"' if holding else f"add {action.message.__name__} to its declaration"
        raise SpecError("KMC199", message, action.span, advice)
    if name not in networks:
        raise SpecError(
            "KMC199",
            f"{action.title} receives from '{name}', which is not a network of State",
            action.span,
            did_you_mean(str(name), networks),
        )
    return replace(action, network=name)
