"""Records and messages: immutable, compared and hashed by value, every field with a finite domain.

A record is a tuple whose first element is its class, so that equality and hashing run at C speed and records of
different classes are never equal, whatever their fields. A subclass has the fields of its base and its own: the
*shapes* of a record type are the class (unless `abstract=True`) and its subclasses, and a type annotation or a
receiving action that names the base means all of them.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeAlias, TypeVar

from kmc.errors import DomainError, EvaluationError, SpecError, did_you_mean
from kmc.lang.admission import Admit, admitter
from kmc.lang.naming import with_article
from kmc.lang.types import BoolType, EnumType, IdentType, RecordMeta, RecordType, Type, UnionType

_new: Callable[..., Any] = tuple.__new__
_namedtuple: Callable[..., type] = namedtuple  # mypy takes literal field names only


def _install_fields(cls: RecordMeta) -> None:
    plan: dict[str, tuple[int, type | None, Admit]] = {}
    readers = _readers(len(cls.fields) + 1)
    for position, (field, declared) in enumerate(cls.fields.items(), start=1):
        plan[field] = (position, _exact_class(declared), admitter(declared))
        type.__setattr__(cls, field, readers[position])
    type.__setattr__(cls, "_plan", plan)


@lru_cache(maxsize=256)
def _readers(elements: int) -> tuple[Any, ...]:
    """Descriptors that read the elements of any tuple of so many, past `__getitem__`, four times as fast as a property.

    A named tuple has such descriptors, which know nothing but their position. Its class is held until they are read:
    collected earlier, it would clear the dict that `vars` shows.
    """
    names = [f"_{position}" for position in range(elements)]
    reader_class = _namedtuple("_Readers", names, rename=True)
    return tuple([vars(reader_class)[name] for name in names])


def _exact_class(declared: Type) -> type | None:
    """The class whose instances are all in the domain. It admits most values with one comparison."""
    match declared:
        case BoolType():
            return bool
        case EnumType(cls) | IdentType(cls):
            return cls
        case RecordType(cls):
            return cls if cls.shapes == (cls,) else None
        case UnionType((IdentType(cls),), _) | UnionType((EnumType(cls),), _):
            return cls
        case _:
            return None


class Record(tuple[Any, ...], metaclass=RecordMeta, root=True):
    """Base of a spec's records.

    `Node(role=..., epoch=...)` makes one, with every field given by name; `node.set(epoch=2)` is a copy that differs
    in the named fields. Raises DomainError for a value outside its field's domain.
    """

    _plan: ClassVar[dict[str, tuple[int, type | None, Admit]]]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A field of a record whose class is a spec's; in the spec itself, `kmc.mypy_plugin` knows its type."""

    def __new__(cls, *positional: object, **given: Any) -> Self:
        if positional:
            raise EvaluationError(
                "KMC211", f"{cls.__name__} takes its fields by name", help=f"write {cls.__name__}({_usage(cls)})"
            )
        if cls.abstract:
            _refuse_abstract(cls)
        plan = cls._plan
        if len(given) != len(plan):
            _refuse_fields(cls, given)
        values: list[Any] = [cls]
        field = ""
        try:
            for field, (_, exact, admit) in plan.items():
                value = given[field]
                values.append(value if type(value) is exact else admit(value))
        except KeyError:
            _refuse_fields(cls, given)
        except DomainError as error:
            raise _naming(cls, field, error) from None
        record: Self = _new(cls, values)
        return record

    def set(self, **changes: Any) -> Self:
        """A copy with the named fields replaced; DomainError for a value outside its domain."""
        cls = type(self)
        plan = cls._plan
        values = list(tuple.__iter__(self))
        field = ""
        try:
            for field, value in changes.items():
                position, exact, admit = plan[field]
                values[position] = value if type(value) is exact else admit(value)
        except KeyError:
            _refuse_fields(cls, changes)
        except DomainError as error:
            raise _naming(cls, field, error) from None
        record: Self = _new(cls, values)
        return record

    def items(self) -> Iterator[tuple[str, Any]]:
        """Field names with their values, in the order of declaration."""
        return zip(type(self).fields, tuple.__getitem__(self, slice(1, None)), strict=True)

    def __iter__(self) -> NoReturn:
        _refuse_tuple(self)

    def __len__(self) -> NoReturn:
        _refuse_tuple(self)

    def __getitem__(self, key: object) -> NoReturn:
        _refuse_tuple(self)

    def __contains__(self, element: object) -> NoReturn:
        _refuse_tuple(self)

    def __add__(self, other: object) -> NoReturn:
        _refuse_tuple(self)

    def __mul__(self, other: object) -> NoReturn:
        _refuse_tuple(self)

    __rmul__ = __mul__

    def __lt__(self, other: object) -> NoReturn:
        raise EvaluationError(
            "KMC246", f"{type(self).__name__} records have no order", help="compare a field, or compare with == and !="
        )

    __le__ = __gt__ = __ge__ = __lt__

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{field}={value!r}' for field, value in self.items())})"

    def __class_getitem__(cls, item: object) -> NoReturn:
        raise SpecError("KMC150", f"the type {cls.__name__} takes nothing in brackets", help=f"write {cls.__name__}")

    @classmethod
    def _declare(cls, message: dict[str, str | None]) -> None:
        """Install the fields, and take the class options of a message; a plain record has none."""
        _install_fields(cls)
        if message:
            option = next(iter(message))
            advice = "source and dest name fields of a Message"
            raise SpecError("KMC133", f"record {cls.__name__} has no option '{option}'", help=advice)


