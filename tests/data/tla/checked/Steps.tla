---- MODULE Steps ----
EXTENDS Naturals, TLC
VARIABLES x, y

Init == x \in {0, TLCGet("level") + 2} /\ y = 0
Turn == x' = (x + 1) % 4 /\ UNCHANGED y
Mark == TLCGet("level") > 1 /\ y' = x /\ UNCHANGED x
Next == Turn \/ Mark

Soon == TLCGet("level") < 4
====
