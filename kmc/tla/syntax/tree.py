r"""The tree of a TLA+ module as it is written: names are texts, and parentheses are gone.

Invariant: two trees are equal if and only if their texts mean the same tokens in the same structure; places and
comments do not count. So `parse(print(tree)) == tree`. What the names mean is decided in `kmc.tla.names`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kmc.errors import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntaxNode:
    """A part of a module, at its place."""

    place: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NameSyntax(SyntaxNode):
    """A name where it is bound or declared."""

    text: str


@dataclass(frozen=True, slots=True)
class ParameterSyntax(SyntaxNode):
    r"""A parameter, a declared constant or a RECURSIVE name: `x`, `F(_, _)`, `_ \prec _`; arity 0 for values."""

    name: str
    arity: int = 0


# Values and references


@dataclass(frozen=True, slots=True)
class NumberSyntax(SyntaxNode):
    r"""`12`, `\b1100`."""

    value: int


@dataclass(frozen=True, slots=True)
class DecimalSyntax(SyntaxNode):
    """`1.5`, as written."""

    text: str


@dataclass(frozen=True, slots=True)
class StringSyntax(SyntaxNode):
    """A string, escapes decoded."""

    value: str


@dataclass(frozen=True, slots=True)
class BooleanSyntax(SyntaxNode):
    """TRUE or FALSE."""

    value: bool


@dataclass(frozen=True, slots=True)
class StepSyntax(SyntaxNode):
    """One part of a reference between `!` signs: a name or an operator, and its arguments or None.

    A step with `is_selector` chooses a part of an expression: `!2`, `!<<`, `!>>`, `!@`, `!:`, `!(a, b)`, the last with
    the name "".
    """

    name: str
    arguments: tuple[ArgumentSyntax, ...] | None = None
    is_selector: bool = False


@dataclass(frozen=True, slots=True)
class ReferenceSyntax(SyntaxNode):
    """A name, perhaps applied, perhaps of an instance: `x`, `F(a)`, `I!Op(a)`, `I(a)!J!x`, `Inv!2`."""

    steps: tuple[StepSyntax, ...]


@dataclass(frozen=True, slots=True)
class PreviousSyntax(SyntaxNode):
    """`@` in an EXCEPT."""


@dataclass(frozen=True, slots=True)
class OperatorSymbolSyntax(SyntaxNode):
    r"""An operator that is an argument: the `+` of `Fold(+, 0, s)`; a prefix minus is `-.`."""

    symbol: str


@dataclass(frozen=True, slots=True)
class LambdaSyntax(SyntaxNode):
    """`LAMBDA x, y: body`."""

    parameters: tuple[NameSyntax, ...]
    body: ExpressionSyntax


# Operators


@dataclass(frozen=True, slots=True)
class InfixSyntax(SyntaxNode):
    r"""`left operator right`; a chain of `/\` is nested to the left, and `\X` is a ProductSyntax."""

    operator: str
    left: ExpressionSyntax
    right: ExpressionSyntax
    operator_place: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PrefixSyntax(SyntaxNode):
    """`operator operand`; negation is `-.`."""

    operator: str
    operand: ExpressionSyntax


@dataclass(frozen=True, slots=True)
class PostfixSyntax(SyntaxNode):
    """`operand operator`, such as `x'`."""

    operator: str
    operand: ExpressionSyntax


@dataclass(frozen=True, slots=True)
class JunctionSyntax(SyntaxNode):
    r"""A list of aligned `/\` or `\/`."""

    operator: Literal["/\\", "\\/"]
    items: tuple[ExpressionSyntax, ...]


@dataclass(frozen=True, slots=True)
class ProductSyntax(SyntaxNode):
    r"""`S \X T \X U`, of at least two sets."""

    sets: tuple[ExpressionSyntax, ...]


# Binders


@dataclass(frozen=True, slots=True)
class BoundSyntax(SyntaxNode):
    r"""`x, y \in S`, or `<<x, y>> \in S` with `is_pattern`."""

    names: tuple[NameSyntax, ...]
    domain: ExpressionSyntax
    is_pattern: bool = False


@dataclass(frozen=True, slots=True)
class QuantifierSyntax(SyntaxNode):
    r"""`\A x \in S, y \in T: body`, or `\E`."""

    kind: Literal["\\A", "\\E"]
    bounds: tuple[BoundSyntax, ...]
    body: ExpressionSyntax


