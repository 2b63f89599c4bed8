"""Drawn TLA+ trees: every kind of expression, with the operators of every precedence, and modules of them."""

from __future__ import annotations

from hypothesis import strategies as st

from kmc.errors import Span
from kmc.tla.syntax.operators import INFIX
from kmc.tla.syntax.tree import (
    ApplicationSyntax,
    ArgumentSyntax,
    AssumptionSyntax,
    BooleanSyntax,
    BoundSyntax,
    CaseSyntax,
    ChooseSyntax,
    DecimalSyntax,
    DeclarationSyntax,
    DefinitionSyntax,
    ExceptSyntax,
    ExpressionSyntax,
    FairnessSyntax,
    FieldSyntax,
    FunctionDefinitionSyntax,
    FunctionSetSyntax,
    FunctionSyntax,
    IfSyntax,
    InfixSyntax,
    InstanceSyntax,
    JunctionSyntax,
    LabelSyntax,
    LambdaSyntax,
    LetSyntax,
    ModuleSyntax,
    NameSyntax,
    NumberSyntax,
    OperatorSymbolSyntax,
    ParameterSyntax,
    PostfixSyntax,
    PrefixSyntax,
    PreviousSyntax,
    ProductSyntax,
    QuantifierSyntax,
    RecordSetSyntax,
    RecordSyntax,
    ReferenceSyntax,
    SetFilterSyntax,
    SetMapSyntax,
    SetSyntax,
    StepSyntax,
    StringSyntax,
    SubscriptedSyntax,
    SubstitutionSyntax,
    TheoremSyntax,
    TupleSyntax,
    UnboundedSyntax,
    UnitSyntax,
    UpdateSyntax,
)

AT = Span("drawn", 1)
NAMES = ("a", "b", "x1", "1y", "_z")
_INFIX = sorted(set(INFIX) - {"\\X"})
_ALL_SYMBOLS = (*_INFIX, "-.", "~", "[]", "SUBSET", "'", "^+")

names = st.sampled_from(NAMES).map(lambda text: NameSyntax(text, place=AT))
several_names = st.lists(names, min_size=1, max_size=2).map(tuple)
_words = st.sampled_from(NAMES)


def _values() -> st.SearchStrategy[ExpressionSyntax]:
    return st.one_of(
        st.integers(0, 99).map(lambda value: NumberSyntax(value, place=AT)),
        st.sampled_from(("1.5", "0.25")).map(lambda text: DecimalSyntax(text, place=AT)),
        st.text('a"\\\n\t (*', max_size=3).map(lambda text: StringSyntax(text, place=AT)),
        st.booleans().map(lambda truth: BooleanSyntax(truth, place=AT)),
        st.just(PreviousSyntax(place=AT)),
        _words.map(lambda text: ReferenceSyntax((StepSyntax(text, place=AT),), place=AT)),
    )


def _steps(inner: st.SearchStrategy[ExpressionSyntax]) -> st.SearchStrategy[ReferenceSyntax]:
    argument: st.SearchStrategy[ArgumentSyntax] = st.one_of(
        inner,
        st.sampled_from(_ALL_SYMBOLS).map(lambda symbol: OperatorSymbolSyntax(symbol, place=AT)),
        st.builds(lambda bound, body: LambdaSyntax(bound, body, place=AT), several_names, inner),
    )
    arguments = st.lists(argument, min_size=1, max_size=2).map(tuple)
    given = st.none() | arguments
    first = st.builds(lambda name, values: StepSyntax(name, values, place=AT), _words, given)
    operators = st.sampled_from(("+", "\\oplus", "!!", "..", "<="))
    later = st.one_of(
        first,
        st.builds(lambda name, values: StepSyntax(name, values, place=AT), operators, given),
        st.sampled_from(("1", "23", "<<", ">>", "@", ":")).map(
            lambda text: StepSyntax(text, None, is_selector=True, place=AT)
        ),
        arguments.map(lambda values: StepSyntax("", values, is_selector=True, place=AT)),
    )
    return st.builds(lambda one, rest: ReferenceSyntax((one, *rest), place=AT), first, st.lists(later, max_size=2))


def _bounds(inner: st.SearchStrategy[ExpressionSyntax]) -> st.SearchStrategy[BoundSyntax]:
    return st.builds(
        lambda bound, domain, is_pattern: BoundSyntax(bound, domain, is_pattern, place=AT),
        several_names,
        inner,
        st.booleans(),
    )


