"""The spec refines `epoch_log`: the leader of an epoch writes its entries, one after the other, and no other server."""

from kmc.lang import count
from kmc.spec import spec

from ..consensus.kip_996.codes import Command
from ..epoch_log.spec import LAST_EPOCH, Control, Written
from ..epoch_log.spec import State as Log
from .types import FetchResponseOk, ServerState


def written(entry, offset):
    """An entry with its place, without the voters that a reconfiguration makes."""
    if entry.command == Command.APPEND_COMMAND:
        return Written(epoch=entry.epoch, offset=offset, content=entry.value)
    if entry.command == Command.ADD_VOTER_COMMAND or entry.command == Command.REMOVE_VOTER_COMMAND:
        return Written(epoch=entry.epoch, offset=offset, content=Control.RECONFIGURATION)
    return Written(epoch=entry.epoch, offset=offset, content=Control.RECORD)


@spec.refines("epoch_log")
def EpochLog(st):
    """Leaders are counted by epoch; entries are those in logs, and those on their way to a follower."""
    in_logs = {written(me.log.at(o), o) for me in st.servers.values() for o in me.log.offsets()}
    on_their_way = {
        written(m.entries.at(1), m.correlation.fetch_offset)
        for m in st.net_messages
        if isinstance(m, FetchResponseOk) and len(m.entries) > 0
    }
    return Log(
        leading={
            e: count(me.state == ServerState.LEADER and me.current_epoch == e for me in st.servers.values())
            for e in range(1, LAST_EPOCH + 1)
        },
        written=in_logs | on_their_way,
    )
