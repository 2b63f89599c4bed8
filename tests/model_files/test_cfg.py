"""The `.cfg` reader: what it accepts, what it writes, and every error with its line, column and text."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.faults.mistakes import Mistake, described, read_mistakes

from kmc.errors import CommandLineError, ExitStatus, ModelError, Span
from kmc.model_files.cfg import parse_cfg, read_cfg
from kmc.model_files.model_file import KEYWORDS, Assignment, ModelFile, Word, is_name, render_cfg, same_name_model_value
from kmc.model_files.raw_values import (
    ModelValue,
    Raw,
    RawFunction,
    RawOperator,
    RawRecord,
    RawSequence,
    RawSet,
    raw_function,
    raw_identity,
    render_raw,
)
from kmc.model_files.value_text import parse_set

DATA = Path(__file__).parents[1] / "data" / "cfg"
LAYOUT = DATA / "layout.cfg"
NOWHERE = Span("m.cfg", 1)
MARKS = ("<<", ">>", "[", "]", "|->", "(", ")", ":>", "@@")


def values(model: ModelFile) -> dict[str, Raw]:
    return {constant.name: constant.value for constant in model.constants}


def texts(words: tuple[Word, ...]) -> list[str]:
    return [word.text for word in words]


def text_of(word: Word | None) -> str | None:
    return word.text if word is not None else None


def set_of(*members: str) -> RawSet:
    return RawSet(tuple(ModelValue(member) for member in members))


def constants(**raws: Raw) -> tuple[Assignment, ...]:
    return tuple(Assignment(name, raw, NOWHERE) for name, raw in raws.items())


def meaning(model: ModelFile) -> str:
    """All that a `.cfg` file can say, as a text, in which 1 and TRUE differ."""
    checked = (model.invariants, model.properties, model.constraints, model.action_constraints)
    lists = (*checked, model.symmetry, model.abstractions)
    single = (model.specification, model.init, model.next, model.view)
    return repr(
        (
            values(model),
            list(map(texts, lists)),
            list(map(text_of, single)),
            model.check_deadlock,
            model.verify_abstractions,
        )
    )


class TestAccepted:
    def test_constants_of_every_kind_are_read_in_order(self) -> None:
        expected = {
            "a1": ModelValue("a1"),
            "a2": ModelValue("a2"),
            "Account": set_of("a1", "a2"),
            "Unused": ModelValue("Unused"),
            "Limit": 3,
            "Floor": -2,
            "Label": 'a "b"',
            "Strict": True,
            "Groups": RawSet((set_of("a1"), RawSet(()), set_of("a1", "a2"))),
            "More": 4,
        }
        assert repr(values(read_cfg(LAYOUT))) == repr(expected)

    def test_lists_end_at_the_next_keyword_and_go_on_in_a_later_section(self) -> None:
        model = read_cfg(LAYOUT)
        lists = (model.invariants, model.properties, model.constraints, model.action_constraints, model.symmetry)
        assert [texts(words) for words in lists] == [
            ["TypeOK", "NoOverdraft", "Balanced"],
            ["Settles"],
            ["Small"],
            ["NoRefund", "NoLoan"],
            ["symmAccounts"],
        ]

    def test_sections_of_one_name_may_share_a_line(self) -> None:
        model = read_cfg(LAYOUT)
        assert list(map(text_of, (model.init, model.next, model.view))) == ["Init", "Next", "view"]

    def test_a_commented_section_is_not_read(self) -> None:
        assert read_cfg(LAYOUT).specification is None

    def test_the_file_may_end_without_a_line_end(self) -> None:
        text = LAYOUT.read_text(encoding="utf-8").rstrip("\n")
        assert meaning(parse_cfg(text, "m.cfg")) == meaning(parse_cfg(text + "\n", "m.cfg"))

    def test_specification_is_read(self) -> None:
        assert parse_cfg("SPECIFICATION Spec", "m.cfg").specification == Word("Spec", Span("m.cfg", 1, 15, 1, 19))

    @pytest.mark.parametrize(
        ("text", "expected"), [("CHECK_DEADLOCK TRUE", True), ("CHECK_DEADLOCK FALSE", False), ("", None)]
    )
    def test_deadlock_checking_is_read_or_left_open(self, text: str, expected: bool | None) -> None:
        assert parse_cfg(text, "m.cfg").check_deadlock is expected

    def test_a_model_is_called_after_its_file(self) -> None:
        assert (read_cfg(LAYOUT).name, read_cfg(LAYOUT).path) == ("layout", str(LAYOUT))

    def test_spans_cover_the_names(self) -> None:
        model = parse_cfg("CONSTANTS\n  Limit = 3\nINVARIANT\n\tTypeOK", "m.cfg")
        spans = (model.constants[0].span, model.invariants[0].span)
        assert spans == (Span("m.cfg", 2, 3, 2, 8), Span("m.cfg", 4, 2, 4, 8))

    def test_windows_line_ends_and_a_byte_order_mark_do_not_matter(self, tmp_path: Path) -> None:
        path = tmp_path / "m.cfg"
        path.write_bytes(b"\xef\xbb\xbfCONSTANT A = 1\r\n\\* note\r\nINVARIANT B\r\n")
        assert meaning(read_cfg(path)) == meaning(parse_cfg("CONSTANT A = 1 INVARIANT B", "m.cfg"))

    def test_model_value_lines_are_told_from_other_constants(self) -> None:
        model = parse_cfg('CONSTANTS A = A  B = A  C = "C"  D = {D}', "m.cfg")
        assert [same_name_model_value(constant) for constant in model.constants] == [True, False, False, False]

    def test_an_upper_case_name_far_from_all_keywords_is_a_name(self) -> None:
        assert texts(parse_cfg("INVARIANT INV TYPEOK Invariant", "m.cfg").invariants) == ["INV", "TYPEOK", "Invariant"]

    def test_a_name_with_a_lower_case_letter_is_never_nearly_a_keyword(self) -> None:
        assert texts(parse_cfg("INVARIANT INVARIANTs", "m.cfg").invariants) == ["INVARIANTs"]

    def test_a_constant_or_model_value_may_be_nearly_a_keyword(self) -> None:
        model = parse_cfg("CONSTANTS VIEWS = 1 INITS = {NEXTS}", "m.cfg")
        assert values(model) == {"VIEWS": 1, "INITS": set_of("NEXTS")}

    def test_a_keyword_inside_a_longer_name_is_not_a_keyword(self) -> None:
        assert texts(parse_cfg("INVARIANT NEXT_VIEW_IS_NEWER", "m.cfg").invariants) == ["NEXT_VIEW_IS_NEWER"]

    @pytest.mark.parametrize("keyword", KEYWORDS)
    def test_every_keyword_is_read(self, keyword: str) -> None:
        content = {
            "CHECK_DEADLOCK": "TRUE",
            "VERIFY_ABSTRACTIONS": "TRUE",
            "CONSTANT": "A = 1",
            "CONSTANTS": "A = 1",
        }.get(keyword, "A")
        needed = {"INIT": "NEXT A", "NEXT": "INIT A"}.get(keyword, "")
        assert meaning(parse_cfg(f"{keyword} {content} {needed}", "m.cfg")) != meaning(parse_cfg("", "m.cfg"))

    def test_the_smallest_and_the_largest_number_are_read(self) -> None:
        model = parse_cfg("CONSTANTS A = -9223372036854775808 B = 9223372036854775807", "m.cfg")
        assert values(model) == {"A": -(2**63), "B": 2**63 - 1}


class TestRefused:
    @pytest.mark.parametrize("mistake", read_mistakes(DATA / "mistakes.txt"), ids=lambda mistake: mistake.title)
    def test_a_mistake_gives_its_error(self, mistake: Mistake) -> None:
        with pytest.raises(ModelError) as caught:
            parse_cfg(mistake.text, "m.cfg")
        assert described(caught.value) == mistake.error

    def test_an_error_names_the_file_and_the_exit_status_of_model_files(self) -> None:
        with pytest.raises(ModelError) as caught:
            parse_cfg("INVARIENT A", "models/small.cfg")
        assert (str(caught.value), caught.value.exit_status) == (
            "models/small.cfg:1:1: error[KMC303]: 'INVARIENT' stands where a keyword is needed",
            ExitStatus.MODEL_FILE,
        )

    def test_a_missing_file_is_one_error(self, tmp_path: Path) -> None:
        path = tmp_path / "no.cfg"
        with pytest.raises(ModelError) as caught:
            read_cfg(path)
        assert described(caught.value) == (
            f"KMC301 cannot read the model file '{path}': No such file or directory\n"
            "help: check the path and its permissions"
        )

    def test_a_folder_in_place_of_the_file_is_one_error(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match=r"KMC301.*Is a directory"):
            read_cfg(tmp_path)

    def test_a_byte_that_is_not_utf8_is_shown_where_it_stands(self, tmp_path: Path) -> None:
        path = tmp_path / "m.cfg"
        path.write_bytes(b"INIT Init\n\\* \xc3\xbc \xff")
        with pytest.raises(ModelError) as caught:
            read_cfg(path)
        assert described(caught.value) == (
            f"2:6-None KMC301 the model file '{path}' is not UTF-8: byte 0xff\nhelp: save the file as UTF-8"
        )

    tokens = st.sampled_from(
        [*KEYWORDS, "A", "B", "TRUE", "=", "<-", "{", "}", ",", "3", '"s"', "(*", "*)", "\\*", "\n", *MARKS]
    )

    @given(st.lists(tokens, max_size=12).map(" ".join))
    def test_any_sequence_of_tokens_is_a_model_or_one_error(self, text: str) -> None:
        try:
            outcome: ModelFile | Span | None = parse_cfg(text, "m.cfg")
        except ModelError as error:
            outcome = error.span
        assert outcome is not None

    def test_errors_survive_pickling(self) -> None:
        with pytest.raises(ModelError) as caught:
            parse_cfg("VIEW a VIEW b", "m.cfg")
        assert described(pickle.loads(pickle.dumps(caught.value))) == described(caught.value)


class TestSets:
    def test_a_set_keeps_the_order_of_its_members(self) -> None:
        assert values(parse_cfg("CONSTANT A = { c, a, b }", "m.cfg"))["A"] == set_of("c", "a", "b")

    def test_a_set_built_in_code_refuses_a_member_that_occurs_twice(self) -> None:
        with pytest.raises(ModelError, match=r"KMC308.*\{ 2, 1 \} occurs twice in a set"):
            RawSet((RawSet((1, 2)), RawSet((2, 1))))

    def test_one_and_true_are_two_members(self) -> None:
        assert values(parse_cfg("CONSTANT A = { 1, TRUE }", "m.cfg"))["A"] == RawSet((1, True))

    def test_a_string_and_a_model_value_of_one_name_are_two_members(self) -> None:
        assert raw_identity("a") != raw_identity(ModelValue("a"))


class TestSetOption:
    @pytest.mark.parametrize(
        ("text", "name", "value"),
        [
            ("MaxElections=2", "MaxElections", 2),
            ("Server={n1,n2}", "Server", set_of("n1", "n2")),
            (" Server = { n1 , n2 } ", "Server", set_of("n1", "n2")),
            ("Strict=FALSE", "Strict", False),
            ('Label="a b"', "Label", "a b"),
            ("Floor=-1", "Floor", -1),
            ("None=none", "None", ModelValue("none")),
            ("Order=<<a,a>>", "Order", RawSequence((ModelValue("a"), ModelValue("a")))),
            ("First=[epoch|->1,at|->a]", "First", RawRecord((("epoch", 1), ("at", ModelValue("a"))))),
            ("Weight=(a:>1 @@ b:>2)", "Weight", RawFunction(((ModelValue("a"), 1), (ModelValue("b"), 2)))),
            ("Same=(1:>3 @@ 2:>4)", "Same", RawSequence((3, 4))),
            ("Edges<-Ring", "Edges", RawOperator("Ring")),
        ],
    )
    def test_an_assignment_is_read(self, text: str, name: str, value: Raw) -> None:
        assignment = parse_set(text)
        assert repr((assignment.name, assignment.value)) == repr((name, value))

    def test_the_span_is_the_name_on_the_command_line(self) -> None:
        assert parse_set("Limit=2").span == Span("--set", 1, 1, 1, 6)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "--set '': there is nothing"),
            ("Limit", "--set 'Limit': the end stands where '=' is needed"),
            ("Limit 3", "--set 'Limit 3': '3' stands where '=' is needed"),
            ("Limit<-3", "--set 'Limit<-3': '3' stands where the definition that 'Limit' gets is needed"),
            ("=3", "--set '=3': '=' is not the name of a constant"),
            ("INIT=3", "--set 'INIT=3': 'INIT' is not the name of a constant"),
            ("Limit=", "--set 'Limit=': the constant 'Limit' has no value: the end comes after '='"),
            ("A=1,B=2", "--set 'A=1,B=2': ',' comes after the value"),
            ("A=1 B=2", "--set 'A=1 B=2': 'B' comes after the value"),
            ("A={a,a}", "--set 'A={a,a}': a occurs twice in the set of 'A'"),
            ("A={a", "--set 'A={a': the set of 'A' is not closed: the end comes first"),
            ('A="a', "--set 'A=\"a': this string is not closed on its line"),
            ("A=1.5", "--set 'A=1.5': unexpected character '.'"),
        ],
    )
    def test_a_bad_option_is_an_error_of_the_command_line(self, text: str, message: str) -> None:
        with pytest.raises(CommandLineError) as caught:
            parse_set(text)
        error = caught.value
        assert (error.code, error.message, error.span, bool(error.help)) == ("KMC610", message, None, True)

    def test_an_override_replaces_a_constant_in_place(self) -> None:
        model = ModelFile("m", "m.cfg", constants=constants(A=1, B=2))
        changed = model.with_overrides([parse_set("A=5")]).constants
        assert [(constant.name, constant.value) for constant in changed] == [("A", 5), ("B", 2)]

    def test_an_override_adds_a_constant_at_the_end(self) -> None:
        model = ModelFile("m", "m.cfg", constants=constants(A=1))
        assert list(values(model.with_overrides([parse_set("B=5")])).items()) == [("A", 1), ("B", 5)]

    def test_an_override_leaves_the_model_as_it_was(self) -> None:
        model = ModelFile("m", "m.cfg", constants=constants(A=1))
        model.with_overrides([parse_set("A=5")])
        assert values(model) == {"A": 1}

    def test_of_two_overrides_of_one_constant_the_later_counts(self) -> None:
        for before in ((), constants(A=1)):
            model = ModelFile("m", "m.cfg", constants=before)
            assert values(model.with_overrides([parse_set("A=5"), parse_set("A=6")])) == {"A": 6}


def collections_of(names: st.SearchStrategy[str], inner: st.SearchStrategy[Raw]) -> st.SearchStrategy[Raw]:
    pairs = st.lists(st.tuples(inner, inner), max_size=3, unique_by=lambda pair: raw_identity(pair[0]))
    return st.one_of(
        st.lists(inner, max_size=4, unique_by=raw_identity).map(lambda raws: RawSet(tuple(raws))),
        st.lists(inner, max_size=3).map(lambda raws: RawSequence(tuple(raws))),
        st.dictionaries(names, inner, min_size=1, max_size=3).map(lambda raws: RawRecord(tuple(raws.items()))),
        pairs.map(lambda drawn: raw_function(tuple(drawn))),
    )


class TestRendered:
    names = st.from_regex(r"[A-Za-z0-9_]{1,8}", fullmatch=True).filter(is_name)
    strings = st.text(st.characters(codec="utf-8"), max_size=8)
    plain = st.integers(-(2**63), 2**63 - 1) | st.booleans() | strings | names.map(ModelValue)
    raws = st.recursive(plain, partial(collections_of, names), max_leaves=8)
    # A name in lower case is never nearly a keyword.
    word = names.map(str.lower).filter(is_name).map(lambda name: Word(name, NOWHERE))
    words = st.lists(word, max_size=3, unique_by=lambda word: word.text).map(tuple)
    maybe = st.none() | word
    behaviour: st.SearchStrategy[dict[str, Word]] = st.one_of(
        st.just({}),
        st.fixed_dictionaries({"specification": word}),
        st.fixed_dictionaries({"init": word, "next": word}),
    )
    models = st.builds(
        lambda behaviour, **others: ModelFile("m", "m.cfg", **behaviour, **others),
        behaviour,
        constants=st.dictionaries(names, raws, max_size=4).map(lambda raws: constants(**raws)),
        invariants=words,
        properties=words,
        constraints=words,
        action_constraints=words,
        symmetry=words,
        view=maybe,
        check_deadlock=st.none() | st.booleans(),
        max_depth=st.none() | st.integers(1, 99),
        description=strings,
        title=strings,
    )

    @pytest.mark.slow
    @given(models)
    def test_a_rendered_model_is_read_back_with_the_same_meaning(self, model: ModelFile) -> None:
        assert meaning(parse_cfg(render_cfg(model), "m.cfg")) == meaning(model)

    @pytest.mark.slow
    @given(raws)
    def test_a_rendered_value_is_read_back_by_the_set_option(self, raw: Raw) -> None:
        assert repr(parse_set(f"A={render_raw(raw)}").value) == repr(raw)

    def test_the_rendered_text_reads_like_an_upstream_file(self) -> None:
        model = replace(read_cfg(LAYOUT), title="Two accounts", description="No overdraft", max_depth=9)
        assert render_cfg(model).splitlines() == [
            r"\* Two accounts",
            r"\* No overdraft",
            r"\* level bound: 9",
            "INIT Init",
            "NEXT Next",
            "CONSTANTS",
            "    a1 = a1",
            "    a2 = a2",
            "    Account = { a1, a2 }",
            "    Unused = Unused",
            "    Limit = 3",
            "    Floor = -2",
            r'    Label = "a \"b\""',
            "    Strict = TRUE",
            "    Groups = { { a1 }, {}, { a1, a2 } }",
            "    More = 4",
            "VIEW view",
            "SYMMETRY",
            "    symmAccounts",
            "INVARIANTS",
            "    TypeOK",
            "    NoOverdraft",
            "    Balanced",
            "PROPERTIES",
            "    Settles",
            "CONSTRAINTS",
            "    Small",
            "ACTION_CONSTRAINTS",
            "    NoRefund",
            "    NoLoan",
            "CHECK_DEADLOCK FALSE",
        ]
