"""Two traces of one spec as one HTML file: the common beginning once, then a row of two steps for each state.

As `page`, it needs nothing else and may request nothing, and shows states as every page does.
"""

from __future__ import annotations

from html import escape

from kmc.story.parts.story import Change, Story
from kmc.views.beside import differences, parting, shared_states
from kmc.views.page.data import Json, page_data
from kmc.views.page.page import SCRIPTS, STYLES, assembled, script_safe_json, title_of

DIFFERENCES_MAX = 60
"""The greatest number of differences between two states that are listed."""


def beside_page(left: Story, right: Story, names: tuple[str, str]) -> str:
    """The page of two traces, called by `names`."""
    shared = shared_states(left, right)
    both = min(len(left.steps), len(right.steps))
    is_equal = shared == max(len(left.steps), len(right.steps))
    said = "The traces are equal." if is_equal else parting(left, right, names, shared).removesuffix(":") + "."
    different = [differences(left, right, state) for state in range(both)]
    data = {
        "names": list(names),
        "shared": shared,
        "left": page_data(left),
        "right": page_data(right),
        "differences": [[_difference(one) for one in changes[:DIFFERENCES_MAX]] for changes in different],
        "more": [max(0, len(changes) - DIFFERENCES_MAX) for changes in different],
    }
    about = [
        f"{name}: {title_of(story)}, {len(story.steps)} states."
        for name, story in zip(names, (left, right), strict=True)
    ]
    fillings = {
        "title": escape(f"{names[0]} beside {names[1]}"),
        "headline": escape(_headline(shared, is_equal)),
        "said": escape(said),
        "about": "\n".join(f'<p class="means">{escape(text)}</p>' for text in about),
        "data": script_safe_json(data),
    }
    return assembled("beside.html", (*STYLES, "page.css", "beside.css"), (*SCRIPTS, "beside.js"), fillings)


def _headline(shared: int, is_equal: bool) -> str:
    if is_equal:
        return "Two equal traces"
    if not shared:
        return "Two traces with nothing in common"
    return f"Two traces that share {'their first state' if shared == 1 else f'their first {shared} states'}"


def _difference(change: Change) -> Json:
    return {"path": list(change.path), "lane": change.lane, "left": change.old, "right": change.new}
