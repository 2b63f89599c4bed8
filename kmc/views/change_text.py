"""The text of a change: `state Voted -> Follower`, `log[2] new: {epoch: 2}`, `votes + {n1}`, `n3.leader n1 -> none`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from kmc.story.parts.story import Change, Story, StoryStep
from kmc.text_lines import NEW, OLD, PLAIN, TextPiece
from kmc.views.message_text import MessageNames


@dataclass(frozen=True, slots=True)
class ChangedPlace:
    """The changes of one place: one value for another, or what was added to it and removed from it."""

    changes: tuple[Change, ...]

    @property
    def variable(self) -> str:
        """The TLA+ variable."""
        return self.changes[0].path[0]

    @property
    def lane(self) -> str | None:
        """The process whose place it is."""
        return self.changes[0].lane

    def name(self, actor: str | None = None) -> str:
        """`log[2]`; with its process, `n3.log[2]`, where another one acts."""
        names = list(self.changes[0].path)
        if self.lane is not None:
            del names[names.index(self.lane, 1)]
            names = names if self.lane == actor else [self.lane, *names]
        return names[0] + "".join(name if name.startswith("[") else f".{name}" for name in names[1:])

    def values(self, names: MessageNames, number: int) -> list[TextPiece]:
        """`n1 -> none`; `new: n1` or `removed: n1` for a key or an offset; of a set `- {n1}` and `+ {n2, n3}`."""
        first = self.changes[0]
        if first.old is not None and first.new is not None:
            old, new = (names.of_text(text, number) for text in (first.old, first.new))
            return [TextPiece(old, OLD), TextPiece(" -> "), TextPiece(new, NEW)]
        added = [names.of_text(c.new, number) for c in self.changes if c.new is not None]
        removed = [names.of_text(c.old, number) for c in self.changes if c.old is not None]
        minus, plus = ("- {{{}}}", "+ {{{}}}") if first.of_set else ("removed: {}", "new: {}")
        pieces = [TextPiece(minus.format(", ".join(removed)), OLD)] if removed else []
        pieces += [TextPiece(" ")] if removed and added else []
        return [*pieces, *([TextPiece(plus.format(", ".join(added)), NEW)] if added else [])]


def changed_places(changes: Sequence[Change]) -> list[ChangedPlace]:
    """The changes by place, in their order."""
    return [ChangedPlace(tuple(group)) for _, group in groupby(changes, key=lambda change: change.path)]


def shown_changes(step: StoryStep, variables: Sequence[str], lanes: Sequence[str] = ()) -> list[ChangedPlace]:
    """The places that a step changed, of these variables, and of these processes if any are named."""
    kept = [c for c in step.changes if c.path[0] in variables and (not lanes or c.lane is None or c.lane in lanes)]
    return changed_places(kept)


def column_of(place: ChangedPlace, story: Story) -> int | None:
    """The number of the column of the table of processes that shows a place; None where none does."""
    path = place.changes[0].path
    return next((index for index, column in enumerate(story.columns) if column.shows(path)), None)


def by_weight(places: Sequence[ChangedPlace], story: Story) -> Iterator[ChangedPlace]:
    """Sort the places: first those in the table of processes, then the other variables of processes, then all
    others.
    """

    def weight(place: ChangedPlace) -> tuple[int, int]:
        column = column_of(place, story)
        if column is not None:
            return 0, column
        return (1 if place.lane is not None else 2), 0

    yield from sorted(places, key=weight)


def change_pieces(place: ChangedPlace, actor: str | None, names: MessageNames, number: int) -> list[TextPiece]:
    """One change of a list in a line: `state Voted -> Follower`."""
    return [TextPiece(f"{place.name(actor)} ", PLAIN), *place.values(names, number)]
