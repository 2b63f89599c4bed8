---------------------------- MODULE FiniteSetsExt ----------------------------
\* Operators of the community module FiniteSetsExt, with the values that TLC's implementation in Java gives.
EXTENDS Naturals

\* The elements are taken in TLC's order, each applied to the value so far.
FoldSet(op(_, _), base, set) ==
    LET RECURSIVE fold(_, _)
        fold(rest, value) ==
            IF rest = {} THEN value
            ELSE LET e == CHOOSE e \in rest: TRUE IN fold(rest \ {e}, op(e, value))
    IN  fold(set, base)
==============================================================================
