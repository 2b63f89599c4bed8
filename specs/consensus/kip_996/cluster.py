"""The constants with which both specs of KIP-996 begin: the size of the cluster, its hosts, values and epochs.

The other constants stand in `types.py` of each spec. The two texts bound different things, and `kmc specs` shows
constants in the order of their declarations.
"""

from kmc.lang import IdentSet, Int, constant
from kmc.spec import spec

InitClusterSize = constant("InitClusterSize", Int(1, 7), "How many servers the first configuration has")
MinClusterSize = constant("MinClusterSize", Int(0, 7), "A voter is removed only from more voters than these")
MaxClusterSize = constant("MaxClusterSize", Int(1, 7), "A voter is added only to fewer voters than these")
Hosts = constant(
    "Hosts", IdentSet(symmetric=True, at_most=8), "The hosts on which servers start; at least one per first server"
)
Value = constant("Value", IdentSet(symmetric=True, at_most=8), "The values that clients send; each is sent once")

MaxEpoch = constant("MaxEpoch", Int(1, 31), "A prospective in this epoch starts no election; only without TestLiveness")

spec.assume(MinClusterSize <= MaxClusterSize)
spec.assume(InitClusterSize >= MinClusterSize)
spec.assume(InitClusterSize <= MaxClusterSize)
spec.assume(len(Hosts) >= InitClusterSize)
