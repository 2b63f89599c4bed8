"""JSON read strictly: the place of a mistake, and the limits of size and depth, each on both of its sides."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kmc.errors import TraceError
from kmc.trace.strict_json import DEPTH_MAX, JsonPlace, checked_integer, first_repeated, parse_json


def refusal(use: Any, *arguments: Any) -> str:
    """The message with which a call is refused."""
    with pytest.raises(TraceError) as caught:
        use(*arguments)
    return caught.value.message


def innermost(place: JsonPlace) -> JsonPlace:
    """What stands in the innermost of nested lists of one element."""
    while isinstance(place.value, list):
        (place,) = place.items("a list", "")
    return place


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        (".", []),
        (".a", ["a"]),
        (".a.b_2", ["a", "b_2"]),
        ('.["2a"]', ["2a"]),
        ('.a["b c"].d', ["a", "b c", "d"]),
        (r'.["\u00e9"]', ["é"]),
    ],
)
def test_a_place_is_written_as_jq_takes_it(path: str, keys: list[str]) -> None:
    value: Any = 1
    for key in reversed(keys):
        value = {key: value}
    place = parse_json(json.dumps(value))
    for key in keys:
        place = place.member(key, "")
    assert (place.path, place.value) == (path, 1)


def test_an_element_is_written_by_its_index() -> None:
    places = parse_json('[5, {"a": [6, 7]}]').items("a list", "")
    assert [place.path for place in places] == [".[0]", ".[1]"]
    assert places[1].member("a", "").items("a list", "", 2)[1] == JsonPlace(7, ".[1].a[1]", 3)


@pytest.mark.parametrize("length", [1, 3])
def test_a_list_of_another_length_is_refused(length: int) -> None:
    assert refusal(JsonPlace([1, 2]).items, "a pair", "", length) == "at .: a pair is expected, not [1, 2]"


@pytest.mark.parametrize("value", [True, 1.0, "1", None])
def test_only_an_integer_is_an_integer(value: Any) -> None:
    assert refusal(JsonPlace(value).integer, "an index", "") == f"at .: an index is expected, not {json.dumps(value)}"


def test_a_value_is_shown_in_sixty_characters() -> None:
    fits, too_long = "a" * 58, "a" * 59
    assert refusal(JsonPlace(fits).integer, "a number", "") == f'at .: a number is expected, not "{fits}"'
    assert refusal(JsonPlace(too_long).integer, "a number", "") == f'at .: a number is expected, not "{"a" * 56}...'


def test_values_are_nested_to_the_limit_and_not_deeper() -> None:
    assert innermost(parse_json("[" * DEPTH_MAX + "1" + "]" * DEPTH_MAX)).value == 1
    deeper = parse_json("[" * (DEPTH_MAX + 1) + "1" + "]" * (DEPTH_MAX + 1))
    assert refusal(innermost, deeper).endswith(": values are nested more than 100 levels deep")


def test_an_integer_has_at_most_a_thousand_digits() -> None:
    assert checked_integer("9" * 1000) == 10**1000 - 1
    assert refusal(checked_integer, "9" * 1001) == "an integer has more than 1000 digits"


def test_a_file_cut_short_says_what_to_do() -> None:
    with pytest.raises(TraceError) as caught:
        parse_json('{"vars": [')
    assert caught.value.help == "is the file complete? Save the trace again, or give another file"


def test_the_name_that_is_given_twice_is_the_one_shown() -> None:
    assert refusal(parse_json, '{"a": {"b": 1, "c": 2, "c": 3}}') == 'an object gives "c" twice'


@pytest.mark.parametrize(("identities", "index"), [("", None), ("abc", None), ("abab", 2), ("aab", 1)])
def test_the_first_element_that_an_earlier_one_equals(identities: str, index: int | None) -> None:
    assert first_repeated(identities) == index


@pytest.mark.parametrize("escape", [r"\ud83d", r"\uDE00", r"\uDBFF"])
def test_half_of_a_character_is_refused(escape: str) -> None:
    assert "half of a character" in refusal(parse_json, f'["{escape}"]')


def test_both_halves_are_a_character() -> None:
    assert parse_json(r'"\ud83d\ude00"').value == "😀"
