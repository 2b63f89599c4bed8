-------------------------------- MODULE Bags --------------------------------
\* Bags, also called multisets: functions from elements to how often each occurs.
\* kmc reads this text wherever a module uses the standard module Bags. As in TLC's Java
\* code, what occurs 0 times is not in a bag.
EXTENDS TLC
LOCAL INSTANCE Naturals

IsABag(B) == B \in [DOMAIN B -> Nat \ {0}]

BagToSet(B) == DOMAIN B

SetToBag(S) == [e \in S |-> 1]

BagIn(e, B) == e \in DOMAIN B /\ B[e] > 0

EmptyBag == SetToBag({})

CopiesIn(e, B) == IF e \in DOMAIN B THEN B[e] ELSE 0

B1 (+) B2 == [e \in DOMAIN B1 \cup DOMAIN B2 |-> CopiesIn(e, B1) + CopiesIn(e, B2)]

B1 (-) B2 ==
    LET Left(e) == B1[e] - CopiesIn(e, B2)
    IN  [e \in {d \in DOMAIN B1: Left(d) > 0} |-> Left(e)]

LOCAL SumOver(S, f) ==
    LET sum[T \in SUBSET S] ==
            IF T = {} THEN 0 ELSE LET e == CHOOSE e \in T: TRUE IN f[e] + sum[T \ {e}]
    IN  sum[S]

BagUnion(S) == [e \in UNION {DOMAIN B: B \in S} |-> SumOver(S, [B \in S |-> CopiesIn(e, B)])]

B1 \sqsubseteq B2 == \A e \in DOMAIN B1: B1[e] <= CopiesIn(e, B2)

SubBag(B) ==
    LET Parts(S) == {sub \in [S -> UNION {1..B[e]: e \in S}]: \A e \in S: sub[e] <= B[e]}
    IN  UNION {Parts(S): S \in SUBSET DOMAIN B}

BagOfAll(F(_), B) ==
    [v \in {F(e): e \in DOMAIN B} |-> LET from == {e \in DOMAIN B: F(e) = v} IN SumOver(from, B)]

BagCardinality(B) == SumOver(DOMAIN B, B)
=============================================================================
