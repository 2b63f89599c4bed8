"""Names of the generated spec: those of the module where Python allows it, and unique ones elsewhere.

Sets of atoms that are constants of the model are enumerations of that name, or identifier types where the model
permutes them. All other atoms are members of one enumeration, `Atom`.
"""

from __future__ import annotations

import builtins
import keyword
import re
from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass, field

from kmc.lang.naming import snake_case
from kmc.lang.types import RESERVED_FIELDS
from kmc.lang.words import WORDS
from kmc.tla.resolved.search_level import LEVEL_VARIABLE
from kmc.tla.shapes.shape import Atom, AtomShape, MapShape, SequenceShape, SetShape, Shape, alternatives_of
from kmc.tla.translate import support
from kmc.tla.values.kinds import TlaModelValue

ATOM_CLASS = "Atom"
_OWN = ("st", "nxt", "spec", "State", ATOM_CLASS, "Record", "self", "title", "index", "members", "kmc_type")
_TAKEN = frozenset((*keyword.kwlist, *dir(builtins), *(word.name for word in WORDS), *_OWN, *support.NAMES))


def text_of_atom(atom: Atom) -> str:
    """Return the text of a string or the name of a model value."""
    return atom.name if isinstance(atom, TlaModelValue) else atom


def identifier(text: str) -> str:
    """Return a text as an identifier of Python that no word of the language has."""
    name = re.sub(r"\W", "_", text, flags=re.ASCII).strip("_") or "empty"
    if name[0].isdigit():
        name = f"n{name}"
    return f"{name}_" if name in _TAKEN else name


_NO_FIELDS = frozenset((*keyword.kwlist, *RESERVED_FIELDS))
_ESCAPED = "field_"


def field_name(text: str) -> str:
    """Return a field of a record, or a variable, as a name of Python: other fields have other names."""
    if not re.fullmatch(r"[A-Za-z]\w*", text, flags=re.ASCII) or text.startswith(_ESCAPED):
        return _ESCAPED + "".join(one if re.match("[A-Za-z0-9]", one) else f"_{ord(one):x}_" for one in text)
    return f"{text}_" if text.rstrip("_") in _NO_FIELDS else text


def unique(name: str, taken: Iterable[str]) -> str:
    """Return the name, with a number behind it where it is taken."""
    known, candidate, number = set(taken), name, 1
    while candidate in known:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def _atom_order(atom: Atom) -> tuple[bool, str]:
    return isinstance(atom, str), text_of_atom(atom)


@dataclass(slots=True)
class AtomGroup:
    """A set of atoms that is a type of the spec; `is_symmetric` where the model permutes it."""

    name: str
    atoms: tuple[Atom, ...]
    is_symmetric: bool = False


@dataclass(slots=True)
class NameTable:
    """The names of atoms, variables and locals; `groups` are the sets of atoms with a name, `others` the rest."""

    groups: list[AtomGroup] = field(default_factory=list)
    others: list[Atom] = field(default_factory=list)
    _members: dict[Atom, tuple[str, str]] = field(default_factory=dict)
    last_local: int = 0

    def add_group(self, group: AtomGroup) -> None:
        """Declare a type of atoms."""
        self.groups.append(group)
        for number, atom in enumerate(group.atoms, start=1):
            if group.is_symmetric:
                self._members[atom] = (group.name, f"{group.name}.at({number})")
            else:
                self._members[atom] = (group.name, f"{group.name}.{self._member(atom, group.name)}")

    def _member(self, atom: Atom, class_name: str) -> str:
        words = snake_case(identifier(text_of_atom(atom))).upper()
        taken = {source.rpartition(".")[2] for name, source in self._members.values() if name == class_name}
        return unique(words, taken)

    def class_of(self, atom: Atom) -> str:
        """Return the class that an atom is a member of."""
        return self._of(atom)[0]

    def source_of(self, atom: Atom) -> str:
        """Return the source of an atom."""
        return self._of(atom)[1]

    def _of(self, atom: Atom) -> tuple[str, str]:
        if atom not in self._members:
            self._members[atom] = (ATOM_CLASS, f"{ATOM_CLASS}.{self._member(atom, ATOM_CLASS)}")
            # Sorted, since they are met in an order that may differ from one process to the next.
            insort(self.others, atom, key=_atom_order)
        return self._members[atom]

    def group_of(self, atoms: frozenset[object]) -> AtomGroup | None:
        """Return the type that has exactly these members."""
        return next((group for group in self.groups if atoms == set(group.atoms)), None)

    def classes(self, shape: AtomShape) -> list[str]:
        """Return the classes of the atoms of a shape, sorted."""
        return sorted({self.class_of(atom) for atom in shape.atoms})

    def members_of(self, class_name: str) -> tuple[Atom, ...]:
        """Return the atoms of a class, in the order in which it declares them."""
        known = next((group.atoms for group in self.groups if group.name == class_name), None)
        return known if known is not None else tuple(self.others)

    def fresh(self, text: str) -> str:
        """Return a new name of a local."""
        self.last_local += 1
        return f"{snake_case(identifier(text))}_{self.last_local}"

    def restart_locals(self, last: int = 0) -> None:
        """Number locals from the one after `last` again: every function has its own."""
        self.last_local = last


def mixed_classes(names: NameTable, shape: Shape) -> list[str]:
    """Return the classes that are mixed in the elements of a set or in the keys of a function."""
    found: list[str] = []
    for plain in alternatives_of(shape):
        match plain:
            case SetShape(element=inside) | MapShape(key=inside):
                for atoms in alternatives_of(inside):
                    classes = names.classes(atoms) if isinstance(atoms, AtomShape) else []
                    found.extend(classes if len(classes) > 1 else [])
        match plain:
            case SetShape(element=part) | SequenceShape(element=part) | MapShape(value=part):
                found.extend(mixed_classes(names, part))
    return found


def variable_names(variables: Iterable[str]) -> tuple[str, ...]:
    """Return the fields of the variables: their names, unless Python or the language has these."""
    names: list[str] = []
    for variable in variables:
        field = "level" if variable == LEVEL_VARIABLE else field_name(variable)
        names.append(unique(field, names))
    return tuple(names)
