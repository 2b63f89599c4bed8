r"""Mistakes in TLA+ modules and in their `.cfg` files: one error each, at its place, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.loading import load_text

from kmc.errors import InvariantLevelError, KmcError, ModelError, SpecError
from kmc.tla.names.loading import load_model, parse_expression

START = "EXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = x\n"
RUN = "INIT Init NEXT Next\n"
PARTS = {
    "P": "CONSTANT c, F(_)\nop == c",
    "A": "EXTENDS B",
    "B": "EXTENDS A",
    "S": "S == INSTANCE S",
    "Q": "LOCAL hidden == 1\nshown == 2",
}


@pytest.mark.parametrize(
    ("body", "code", "column", "message"),
    [
        ("INSTANCE Nowhere", "KMC006", 10, "the module 'Nowhere' was not found"),
        ("INSTANCE " + "N" * 999, "KMC006", 10, f"the module '{'N' * 999}' was not found"),
        ("INSTANCE A", "KMC007", 9, "the module 'A' extends itself: A -> B -> A"),
        ("INSTANCE S", "KMC007", 15, "the module 'S' is instantiated in itself"),
        ("a == b", "KMC008", 6, "'b' is not defined"),
        ("a == b\nb == 1", "KMC008", 6, "'b' is not defined"),
        ("a == <<>> \\o <<>>", "KMC008", 11, "'\\o' is not defined"),
        ("a == @ + 1", "KMC016", 6, "'@' is used outside of an EXCEPT"),
        ("Q == INSTANCE Q\na == Q!hidden", "KMC008", 8, "'Q!hidden' is not defined"),
        ("a == lab(b):: 1", "KMC008", 10, "'b' is not defined"),
        ("Init == 1", "KMC009", 1, "'Init' has a meaning here already"),
        ("VARIABLE Nat", "KMC009", 10, "'Nat' has a meaning here already"),
        ("VARIABLE BOOLEAN", "KMC009", 10, "'BOOLEAN' has a meaning here already"),
        ("a == LET b == 1 b == 2 IN b", "KMC009", 17, "'b' has a meaning here already"),
        ("Q == INSTANCE Q\na == Q", "KMC010", 6, "'Q' is an instance, not a value"),
        ("a == Init!b!c", "KMC013", 11, "'!b' chooses nothing that kmc can resolve here"),
        ("a == x!1", "KMC010", 6, "'x' has no parts to select"),
        ("f(b) == b\na == f", "KMC011", 6, "'f' takes 1 argument, and gets 0"),
        ("a == Init(1, 2)", "KMC011", 6, "'Init' takes no arguments, and gets 2"),
        ("a == x(1)", "KMC011", 6, "'x' takes no arguments, and gets 1"),
        ("a == \\E b \\in {1}: b(1)", "KMC011", 20, "'b' takes no arguments, and gets 1"),
        ("f(b) == b\na == f(^)", "KMC012", 8, "'f' needs a value here, not an operator"),
        ("f(G(_)) == G(1)\na == f(x)", "KMC012", 8, "'f' needs an operator of 1 parameter here, not a value"),
        ("f(G(_)) == G(1)\na == f(^)", "KMC012", 8, "'f' needs an operator of 1 parameter here, not one of 2"),
        ("f(G(_)) == G(1)\na == f(LAMBDA b, c: b)", "KMC012", 8,
         "'f' needs an operator of 1 parameter here, not a LAMBDA of 2"),
        ("f(G(_)) == G(1)\na == f(Init!1)", "KMC012", 8,
         "'f' needs an operator of 1 parameter here, not a part of an expression"),
        ("a == Next!3", "KMC013", 11, "'!3' chooses nothing that kmc can resolve here"),
        ("a == CHOOSE <<b, c>>: TRUE", "KMC014", 6, "CHOOSE of a tuple needs a set"),
        ("a == [b |-> 1, b |-> 2]", "KMC015", 16, "the field 'b' occurs twice in a record"),
        ("RECURSIVE f(_)", "KMC017", 11, "'f' is declared RECURSIVE and not defined"),
        ("RECURSIVE f(_)\nf(a, b) == 1", "KMC017", 1, "'f' has other parameters than its RECURSIVE declaration"),
        ("a == LET b == b IN b", "KMC018", 15, "'b' is defined by itself"),
        ("f(a) == f(a)", "KMC018", 9, "'f' is defined by itself"),
        ("P == INSTANCE P WITH c <- 1", "KMC019", 1, "the instance of 'P' gives no value to 'F'"),
        ("P == INSTANCE P WITH c <- 1, F <- x", "KMC012", 30,
         "what is substituted for 'F' is not an operator of 1 parameters"),
        ("P == INSTANCE P WITH d <- 1", "KMC020", 22, "the module 'P' does not declare 'd'"),
        ("P == INSTANCE P WITH c <- 1, c <- 2", "KMC020", 30, "'c' is substituted twice"),
        ("N == INSTANCE Naturals WITH d <- 1", "KMC020", 29, "the module 'Naturals' does not declare 'd'"),
        ("a == (x' + 1)'", "KMC021", 7, "a prime cannot be applied to a formula of action level"),
        ("a == UNCHANGED (x')", "KMC021", 17, "UNCHANGED cannot be applied to a formula of action level"),
        ("a == []Next", "KMC021", 8, "'[]' is applied to an action"),
        ("a == <>(Next)", "KMC021", 9, "'<>' is applied to an action"),
        ("a == Next ~> Init", "KMC021", 6, "'~>' is applied to an action"),
        ("a == ENABLED []Init", "KMC021", 14, "ENABLED cannot be applied to a formula of temporal level"),
        ("a == {[]Init} = {}", "KMC021", 6, "'=' cannot be applied to a formula of temporal level"),
        ("a == LET b == []Init IN WF_x(b)", "KMC021", 30, "WF cannot be applied to a formula of temporal level"),
        ("a == [Next]_x'", "KMC021", 6, "a prime cannot be applied to a formula of action level"),
        ("a == Next /\\ []Init", "KMC021", 6, "'/\\' joins an action and a temporal formula"),
        ("a == Init \\/ []Init \\/ UNCHANGED x", "KMC021", 24, "'\\/' joins an action and a temporal formula"),
        ("a == <>Init => Next", "KMC021", 16, "'=>' joins an action and a temporal formula"),
        ("a == {[]Init}", "KMC021", 7, "a set cannot contain a formula of temporal level"),
        ("a == <<1, <>Init>>", "KMC021", 11, "a tuple cannot contain a formula of temporal level"),
        ("a == {b \\in {1} : []Init}", "KMC021", 19, "a set cannot contain a formula of temporal level"),
        ("a == [Init -> []Init]", "KMC021", 15, "a set of functions cannot contain a formula of temporal level"),
        ("ASSUME x = 1", "KMC021", 8, "an ASSUME cannot be applied to a formula of state level"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_module_is_an_error_at_its_place(
    body: str, code: str, column: int, message: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecError) as caught:
        load_text(tmp_path, START + body, RUN, PARTS)
    error = caught.value
    assert (error.code, error.message) == (code, message)
    assert error.help
    assert error.span is not None
    assert error.span.column == column
    line = error.span.source_line()
    assert line is not None
    assert line in (body + "".join(PARTS.values()))


@pytest.mark.parametrize(
    ("cfg", "code", "column", "message"),
    [
        ("", "KMC361", 10, "the constant 'N' has no value"),
        ("CONSTANTS N = 1", "KMC361", 13, "the constant 'F' has no value"),
        ("CONSTANTS N = 1 F = 2", "KMC362", 17, "'F' is an operator and cannot have a value"),
        ("CONSTANTS N <- Nothing F <- G", "KMC363", 16, "'Nothing', which replaces 'N', is not defined"),
        ("CONSTANTS N <- x F <- G", "KMC363", 16, "'x' is not a definition, so it cannot replace 'N'"),
        ("CONSTANTS N <- G F <- G", "KMC364", 16, "'G' cannot replace 'N', which has 0 parameters of the same kinds"),
        ("CONSTANTS N = 1 F <- G H <- G", "KMC365", 24, "the module has no constant or definition 'H'"),
        ("CONSTANTS N = 1 F <- G H <- [Z] G", "KMC365", 24, "the module 'Z' has no constant or definition 'H'"),
        (
            "CONSTANTS N = 1 F <- G INVARIANT Inn",
            "KMC366",
            34,
            "INVARIANT names 'Inn', which the module does not define",
        ),
        ("CONSTANTS N = 1 F <- G INVARIANT G", "KMC367", 34, "INVARIANT names 'G', which has parameters"),
        ("CONSTANTS N = 1 F <- G INVARIANT Next", "KMC369", 34, "INVARIANT cannot be 'Next'"),
        ("CONSTANTS N = 1 F <- G PROPERTY Next", "KMC367", 33, "PROPERTY cannot be 'Next'"),
        ("CONSTANTS N = 1 F <- G VIEW Next", "KMC367", 29, "VIEW cannot be 'Next'"),
        ("CONSTANTS N = 1 F <- [G", "KMC306", 22, "this is not the name of a module in brackets"),
        ("CONSTANTS N = 1 F <- 3", "KMC306", 22, "3 stands where the definition that replaces 'F' is needed"),
        ("CONSTANTS N = 1 N <- G", "KMC305", 17, "the constant 'N' is given twice"),
    ],
)
def test_a_mistake_in_the_file_is_an_error_at_its_place(
    cfg: str, code: str, column: int, message: str, tmp_path: Path
) -> None:
    body = START + "CONSTANT N, F(_)\nG(a) == a"
    with pytest.raises(ModelError) as caught:
        load_text(tmp_path, body, RUN + cfg)
    error = caught.value
    assert (error.code, error.message.replace("'3'", "3")) == (code, message)
    assert error.span is not None
    assert error.span.column == column


def test_a_model_value_that_the_module_does_not_have_is_accepted(tmp_path: Path) -> None:
    assert load_text(tmp_path, START, RUN + "CONSTANT Unused = Unused").constants == ()


def test_a_constant_may_be_given_twice_with_one_value(tmp_path: Path) -> None:
    once = "CONSTANTS N = {a, 1} F <- G "
    load_text(tmp_path, START + "CONSTANT N, F(_)\nG(a) == a", RUN + once + "N = { a ,1} F <- G")


def test_a_name_that_is_listed_twice_counts_once(tmp_path: Path) -> None:
    lines = "INVARIANTS Small Small INVARIANT Small PROPERTY Box CONSTRAINT Small Small PROPERTY Box"
    model = load_text(tmp_path, START + "Small == x < 3\nBox == [][Next]_x", RUN + lines)
    named = (*model.invariants, *model.properties, *model.constraints)
    assert [definition.name for definition in named] == ["Small", "Box", "Small"]


def test_properties_without_behaviours_are_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="KMC368"):
        load_text(tmp_path, START, "INVARIANT Init")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("Init /\\ [][Next]_x /\\ [][Next]_<<x>>", "'Spec' has two next-state relations"),
        ("[][Next]_x", "'Spec' has no initial predicate"),
        ("Init", "'Spec' has no next-state relation"),
        ("Init /\\ WF_x(Next)", "'Spec' has no next-state relation"),
        ("Init /\\ [][Next]_x /\\ \\EE y: WF_x(Next)", "'Spec' hides variables by \\EE"),
    ],
)
def test_a_specification_of_another_form_is_a_mistake(spec: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        load_text(tmp_path, START + f"Spec == {spec}", "SPECIFICATION Spec")
    # TLC ends with the status of a wrong `.cfg` file, too.
    assert (caught.value.code, caught.value.message, caught.value.exit_status) == ("KMC370", message, 151)


@pytest.mark.parametrize(("section", "status"), [("INVARIANT", 76), ("VIEW", 151)])
def test_a_formula_of_steps_has_the_status_that_tlc_gives_it(section: str, status: int, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=f"{section} cannot be 'Next'") as caught:
        load_text(tmp_path, START, f"{RUN}{section} Next")
    assert caught.value.exit_status == status


def test_the_level_of_an_invariant_comes_before_the_form_of_a_specification(tmp_path: Path) -> None:
    with pytest.raises(InvariantLevelError, match="KMC369"):
        load_text(tmp_path, START + "Spec == [][Next]_x", "SPECIFICATION Spec INVARIANT Next")


def test_a_missing_file_of_the_model_is_a_mistake_with_what_to_write(tmp_path: Path) -> None:
    load_text(tmp_path, START, RUN)
    (tmp_path / "M.cfg").unlink()
    with pytest.raises(ModelError, match="KMC360") as caught:
        load_model(tmp_path / "M.tla", None)
    assert "INIT and NEXT" in str(caught.value.help)


def test_a_file_has_the_name_of_its_module(tmp_path: Path) -> None:
    load_text(tmp_path, START, RUN)
    (tmp_path / "M.tla").rename(tmp_path / "L.tla")
    with pytest.raises(SpecError, match="KMC005"):
        load_model(tmp_path / "L.tla", tmp_path / "M.cfg")


def test_a_near_word_is_suggested(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load_text(tmp_path, START + "a == Innit", RUN)
    assert caught.value.help == "did you mean 'Init'?"
    with pytest.raises(SpecError) as caught:
        load_text(tmp_path, START + "a == Cardinality({})", RUN)
    assert "EXTENDS FiniteSets" in str(caught.value.help)


def test_a_mistake_in_an_expression_of_a_person_is_shown_in_his_text(tmp_path: Path) -> None:
    model = load_text(tmp_path, START, RUN)
    with pytest.raises(KmcError) as caught:
        parse_expression(model, "x + yy")
    assert caught.value.span is not None
    assert (caught.value.code, caught.value.span.column) == ("KMC008", 5)
    assert caught.value.span.source_line() == "x + yy"


def test_deep_definitions_are_resolved(tmp_path: Path) -> None:
    body = START + "d0 == x\n" + "\n".join(f"d{n} == d{n - 1} + 1" for n in range(1, 3000))
    assert load_text(tmp_path, body, RUN).definitions["d2999"].level == 1


def test_a_long_chain_of_lazy_definitions_is_resolved(tmp_path: Path) -> None:
    chain = "\n".join(["EXTENDS Naturals", "VARIABLE y", "d0 == y", *(f"d{n} == d{n - 1} + 1" for n in range(1, 400))])
    body = START + "I == INSTANCE Chain WITH y <- x\nUse == I!d399"
    assert load_text(tmp_path, body, RUN, {"Chain": chain}).definitions["Use"].level == 1


def test_a_value_that_no_module_reads_is_a_warning(tmp_path: Path) -> None:
    body = START + "CONSTANT N\n"
    model = load_text(tmp_path, body, RUN + "CONSTANTS N = 1 Old = {a, b}\nOther = 2\n")
    assert [warning.partition(" gives ")[2] for warning in model.warnings] == [
        "'Old' a value, which no module reads.",
        "'Other' a value, which no module reads.",
    ]


@pytest.mark.parametrize("keyword", ["CONSTANTS", "CONSTANT", "INVARIANT", "PROPERTIES", "CONSTRAINT"])
@pytest.mark.parametrize("is_last", [True, False])
def test_a_keyword_without_names_is_accepted(keyword: str, is_last: bool, tmp_path: Path) -> None:
    rest = f"CONSTANTS N = 1 {keyword}" if is_last else f"{keyword}\n\\* N = 2\nCONSTANTS N = 1"
    model = load_text(tmp_path, START + "CONSTANT N\n", RUN + rest)
    assert [constant.name for constant in model.constants] == ["N"]


@pytest.mark.parametrize(
    ("body", "help_line"),
    [
        ("a == b\nb == 1", "its definition is in line 7: move it before this line"),
        ("a == y\nVARIABLE y", "its definition is in line 7: move it before this line"),
        ("a == x / 2", "division of integers is \\div"),
        ("a == Init && Next", "'and' is /\\ in TLA+"),
        ("a == x(1)", "a function is applied in brackets, x[...]"),
        ("a == Cardinality({})", "write EXTENDS FiniteSets"),
        ("a == Innit", "did you mean 'Init'?"),
        ("a == zz", "declare or define it before this line, or extend the module that defines it"),
    ],
)
def test_a_wrong_name_has_the_help_that_fits(body: str, help_line: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"KMC008|KMC011") as caught:
        load_text(tmp_path, START + body, RUN)
    assert help_line in str(caught.value.help)
