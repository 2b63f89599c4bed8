"""The fields of a spec's records and the members of its enumerations, as the files declare them."""

from __future__ import annotations

import ast
from typing import Any

from kmc.frontend.checks.names import Meaning, Names
from kmc.lang.tree import walk


class Fields:
    """The fields and members by class; duplicates in one class are refused (KMC125).

    So is a class whose base is declared below it (KMC242).
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self.all: frozenset[str] = frozenset()
        self.of_records: frozenset[str] = frozenset()
        fields: set[str] = set()
        annotated: set[str] = set()
        for module in names.modules:
            for node in names.declared(module).values():
                if isinstance(node, ast.ClassDef):
                    fields |= self._own(module, node)
                    annotated |= {ast.unparse(s.target) for s in node.body if isinstance(s, ast.AnnAssign)}
        self.all = frozenset(fields)
        self.of_records = frozenset(annotated)

    def of(self, cls: Meaning) -> list[str] | None:
        """The fields of a record class, inherited ones first; None for a class that is not a record."""
        if not isinstance(cls.node, ast.ClassDef):
            return [] if cls.is_ours and cls.name in ("Record", "Message") else None
        base = self._base(cls)
        inherited = None if base is None else self.of(base)
        own = [s.target.id for s in cls.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        return None if inherited is None else list(dict.fromkeys([*inherited, *own]))

    def is_abstract(self, cls: Meaning) -> bool:
        """Whether a record class is declared abstract."""
        return isinstance(cls.node, ast.ClassDef) and any(
            keyword.arg == "abstract" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
            for keyword in cls.node.keywords
        )

    def members(self, cls: Meaning) -> set[str]:
        """The members of an enumeration; empty for another class."""
        if not isinstance(cls.node, ast.ClassDef) or self.of(cls) is not None:
            return set()
        return self._own(cls.module, cls.node)

    def _base(self, cls: Meaning) -> Meaning | None:
        bases: list[Any] = cls.node.bases if isinstance(cls.node, ast.ClassDef) else []
        base = self._names.meaning(cls.module, bases[0].id) if bases and isinstance(bases[0], ast.Name) else None
        if base is not None and base.module == cls.module and base.node.lineno >= cls.node.lineno:
            # Classes that derive from each other have no first one.
            name, advice = bases[0].id, "move what declares it above this line"
            self._names.refuse(cls.module, bases[0], "KMC242", f"'{name}' has no value here yet", advice)
        return base

    def _own(self, module: str, node: ast.ClassDef) -> set[str]:
        own: set[str] = set()
        for statement in node.body:
            for target in walk(statement):
                if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                    if target.id in own:
                        message = f"'{target.id}' is declared twice in {node.name}"
                        self._names.refuse(module, target, "KMC125", message, "remove one of the two")
                    own.add(target.id)
        return own
