"""Words for long codes written out: in the place of a word that is used once, and as a call of a function of others.

`later_1()` is a function without parameters inside of the action that uses it: kmc computes it once, and TLA+'s lazy
meaning is kept, since an error in it counts only where it is called. A code with variables of comprehensions becomes
`part_1(k)`, inside of which the same is done again. A function is defined before the first statement that calls it, in
the innermost block that has all calls.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from kmc.budget import require_budget
from kmc.tla.translate.formatting import names_of
from kmc.tla.translate.shared_codes import WORD, SharedCodes
from kmc.tla.translate.translation import WrittenLine

_FUNCTION = re.compile(r"\b((?:later|part)_\d+_)\(")


def written_out(shared: SharedCodes, lines: list[WrittenLine]) -> list[WrittenLine]:
    """Return the lines of a function without words."""
    if not any(WORD.search(line.text) for line in lines):
        return lines
    writer = _FunctionWriter(shared)
    writer.read(lines)
    return _Scope(writer, {}, frozenset()).written(lines)


@dataclass(slots=True)
class _Node:
    """A line, the functions that it calls, and the lines below it that are its block."""

    line: WrittenLine
    calls: frozenset[str]
    block: list[_Node] = field(default_factory=list)
    before: list[WrittenLine] = field(default_factory=list)
    """The lines of a definition before its last one, which is the line of this node."""

    @property
    def depth(self) -> int:
        """The depth of the statement."""
        return self.before[0].depth if self.before else self.line.depth

    def all_calls(self) -> frozenset[str]:
        """Return the functions that the node and its block call."""
        return self.calls.union(*(inner.all_calls() for inner in self.block))


@dataclass(slots=True)
class _FunctionWriter:
    """The words of one function: the free names of their texts, and the names that comprehensions bind."""

    shared: SharedCodes
    free: dict[str, frozenset[str]] = field(default_factory=dict)
    bound: set[str] = field(default_factory=set)
    functions: int = 0

    def read(self, lines: list[WrittenLine]) -> None:
        """Find the free names of all words."""
        for line in lines:
            for word in WORD.findall(line.text):
                self._read_word(word)
            self.bound |= names_of(line.text)[1]

    def _read_word(self, word: str) -> None:
        if word in self.free:
            return
        require_budget()
        text = self.shared.texts[word]
        for inner in WORD.findall(text):
            self._read_word(inner)
        free, bound = names_of(text)
        self.bound |= bound
        inner_names = frozenset().union(*(self.free[inner] for inner in WORD.findall(text)))
        self.free[word] = (free | inner_names) - bound

    def open_names(self, word: str) -> frozenset[str]:
        """Return the variables of comprehensions that a word has and does not bind."""
        return self.free[word] & self.bound

    def new_name(self, stem: str) -> str:
        """Return a name that no other function inside of this one has."""
        self.functions += 1
        return f"{stem}_{self.functions}_"


@dataclass(slots=True)
class _Scope:
    """A function at work: the calls of words that are defined around it, and the variables that are its parameters."""

    writer: _FunctionWriter
    around: dict[str, str]
    inside: frozenset[str]
    calls: dict[str, str] = field(default_factory=dict)
    expanded: dict[str, str] = field(default_factory=dict)

    def written(self, lines: list[WrittenLine]) -> list[WrittenLine]:
        """Return lines without words, among definitions of functions for those that are used several times."""
        kept = self._kept(lines)
        for word in kept:
            names = sorted(self.writer.open_names(word) - self.inside)
            stem = "part" if names else "later"
            self.calls[word] = f"{self.writer.new_name(stem)}({', '.join(names)})"
        nodes = self._nodes(lines)
        for word in kept:
            self._place(word, nodes)
        return _flat(nodes)

    def _text(self, word: str) -> str:
        """Return the text of a word: the call of its function if it has one around this one."""
        return self.around.get(word) or self.writer.shared.texts[word]

    def _kept(self, lines: list[WrittenLine]) -> list[str]:
        """Return the words that get a function here, those that use others before these."""
        uses: Counter[str] = Counter()
        order: list[str] = []
        known: set[str] = set()

        def visit(word: str) -> None:
            if word not in known:
                known.add(word)
                for inner in WORD.findall(self._text(word)):
                    uses[inner] += 1
                    visit(inner)
                order.append(word)

        for line in lines:
            for word in WORD.findall(line.text):
                uses[word] += 1
                visit(word)
        return [word for word in reversed(order) if uses[word] > 1 and self._is_worth_it(word)]

    def _is_worth_it(self, word: str) -> bool:
        """Return whether a function is of use: not another one for what has one already, unless its value is known."""
        call = self.around.get(word)
        return call is None or (not call.endswith("()") and self.writer.open_names(word) <= self.inside)

    def _expanded(self, text: str) -> str:
        """Return a text without words."""
        require_budget()
        return WORD.sub(self._replacement, text)

    def _replacement(self, found: re.Match[str]) -> str:
        word = found.group()
        if word not in self.calls:
            if word not in self.expanded:
                self.expanded[word] = self._expanded(self._text(word))
            return self.expanded[word]
        return self.calls[word]

    def _node(self, line: WrittenLine) -> _Node:
        text = self._expanded(line.text)
        return _Node(WrittenLine(line.depth, text, line.place), frozenset(_FUNCTION.findall(text)))

    def _nodes(self, lines: list[WrittenLine]) -> list[_Node]:
        """Return the lines as a tree of blocks."""
        whole: list[_Node] = []
        around: list[_Node] = []
        for node in map(self._node, lines):
            while around and around[-1].line.depth >= node.line.depth:
                around.pop()
            (around[-1].block if around else whole).append(node)
            around.append(node)
        return whole

    def _place(self, word: str, nodes: list[_Node]) -> None:
        """Put the definition of a function before its first call, in the innermost block that has all of them."""
        name = self.calls[word].partition("(")[0]
        users = [index for index, node in enumerate(nodes) if name in node.all_calls()]
        first = _beginning(nodes, users[0])
        only = nodes[users[0]]
        if len(users) == 1 and name not in only.calls and only.block:
            self._place(word, only.block)
            return
        nodes.insert(first, self._definition(word, nodes[first].depth))

    def _definition(self, word: str, depth: int) -> _Node:
        require_budget()
        place = self.writer.shared.places[word]
        parameters = self.writer.open_names(word) - self.inside
        others = {other: call for other, call in self.calls.items() if other != word}
        scope = _Scope(self.writer, {**self.around, **others}, self.inside | parameters)
        body = scope.written([WrittenLine(depth + 1, f"return {self._text(word)}", place)])
        lines = [WrittenLine(depth, f"def {self.calls[word]}:", place), *body]
        calls = frozenset(name for line in lines[1:] for name in _FUNCTION.findall(line.text))
        return _Node(lines[-1], calls, before=lines[:-1])


def _beginning(nodes: list[_Node], index: int) -> int:
    """Return the index of the `if` that an `else` or `elif` belongs to, that of another node itself."""
    while nodes[index].line.text.startswith(("else:", "elif ")):
        index -= 1
    return index


def _flat(nodes: list[_Node]) -> list[WrittenLine]:
    return [line for node in nodes for line in (*node.before, node.line, *_flat(node.block))]
