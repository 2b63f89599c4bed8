---------------------------- MODULE Combinatorics ----------------------------
\* Operators of the community module Combinatorics, with the values that TLC's implementation in Java gives.
EXTENDS Naturals

\* The value for i is the binomial coefficient of n - k + i over i, so that no value is larger than the result.
choose(n, k) ==
    LET chosen[i \in Nat] == IF i = 0 THEN 1 ELSE ((n - k + i) * chosen[i - 1]) \div i
    IN  IF k > n THEN 0 ELSE chosen[k]
==============================================================================