def _operations(inner: st.SearchStrategy[ExpressionSyntax]) -> list[st.SearchStrategy[ExpressionSyntax]]:
    prefixes = st.sampled_from(("~", "[]", "<>", "ENABLED", "UNCHANGED", "SUBSET", "UNION", "DOMAIN", "-."))
    return [
        st.builds(lambda name, a, b: InfixSyntax(name, a, b, AT, place=AT), st.sampled_from(_INFIX), inner, inner),
        st.builds(lambda name, a: PrefixSyntax(name, a, place=AT), prefixes, inner),
        st.builds(lambda name, a: PostfixSyntax(name, a, place=AT), st.sampled_from(("'", "^+", "^#")), inner),
        st.builds(
            lambda sign, items: JunctionSyntax(sign, tuple(items), place=AT),
            st.sampled_from(("/\\", "\\/")),
            st.lists(inner, min_size=1, max_size=3),
        ),
        st.lists(inner, min_size=2, max_size=3).map(lambda sets: ProductSyntax(tuple(sets), place=AT)),
        _steps(inner),
    ]


def _binders(inner: st.SearchStrategy[ExpressionSyntax]) -> list[st.SearchStrategy[ExpressionSyntax]]:
    bounds = st.lists(_bounds(inner), min_size=1, max_size=2).map(tuple)
    one = st.builds(lambda bound, domain: BoundSyntax((bound,), domain, place=AT), names, inner)
    pattern = st.builds(
        lambda bound, domain: BoundSyntax(bound, domain, is_pattern=True, place=AT), several_names, inner
    )
    kinds = st.sampled_from(("\\A", "\\E"))
    return [
        st.builds(lambda kind, bound, body: QuantifierSyntax(kind, bound, body, place=AT), kinds, bounds, inner),
        st.builds(
            lambda kind, bound, body: UnboundedSyntax(kind, bound, body, place=AT),
            st.sampled_from(("\\A", "\\EE")),
            several_names,
            inner,
        ),
        st.builds(lambda bound, domain, body: ChooseSyntax((bound,), False, domain, body, place=AT),
                  names, st.none() | inner, inner),
        st.builds(lambda bound, domain, body: ChooseSyntax(bound, True, domain, body, place=AT),
                  several_names, st.none() | inner, inner),
        st.builds(lambda bound, body: SetFilterSyntax(bound, body, place=AT), one | pattern, inner),
        st.builds(lambda body, bound: SetMapSyntax(body, bound, place=AT), inner, bounds),
        st.builds(lambda bound, body: FunctionSyntax(bound, body, place=AT), bounds, inner),
        st.builds(lambda name, bound, body: LabelSyntax(name, bound, body, place=AT), _words,
                  st.just(()) | several_names, inner),
    ]  # fmt: skip


def _collections(inner: st.SearchStrategy[ExpressionSyntax]) -> list[st.SearchStrategy[ExpressionSyntax]]:
    items = st.lists(inner, max_size=2).map(tuple)
    fields = st.lists(st.tuples(names, inner), min_size=1, max_size=2).map(tuple)
    part: st.SearchStrategy[NameSyntax | tuple[ExpressionSyntax, ...]] = names | st.lists(
        inner, min_size=1, max_size=2
    ).map(tuple)
    path = st.lists(part, min_size=1, max_size=2).map(tuple)
    updates = st.lists(st.builds(lambda where, value: UpdateSyntax(where, value, place=AT), path, inner), min_size=1,
                       max_size=2).map(tuple)  # fmt: skip
    return [
        items.map(lambda found: SetSyntax(found, place=AT)),
        items.map(lambda found: TupleSyntax(found, place=AT)),
        st.builds(lambda a, b: FunctionSetSyntax(a, b, place=AT), inner, inner),
        st.builds(lambda a, b: ApplicationSyntax(a, (b,), place=AT), inner, inner),
        fields.map(lambda found: RecordSyntax(found, place=AT)),
        fields.map(lambda found: RecordSetSyntax(found, place=AT)),
        st.builds(lambda record, name: FieldSyntax(record, name, place=AT), inner, st.sampled_from(("a", "b"))),
        st.builds(lambda function, found: ExceptSyntax(function, found, place=AT), inner, updates),
    ]


