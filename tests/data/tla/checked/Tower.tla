---- MODULE Tower ----
EXTENDS Naturals
(* --algorithm tower
variables lock = 2, inside = {};
process worker \in 0..1
begin
  try: await lock = 2; lock := self;
  work: inside := inside \union {self};
  leave: inside := inside \ {self}; lock := 2; goto try;
end process
end algorithm *)
\* BEGIN TRANSLATION
VARIABLES lock, inside, pc
vars == << lock, inside, pc >>
ProcSet == (0..1)
Init == /\ lock = 2
        /\ inside = {}
        /\ pc = [self \in ProcSet |-> "try"]
try(self) == /\ pc[self] = "try"
             /\ lock = 2
             /\ lock' = self
             /\ pc' = [pc EXCEPT ![self] = "work"]
             /\ UNCHANGED inside
work(self) == /\ pc[self] = "work"
              /\ inside' = (inside \union {self})
              /\ pc' = [pc EXCEPT ![self] = "leave"]
              /\ lock' = lock
leave(self) == /\ pc[self] = "leave"
               /\ inside' = inside \ {self}
               /\ lock' = 2
               /\ pc' = [pc EXCEPT ![self] = "try"]
worker(self) == try(self) \/ work(self) \/ leave(self)
Next == (\E self \in 0..1: worker(self))
Spec == Init /\ [][Next]_vars
\* END TRANSLATION
NoneInside == inside = {}
====
