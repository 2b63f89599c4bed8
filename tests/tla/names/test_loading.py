r"""TLA+ modules with their `.cfg` files, resolved: what names refer to, through EXTENDS, INSTANCE and `<-`."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.loading import load_text, module_text
from support.modules.shapes import resolved_shape
from support.modules.well_bound import breaches

from kmc.errors import ModelError, SpecError
from kmc.model_files.model_file import Assignment
from kmc.model_files.value_text import parse_set
from kmc.tla.names.loading import load_model, parse_expression
from kmc.tla.resolved.model import ResolvedModel
from kmc.tla.resolved.nodes import ApplyExpr, BuiltinExpr, Expression, LetExpr, OperatorDefinition, QuantifiedExpr

DATA = Path(__file__).parents[2] / "data" / "tla"
COUNTER = "EXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = x + 1\n"
RUN = "INIT Init\nNEXT Next\n"


def body_of(model: ResolvedModel, name: str) -> str:
    return resolved_shape(model.definitions[name].body)


def read(model: ResolvedModel, text: str) -> str:
    return resolved_shape(parse_expression(model, text))


def applied(node: Expression | None) -> OperatorDefinition:
    """Return the definition that an expression applies."""
    assert isinstance(node, ApplyExpr)
    assert isinstance(node.operator, OperatorDefinition)
    return node.operator


def test_a_module_and_its_file_are_one_model(tmp_path: Path) -> None:
    body = COUNTER + "CONSTANT N\nSmall == x < N\nStep == [][x' > x]_x\nBound == x < 9\nForward == x' > x"
    cfg = RUN + "CONSTANT N = 3\nINVARIANT Small\nPROPERTY Step\nCONSTRAINT Bound\nACTION_CONSTRAINT Forward\n"
    model = load_text(tmp_path, body, cfg + "VIEW Bound ALIAS Small POSTCONDITIONS Bound Small CHECK_DEADLOCK FALSE")
    assert (model.module, model.variables, model.check_deadlock) == ("M", ("x",), False)
    assert [constant.name for constant in model.constants] == ["N"]
    named = (*model.invariants, *model.properties, *model.constraints, *model.action_constraints)
    assert [definition.name for definition in named] == ["Small", "Step", "Bound", "Forward"]
    assert [one.name for one in (model.view, model.alias) if one] == ["Bound", "Small"]
    assert [one.name for one in model.postconditions] == ["Bound", "Small"]
    assert model.behaviour is not None
    assert resolved_shape(model.behaviour.initial) == "[Init]"
    assert resolved_shape(model.behaviour.next) == "Next"
    assert body_of(model, "Small") == "<(x, N)"
    assert model.files == (str(tmp_path / "M.tla"),)
    assert model.configuration == str(tmp_path / "M.cfg")


def test_levels_are_those_of_what_is_used(tmp_path: Path) -> None:
    body = COUNTER + (
        "C == {n \\in {1}: n = 1}\nS == x\nF(a) == a\nA == F(x) = S'\nU == UNCHANGED x\nE == ENABLED Next\n"
        "P == [][Next]_x /\\ WF_x(Next)\nL == LET y == x' IN y = 1\n"
        "RECURSIVE R(_), Q(_)\nR(a) == Q(a)\nQ(a) == x = R(a)"
    )
    model = load_text(tmp_path, body, RUN)
    names = ("C", "S", "F", "A", "U", "E", "P", "L", "R", "Q")
    assert [model.definitions[name].level for name in names] == [0, 1, 0, 2, 2, 1, 3, 2, 1, 1]
    assert [name for name in names if model.definitions[name].recursive] == ["R", "Q"]


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ("= 3", "3"),
        ("= -3", "-3"),
        ('= "a"', "String(a)"),
        ("= TRUE", "Boolean(True)"),
        ("= N", "Model(N)"),
        ("= {a, {1}}", "SetEnumeration([Model(a) SetEnumeration([1])])"),
        ("<- Value", "Value"),
        ("<- Nat", "Nat"),
    ],
)
def test_a_constant_has_the_value_of_the_file(value: str, shape: str, tmp_path: Path) -> None:
    model = load_text(tmp_path, COUNTER + "CONSTANT N\nValue == 4", f"{RUN} CONSTANT N {value}")
    assert [resolved_shape(constant.body) for constant in model.constants] == [shape]


def test_a_value_of_the_caller_counts_before_that_of_the_file(tmp_path: Path) -> None:
    given: list[Assignment] = [parse_set("N=7")]
    model = load_text(tmp_path, COUNTER + "CONSTANT N", f"{RUN} CONSTANT N = 3", constants=given)
    assert [resolved_shape(constant.body) for constant in model.constants] == ["7"]


def test_an_operator_constant_is_a_definition(tmp_path: Path) -> None:
    body = COUNTER + "CONSTANT F(_, _)\nG(a, b) == a + b\nUse == F(x, 1)"
    model = load_text(tmp_path, body, f"{RUN} CONSTANT F <- G")
    assert body_of(model, "Use") == "F(x, 1)"
    assert [resolved_shape(constant.body) for constant in model.constants] == ["G(x1, x2)"]


def test_definitions_and_built_in_names_are_replaced_wherever_the_root_module_means_them(tmp_path: Path) -> None:
    low = "EXTENDS Naturals\nLimit == 100\nAll == {n \\in Nat: n < Limit}"
    body = "EXTENDS Low\nVARIABLE x\nInit == x = 0\nNext == x' \\in All\nMyNat == 0..3\nMyLimit == 2"
    model = load_text(tmp_path, body, f"{RUN} CONSTANTS Nat <- MyNat Limit <- MyLimit", {"Low": low})
    assert body_of(model, "All") == "SetFilter(BoundRange([n] Nat) <(n, Limit))"
    assert resolved_shape(model.definitions["Nat"].body) == "MyNat"
    assert resolved_shape(model.definitions["Limit"].body) == "MyLimit"


def test_a_replacement_of_one_module_leaves_the_others(tmp_path: Path) -> None:
    parts = {"A": "Size == 1\nTwo == Size", "B": "Size == 1\nTwo == Size"}
    body = COUNTER + "A == INSTANCE A\nB == INSTANCE B\nMine == 5\nBoth == A!Two + B!Two"
    model = load_text(tmp_path, body, f"{RUN} CONSTANT Size <- [A] Mine Two = [B] 7", parts)
    assert read(model, "A!Size") == "Size"
    assert resolved_shape(model.definitions["Both"].body) == "+(Two, Two)"
    both = model.definitions["Both"].body
    assert isinstance(both, BuiltinExpr)
    first, second = both.arguments
    assert isinstance(first, ApplyExpr)
    assert isinstance(second, ApplyExpr)
    assert [resolved_shape(getattr(one.operator, "body", None)) for one in (first, second)] == ["Size", "7"]


def test_a_built_in_name_is_replaced_in_one_module(tmp_path: Path) -> None:
    low = "LOCAL INSTANCE Naturals\nLow == Nat"
    body, cfg = COUNTER + "INSTANCE Part\nFew == {0}\nOwn == Nat", f"{RUN} CONSTANT Nat <- [Part] Few"
    model = load_text(tmp_path, body, cfg, {"Part": low})
    part, own = model.definitions["Low"].body, model.definitions["Own"].body
    assert isinstance(part, ApplyExpr)
    assert resolved_shape(getattr(part.operator, "body", None)) == "Few"
    assert isinstance(own, BuiltinExpr)


INNER = "CONSTANT C\nVARIABLES v, w\nGet(a) == v + a\nSet == v' = C\nDouble == Get(v)"


def test_an_instance_has_its_own_definitions_with_what_is_substituted(tmp_path: Path) -> None:
    body = COUNTER + "VARIABLE w\nI == INSTANCE Inner WITH v <- x, C <- x * 2\nUse == I!Set /\\ I!Double = 1"
    model = load_text(tmp_path, body, RUN, {"Inner": "EXTENDS Naturals\n" + INNER})
    assert body_of(model, "Use") == "Conjunction([I!Set =(I!Double, 1)])"
    assert body_of(model, "I!Set") == "=(Prime(x), I!C)"
    assert body_of(model, "I!C") == "*(x, 2)"
    assert body_of(model, "I!Double") == "I!Get(x)"
    assert (model.definitions["I!C"].level, model.definitions["I!Set"].level) == (1, 2)


def test_the_parameters_of_an_instance_come_first(tmp_path: Path) -> None:
    body = COUNTER + (
        "I(p, F(_)) == INSTANCE Inner WITH v <- p, w <- x, C <- F(p)\n"
        "Neg(a) == 0 - a\nUse == \\E n \\in {1}: I(n, Neg)!Get(2) = 1\nMap(G(_)) == G(1)\nHigh == Map(I(x, Neg)!Get)"
    )
    model = load_text(tmp_path, body, RUN, {"Inner": "EXTENDS Naturals\n" + INNER})
    assert body_of(model, "Use") == "Quantified(\\E [BoundRange([n] SetEnumeration([1]))] =(I!Get(n, &Neg, 2), 1))"
    assert body_of(model, "I!Get") == "+(I!v(p, &F), a)"
    assert body_of(model, "I!v") == "p"
    assert [parameter.name for parameter in model.definitions["I!Get"].parameters] == ["p", "F", "a"]
    assert body_of(model, "High") == "Map(Lambda([x1] I!Get(x, &Neg, x1)))"
    assert read(model, "I(1, LAMBDA a: a)!Set") == "I!Set(1, Lambda([a] a))"
    assert breaches(model) == []


def test_names_that_an_instance_does_not_substitute_are_those_around_it(tmp_path: Path) -> None:
    body = COUNTER + "v == x\nw == x\nC == 3\nINSTANCE Inner\nUse == Double"
    model = load_text(tmp_path, body, RUN, {"Inner": "EXTENDS Naturals\n" + INNER})
    assert body_of(model, "Double") == "Get(v)"
    assert body_of(model, "Get") == "+(v, a)"


def test_instances_of_instances_and_modules_inside_of_modules(tmp_path: Path) -> None:
    body = COUNTER + (
        "---- MODULE In ----\nVARIABLE y\nSame == y = x\nJ == INSTANCE Deep WITH z <- y\n====\n"
        "K(q) == INSTANCE In WITH y <- q\nUse == K(x + 1)!Same /\\ K(1)!J!Zero"
    )
    model = load_text(tmp_path, body, RUN, {"Deep": "VARIABLE z\nZero == z = 0"})
    assert body_of(model, "Use") == "Conjunction([K!Same(+(x, 1)) K!J!Zero(1)])"
    assert body_of(model, "K!Same") == "=(K!y(q), x)"
    assert body_of(model, "K!J!Zero") == "=(K!J!z(q), 0)"
    assert (body_of(model, "K!J!z"), body_of(model, "K!y")) == ("K!y(q)", "q")
    assert breaches(model) == []


def test_an_instance_in_a_let_may_use_what_is_bound_around_it(tmp_path: Path) -> None:
    body = (
        COUNTER
        + "Use == \\E n \\in {1}: LET I == INSTANCE Inner WITH v <- n, w <- n, C <- n + x IN I!Double = I!Get(2)"
    )
    model = load_text(tmp_path, body, RUN, {"Inner": "EXTENDS Naturals\n" + INNER})
    assert breaches(model) == []
    quantified = model.definitions["Use"].body
    assert isinstance(quantified, QuantifiedExpr)
    let = quantified.body
    assert isinstance(let, LetExpr)
    assert [resolved_shape(definition) for definition in let.definitions] == [
        "I!C: +(n, x)",
        "I!v: n",
        "I!w: n",
        "I!Get[a]: +(I!v, a)",
        "I!Double: I!Get(I!v)",
    ]


def test_local_names_stay_in_their_module(tmp_path: Path) -> None:
    low = "LOCAL INSTANCE Naturals\nLOCAL Hidden == 1\nShown == Hidden + 1"
    body = "EXTENDS Low\nVARIABLE x\nInit == x = Shown\nNext == x' = x\nHidden == 2"
    model = load_text(tmp_path, body, RUN, {"Low": low})
    assert body_of(model, "Shown") == "+(Hidden, 1)"
    assert body_of(model, "Hidden") == "2"


def test_what_is_extended_on_two_ways_is_one_module(tmp_path: Path) -> None:
    parts = {"A": "VARIABLE y\nZero == y = 0", "B": "EXTENDS A\nC == Zero", "D": "EXTENDS A\nE == Zero"}
    model = load_text(tmp_path, "EXTENDS B, D\nInit == C /\\ E\nNext == y' = y", RUN, parts)
    assert model.variables == ("y",)
    assert model.files[0] == str(tmp_path / "M.tla")
    assert sorted(model.files) == [str(tmp_path / f"{name}.tla") for name in "ABDM"]


def test_the_same_definition_may_come_from_two_modules(tmp_path: Path) -> None:
    parts = {"A": "Max(a) == a", "B": "Max(a) ==   a \\* the same"}
    assert body_of(load_text(tmp_path, f"EXTENDS A, B, {COUNTER[8:]}", RUN, parts), "Max") == "a"


@pytest.mark.parametrize("second", [", B\n", "\nINSTANCE B\n"])
def test_of_two_definitions_from_modules_the_first_one_holds(second: str, tmp_path: Path) -> None:
    parts = {"A": "Up(a) == a", "B": "Up(a) == {a}\nUse == Up(1)"}
    model = load_text(tmp_path, f"EXTENDS Naturals, A{second}VARIABLE x\nInit == x = Up(0)\nNext == x' = x", RUN, parts)
    assert body_of(model, "Up") == "a"
    assert resolved_shape(applied(model.definitions["Use"].body).body) == "SetEnumeration([a])"
    (warning,) = model.warnings
    assert warning.endswith("brings another definition of 'Up'; the one at A.tla:2 holds, as in TLC.")


def test_a_module_may_declare_again_what_it_extends(tmp_path: Path) -> None:
    parts = {"A": "EXTENDS Naturals\nCONSTANT N, F(_)\nVARIABLE x\nInit == x = 0\nNext == x' = (x + 1) % N"}
    body = "EXTENDS A\nCONSTANT N, F(_)\nVARIABLES y, x\nG(a) == a\nMore == Next /\\ y' = x"
    model = load_text(tmp_path, body, "CONSTANTS N = 3 F <- G INIT Init NEXT More", parts)
    assert model.variables == ("x", "y")
    assert [constant.name for constant in model.constants] == ["N", "F"]
    assert [warning.split(" ", 1)[0] for warning in model.warnings] == ["M.tla:3", "M.tla:3", "M.tla:4"]
    assert "declares 'x' again; the first declaration holds" in model.warnings[2]


@pytest.mark.parametrize("again", ["VARIABLE N", "N == 1", "VARIABLE Init"])
def test_a_name_has_one_kind(again: str, tmp_path: Path) -> None:
    parts = {"A": "CONSTANT N\nVARIABLE x\nInit == x = N"}
    with pytest.raises(SpecError, match="KMC009"):
        load_text(tmp_path, f"EXTENDS A\n{again}\nG(a) == a", "CONSTANTS N = 3", parts)


def test_two_instances_of_one_name_from_modules_are_those_of_the_first(tmp_path: Path) -> None:
    parts = {"A": "I == INSTANCE C WITH k <- 1", "B": "I == INSTANCE C WITH k <- 2", "C": "CONSTANT k\nGet == k"}
    model = load_text(tmp_path, "EXTENDS A, B\nVARIABLE x\nInit == x = I!Get\nNext == x' = x", RUN, parts)
    get = applied(parse_expression(model, "I!Get"))
    assert resolved_shape(applied(get.body).body) == "1"


def test_a_module_may_define_what_its_instance_declares(tmp_path: Path) -> None:
    inner = "EXTENDS Naturals\nCONSTANT Top\nVARIABLE y\nUp == y < Top /\\ y' = y + 1"
    body = "EXTENDS Naturals\nVARIABLE x\nINSTANCE Low WITH Top <- 3, y <- x\nTop == {x}\ny == x + 1\nInit == x = y\n"
    model = load_text(tmp_path, body + "Next == Up", RUN, {"Low": inner})
    assert (body_of(model, "Top"), body_of(model, "y")) == ("SetEnumeration([x])", "+(x, 1)")


def test_modules_of_lemmas_give_the_standard_modules_that_they_extend(tmp_path: Path) -> None:
    body = "EXTENDS FiniteSetTheorems, SequenceTheorems, Statistics\nVARIABLE x\nInit == x \\in 1..Cardinality({})\n"
    model = load_text(tmp_path, body + "Next == x' = Len(<<x>>)", RUN)
    assert body_of(model, "Next") == "=(Prime(x), Len(Tuple([x])))"


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("{a + b: a, b \\in Nat}", "SetMap(+(a, b) [BoundRange([a] Nat) BoundRange([b] Nat)])"),
        ("[<<a, b>> \\in Nat |-> a]", "FunctionConstructor([BoundRange([a b] Nat True)] a)"),
        ("CHOOSE a: a = 1", "Choose(a =(a, 1))"),
        ("CHOOSE a \\in {1}: TRUE", "Choose(BoundRange([a] SetEnumeration([1])) Boolean(True))"),
        ("\\A a: a = 1", "Unbounded(\\A [a] =(a, 1))"),
        ("LET f[n \\in Nat] == f[n - 1] IN f",
         "Let([f: RecursiveFunction(f [BoundRange([n] Nat)] FunctionApplication(f -(n, 1)))] f)"),
        ("LET f[n \\in Nat] == n IN f[1, 2]",
         "Let([f: FunctionConstructor([BoundRange([n] Nat)] n)] FunctionApplication(f Tuple([1 2])))"),
        ("[x EXCEPT ![1].a = @ + 1]", "Except(x [ExceptUpdate([1 String(a)] +(@, 1) @)])"),
        ("\\E x \\in {1}: x = 1", "Quantified(\\E [BoundRange([x] SetEnumeration([1]))] =(x, 1))"),
        ("TRUE \\/ x = 1 \\/ FALSE", "Disjunction([Boolean(True) =(x, 1) Boolean()])"),
        ("TRUE /\\ FALSE /\\ TRUE", "Conjunction([Boolean(True) Boolean() Boolean(True)])"),
        ("Big!2", "Big!2"),
        ("Big!1!>>", "Big!1!>>"),
        ("Named!:", "Named!:"),
        ("[Next]_x", "BoxAction(Next x)"),
        ("<>(x = 1) ~> ENABLED Next", "LeadsTo(Eventually(=(x, 1)) Enabled(Next))"),
        ("1.5", "1.5"),
        ("x \\X {1} \\X {2}", "Product([x SetEnumeration([1]) SetEnumeration([2])])"),
    ],
)  # fmt: skip
def test_an_expression_of_a_person_has_the_names_of_the_root_module(text: str, shape: str, tmp_path: Path) -> None:
    model = load_text(tmp_path, COUNTER + "Big == /\\ x = 1\n       /\\ x = 2\nTHEOREM Named == x = 3", RUN)
    assert read(model, text) == shape


@pytest.mark.parametrize(
    ("spec", "initial", "following", "fairness"),
    [
        ("Init /\\ [][Next]_x", "[Init]", "[Next x]", "[]"),
        ("WF_x(Next) /\\ Init /\\ [][Next]_x /\\ x = 1", "[Init =(x, 1)]", "[Next x]", "[Fairness(WF x Next)]"),
        ("Own(x)", "[Own(x)]", "[Own(x) Own(x)]", "[]"),
        ("LET N == Next IN Init /\\ [][N]_x", "[Let([N: Next] Init)]", "[Let([N: Next] N) Let([N: Next] x)]", "[]"),
    ],
)
def test_a_specification_is_divided(spec: str, initial: str, following: str, fairness: str, tmp_path: Path) -> None:
    body = COUNTER + f"Own(v) == v = 0 /\\ [][v' = v]_v\nSpec == {spec}"
    behaviour = load_text(tmp_path, body, "SPECIFICATION Spec").behaviour
    assert behaviour is not None
    parts = (behaviour.initial, (behaviour.next, behaviour.subscript), behaviour.fairness)
    assert tuple(map(resolved_shape, parts)) == (initial, following, fairness)


def test_a_module_without_behaviours_has_assumptions_only(tmp_path: Path) -> None:
    model = load_text(tmp_path, "EXTENDS Naturals\nASSUME Two == 1 + 1 = 2\nASSUME TRUE")
    assert model.behaviour is None
    assert [(one.name, resolved_shape(one.condition)) for one in model.assumptions] == [
        ("Two", "=(+(1, 1), 2)"),
        (None, "Boolean(True)"),
    ]


def test_modules_are_found_in_the_folders_of_the_caller_and_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("given", "environment", "root"):
        (tmp_path / name).mkdir()
    (tmp_path / "given" / "A.tla").write_text(module_text("A", "a == 1"))
    (tmp_path / "environment" / "B.tla").write_text(module_text("B", "b == 2"))
    (tmp_path / "root" / "M.tla").write_text(module_text("M", f"EXTENDS A, B, {COUNTER[8:]}"))
    (tmp_path / "root" / "M.cfg").write_text(RUN)
    monkeypatch.setenv("TLA_PATH", str(tmp_path / "environment"))
    model = load_model(tmp_path / "root" / "M.tla", None, library=[tmp_path / "given"])
    assert {"a", "b"} <= model.definitions.keys()


def test_bags_are_a_text_of_kmc(tmp_path: Path) -> None:
    model = load_text(tmp_path, COUNTER + "INSTANCE Bags\nUse == EmptyBag (+) SetToBag({x})", RUN)
    assert body_of(model, "Use") == "\\oplus(EmptyBag, SetToBag(SetEnumeration([x])))"
    assert breaches(model) == []


def test_the_module_of_all_constructs_is_resolved() -> None:
    model = load_model(DATA / "Constructs.tla", None)
    assert breaches(model) == []
    assert model.definitions["Request"].comment == ""
    assert model.definitions["TypeOK"].comment == "The unit after a line of dashes."


def test_a_value_of_the_caller_may_be_a_sequence_or_a_record(tmp_path: Path) -> None:
    given = [parse_set("N=<<1, [a |-> 2]>>")]
    model = load_text(tmp_path, COUNTER + "CONSTANT N", f"{RUN} CONSTANT N = 3", constants=given)
    assert [resolved_shape(constant.body) for constant in model.constants] == [read(model, "<<1, [a |-> 2]>>")]


@pytest.mark.parametrize("text", ["N=(a :> 1)", "N<-Init"])
def test_a_value_of_the_caller_is_not_a_function_or_a_definition(tmp_path: Path, text: str) -> None:
    with pytest.raises(ModelError) as caught:
        load_text(tmp_path, COUNTER + "CONSTANT N", f"{RUN} CONSTANT N = 3", constants=[parse_set(text)])
    assert caught.value.code == "KMC307"