def _branches(inner: st.SearchStrategy[ExpressionSyntax]) -> list[st.SearchStrategy[ExpressionSyntax]]:
    arms = st.lists(st.tuples(inner, inner), min_size=1, max_size=2).map(tuple)
    signs, kinds = st.sampled_from(("[", "<<")), st.sampled_from(("WF", "SF"))
    return [
        st.builds(lambda a, b, c: IfSyntax(a, b, c, place=AT), inner, inner, inner),
        st.builds(lambda found, other: CaseSyntax(found, other, place=AT), arms, st.none() | inner),
        st.builds(
            lambda units, body: LetSyntax(tuple(units), body, place=AT),
            st.lists(definitions(inner, with_local=False), min_size=1, max_size=2),
            inner,
        ),
        st.builds(lambda sign, a, b: SubscriptedSyntax(sign, a, b, place=AT), signs, inner, inner),
        st.builds(lambda kind, a, b: FairnessSyntax(kind, a, b, place=AT), kinds, inner, inner),
    ]


def _parameters() -> st.SearchStrategy[ParameterSyntax]:
    return st.builds(lambda name, arity: ParameterSyntax(name, arity, place=AT), _words, st.integers(0, 2))


def definitions(inner: st.SearchStrategy[ExpressionSyntax], with_local: bool = True) -> st.SearchStrategy[UnitSyntax]:
    """Definitions, instances with a name and RECURSIVE declarations: what a LET may have."""
    is_local = st.booleans() if with_local else st.just(False)
    parameters = st.lists(_parameters(), max_size=2).map(tuple)
    plain = st.builds(lambda name: ParameterSyntax(name, place=AT), _words)
    bounds = st.lists(_bounds(inner), min_size=1, max_size=2).map(tuple)
    value = inner | st.sampled_from(_INFIX).map(lambda symbol: OperatorSymbolSyntax(symbol, place=AT))
    given = st.lists(st.builds(lambda name, one: SubstitutionSyntax(name, one, place=AT), _words, value), max_size=2)
    return st.one_of(
        st.builds(lambda name, own, body, local: DefinitionSyntax(name, own, body, local, place=AT),
                  _words, parameters, inner, is_local),
        st.builds(lambda name, a, b, body, local: DefinitionSyntax(name, (a, b), body, local, place=AT),
                  st.sampled_from(("+", "\\prec", "\\oplus", "..")), plain, plain, inner, is_local),
        st.builds(lambda name, a, body, local: DefinitionSyntax(name, (a,), body, local, place=AT),
                  st.sampled_from(("-.", "^+")), plain, inner, is_local),
        st.builds(lambda name, own, body, local: FunctionDefinitionSyntax(name, own, body, local, place=AT),
                  _words, bounds, inner, is_local),
        st.builds(lambda low, found, name, own, local: InstanceSyntax(low, tuple(found), name, own, local, place=AT),
                  names, given, _words, parameters, is_local),
        st.lists(_parameters(), min_size=1, max_size=2).map(
            lambda own: DeclarationSyntax("RECURSIVE", tuple(own), place=AT)
        ),
    )  # fmt: skip


def expressions() -> st.SearchStrategy[ExpressionSyntax]:
    """Expressions of every kind."""
    return st.recursive(
        _values(),
        lambda inner: st.one_of(*_operations(inner), *_binders(inner), *_collections(inner), *_branches(inner)),
        max_leaves=12,
    )


def modules() -> st.SearchStrategy[ModuleSyntax]:
    """Modules of all units, with modules inside."""
    inner = expressions()
    declared = st.lists(_parameters(), min_size=1, max_size=2).map(tuple)
    plain = st.lists(st.builds(lambda name: ParameterSyntax(name, place=AT), _words), min_size=1, max_size=2).map(tuple)
    unit: st.SearchStrategy[UnitSyntax] = st.one_of(
        definitions(inner),
        declared.map(lambda own: DeclarationSyntax("CONSTANT", own, place=AT)),
        plain.map(lambda own: DeclarationSyntax("VARIABLE", own, place=AT)),
        st.builds(lambda name, body: AssumptionSyntax(name, body, place=AT), st.none() | _words, inner),
        st.builds(lambda name, body: TheoremSyntax(name, body, place=AT), _words, st.none() | inner),
        st.just(TheoremSyntax(None, place=AT)),
        st.builds(lambda module, local: InstanceSyntax(module, (), None, (), local, place=AT), names, st.booleans()),
    )
    units = st.recursive(
        st.lists(unit, max_size=3).map(tuple),
        lambda found: st.builds(lambda name, own: (ModuleSyntax(name, (), own, place=AT),), _words, found),
        max_leaves=2,
    )
    extends = st.just(()) | several_names
    return st.builds(lambda name, low, own: ModuleSyntax(name, low, own, place=AT), _words, extends, units)