@dataclass(frozen=True, slots=True)
class UnboundedSyntax(SyntaxNode):
    r"""`\A x, y: body`, or `\E`, `\AA`, `\EE`."""

    kind: Literal["\\A", "\\E", "\\AA", "\\EE"]
    names: tuple[NameSyntax, ...]
    body: ExpressionSyntax


@dataclass(frozen=True, slots=True)
class ChooseSyntax(SyntaxNode):
    r"""`CHOOSE x \in S: body`, `CHOOSE <<x, y>> \in S: body`, `CHOOSE x: body`."""

    names: tuple[NameSyntax, ...]
    is_pattern: bool
    domain: ExpressionSyntax | None
    body: ExpressionSyntax


@dataclass(frozen=True, slots=True)
class SetFilterSyntax(SyntaxNode):
    r"""`{x \in S: condition}`."""

    bound: BoundSyntax
    condition: ExpressionSyntax


@dataclass(frozen=True, slots=True)
class SetMapSyntax(SyntaxNode):
    r"""`{body: x \in S, y \in T}`."""

    body: ExpressionSyntax
    bounds: tuple[BoundSyntax, ...]


@dataclass(frozen=True, slots=True)
class FunctionSyntax(SyntaxNode):
    r"""`[x \in S |-> body]`."""

    bounds: tuple[BoundSyntax, ...]
    body: ExpressionSyntax


# Branches and local definitions


@dataclass(frozen=True, slots=True)
class IfSyntax(SyntaxNode):
    """IF condition THEN then ELSE otherwise."""

    condition: ExpressionSyntax
    then: ExpressionSyntax
    otherwise: ExpressionSyntax


@dataclass(frozen=True, slots=True)
class CaseSyntax(SyntaxNode):
    """CASE with its arms, and OTHER or None."""

    arms: tuple[tuple[ExpressionSyntax, ExpressionSyntax], ...]
    other: ExpressionSyntax | None


@dataclass(frozen=True, slots=True)
class LetSyntax(SyntaxNode):
    """LET units IN body."""

    units: tuple[UnitSyntax, ...]
    body: ExpressionSyntax


@dataclass(frozen=True, slots=True)
class LabelSyntax(SyntaxNode):
    """`label:: body`, `label(x):: body`."""

    name: str
    parameters: tuple[NameSyntax, ...]
    body: ExpressionSyntax


# Sets, functions, records, tuples


@dataclass(frozen=True, slots=True)
class SetSyntax(SyntaxNode):
    """`{a, b}`."""

    items: tuple[ExpressionSyntax, ...]


@dataclass(frozen=True, slots=True)
class TupleSyntax(SyntaxNode):
    """`<<a, b>>`."""

    items: tuple[ExpressionSyntax, ...]


@dataclass(frozen=True, slots=True)
class FunctionSetSyntax(SyntaxNode):
    """`[S -> T]`."""

    domain: ExpressionSyntax
    codomain: ExpressionSyntax


@dataclass(frozen=True, slots=True)
class ApplicationSyntax(SyntaxNode):
    """`f[a, b]`."""

    function: ExpressionSyntax
    arguments: tuple[ExpressionSyntax, ...]


@dataclass(frozen=True, slots=True)
class RecordSyntax(SyntaxNode):
    """`[a |-> 1, b |-> 2]`."""

    fields: tuple[tuple[NameSyntax, ExpressionSyntax], ...]


@dataclass(frozen=True, slots=True)
class RecordSetSyntax(SyntaxNode):
    """`[a: S, b: T]`."""

    fields: tuple[tuple[NameSyntax, ExpressionSyntax], ...]


@dataclass(frozen=True, slots=True)
class FieldSyntax(SyntaxNode):
    """`record.name`."""

    record: ExpressionSyntax
    name: str


@dataclass(frozen=True, slots=True)
class UpdateSyntax(SyntaxNode):
    """`![a, b].field = value` in an EXCEPT: a path of fields and of arguments."""

    path: tuple[NameSyntax | tuple[ExpressionSyntax, ...], ...]
    value: ExpressionSyntax