_MISSING_END = (
    "a message that never has a {end} is a class M(Message, {end}=None); one that has none at times has "
    "{field}: Opt[TYPE], which is None (docs/language.md, Messages without a sender or a receiver)"
)


State: TypeAlias = Record
"""A state: the record of the class `State` that a spec declares."""


class Message(Record, root=True):
    """A record that travels: `class VoteRequest(Message, source="source", dest="dest")` names the two fields that
    hold its sender and its receiver; an end that messages of the class never have is None. Shapes of one message type
    derive from a common base and share its tag."""

    source_field: ClassVar[str | None]
    dest_field: ClassVar[str | None]

    @classmethod
    def _declare(cls, message: dict[str, str | None]) -> None:
        for end in ("source", "dest"):
            field = message.pop(end, getattr(cls, f"{end}_field", end))
            if field is not None and field not in cls.fields:
                message_text = f"message {cls.__name__} has no field '{field}' to name its {end}"
                written = f'class {cls.__name__}(Message, {end}="<field>")'
                raise SpecError(
                    "KMC134",
                    message_text,
                    help=f"declare {field}: TYPE, or write {written} if another field names it",
                    notes=(_MISSING_END.format(end=end, field=field),),
                )
            type.__setattr__(cls, f"{end}_field", field)
        cls.written_type = cls.tag
        super()._declare(message)


def _naming(cls: type[Record], field: str, error: DomainError) -> DomainError:
    """`error`, naming the field whose domain the value is outside of."""
    message = f"'{field}' of {cls.__name__}: {error.message}"
    return _helping(DomainError(error.code, message, error.span, error.help, error.notes))


_Error = TypeVar("_Error", bound=EvaluationError)


def _helping(error: _Error) -> _Error:
    """The error with its help below the traceback, for a record that a person makes in a Python session."""
    if error.help:
        error.add_note(f"  = help: {error.help}")
    return error


def _usage(cls: type[Record]) -> str:
    return ", ".join(f"{field}=..." for field in cls.fields)


def _refuse_tuple(record: Record) -> NoReturn:
    """Refuse to use a record as a tuple."""
    raise EvaluationError(
        "KMC215",
        f"{with_article(type(record).__name__)} is a record, not a collection",
        help=f"name a field: {', '.join(type(record).fields)}",
    )


def _no_field(name: str) -> property:
    """Hides a method of tuples: reading it fails like reading any unknown field."""

    def read(record: Record) -> NoReturn:
        raise AttributeError(name=name, obj=record)

    return property(read)


# Set afterwards, so that mypy does not treat a field of this name as an override.
for _name in ("count", "index"):
    type.__setattr__(Record, _name, _no_field(_name))


def _refuse_abstract(cls: type[Record]) -> NoReturn:
    names = ", ".join(shape.__name__ for shape in cls.shapes)
    raise _helping(EvaluationError("KMC213", f"{cls.__name__} is abstract", help=f"make one of its shapes: {names}"))


def _refuse_fields(cls: type[Record], given: dict[str, Any]) -> NoReturn:
    unknown = [field for field in given if field not in cls.fields]
    if unknown:
        advice = did_you_mean(unknown[0], cls.fields)
        raise _helping(EvaluationError("KMC212", f"{cls.__name__} has no field '{unknown[0]}'", help=advice))
    missing = [field for field in cls.fields if field not in given]
    advice = f"give every field: {cls.__name__}({_usage(cls)})"
    raise _helping(EvaluationError("KMC214", f"{cls.__name__} needs a value for '{missing[0]}'", help=advice))
