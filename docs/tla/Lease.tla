------------------------------- MODULE Lease -------------------------------
\* A server grants a lease to one worker after another. A worker that does not know that its lease
\* has gone to another one may still write.
EXTENDS Naturals

CONSTANTS
    Worker,
    MaxTerm,
    ChecksTerm  \* whether storage refuses a write whose term is older than that of the last write

VARIABLES
    term,  \* the term of the newest lease, 0 before the first
    held,  \* the term that each worker believes to hold, 0 for none
    last   \* the term of the last write

vars == <<term, held, last>>

TypeOK ==
    /\ term \in 0..MaxTerm
    /\ held \in [Worker -> 0..MaxTerm]
    /\ last \in 0..MaxTerm

Init ==
    /\ term = 0
    /\ held = [w \in Worker |-> 0]
    /\ last = 0

Grant(w) ==
    /\ term < MaxTerm
    /\ term' = term + 1
    /\ held' = [held EXCEPT ![w] = term + 1]
    /\ UNCHANGED last

Write(w) ==
    /\ held[w] > 0
    /\ ChecksTerm => held[w] >= last
    /\ last' = held[w]
    /\ UNCHANGED <<term, held>>

GiveUp(w) ==
    /\ held[w] > 0
    /\ held' = [held EXCEPT ![w] = 0]
    /\ UNCHANGED <<term, last>>

Next == \E w \in Worker : Grant(w) \/ Write(w) \/ GiveUp(w)

Spec == Init /\ [][Next]_vars

\* No write is older than the one before it.
WritesInOrder == [][last' >= last]_vars

=============================================================================
