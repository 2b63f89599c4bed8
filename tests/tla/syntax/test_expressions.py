r"""TLA+ expressions: how texts are read, by precedence and by alignment, and the errors where they cannot be read."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.modules.shapes import shape

from kmc.errors import SpecError
from kmc.tla.syntax.cursor import NESTING_MAX
from kmc.tla.syntax.modules import parse_expression_text


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("a + b * c", "Infix(+ a Infix(* b c))"),
        ("a * b + c", "Infix(+ Infix(* a b) c)"),
        ("a - b - c", "Infix(- Infix(- a b) c)"),
        ("a => b /\\ c", "Infix(=> a Infix(/\\ b c))"),
        ("~a /\\ b", "Infix(/\\ Prefix(~ a) b)"),
        ("~a = b", "Prefix(~ Infix(= a b))"),
        ("-a + b", "Infix(+ Prefix(-. a) b)"),
        ("a = -b", "Infix(= a Prefix(-. b))"),
        ("-a * b", "Prefix(-. Infix(* a b))"),
        ("x' = y", "Infix(= Postfix(' x) y)"),
        ("f[x]'", "Postfix(' Application(f [x]))"),
        ("r.a.b[1].c", "Field(Application(Field(Field(r a) b) [1]) c)"),
        ("a..b + 1", "Infix(.. a Infix(+ b 1))"),
        ("1..2", "Infix(.. 1 2)"),
        ("+(a, b)", "Infix(+ a b)"),
        ("<(a, b) /\\ \\in(a, S)", "Infix(/\\ Infix(< a b) Infix(\\in a S))"),
        ("^+(a) = -.(b)", "Infix(= Postfix(^+ a) Prefix(-. b))"),
        ("\\X(S, T)", "Product([S T])"),
        ("-(a) + b", "Infix(+ Prefix(-. a) b)"),
        ("S \\cup T \\union U", "Infix(\\union Infix(\\union S T) U)"),
        ("a :> b @@ c :> d", "Infix(@@ Infix(:> a b) Infix(:> c d))"),
        ("A \\X B \\X C", "Product([A B C])"),
        ("(A \\X B) \\X C", "Product([Product([A B]) C])"),
        ("(A) \\X B \\X C", "Product([A B C])"),
        ("A \\X (B \\X C)", "Product([A Product([B C])])"),
        ("UNCHANGED <<x, y>>", "Prefix(UNCHANGED Tuple([x y]))"),
        ("[]<>P", "Prefix([] Prefix(<> P))"),
        ("P ~> Q", "Infix(~> P Q)"),
        ("DOMAIN f \\ {a}", "Infix(\\ Prefix(DOMAIN f) Set([a]))"),
        ("SUBSET S = T", "Infix(= Prefix(SUBSET S) T)"),
        ("\\E x \\in S: P \\/ Q", "Quantifier(\\E [Bound([x] S)] Infix(\\/ P Q))"),
        ("\\A x, y \\in S, z \\in T: P", "Quantifier(\\A [Bound([x y] S) Bound([z] T)] P)"),
        ("\\A <<x, y>> \\in S: P", "Quantifier(\\A [Bound([x y] S True)] P)"),
        ("\\E x: P", "Unbounded(\\E [x] P)"),
        ("\\EE h: Spec", "Unbounded(\\EE [h] Spec)"),
        ("CHOOSE x \\in S: P", "Choose([x] S P)"),
        ("CHOOSE <<x, y>> \\in S: P", "Choose([x y] True S P)"),
        ("CHOOSE x: x \\notin S", "Choose([x] Infix(\\notin x S))"),
        ("{}", "Set()"),
        ("{a, b}", "Set([a b])"),
        ("{x \\in S: P}", "SetFilter(Bound([x] S) P)"),
        ("{<<x, y>> \\in S: P}", "SetFilter(Bound([x y] S True) P)"),
        ("{x + 1: x \\in S}", "SetMap(Infix(+ x 1) [Bound([x] S)])"),
        ("{(x \\in S): x \\in T}", "SetMap(Infix(\\in x S) [Bound([x] T)])"),
        ("{x \\in S, y}", "Set([Infix(\\in x S) y])"),
        ("<<>>", "Tuple()"),
        ("[x \\in S |-> x]", "Function([Bound([x] S)] x)"),
        ("[x, y \\in S, z \\in T |-> x]", "Function([Bound([x y] S) Bound([z] T)] x)"),
        ("[<<x, y>> \\in S |-> x]", "Function([Bound([x y] S True)] x)"),
        ("[S -> T]", "FunctionSet(S T)"),
        ("[a |-> 1, b |-> 2]", "Record([[a 1] [b 2]])"),
        ("[a: S, b: T]", "RecordSet([[a S] [b T]])"),
        ("[f EXCEPT ![1] = @ + 1, !.a[2, 3].b = 0]",
         "Except(f [Update([[1]] Infix(+ Previous() 1)) Update([a [2 3] b] 0)])"),
        ("[A]_x", "Subscripted([ A x)"),
        ("[A]_<<x, y>>", "Subscripted([ A Tuple([x y]))"),
        ("<<A>>_x", "Subscripted(<< A x)"),
        ("[][Next]_vars", "Prefix([] Subscripted([ Next vars))"),
        ("WF_x(A)", "Fairness(WF x A)"),
        ("SF_<<x, y>>(A(1))", "Fairness(SF Tuple([x y]) A(1))"),
        ("WF_I!x(A)", "Fairness(WF I!x A)"),
        ("WF_v(a)(A)", "Fairness(WF v(a) A)"),
        ("F(x)!G!Op(1, +)", "F(x)!G!Op(1, OperatorSymbol(+))"),
        ("F(LAMBDA x, y: x, -, \\cup)", "F(Lambda([x y] x), OperatorSymbol(-), OperatorSymbol(\\union))"),
        ("I!+(1, 2)", "I!+(1, 2)"),
        ("Inv!2!<<!(a)", "Inv!2!<<!(a)"),
        ("lab(x):: P", "Label(lab [x] P)"),
        ("IF p THEN a ELSE b + 1", "If(p a Infix(+ b 1))"),
        ("CASE p -> a [] q -> b [] OTHER -> c", "Case([[p a] [q b]] c)"),
        ("CASE p -> a [] q -> b", "Case([[p a] [q b]])"),
        ("LET x == 1 f(y, g(_)) == y IN x", "Let([Definition(x 1) Definition(f [y g/1] y)] x)"),
        ("LET f[n \\in S] == n IN f", "Let([FunctionDefinition(f [Bound([n] S)] n)] f)"),
        ("LET RECURSIVE f(_) f(x) == f(x) IN f(1)",
         "Let([Declaration(RECURSIVE [f/1]) Definition(f [x] f(x))] f(1))"),
        ("LET M == INSTANCE N WITH a <- 1 IN M!x", "Let([Instance(N [Substitution(a 1)] M)] M!x)"),
        ("\\b101 + \\hFf + \\o17 + 1.50", "Infix(+ Infix(+ Infix(+ 5 255) 15) Decimal(1.50))"),
        (r'"a \"b\" \\ \n"', 'String(a "b" \\ \n)'),
        ("TRUE # FALSE", "Infix(# Boolean(True) Boolean())"),
        ("x (* between *) + \\* behind\n y", "Infix(+ x y)"),
        ("1a + x_1", "Infix(+ 1a x_1)"),
    ],
)  # fmt: skip
def test_an_expression_is_read_as_its_precedences_say(text: str, read: str) -> None:
    assert shape(parse_expression_text(text)) == read


@pytest.mark.parametrize(
    ("sign", "ascii_text"),
    [
        ("∀ x ∈ S: x ∉ T ∧ ¬P", "\\A x \\in S: x \\notin T /\\ ~P"),
        ("□[Next]_⟨x, y⟩", "[][Next]_<<x, y>>"),
        ("⟨A⟩_v", "<<A>>_v"),
        ("[x ∈ ℕ ↦ x ≤ 1 ⇒ x ≠ 2]", "[x \\in Nat |-> x <= 1 => x # 2]"),
        ("A × B ∪ (C ∩ D)", "A \\X B \\cup (C \\cap D)"),
        ("x′ ≥ y ⇔ ◇P", "x' >= y <=> <>P"),
        ("[S → T]", "[S -> T]"),
        ("a \\land b \\equiv c", "a /\\ b <=> c"),
        ("a =< b \\circ c (+) d", "a <= b \\o c \\oplus d"),
    ],
)
def test_signs_and_synonyms_are_their_ascii_forms(sign: str, ascii_text: str) -> None:
    assert parse_expression_text(sign) == parse_expression_text(ascii_text)


def test_a_list_ends_at_a_token_that_is_not_right_of_it() -> None:
    text = "\n".join(
        [
            r"  /\ a",
            r"  /\ \/ b",
            r"     \/ c = 1",
            r"        + 2",
            r"  /\ \E x \in S:",
            r"       /\ p",
            r"       /\ q",
            r" => d",
        ]
    )
    assert shape(parse_expression_text(text)) == (
        "Infix(=> Junction(/\\ [a Junction(\\/ [b Infix(= c Infix(+ 1 2))]) "
        "Quantifier(\\E [Bound([x] S)] Junction(/\\ [p q]))]) d)"
    )


def test_a_list_in_parentheses_ends_with_them() -> None:
    text = "(/\\ a\n /\\ b) \\/ c"
    assert shape(parse_expression_text(text)) == "Infix(\\/ Junction(/\\ [a b]) c)"


def test_a_tab_is_as_wide_as_eight_columns() -> None:
    assert shape(parse_expression_text("\t/\\ a\n        /\\ b")) == "Junction(/\\ [a b])"


def test_signs_of_a_list_that_are_not_aligned_join_the_item_before() -> None:
    assert shape(parse_expression_text("/\\ a\n  /\\ b")) == "Junction(/\\ [Infix(/\\ a b)])"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a +", 1, 4, "expected an expression, found the end of the text"),
        ("(a", 1, 3, "expected ')', found the end of the text"),
        ("a b", 1, 3, "expected the end of the expression, found 'b'"),
        ("{a, b", 1, 6, "expected '}' at the end of a set, found the end of the text"),
        ("IF a THEN b", 1, 12, "expected 'ELSE', found the end of the text"),
        ("\\A x: \\A", 1, 9, "expected a name, found the end of the text"),
        ("\\A x \\in S P", 1, 12, "expected ':' before the condition of \\A, found 'P'"),
        ("\\AA x \\in S: P", 1, 7, "expected ':', since \\AA has no set, found '\\in'"),
        ("CHOOSE THEN: P", 1, 8, "expected a name, found 'THEN'"),
        ("[x \\in S]", 1, 9, "expected '|->', '->', 'EXCEPT' or ']_', found ']'"),
        ("[x \\in S, y |-> 1]", 1, 13, "expected bounds such as 'x \\in S' before '|->', found '|->'"),
        ("[x, y]", 1, 6, "expected '|->' after the bounds of a function, found ']'"),
        ("[f EXCEPT ! = 1]", 1, 13, "expected '[' or '.' after the '!' of an EXCEPT, found '='"),
        ("CASE OTHER -> 1", 1, 6, "expected an expression, found 'OTHER'"),
        ("LET IN x", 1, 5, "expected a definition or IN, found 'IN'"),
        ("WF_x", 1, 5, "expected '(' and the action after the subscript of WF_ or SF_, found the end of the text"),
        (
            "WF_x(LAMBDA a: a)",
            1,
            18,
            "expected '(' and the action after the subscript of WF_ or SF_, found the end of the text",
        ),
        ("[A]_1", 1, 5, "expected a subscript: a name, a tuple or an expression in parentheses, found '1'"),
        ('"abc', 1, 1, "expected an expression, found a string that is not closed on its line"),
        ("1 + (* a", 1, 5, "expected an expression, found a comment that is not closed"),
        ("a ; b", 1, 3, "expected the end of the expression, found ';'"),
        ("x\n  ! ] y", 2, 5, "expected a name, an operator or a selector after '!', found ']'"),
        ("F(x + 1):: P", 1, 9, "expected names only between the parentheses of a label, found '::'"),
        ("9" * 1001, 1, 1, "expected a number of at most 1000 digits, found '" + "9" * 1001 + "'"),
        ("/\\ (a\n/\\ b)", 2, 1, "expected ')', found '/\\'"),
    ],
)
def test_a_text_that_is_not_an_expression_is_an_error_at_its_token(
    text: str, line: int, column: int, message: str
) -> None:
    with pytest.raises(SpecError) as caught:
        parse_expression_text(text)
    error = caught.value
    assert error.span is not None
    assert (error.code, error.message) == ("KMC001", message)
    assert (error.span.line, error.span.column, error.span.source_line()) == (line, column, text.split("\n")[line - 1])


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("a /\\ b \\/ c", 8),
        ("a = b = c", 7),
        ("a => b => c", 8),
        ("[]a = b", 5),
        ("2 ^ -1", 5),
        ("A \\cup B \\cap C", 10),
        ("SUBSET A \\X B", 10),
    ],
)
def test_neighbours_whose_ranges_meet_need_parentheses(text: str, column: int) -> None:
    with pytest.raises(SpecError) as caught:
        parse_expression_text(text)
    assert caught.value.code == "KMC002"
    assert caught.value.span is not None
    assert caught.value.span.column == column


def test_a_place_spans_the_expression() -> None:
    place = parse_expression_text("\n  f[x] +\n    y").place
    assert (place.line, place.column, place.end_line, place.end_column) == (2, 3, 3, 6)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "x" + ")" * 5000,
        "1 + " * 5000 + "1",
        "~" * 5000 + "x",
        "IF p THEN a ELSE " * 5000 + "b",
        "{" * 5000,
    ],
    ids=["parentheses", "chain", "prefix", "if", "braces"],
)
def test_deep_nesting_is_one_clear_error(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_expression_text(text)
    assert caught.value.code == "KMC003"
    assert str(NESTING_MAX) in caught.value.message


def test_nesting_up_to_the_limit_is_read_whatever_the_depth_of_the_caller() -> None:
    program = (
        "import sys; from kmc.tla.syntax.modules import parse_expression_text; sys.setrecursionlimit(200)\n"
        f"parse_expression_text('[a |-> {{(' * {NESTING_MAX // 3} + 'x' + ')}}]' * {NESTING_MAX // 3})\n"
        "assert sys.getrecursionlimit() == 200\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True).stderr == ""
