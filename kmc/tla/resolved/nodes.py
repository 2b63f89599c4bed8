r"""Nodes of resolved TLA+: expressions and formulas in which every name is bound.

Invariant: no node holds a name that has to be looked up. A reference is to an `OperatorDefinition`, a `NameBinding` or
a variable by its index. Instances are gone: their definitions are resolved anew, with what is substituted for their
constants and variables. Overrides of the `.cfg` file have been applied. Names in nodes are for people.

Nodes compare by identity, since the same text at two places is two nodes. Each has the place of its text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from kmc.errors import Span


@dataclass(frozen=True, slots=True, eq=False)
class NameBinding:
    r"""A name that a quantifier, CHOOSE, constructor, LAMBDA or parameter binds; also the `@` of an EXCEPT.

    `arity` is above 0 only for operator parameters, such as `F(_, _)`.
    """

    name: str
    place: Span
    arity: int = 0


@dataclass(slots=True, eq=False)
class OperatorDefinition:
    r"""An operator: of a module, of a LET, of an instance; or a constant with the value of the model.

    `name` is how a person writes it where the model is checked (`Inv`, `Voting!Inv`). `body` is None only while the
    definition is being resolved, and the bodies of `recursive` ones refer to themselves. `level` is 0 for constant
    expressions, 1 for those of a state, 2 for actions, 3 for temporal formulas; arguments may raise the level of an
    application. `comment` is the comment above the definition, without its delimiters.
    """

    name: str
    parameters: tuple[NameBinding, ...]
    body: Expression | None
    place: Span
    module: str
    level: int = 0
    recursive: bool = False
    is_local: bool = False
    """Whether it is a definition of a LET, whose body may use the bindings around it."""
    comment: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Node:
    """A node, at its place in a module."""

    place: Span


# Values


@dataclass(frozen=True, slots=True, eq=False)
class NumberExpr(Node):
    r"""A number: `3`, `\b101`."""

    value: int


@dataclass(frozen=True, slots=True, eq=False)
class StringExpr(Node):
    """A string, escapes decoded."""

    value: str


@dataclass(frozen=True, slots=True, eq=False)
class BooleanExpr(Node):
    """TRUE or FALSE."""

    value: bool


@dataclass(frozen=True, slots=True, eq=False)
class ModelValueExpr(Node):
    """A model value of the `.cfg` file: equal to itself and to nothing else."""

    name: str


# References


@dataclass(frozen=True, slots=True, eq=False)
class VariableExpr(Node):
    """A variable of the model; `index` counts `ResolvedModel.variables`."""

    name: str
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class BoundExpr(Node):
    """The value of a binding without parameters."""

    binding: NameBinding


@dataclass(frozen=True, slots=True, eq=False)
class ApplyExpr(Node):
    """A definition or an operator parameter, applied; without arguments where it has no parameters."""

    operator: OperatorDefinition | NameBinding
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BuiltinExpr(Node):
    r"""An operator of the language or of a standard module, applied.

    `operator` is its canonical spelling: `=`, `#`, `~`, `=>`, `<=>`, `\in`, `\notin`, `\subseteq`, `\union`,
    `\intersect`, `\`, `SUBSET`, `UNION`, `DOMAIN`, `+`, `-`, `-.` (negation), `*`, `\div`, `%`, `^`, `..`, `<`, `<=`,
    `>`, `>=`, `\o`, `Len`, `Append`, `Head`, `Tail`, `SubSeq`, `SelectSeq`, `Seq`, `IsFiniteSet`, `Cardinality`, `:>`,
    `@@`, `Assert`, `Print`, `PrintT`, `ToString`, `JavaTime`, `TLCGet`, `TLCEval`, `Permutations`, `SortSeq`, ... and
    the sets `Nat`, `Int`, `BOOLEAN`, `STRING`, without arguments. `module` is the standard module, "" for the language.
    """

    operator: str
    arguments: tuple[Argument, ...]
    module: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class OperatorReferenceExpr(Node):
    """An operator as an argument, not applied: a definition, an operator parameter, or a built-in by its spelling."""

    operator: OperatorDefinition | NameBinding | str


@dataclass(frozen=True, slots=True, eq=False)
class LambdaExpr(Node):
    """`LAMBDA x, y: body`, as an argument."""

    parameters: tuple[NameBinding, ...]
    body: Expression


# Logic


@dataclass(frozen=True, slots=True, eq=False)
class ConjunctionExpr(Node):
    r"""A list of `/\`, or a chain of infix `/\`, evaluated from the left."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DisjunctionExpr(Node):
    r"""A list of `\/`, or a chain of infix `\/`."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BoundRange(Node):
    r"""`x \in S`, or `<<x, y>> \in S` with `is_pattern`. `x, y \in S` is two ranges over one node of S."""

    bindings: tuple[NameBinding, ...]
    domain: Expression
    is_pattern: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class QuantifiedExpr(Node):
    r"""`\A` or `\E` over ranges."""

    kind: Literal["\\A", "\\E"]
    ranges: tuple[BoundRange, ...]
    body: Expression


@dataclass(frozen=True, slots=True, eq=False)
class UnboundedExpr(Node):
    r"""`\A x: body`, `\E x: body`, `\AA x: body`, `\EE x: body`: parsed, and refused where it would be evaluated."""

    kind: Literal["\\A", "\\E", "\\AA", "\\EE"]
    bindings: tuple[NameBinding, ...]
    body: Expression


@dataclass(frozen=True, slots=True, eq=False)
class ChooseExpr(Node):
    r"""`CHOOSE x \in S: body`, or `CHOOSE x: body` with neither range nor pattern (`unbounded` is then its binding)."""

    range: BoundRange | None
    unbounded: NameBinding | None
    body: Expression


@dataclass(frozen=True, slots=True, eq=False)
class IfExpr(Node):
    """IF condition THEN then ELSE otherwise."""

    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True, eq=False)
class CaseExpr(Node):
    """CASE with its arms in order, and OTHER or None."""

    arms: tuple[tuple[Expression, Expression], ...]
    other: Expression | None


@dataclass(frozen=True, slots=True, eq=False)
class LetExpr(Node):
    """LET definitions IN body. Definitions are lazy, and evaluated at most once in one evaluation of the LET."""

    definitions: tuple[OperatorDefinition, ...]
    body: Expression


# Sets, functions, records, tuples


@dataclass(frozen=True, slots=True, eq=False)
class SetEnumerationExpr(Node):
    """`{a, b, c}`."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SetFilterExpr(Node):
    r"""`{x \in S: condition}`."""

    range: BoundRange
    condition: Expression


@dataclass(frozen=True, slots=True, eq=False)
class SetMapExpr(Node):
    r"""`{body: x \in S, y \in T}`."""

    body: Expression
    ranges: tuple[BoundRange, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FunctionConstructorExpr(Node):
    r"""`[x \in S |-> body]`; with several ranges a function of tuples."""

    ranges: tuple[BoundRange, ...]
    body: Expression


@dataclass(frozen=True, slots=True, eq=False)
class RecursiveFunctionExpr(Node):
    r"""The body of `f[x \in S] == body` that reads `f`: `itself` is bound to the function."""

    itself: NameBinding
    ranges: tuple[BoundRange, ...]
    body: Expression


@dataclass(frozen=True, slots=True, eq=False)
class FunctionSetExpr(Node):
    """`[S -> T]`."""

    domain: Expression
    codomain: Expression


@dataclass(frozen=True, slots=True, eq=False)
class FunctionApplicationExpr(Node):
    """`f[e]`; `f[a, b]` has a tuple as its argument."""

    function: Expression
    argument: Expression


@dataclass(frozen=True, slots=True, eq=False)
class ExceptUpdate(Node):
    """`![a].field = value` of an EXCEPT: the path from the outside in (fields are strings), and the binding of `@`."""

    path: tuple[Expression, ...]
    value: Expression
    previous: NameBinding


@dataclass(frozen=True, slots=True, eq=False)
class ExceptExpr(Node):
    """`[function EXCEPT updates]`, applied in order."""

    function: Expression
    updates: tuple[ExceptUpdate, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RecordExpr(Node):
    """`[a |-> 1, b |-> 2]`."""

    fields: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True, eq=False)
class RecordSetExpr(Node):
    """`[a: S, b: T]`."""

    fields: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True, eq=False)
class FieldAccessExpr(Node):
    """`record.field`."""

    record: Expression
    field: str


@dataclass(frozen=True, slots=True, eq=False)
class TupleExpr(Node):
    """`<<a, b>>`."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ProductExpr(Node):
    r"""`S \X T \X U`, without parentheses between: triples, not pairs of a pair."""

    sets: tuple[Expression, ...]


# Actions and temporal formulas


@dataclass(frozen=True, slots=True, eq=False)
class PrimeExpr(Node):
    """`e'`: the expression in the next state."""

    body: Expression


