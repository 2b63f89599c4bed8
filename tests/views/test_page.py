"""The page of a counterexample is one file that needs nothing else, small, and safe from what a trace says."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from support.views.stories import HOSTILE, hand_made_story, long_story, story_of_finding

from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.story.parts.story import ComparedValue, LaneColumn, Story
from kmc.views.page.data import Values, committed_column, logs_of, page_data
from kmc.views.page.page import page, purpose_of

SIZE_MAX = 500_000


def data_of(text: str) -> dict[str, Any]:
    """The data that stands in a page."""
    (found,) = re.findall(r'<script type="application/json" id="story">(.*?)</script>', text, re.DOTALL)
    read = json.loads(found)
    assert isinstance(read, dict)
    return read


def tree_of(listed: Sequence[Any], index: int) -> Tla:
    """The value at an index, made again."""
    match listed[index]:
        case ["set", *parts]:
            return TlaSet(tuple(tree_of(listed, part) for part in parts))
        case ["seq", *parts]:
            return TlaSeq(tuple(tree_of(listed, part) for part in parts))
        case ["map", *parts]:
            trees = [tree_of(listed, part) for part in parts]
            return TlaMap(tuple(zip(trees[::2], trees[1::2], strict=True)))
        case ["rec", *parts]:
            return TlaRecord(
                tuple((name, tree_of(listed, value)) for name, value in zip(parts[::2], parts[1::2], strict=True))
            )
        case bool() | int() | str() as scalar:
            return scalar
    raise AssertionError(listed[index])


def test_every_value_is_listed_once_and_comes_back() -> None:
    values = Values()
    trees: list[Tla] = [
        True, 1, "TRUE", "1", TlaSeq(()), TlaSet(()), TlaSeq((1, True)), TlaMap((("a", 1), ("b", TlaSet((1, 2))))),
        TlaRecord((("x", "1"), ("y", TlaSeq(("TRUE",))))), TlaRecord(()),
    ]  # fmt: skip
    indices = [values.index(tree) for tree in trees]
    assert len(set(indices)) == len(trees)
    assert [tree_of(values.listed, index) for index in indices] == trees
    before = len(values.listed)
    assert [values.index(tree) for tree in trees] == indices
    assert len(values.listed) == before


def test_equal_values_have_one_index_however_they_are_written() -> None:
    values = Values()
    assert values.index(TlaSet((1, 2))) == values.index(TlaSet((2, 1)))
    assert values.index(TlaMap(((1, TlaSet((1, 2))),))) == values.index(TlaMap(((1, TlaSet((2, 1))),)))
    assert values.index(True) != values.index(1)


def test_the_data_holds_every_state() -> None:
    story = story_of_finding("kip_996", "own_vote_elects")
    data = data_of(page(story))
    assert data == json.loads(json.dumps(page_data(story)))
    assert [log["title"] for log in data["logs"]] == ["log"]
    assert data["committed"]["variable"] == "hwm"
    assert len(data["steps"]) == len(story.steps)


def test_logs_are_sequences_at_every_process() -> None:
    story = hand_made_story()
    assert [log.title for log in logs_of(story)] == ["log"]
    assert committed_column(story) == LaneColumn("high watermark", "hwm")


def test_sixty_steps_take_less_than_half_a_megabyte() -> None:
    text = page(long_story("kip_996", "standard", 60, seed=1))
    assert len(text.encode()) < SIZE_MAX
    assert len(data_of(text)["steps"]) == 60


def test_the_policy_forbids_requests_and_names_the_style_and_script() -> None:
    text = page(hand_made_story())
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_no_address_of_a_host_and_no_inline_style_or_handler_stands_in_the_page() -> None:
    text = page(hand_made_story())
    assert set(re.findall(r"https?://[^\s\"'`]*", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<[a-z][^>]* (style|on[a-z]+)=", text.partition("<script")[0])
    assert "eval(" not in text
    assert "innerHTML" not in text


@pytest.mark.parametrize("name", [HOSTILE, "{{data}}", "<!--", "]]>", "\u2028", "\ud800", "</STYLE>", "&lt;"])
def test_what_a_trace_says_stays_text(name: str) -> None:
    text = page(hand_made_story(name))
    text.encode()
    tame = page(hand_made_story())
    # As many tags as in a page without such names, and the data comes back as it was.
    assert len(re.findall(r"<[a-zA-Z/!]", text)) == len(re.findall(r"<[a-zA-Z/!]", tame))
    assert data_of(text)["lanes"] == [name, "b"]


def test_the_verdict_names_the_property_its_meaning_and_the_instance() -> None:
    head = page(hand_made_story("n1")).partition('<header class="top">')[2].partition("</header>")[0]
    shown = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", head))
    for said in ("n1 does not hold", "n1 holds.", "is false.", "s.epoch = 1", "fails for s is n1"):
        assert said in shown


def test_the_commands_are_those_that_led_here() -> None:
    lines = ("kmc check './my spec' 'a<b'", "kmc explore './my spec' --from last")
    shown = page(replace(hand_made_story(), commands=lines))
    assert "<pre>kmc check &#x27;./my spec&#x27; &#x27;a&lt;b&#x27;\nkmc explore" in shown
    assert "kmc check" not in page(hand_made_story())


@pytest.mark.parametrize("story", [Story({}, (), (), (), hand_made_story().steps[:1], ())], ids=["bare"])
def test_a_trace_of_which_nothing_is_known_has_a_page(story: Story) -> None:
    assert "<h1>A trace</h1>" in page(story)


def test_the_authors_sentence_is_the_second_line_and_not_in_the_fold() -> None:
    about = {"constants": "\\* A restart\n\\* a voter forgets `x` <b>\n\\* level bound: 3\nCONSTANTS\n\\* no\n"}
    story = hand_made_story()
    text = page(replace(story, about={**story.about, **about}))
    told = '<p class="purpose">A restart. a voter forgets <code>x</code> &lt;b&gt;.</p>'
    assert text.index("</h1>") < text.index(told) < text.index("<details>")
    assert purpose_of({}) == purpose_of({"constants": "CONSTANTS N = 1"}) == ""


def test_long_compared_values_are_in_the_fold_and_what_the_sentence_says_is_in_neither() -> None:
    story = hand_made_story()
    assert story.why is not None
    compared = (ComparedValue("x", "1"), ComparedValue("y", "2"), ComparedValue("z", "long " * 30))
    text = page(replace(story, why=replace(story.why, compared=compared, sentence="a fails: x is 1.")))
    above, fold = text.split("<details>", 1)
    assert "<dt>x =</dt>" not in text
    assert "<dt>y =</dt>" in above
    assert "<dt>z =</dt>" in fold
