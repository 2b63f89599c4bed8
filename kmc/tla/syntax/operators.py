r"""The operators of TLA+: their spellings, and the precedences that decide which of two neighbours binds first.

An operator has a range of precedences. Of two neighbours, the one whose whole range is higher binds first. Where the
ranges meet, an expression needs parentheses, unless both are the same operator and it associates to the left. The
ranges are those of SANY, divided by ten.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Precedence:
    """The range of precedences of an operator, and whether `a op b op c` means `(a op b) op c`."""

    low: int
    high: int
    associates: bool = False


def _infix_table() -> dict[str, Precedence]:
    rows: tuple[tuple[str, int, int, bool], ...] = (
        ("=>", 1, 1, False),
        (r"-+-> <=> ~>", 2, 2, False),
        ("/\\ \\/", 3, 3, True),
        (r"= # < > <= >= \in \notin \subseteq \subset \supset \supseteq", 5, 5, False),
        (r"\sqsubset \sqsubseteq \sqsupset \sqsupseteq \prec \preceq \succ \succeq", 5, 5, False),
        (r"\sim \simeq \approx \cong \asymp \doteq \propto \ll \gg |- -| |= =| := ::=", 5, 5, False),
        (r"\cdot", 5, 14, True),
        ("@@", 6, 6, True),
        (":> <:", 7, 7, False),
        ("\\", 8, 8, False),
        (r"\union \intersect", 8, 8, True),
        (".. ...", 9, 9, False),
        (r"## $ $$ ?? \sqcap \sqcup \uplus", 9, 13, True),
        ("!!", 9, 13, False),
        (r"\wr", 9, 14, False),
        (r"+ ++ \oplus", 10, 10, True),
        ("%% | ||", 10, 11, True),
        ("%", 10, 11, False),
        (r"\X", 10, 13, True),
        (r"- -- \ominus", 11, 11, True),
        (r"* ** & && \o \odot \otimes \star \bullet \bigcirc", 13, 13, True),
        (r"/ // \div \oslash", 13, 13, False),
        ("^ ^^", 14, 14, False),
    )
    return {name: Precedence(low, high, left) for names, low, high, left in rows for name in names.split()}


INFIX = _infix_table()
"""Infix operators by their canonical spelling."""

PREFIX = {
    "~": Precedence(4, 4, True),
    "ENABLED": Precedence(4, 15),
    "UNCHANGED": Precedence(4, 15),
    "[]": Precedence(4, 15),
    "<>": Precedence(4, 15),
    "SUBSET": Precedence(10, 13),
    "UNION": Precedence(10, 13),
    "DOMAIN": Precedence(10, 13),
    "-.": Precedence(12, 12),
}
"""Prefix operators; the minus of a negation is `-.`, in an expression `-`."""

POSTFIX = {"'": Precedence(15, 15), "^+": Precedence(15, 15), "^*": Precedence(15, 15), "^#": Precedence(15, 15)}
"""Postfix operators; applications `f[x]` and fields `r.x` bind tighter than all of these."""

PREFIX_WORDS = frozenset(("ENABLED", "UNCHANGED", "SUBSET", "UNION", "DOMAIN"))
"""Prefix operators that are spelt as words."""

DEFINABLE_PREFIX = frozenset(("-.", "~", "[]", "<>", "SUBSET", "UNION", "DOMAIN", "ENABLED", "UNCHANGED"))
"""Prefix operators as they are spelt where a module of its own defines them."""

_SYNONYMS = r"""
~ \lnot \neg ¬
/\ \land ∧
\/ \lor ∨
<=> \equiv ≡ ⇔
# /= ≠
<= =< \leq ≤
>= \geq ≥
\X \times ×
\intersect \cap ∩
\union \cup ∪
\o \circ ∘
\oplus (+) ⊕
\ominus (-) ⊖
\odot (.) ⊙
\oslash (/) ⊘
\otimes (\X) ⊗
\A \forall ∀
\E \exists ∃
\in ∈
\notin ∉
\subseteq ⊆
\subset ⊂
\supset ⊃
\supseteq ⊇
\sqsubset ⊏
\sqsubseteq ⊑
\sqsupset ⊐
\sqsupseteq ⊒
\sqcap ⊓
\sqcup ⊔
\uplus ⊎
\prec ≺
\preceq ⪯
\succ ≻
\succeq ⪰
\sim ∼
\simeq ≃
\approx ≈
\cong ≅
\asymp ≍
\doteq ≐
\propto ∝
\ll ≪
\gg ≫
\div ÷
\wr ≀
\star ⋆
\bullet ●
\bigcirc ◯
\cdot ⋅
=> ⇒
~> ↝
-+-> ⇸
[] □
<> ◇
<< ⟨
>> ⟩
>>_ ⟩_
== ≜
:= ≔
::= ⩴
:: ∷
.. ‥
... …
!! ‼
?? ⁇
|| ‖
|- ⊢
-| ⊣
|= ⊨
=| ⫤
-> →
<- ←
|-> ↦
' ′
^+ ⁺
"""

SPELLINGS: dict[str, str] = {
    spelling: line.split()[0] for line in _SYNONYMS.strip().splitlines() for spelling in line.split()
}
"""The canonical spelling of each spelling that has synonyms, the canonical ones included."""

NAME_SIGNS = {"ℕ": "Nat", "ℤ": "Int", "ℝ": "Real"}
"""Signs that are names."""

PUNCTUATION = (
    *("(", ")", "[", "]", "{", "}", "]_", ">>_", ",", ":", ".", "!", "_", "@", "\\AA", "\\EE"),
    *("::", "|->", "->", "<-", "==", "<<", ">>", "\\A", "\\E"),
)
"""Symbols that are not operators."""

SYMBOLS = tuple(sorted({*INFIX, *POSTFIX, *PUNCTUATION, *SPELLINGS, "-.", "[]", "<>", "~"}, key=len, reverse=True))
"""All symbols in all spellings, long ones first: a text is read as the longest symbol that it begins with."""
