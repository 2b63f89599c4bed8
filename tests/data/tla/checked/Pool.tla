---- MODULE Pool ----
EXTENDS Naturals, FiniteSets, TLC
CONSTANTS Item, Limit
VARIABLES free, taken, turns
vars == <<free, taken, turns>>
Init == free = Item /\ taken = {} /\ turns = 0
Take(i) == i \in free /\ free' = free \ {i} /\ taken' = taken \union {i} /\ turns' = turns + 1
Return(i) == i \in taken /\ taken' = taken \ {i} /\ free' = free \union {i} /\ UNCHANGED turns
Next == \E i \in Item : Take(i) \/ Return(i)
Spec == Init /\ [][Next]_vars
Few == turns <= Limit
Disjoint == free \intersect taken = {}
Symmetry == Permutations(Item)
View == <<free, taken>>
Rises == [][turns' \in {turns, turns + 1}]_vars
Abstract == INSTANCE Count WITH n <- Cardinality(taken), Top <- Cardinality(Item)
Refines == Abstract!Spec
RefinesFair == Abstract!FairSpec
Enough == Cardinality(Item) > 1 /\ TLCGet("distinct") > 0
ASSUME Cardinality(Item) > 0
====
