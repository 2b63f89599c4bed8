---- MODULE Count ----
EXTENDS Naturals
CONSTANT Top
VARIABLE n
Init == n = 0
Up == n < Top /\ n' = n + 1
Down == n > 0 /\ n' = n - 1
Next == Up \/ Down
Spec == Init /\ [][Next]_n
FairSpec == Spec /\ WF_n(Down)
====
