------------------------------ MODULE Functions ------------------------------
\* Operators of the community module Functions, with the values that TLC's implementation in Java gives.
EXTENDS Naturals

\* The elements are taken in TLC's order, each applied to the value so far.
FoldFunctionOnSet(op(_, _), base, fun, indices) ==
    LET RECURSIVE fold(_, _)
        fold(rest, value) ==
            IF rest = {} THEN value
            ELSE LET i == CHOOSE i \in rest: TRUE IN fold(rest \ {i}, op(fun[i], value))
    IN  fold(indices, base)
==============================================================================
