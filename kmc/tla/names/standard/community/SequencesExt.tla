---------------------------- MODULE SequencesExt ----------------------------
\* Operators of the community module SequencesExt, with the values that TLC's implementation in Java gives, and without
\* going through all functions from 1..n to a set.
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

\* The index is one of seq; the module gives that of SubSeq(seq, from, to).
SelectInSubSeq(seq, from, to, Test(_)) ==
    LET part == SubSeq(seq, from, to)
        I == {i \in 1..Len(part): Test(part[i])}
    IN  IF I = {} THEN 0 ELSE (from + CHOOSE i \in I: \A j \in I: i <= j) - 1

SelectLastInSubSeq(seq, from, to, Test(_)) ==
    LET part == SubSeq(seq, from, to)
        I == {i \in 1..Len(part): Test(part[i])}
    IN  IF I = {} THEN 0 ELSE (from + CHOOSE i \in I: \A j \in I: i >= j) - 1
=============================================================================