@dataclass(frozen=True, slots=True, eq=False)
class UnchangedExpr(Node):
    """UNCHANGED e."""

    body: Expression


@dataclass(frozen=True, slots=True, eq=False)
class EnabledExpr(Node):
    """ENABLED A; `stand_ins` are the definitions that stand for variables of the instance in which it is written."""

    action: Expression
    stand_ins: tuple[OperatorDefinition, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class OwnVariableExpr(Node):
    """A variable of an instance below ENABLED: `current` is its value, and the variable `index` its next value."""

    name: str
    index: int
    current: Expression


@dataclass(frozen=True, slots=True, eq=False)
class BoxActionExpr(Node):
    """`[A]_v`."""

    action: Expression
    subscript: Expression


@dataclass(frozen=True, slots=True, eq=False)
class AngleActionExpr(Node):
    """`<<A>>_v`."""

    action: Expression
    subscript: Expression


@dataclass(frozen=True, slots=True, eq=False)
class AlwaysExpr(Node):
    """`[]F`."""

    body: Expression


@dataclass(frozen=True, slots=True, eq=False)
class EventuallyExpr(Node):
    """`<>F`."""

    body: Expression


@dataclass(frozen=True, slots=True, eq=False)
class LeadsToExpr(Node):
    """`F ~> G`."""

    premise: Expression
    conclusion: Expression


@dataclass(frozen=True, slots=True, eq=False)
class FairnessExpr(Node):
    """`WF_v(A)` or `SF_v(A)`; `stand_ins` as those of ENABLED."""

    kind: Literal["WF", "SF"]
    subscript: Expression
    action: Expression
    stand_ins: tuple[OperatorDefinition, ...] = ()


Expression: TypeAlias = (
    NumberExpr
    | StringExpr
    | BooleanExpr
    | ModelValueExpr
    | VariableExpr
    | BoundExpr
    | ApplyExpr
    | BuiltinExpr
    | ConjunctionExpr
    | DisjunctionExpr
    | QuantifiedExpr
    | UnboundedExpr
    | ChooseExpr
    | IfExpr
    | CaseExpr
    | LetExpr
    | SetEnumerationExpr
    | SetFilterExpr
    | SetMapExpr
    | FunctionConstructorExpr
    | RecursiveFunctionExpr
    | FunctionSetExpr
    | FunctionApplicationExpr
    | ExceptExpr
    | RecordExpr
    | RecordSetExpr
    | FieldAccessExpr
    | TupleExpr
    | ProductExpr
    | PrimeExpr
    | UnchangedExpr
    | EnabledExpr
    | OwnVariableExpr
    | BoxActionExpr
    | AngleActionExpr
    | AlwaysExpr
    | EventuallyExpr
    | LeadsToExpr
    | FairnessExpr
)
Argument: TypeAlias = Expression | OperatorReferenceExpr | LambdaExpr
