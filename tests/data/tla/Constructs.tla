Prose before a module is skipped, "quotes and (* too.
------------------------------ MODULE Constructs ------------------------------
(* A module with each construct of TLA+, for tests of readers. It means nothing. *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Node, Limit, Rank(_), Before(_, _)
CONSTANT  None

ASSUME Limit \in Nat
ASSUME RankIsNumber == \A n \in Node: Rank(n) \in Nat

VARIABLES
    holder,   \* the node that has the token
    queue,    \* requests in order
    count

vars == <<holder, queue, count>>

-------------------------------------------------------------------------------
\* The unit after a line of dashes.
TypeOK ==
    /\ holder \in Node \cup {None}
    /\ queue \in Seq(Node)
    /\ count \in [Node -> 0..Limit]
    /\ \A n \in Node:
         \/ count[n] < Limit
         \/ /\ count[n] = Limit
            /\ n \notin {queue[i]: i \in DOMAIN queue}

a \prec b == Before(a, b)
Range(f) == {f[x]: x \in DOMAIN f}
Pairs == {<<a, b>> \in Node \X Node: a \prec b /\ a # b}
RankOf(n) == 0
IsBefore(a, b) == FALSE
Records == [kind: {"request", "grant"}, from: Node, to: SUBSET Node]
Example == [kind |-> "request", from |-> CHOOSE n \in Node: TRUE, to |-> {}]
LOCAL Least(S, before(_, _)) == CHOOSE s \in S: \A t \in S \ {s}: before(s, t)
First == Least(Node, LAMBDA a, b: Rank(a) < Rank(b))
Last == Least(Node, \prec)

RECURSIVE Total(_)
Total(S) == IF S = {} THEN 0 ELSE LET s == CHOOSE s \in S: TRUE IN count[s] + Total(S \ {s})

factorial[n \in Nat] == IF n = 0 THEN 1 ELSE n * factorial[n - 1]
a ++ b == (a + b) % (Limit + 1)
Signed(n) == CASE n > 0 -> 1
               [] n = 0 -> 0
               [] OTHER -> -1

Init ==
    /\ holder = None
    /\ queue = << >>
    /\ count = [n \in Node |-> 0]

Request(n) ==
    /\ count[n] < Limit
    /\ queue' = Append(queue, n)
    /\ count' = [count EXCEPT ![n] = @ + 1]
    /\ UNCHANGED holder

Grant ==
    /\ queue # << >>
    /\ LET next == Head(queue)
           Rest(s) == Tail(s)
       IN  /\ holder' = next
           /\ queue' = Rest(queue)
           /\ count' = [count EXCEPT ![next] = 0]

Next == Grant \/ \E n \in Node: Request(n)
Fairness == WF_vars(Grant) /\ \A n \in Node: SF_<<queue, count>>(Request(n))
Spec == Init /\ [][Next]_vars /\ Fairness

Served == \A n \in Node: count[n] > 0 ~> holder = n
Stays == []<><<Grant>>_vars => <>[](ENABLED Grant)

---- MODULE Counter ----
VARIABLE total
Step == total' = total + 1
====
Shadow(t) == INSTANCE Counter WITH total <- t
Counting == Shadow(Total(Node))!Step

THEOREM Spec => []TypeOK
<1>1. Init => TypeOK
  BY DEF Init, TypeOK
<1> QED  PROOF OMITTED

Unicode == ∀ n ∈ Node: ¬(n ≠ n) ∧ {n} ⊆ Node
Labelled == \E n \in Node: lab(n):: Rank(n) = \b101
===============================================================================
Prose after it, too: "
