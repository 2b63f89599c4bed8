---- MODULE Jugs ----
(* Two jugs without marks: four gallons are wanted. *)
EXTENDS Naturals
CONSTANTS Small, Large, Wanted
ASSUME Small < Large
VARIABLES small, large
vars == <<small, large>>

Least(a, b) == IF a < b THEN a ELSE b

Init == small = 0 /\ large = 0

Fill == \/ small' = Small /\ UNCHANGED large
        \/ large' = Large /\ UNCHANGED small
Empty == \/ small' = 0 /\ UNCHANGED large
         \/ large' = 0 /\ UNCHANGED small
Pour == \/ LET moved == Least(small, Large - large)
           IN /\ small' = small - moved
              /\ large' = large + moved
        \/ LET moved == Least(large, Small - small)
           IN /\ large' = large - moved
              /\ small' = small + moved

Next == Fill \/ Empty \/ Pour
Spec == Init /\ [][Next]_vars

Bounded == small \in 0..Small /\ large \in 0..Large
NotSolved == large # Wanted
OneAtATime == [][small' = small \/ large' = large \/ small' + large' = small + large]_vars
====
