"""Logs with epochs: which entry is newer, where an epoch ends, and how far two logs agree (KIP-595, Fetch).

Shared by the specs of KRaft. A log is a sequence of records with an `epoch`; offset 0 is before the first entry, with
epoch 0. Where TLA+ returns a record of offset and epoch, the offset is returned here, and `epoch_at` gives the epoch.
"""


def epoch_at(log, offset):
    """The epoch of the entry at an offset; 0 at offset 0."""
    return log.at(offset).epoch if offset > 0 else 0


def last_epoch(log):
    """LastEpoch(xlog): the epoch of the last entry, or 0."""
    return epoch_at(log, len(log))


def compare_entries(offset1, epoch1, offset2, epoch2):
    """CompareEntries: 1, 0 or -1; the epoch decides before the offset."""
    if epoch1 > epoch2:
        return 1
    if epoch1 == epoch2 and offset1 > offset2:
        return 1
    if epoch1 == epoch2 and offset1 == offset2:
        return 0
    return -1


def highest_common_offset(log, end_offset, epoch):
    """HighestCommonOffset: the highest entry at or below that position, or 0 where TLA+'s CHOOSE has no value."""
    return max(
        (o for o in log.offsets() if compare_entries(o, log.at(o).epoch, end_offset, epoch) <= 0),
        default=0,
    )


def end_offset_for_epoch(log, epoch):
    """EndOffsetForEpoch: the highest entry of that epoch or a lower one, or 0."""
    return max((o for o in log.offsets() if log.at(o).epoch <= epoch), default=0)


def knows_position(log, offset, epoch):
    """The last disjunct of ValidFetchPosition: this log has an entry of that epoch at `offset` or later."""
    end = end_offset_for_epoch(log, epoch)
    return offset <= end and epoch == epoch_at(log, end)


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
