"""Enumerations of both texts of KIP-996: commands in the log, codes of fetch responses, epochs that match."""

from kmc.lang import Enum


class Command(Enum):
    """What an entry of the log is."""

    APPEND_COMMAND, INIT_CLUSTER_COMMAND, ADD_VOTER_COMMAND, REMOVE_VOTER_COMMAND, LEADER_CHANGE_RECORD = range(5)


class FetchResult(Enum):
    """Fetch response codes."""

    OK, NOT_OK, DIVERGING = range(3)


class EpochMatch(Enum):
    """Which epochs of a message a receiver takes."""

    ANY_EPOCH, EQUAL_EPOCH = range(2)
