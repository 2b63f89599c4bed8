---- MODULE Broken ----
EXTENDS Sequences, Naturals, TLC
VARIABLES q, n
Init == q = <<1, 2>> /\ n = 0
Pop == q' = Tail(q) /\ n' = Head(q)
Check == n < 2 /\ Assert(n < 1, "n is too large") /\ UNCHANGED <<q, n>>
Next == Pop
NextChecked == (Len(q) > 0 /\ Pop) \/ Check
Bad == q[1] > 0
====
