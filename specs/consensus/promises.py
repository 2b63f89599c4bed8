"""What KIP-595 promises of logs and votes, said of two logs, or of one server before and after a step.

Shared by the specs of KIP-996. Who has to keep a promise, and which states release a server from it, is the spec's.
"""


def logs_agree(log1, log2, offset_max):
    """The logs have equal entries at 1..offset_max."""
    return all(log1.at(offset) == log2.at(offset) for offset in range(1, offset_max + 1))


def has_entry(log, other, offset):
    """The log has the entry that the other has at `offset`."""
    return min(len(log), len(other)) >= offset and log.at(offset) == other.at(offset)


def has_value(log, v):
    """The value is in the log, committed or not."""
    return any(entry.value == v for entry in log)


def only_grows(old, new):
    """The new log is the old one, perhaps with more entries."""
    return len(new) >= len(old) and new.upto(len(old)) == old


def keeps_vote(old, new):
    """A server that has voted still has that vote, or is in a later epoch."""
    return old.voted_for is None or new.voted_for == old.voted_for or new.current_epoch > old.current_epoch
