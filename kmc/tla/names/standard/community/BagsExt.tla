------------------------------- MODULE BagsExt -------------------------------
\* Operators of the community module BagsExt, with the values that TLC's implementation in Java gives.
EXTENDS Naturals

\* The elements are taken in TLC's order, each as often as it occurs, and applied to the value so far.
FoldBag(op(_, _), base, B) ==
    LET RECURSIVE fold(_, _)
        fold(rest, value) ==
            IF rest = {} THEN value
            ELSE LET e == CHOOSE e \in rest: TRUE
                     folded[n \in Nat] == IF n = 0 THEN value ELSE op(folded[n - 1], e)
                 IN  fold(rest \ {e}, folded[B[e]])
    IN  fold(DOMAIN B, base)
==============================================================================
