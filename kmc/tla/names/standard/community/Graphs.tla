-------------------------------- MODULE Graphs --------------------------------
\* Operators of the community module Graphs: by what can be reached, where the module goes through all sequences.
EXTENDS Naturals, Sequences

SimplePath(G) ==
    LET Longer(P) ==
            UNION {{Append(p, n): n \in {m \in G.node: /\ <<p[Len(p)], m>> \in G.edge
                                                        /\ \A i \in 1..Len(p): p[i] # m}}: p \in P}
        RECURSIVE grown(_)
        grown(P) == IF P = {} THEN {} ELSE P \cup grown(Longer(P))
    IN  grown({<<n>>: n \in G.node})

AreConnectedIn(m, n, G) ==
    LET RECURSIVE reached(_)
        reached(S) ==
            LET more == {t \in G.node \ S: \E s \in S: <<s, t>> \in G.edge}
            IN  IF more = {} THEN S ELSE reached(S \cup more)
    IN  m \in G.node /\ n \in reached({m})
===============================================================================
