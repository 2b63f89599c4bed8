"""mypy's view of a spec: `plugins = ["kmc.mypy_plugin"]` makes mypy read one as kmc does.

A spec's annotations are domains (`Int(0, MaxEpoch)`, `Seq[Entry, MaxLogLength]`, `Map[Server, Node]` with `Server` a
constant), its literals are immutable values, and the state is a parameter without annotation. mypy knows none of this.
`adapted_file` changes each spec in memory, after mypy has parsed it; the hooks below give types to the words of
`kmc.lang`, which `kmc/lang/__init__.pyi` declares.

Only mypy imports this package. mypy is not a dependency of kmc.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from uuid import uuid4

from mypy.nodes import MypyFile, TypeInfo
from mypy.plugin import (
    AnalyzeTypeContext,
    AttributeContext,
    DynamicClassDefContext,
    FunctionSigContext,
    MethodSigContext,
    Plugin,
    ReportConfigContext,
)
from mypy.types import FunctionLike, Type

from kmc.mypy_plugin.adapted_file import adapt
from kmc.mypy_plugin.identifier_types import identifier_type
from kmc.mypy_plugin.record_types import RECORD, Literals, constructor_signature, read_field, set_signature
from kmc.mypy_plugin.spec_files import may_be_spec
from kmc.mypy_plugin.words import FROZENSET, MAP, analyzed_word, is_word

_THIS_RUN = uuid4().hex


class KmcPlugin(Plugin):
    """The hooks; each is called with the full name of the item that mypy is analysing."""

    def get_additional_deps(self, file: MypyFile) -> list[tuple[int, str, int]]:
        """Adapt a spec that was just parsed, and name the modules that it then needs."""
        return adapt(file)

    def report_config_data(self, ctx: ReportConfigContext) -> str | None:
        """Keep specs out of mypy's cache: a file of which only an import changed is parsed anew, but not adapted."""
        return _THIS_RUN if may_be_spec(Path(ctx.path)) else None

    def get_type_analyze_hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        """Give a type to `Map[K, V]` and the other words with arguments."""
        return partial(analyzed_word, fullname=fullname) if is_word(fullname) else None

    def get_dynamic_class_hook(self, fullname: str) -> Callable[[DynamicClassDefContext], None] | None:
        """Make `Server = constant("Server", IdentSet(), "...")` a class."""
        return identifier_type if fullname in ("kmc.lang.constant", "kmc.lang.spawned") else None

    def get_function_signature_hook(self, fullname: str) -> Callable[[FunctionSigContext], FunctionLike] | None:
        """Let a network of a record be given as a literal."""
        literals = self._literals() if self._is_record(fullname) else None
        return None if literals is None else partial(constructor_signature, literals=literals)

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        """Let `record.set(...)` accept the fields of its record."""
        record, _, method = fullname.rpartition(".")
        literals = self._literals() if method == "set" and self._is_record(record) else None
        return None if literals is None else partial(set_signature, literals=literals)

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        """Let a field be read whose kind another field decides."""
        return read_field if self._is_record(fullname.rpartition(".")[0]) else None

    def _is_record(self, fullname: str) -> bool:
        info = self._class(fullname)
        return info is not None and info.has_base(RECORD)

    def _literals(self) -> Literals | None:
        classes = [self._class(name) for name in (FROZENSET, MAP, "builtins.int")]
        known = [info for info in classes if info is not None]
        return Literals(*known) if len(known) == len(classes) else None

    def _class(self, fullname: str) -> TypeInfo | None:
        symbol = self.lookup_fully_qualified(fullname)
        return symbol.node if symbol is not None and isinstance(symbol.node, TypeInfo) else None


def plugin(version: str) -> type[Plugin]:
    """The entry point that mypy calls."""
    return KmcPlugin
