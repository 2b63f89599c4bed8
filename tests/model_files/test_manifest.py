"""The reader of `models.toml`: what it accepts, and every error with its line, column and text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.faults.mistakes import Mistake, described, read_mistakes

from kmc.errors import ExitStatus, ModelError, Span
from kmc.model_files.cfg import parse_cfg
from kmc.model_files.manifest import RESULTS, Manifest, parse_manifest, read_manifest
from kmc.model_files.model_file import ModelFile, Word, render_cfg
from kmc.model_files.raw_values import ModelValue, Raw, RawFunction, RawOperator, RawRecord, RawSequence, RawSet
from kmc.model_files.toml_tables import KeySpans

DATA = Path(__file__).parents[1] / "data" / "cfg"
LAYOUT = DATA / "layout.toml"


@pytest.fixture(scope="module")
def layout() -> Manifest:
    return read_manifest(LAYOUT)


def values(model: ModelFile) -> dict[str, Raw]:
    return {constant.name: constant.value for constant in model.constants}


def texts(words: tuple[Word, ...]) -> list[str]:
    return [word.text for word in words]


def set_of(*members: str) -> RawSet:
    return RawSet(tuple(ModelValue(member) for member in members))


def text_of(text: str, span: Span) -> str:
    """Return the part of a text that a span covers."""
    assert span.end_column is not None
    return text.split("\n")[span.line - 1][span.column - 1 : span.end_column - 1]


def text_at(span: Span) -> str:
    line = span.source_line()
    assert line is not None
    assert span.end_column is not None
    return line[span.column - 1 : span.end_column - 1].strip("\"'")


class TestAccepted:
    def test_models_keep_the_order_of_the_file(self, layout: Manifest) -> None:
        assert list(layout.models) == ["dotted", "quoted", "small", "lively"]

    def test_findings_stand_apart_from_models(self, layout: Manifest) -> None:
        assert list(layout.findings) == ["overdraft"]

    def test_mutants_stand_apart_from_both(self, layout: Manifest) -> None:
        assert list(layout.mutants) == ["no_limit"]

    def test_all_entries_are_models_then_findings_then_mutants(self, layout: Manifest) -> None:
        assert list(layout.entries) == ["dotted", "quoted", "small", "lively", "overdraft", "no_limit"]

    def test_a_model_knows_its_name_and_file(self, layout: Manifest) -> None:
        small = layout.models["small"]
        assert (layout.path, small.name, small.path) == (str(LAYOUT), "small", str(LAYOUT))

    def test_constants_are_read_in_order(self, layout: Manifest) -> None:
        expected = {"Account": set_of("a1", "a2", "a3"), "Limit": 3, "Strict": True, "Label": "a }, b"}
        assert repr(values(layout.models["small"])) == repr(expected)

    def test_sets_of_sets_are_read(self, layout: Manifest) -> None:
        expected = {"Account": RawSet((set_of("a1"), set_of("a1", "a2"), RawSet(()))), "Limit": -2}
        assert values(layout.findings["overdraft"]) == expected

    def test_a_string_may_be_a_table_of_its_own(self, layout: Manifest) -> None:
        assert values(layout.models["lively"]) == {"Account": "a1"}

    @pytest.mark.parametrize(
        ("written", "value"),
        [
            ('{ sequence = ["a", "a"] }', RawSequence((ModelValue("a"), ModelValue("a")))),
            ("{ a = 1, b = [2] }", RawRecord((("a", 1), ("b", RawSet((2,)))))),
            ('{ definition = "Ring" }', RawOperator("Ring")),
            (
                '{ tla = "(a :> 1 @@ b :> <<2, 2>>)" }',
                RawFunction(((ModelValue("a"), 1), (ModelValue("b"), RawSequence((2, 2))))),
            ),
            (
                '[{ at = "a" }, { at = { tla = "<<>>" } }]',
                RawSet((RawRecord((("at", ModelValue("a")),)), RawRecord((("at", RawSequence(())),)))),
            ),
            ("{ string = 1 }", RawRecord((("string", 1),))),
        ],
    )
    def test_a_table_is_a_value_in_another_form_or_has_names_as_keys(self, written: str, value: Raw) -> None:
        text = f'[models.m]\ndescription = "d"\nconstants.C = {written}\n'
        assert repr(values(parse_manifest(text, "models.toml").models["m"])["C"]) == repr(value)

    def test_lists_of_names_are_read(self, layout: Manifest) -> None:
        small = layout.models["small"]
        lists = (small.invariants, small.symmetry, small.properties, small.constraints, small.action_constraints)
        assert [texts(words) for words in lists] == [
            ["TypeOK", "NoOverdraft"],
            ["symmAccounts"],
            [],
            ["Small"],
            ["NoLoan"],
        ]

    def test_bounds_view_and_deadlock_are_read(self, layout: Manifest) -> None:
        small = layout.models["small"]
        assert (small.max_depth, small.check_deadlock, small.view and small.view.text) == (17, False, "view")

    def test_what_a_model_leaves_out_is_left_open(self, layout: Manifest) -> None:
        dotted = layout.models["dotted"]
        assert dotted == ModelFile("dotted", str(LAYOUT), description=dotted.description)

    def test_texts_are_read_as_toml_reads_them(self, layout: Manifest) -> None:
        assert [model.description for model in layout.models.values()] == [
            "A dotted key; [models.not_a_table]",
            'A "quoted" key # no comment',
            'Three accounts, "two" """transfers""":\n[models.not_a_table]\nLimit = 9',
            "Settles",
        ]

    def test_a_finding_has_a_title(self, layout: Manifest) -> None:
        assert layout.findings["overdraft"].title == "Two withdrawals at once overdraw an account"

    def test_a_specification_or_init_and_next_are_read(self, layout: Manifest) -> None:
        overdraft, lively = layout.findings["overdraft"], layout.models["lively"]
        words = (overdraft.init, overdraft.next, lively.specification)
        assert [word.text for word in words if word] == ["Init", "Next", "LiveSpec"]

    def test_expected_results_are_kept_as_written(self, layout: Manifest) -> None:
        assert layout.models["small"].expect == {
            "result": "bound reached",
            "generated": 3894,
            "distinct": 1759,
            "depth": 17,
            "initial": 1,
            "left": 16,
            "generated_by_action": {"Pay": 3893, "Refund": 0},
            "levels": [1, 2, 4],
            "bound": "depth",
            "unreached_goals": [],
            "origin": "TLC, one worker",
        }

    def test_a_violation_is_expected_with_its_invariant_and_trace(self, layout: Manifest) -> None:
        assert layout.findings["overdraft"].expect == {
            "result": "violation",
            "invariant": "NoOverdraft",
            "trace_length": 4,
            "origin": "kmc, interpreter",
        }

    @pytest.mark.parametrize("result", RESULTS)
    def test_every_result_can_be_expected(self, result: str) -> None:
        text = f'[models.a]\ndescription = "d"\nexpect = {{ origin = "o", result = "{result}" }}'
        assert parse_manifest(text, "models.toml").models["a"].expect == {"origin": "o", "result": result}

    def test_a_manifest_may_be_empty(self) -> None:
        assert parse_manifest("", "models.toml") == Manifest("models.toml", {}, {})

    @pytest.mark.parametrize("model", ["small", "lively"])
    def test_a_model_rendered_as_cfg_keeps_its_constants_and_checks(self, layout: Manifest, model: str) -> None:
        original = layout.models[model]
        read_back = parse_cfg(render_cfg(original), "m.cfg")
        assert (values(read_back), texts(read_back.invariants)) == (values(original), texts(original.invariants))


class TestSpans:
    @pytest.mark.parametrize("pick", [lambda m: m.models["small"], lambda m: m.findings["overdraft"]])
    def test_the_span_of_a_constant_is_its_key(self, layout: Manifest, pick: Callable[[Manifest], ModelFile]) -> None:
        constants = pick(layout).constants
        assert [text_at(constant.span) for constant in constants] == [constant.name for constant in constants]

    def test_the_span_of_a_listed_name_is_its_place_in_the_list(self, layout: Manifest) -> None:
        small = layout.models["small"]
        words = (*small.invariants, *small.symmetry, *small.constraints, *small.action_constraints)
        assert [text_at(word.span) for word in words] == texts(words)

    def test_the_span_of_a_name_that_stands_alone_is_its_key(self, layout: Manifest) -> None:
        view = layout.models["small"].view
        assert view is not None
        assert text_at(view.span) == "view"

    @pytest.mark.parametrize(
        "members",
        [
            '"A","B","C"',
            '"A" , "B" , "C"',
            "'A' , 'B'\n  , 'C' ,\n",
            '\n"A", # "X",\n# "Y",\n"B" # ,\n,"""C""",',
            "\"A\"\t,'''B''' ,\"\\u0043\"",
        ],
    )
    def test_spaces_and_comments_move_no_member(self, members: str) -> None:
        text = f'[models.a]\ndescription = "d" # "e"\ninvariants = [{members}]\ndeadlock = true'
        words = parse_manifest(text, "models.toml").models["a"].invariants
        assert texts(words) == ["A", "B", "C"]
        for word in words:
            assert text_of(text, word.span).strip("\"'").replace("\\u0043", "C") == word.text

    def test_a_quote_within_a_text_ends_no_member(self) -> None:
        text = r'a = ["\"", "x\"y", "\\", "", """""", "z"]'
        spans = KeySpans(text, "models.toml")
        assert [text_of(text, spans.of(("a", index))) for index in (1, 2, 5)] == [r'"x\"y"', r'"\\"', '"z"']

    def test_windows_line_ends_move_no_span(self) -> None:
        text = '[models.a]\r\ndescription = "d"\r\ninvariants = [\r\n"B"]\r\n'
        assert parse_manifest(text, "models.toml").models["a"].invariants[0].span == Span("models.toml", 4, 1, 4, 4)


class TestRefused:
    @pytest.mark.parametrize(
        "mistake", read_mistakes(DATA / "manifest_mistakes.txt"), ids=lambda mistake: mistake.title
    )
    def test_a_mistake_gives_its_error(self, mistake: Mistake) -> None:
        with pytest.raises(ModelError) as caught:
            parse_manifest(mistake.text, "models.toml")
        assert described(caught.value) == mistake.error

    def test_a_number_of_thousands_of_digits_is_one_error(self) -> None:
        with pytest.raises(ModelError, match=r"KMC320.*: this is not TOML: a number has too many digits"):
            parse_manifest("levels = " + "9" * 5000, "models.toml")

    def test_an_error_names_the_file_and_the_exit_status_of_model_files(self) -> None:
        with pytest.raises(ModelError) as caught:
            parse_manifest("model = 3", "specs/bank/models.toml")
        assert (str(caught.value), caught.value.exit_status) == (
            "specs/bank/models.toml:1:1: error[KMC321]: unknown key 'model' in the manifest",
            ExitStatus.MODEL_FILE,
        )

    def test_a_missing_manifest_is_one_error(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match=r"KMC301.*models\.toml': No such file or directory"):
            read_manifest(tmp_path / "models.toml")

    @given(st.data())
    def test_whatever_is_cut_out_of_a_manifest_leaves_a_manifest_or_one_error(self, data: st.DataObject) -> None:
        text = LAYOUT.read_text(encoding="utf-8")
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 60, len(text))))
        try:
            outcome: Manifest | Span | None = parse_manifest(text[:start] + text[end:], "models.toml")
        except ModelError as error:
            outcome = error.span
        assert outcome is not None


def test_a_manifest_is_parsed_once_for_each_text(tmp_path: Path) -> None:
    path = tmp_path / "models.toml"
    path.write_text('[models.a]\ndescription = "one"\n')
    found = read_manifest(path)
    assert read_manifest(path) is found
    path.write_text('[models.b]\ndescription = "two"\n')
    assert list(read_manifest(path).models) == ["b"]
