---- MODULE Grid ----
EXTENDS Integers, FiniteSets
CONSTANT Size
VARIABLES at, seen
Cells == (1..Size) \X (1..Size)
Init == at = <<1, 1>> /\ seen = [c \in Cells |-> c = <<1, 1>>]
Move(dx, dy) ==
    LET to == <<at[1] + dx, at[2] + dy>> IN
    /\ to \in Cells
    /\ at' = to
    /\ seen' = [seen EXCEPT ![to] = TRUE]
Next == \E d \in {<<0, 1>>, <<1, 0>>} : Move(d[1], d[2])
Reached == Cardinality({c \in Cells : seen[c]})
Short == Reached < 2 * Size - 1
Where == [position |-> at, reached |-> Reached]
====
