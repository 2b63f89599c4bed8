"""The expressions that a person watches along the path, with their values in the states that were visited.

They belong to the session, not to its tree: undo, another branch and a page loaded again keep them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kmc.errors import KmcError
from kmc.explorer.commands import refused
from kmc.explorer.explored_model import ExploredModel, WatchedExpression
from kmc.explorer.state_tree import VisitedState
from kmc.lang.tla import Tla
from kmc.story.parts.story import Story
from kmc.story.watched import NO_VALUE, with_values

WATCHED_MAX = 8
"""The most expressions that a path shows: more columns leave no room for the steps."""
_REMEMBERED_MAX = 20_000


class Watching:
    """The watched expressions of one session. Each is evaluated once in each state."""

    def __init__(self, explored: ExploredModel, texts: Sequence[str] = ()) -> None:
        """Watch `texts` from the first; raises as `show`."""
        self._explored = explored
        self._asked: tuple[WatchedExpression, ...] = ()
        self._values: dict[int, tuple[VisitedState, Mapping[str, Tla]]] = {}
        """Compare by identity, with the state itself, so that no other object gets its identity."""
        for text in texts:
            self.show(text)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the expressions, in the order in which they were requested."""
        return tuple(one.text for one in self._asked)

    def show(self, text: str, path: Sequence[VisitedState] = ()) -> None:
        """Watch one more expression; KmcError as of `kmc eval` for a mistake in it, KMC670 for too many.

        An expression that has a value in no state of the `path` is a mistake, too.
        """
        added = self._explored.expression(text)
        if path and all(_value(added, visited.state) == NO_VALUE for visited in path):
            added.shown_in(path[-1].state)
        if added.text in self.texts:
            return
        if len(self._asked) >= WATCHED_MAX:
            raise refused(f"the path shows {WATCHED_MAX} expressions, which is the most it can", "remove one first")
        self._asked = (*self._asked, added)
        self._values.clear()

    def hide(self, text: str) -> None:
        """Watch an expression no longer; CommandLineError KMC670 for one that is not shown."""
        if text not in self.texts:
            raise refused("no such expression is shown", "load the page again")
        self._asked = tuple(one for one in self._asked if one.text != text)

    def beside(self, story: Story, line: Sequence[VisitedState]) -> Story:
        """The story of a line with the values of the expressions in each of its states."""
        if not self._asked:
            return story
        return with_values(story, self.texts, [self._values_in(visited) for visited in line])

    def _values_in(self, visited: VisitedState) -> dict[str, Tla]:
        known = self._values.get(id(visited))
        if known is None or known[0] is not visited:
            if len(self._values) >= _REMEMBERED_MAX:
                self._values.clear()
            known = (visited, {one.text: _value(one, visited.state) for one in self._asked})
            self._values[id(visited)] = known
        return {text: known[1][text] for text in self.texts}


def _value(asked: WatchedExpression, state: Any) -> Tla:
    try:
        return asked.shown_in(state)
    except KmcError:
        return NO_VALUE
