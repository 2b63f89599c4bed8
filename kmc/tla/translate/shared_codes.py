"""Placeholders ("words") for long codes that are read at several places, while a function is translated.

LETs and arguments are written anew wherever they are read, so that their values are as lazy as in TLA+. The text of a
LET that reads another one twice would double at each level. A word, `shared_7_()`, replaces one text wherever that
occurs. `nested_codes.py` then writes the text of a word that is used once in its place, and else gives it a function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kmc.errors import Span

WORD = re.compile(r"\bshared_\d+_\(\)")
_LONG = 160


@dataclass(slots=True)
class SharedCodes:
    """The words and their texts, with the place of each in the module."""

    words: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    places: dict[str, Span] = field(default_factory=dict)

    def word_of(self, text: str, place: Span) -> str:
        """Return the word for a text, the text itself if it is short."""
        if len(text) <= _LONG:
            return text
        word = self.words.get(text)
        if word is None:
            word = self.words[text] = f"shared_{len(self.words)}_()"
            self.texts[word] = text
            self.places[word] = place
        return word

    def parts(self, text: str) -> Iterator[str]:
        """Enumerate a text and the texts of all words in it, each once."""
        queue, known = [text], {text}
        while queue:
            found = queue.pop()
            yield found
            for word in WORD.findall(found):
                inner = self.texts[word]
                if inner not in known:
                    known.add(inner)
                    queue.append(inner)

    def is_in(self, part: str, text: str) -> bool:
        """Return whether a code is a part of another one, whatever words stand for."""
        return any(part in each for each in self.parts(text))

    def matches(self, test: Callable[[str], object], text: str) -> bool:
        """Return whether a test holds of a text or of the text of a word in it."""
        return any(test(each) for each in self.parts(text))
