"""Coverage: how many states each action generated, and which actions never fired.

*Generated* per action does not depend on the order of the search; credit for distinct states would, so it is not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class Coverage:
    """Generated states per action, including actions at zero, in the order of declaration."""

    def __init__(self, titles: Iterable[str]) -> None:
        self._generated = dict.fromkeys(titles, 0)

    def credit(self, counts: Mapping[str, int]) -> None:
        """Add generated states per action title."""
        for title, count in counts.items():
            self._generated[title] += count

    def generated(self) -> dict[str, int]:
        """Generated states per action title."""
        return dict(self._generated)

    def never_fired(self) -> tuple[str, ...]:
        """Titles of the actions that generated nothing."""
        return tuple(title for title, count in self._generated.items() if count == 0)
