---------------------------- MODULE SequencesExt ----------------------------
\* Operators of the community module SequencesExt, without going through all functions from 1..n to a set.
EXTENDS Naturals, Sequences

SetToSeq(S) ==
    LET RECURSIVE listed(_, _)
        listed(rest, found) ==
            IF rest = {} THEN found
            ELSE LET e == CHOOSE e \in rest: TRUE IN listed(rest \ {e}, Append(found, e))
    IN  listed(S, <<>>)

SetToSeqs(S) ==
    LET RECURSIVE orders(_)
        orders(T) == IF T = {} THEN {<<>>} ELSE UNION {{Append(s, e): s \in orders(T \ {e})}: e \in T}
    IN  orders(S)
=============================================================================
