"""Messages in a text view: written once in full, and called by their number from then on.

A state may hold a message as a value, such as the fetch that a server waits for: its number is shown there, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kmc.lang.tla import Tla
from kmc.story.parts.in_words import in_words
from kmc.story.parts.network import arrow_text
from kmc.story.parts.story import SentMessage
from kmc.text_lines import DIM, TextLine, TextPiece, wrapped
from kmc.trace.trees import identity

_INDENT = 4


class MessageNames:
    """The messages of a story by their contents, to write `m3` for a value that is a message."""

    def __init__(self, messages: Iterable[SentMessage]) -> None:
        # The newest first, so that a message that was sent again is called by its last number.
        self._newest = [(message, in_words(message.value), identity(message.value)) for message in messages][::-1]

    def of_text(self, text: str, number: int) -> str:
        """A value in words, with a number in the place of each message that was sent up to state `number`."""
        if "{" not in text:
            return text
        for message, words, _ in self._newest:
            if message.sent_at <= number and words in text:
                text = text.replace(words, message.name)
        return text

    def of_tree(self, tree: Tla, number: int) -> SentMessage | None:
        """The newest message with this value that was sent up to state `number`."""
        wanted = identity(tree)
        return next((m for m, _, known in self._newest if known == wanted and m.sent_at <= number), None)


def message_pieces(message: SentMessage, names: MessageNames) -> list[TextPiece]:
    """`m3 RequestVoteRequest n1 -> n2: epoch 2, lastLogEpoch 1`, the whole message."""
    head = " ".join(filter(None, (message.name, message.kind, arrow_text(message.source, message.dest))))
    # With its own number, a field that holds an equal message would be replaced by that number.
    before = message.sent_at - 1
    fields = ", ".join(f"{name} {names.of_text(value, before)}" for name, value in message.fields)
    return [TextPiece(f"{head}:" if fields else head), *([TextPiece(f" {fields}", DIM)] if fields else [])]


def message_lines(
    messages: Iterable[SentMessage], names: MessageNames, width: int, indent: int = _INDENT
) -> Iterator[TextLine]:
    """Messages in full, one below the other."""
    for message in messages:
        yield from wrapped(message_pieces(message, names), width, indent=indent, hanging=indent + _INDENT)


def sent_text(sent: Sequence[SentMessage], actor: str | None) -> str:
    """`RequestVoteRequest to n1, n3`: messages of one step by kind, without their fields."""
    kinds: dict[str, list[str]] = {}
    for message in sent:
        source = "" if message.source in (None, actor) else f" from {message.source}"
        kinds.setdefault(message.kind + source, []).extend([message.dest] if message.dest is not None else [])
    return ", ".join(f"{kind} to {', '.join(dests)}" if dests else kind for kind, dests in kinds.items())
