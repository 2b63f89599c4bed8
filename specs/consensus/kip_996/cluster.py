"""The constants that both specs of KIP-996 have: the size of the cluster, its hosts and values, and what may happen.

What only one text bounds stands in `types.py` of its spec, and so do kmc's own bounds of epochs and logs, which differ.
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

MaxValuesPerEpoch = constant("MaxValuesPerEpoch", Int(0, 15), "How many values a leader takes in one epoch")
MaxRestarts = constant("MaxRestarts", Int(0, 15), "How many restarts may happen")
MaxAddReconfigs = constant("MaxAddReconfigs", Int(0, 7), "How many voters may be added")
MaxRemoveReconfigs = constant("MaxRemoveReconfigs", Int(0, 7), "How many voters may be removed")
MaxSpawnedServers = constant("MaxSpawnedServers", Int(1, 7), "How many servers may ever start, the first ones included")
MaxConnectivityChanges = constant("MaxConnectivityChanges", Int(0, 15), "How often connections may change")

spec.assume(MinClusterSize <= MaxClusterSize)
spec.assume(InitClusterSize >= MinClusterSize)
spec.assume(InitClusterSize <= MaxClusterSize)
spec.assume(len(Hosts) >= InitClusterSize)
spec.assume(MaxSpawnedServers >= InitClusterSize)  # kmc's own: the first servers are among the identifiers