@dataclass(frozen=True, slots=True)
class ExceptSyntax(SyntaxNode):
    """`[function EXCEPT updates]`."""

    function: ExpressionSyntax
    updates: tuple[UpdateSyntax, ...]


# Actions


@dataclass(frozen=True, slots=True)
class SubscriptedSyntax(SyntaxNode):
    """`[A]_v` or `<<A>>_v`."""

    kind: Literal["[", "<<"]
    action: ExpressionSyntax
    subscript: ExpressionSyntax


@dataclass(frozen=True, slots=True)
class FairnessSyntax(SyntaxNode):
    """`WF_v(A)` or `SF_v(A)`."""

    kind: Literal["WF", "SF"]
    subscript: ExpressionSyntax
    action: ExpressionSyntax


# Units


@dataclass(frozen=True, slots=True)
class DeclarationSyntax(SyntaxNode):
    """CONSTANT, VARIABLE or RECURSIVE with the names that it declares."""

    kind: Literal["CONSTANT", "VARIABLE", "RECURSIVE"]
    names: tuple[ParameterSyntax, ...]


@dataclass(frozen=True, slots=True)
class DefinitionSyntax(SyntaxNode):
    r"""`Op(x, F(_)) == body`, `a \prec b == body`; the place is that of the name, or of the operator's symbol."""

    name: str
    parameters: tuple[ParameterSyntax, ...]
    body: ExpressionSyntax
    is_local: bool = False
    comment: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class FunctionDefinitionSyntax(SyntaxNode):
    r"""`f[x \in S] == body`."""

    name: str
    bounds: tuple[BoundSyntax, ...]
    body: ExpressionSyntax
    is_local: bool = False
    comment: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class SubstitutionSyntax(SyntaxNode):
    """`name <- value` of an INSTANCE."""

    name: str
    value: ArgumentSyntax


@dataclass(frozen=True, slots=True)
class InstanceSyntax(SyntaxNode):
    """`INSTANCE M WITH ...`, or `I(x) == INSTANCE M WITH ...` with the name."""

    module: NameSyntax
    substitutions: tuple[SubstitutionSyntax, ...]
    name: str | None = None
    parameters: tuple[ParameterSyntax, ...] = ()
    is_local: bool = False


@dataclass(frozen=True, slots=True)
class AssumptionSyntax(SyntaxNode):
    """ASSUME or AXIOM, with a name or None."""

    name: str | None
    condition: ExpressionSyntax
    is_axiom: bool = False


@dataclass(frozen=True, slots=True)
class TheoremSyntax(SyntaxNode):
    """A THEOREM, its name or None, and the statement of one with a name, unless it is an ASSUME with a PROVE.

    Proofs are not read.
    """

    name: str | None
    statement: ExpressionSyntax | None = None


@dataclass(frozen=True, slots=True)
class ModuleSyntax(SyntaxNode):
    """A module, or one inside of another."""

    name: str
    extends: tuple[NameSyntax, ...]
    units: tuple[UnitSyntax, ...]


ExpressionSyntax: TypeAlias = (
    NumberSyntax
    | DecimalSyntax
    | StringSyntax
    | BooleanSyntax
    | ReferenceSyntax
    | PreviousSyntax
    | InfixSyntax
    | PrefixSyntax
    | PostfixSyntax
    | JunctionSyntax
    | ProductSyntax
    | QuantifierSyntax
    | UnboundedSyntax
    | ChooseSyntax
    | SetFilterSyntax
    | SetMapSyntax
    | FunctionSyntax
    | IfSyntax
    | CaseSyntax
    | LetSyntax
    | LabelSyntax
    | SetSyntax
    | TupleSyntax
    | FunctionSetSyntax
    | ApplicationSyntax
    | RecordSyntax
    | RecordSetSyntax
    | FieldSyntax
    | ExceptSyntax
    | SubscriptedSyntax
    | FairnessSyntax
)
ArgumentSyntax: TypeAlias = ExpressionSyntax | OperatorSymbolSyntax | LambdaSyntax
UnitSyntax: TypeAlias = (
    DeclarationSyntax
    | DefinitionSyntax
    | FunctionDefinitionSyntax
    | InstanceSyntax
    | AssumptionSyntax
    | TheoremSyntax
    | ModuleSyntax
)
