"""Configurations of both texts of KIP-996: who the servers are, commands that change the voters, and what is in force.

Changes of the voter set are KIP-853's. The types are those of kraft_kip_996_types.tla that hold no epoch: the largest
epoch differs between the two texts, so entries of the log and messages stand in the specs. The helpers are from
kraft_kip_996_functions.tla and kraft_kip_996_properties.tla.
"""

from kmc.lang import Bool, Int, Record, Set, spawned

from .cluster import Hosts, InitClusterSize, MaxAddReconfigs, MaxRemoveReconfigs, MaxSpawnedServers

ServerId = spawned("ServerId", MaxSpawnedServers, started="servers")
ConfigId = Int(0, 1 + MaxAddReconfigs + MaxRemoveReconfigs)
DiskId = Int(0, MaxSpawnedServers - InitClusterSize)


class Identity(Record):
    """Where a server runs: its host, and a disk that no other server had (KIP-853, directory id)."""

    host: Hosts
    disk_id: DiskId


class Config(Record):
    """A configuration: the voters, and whether the command that made it is known to be committed."""

    id: ConfigId
    members: Set[ServerId]
    committed: Bool


class ConfigCommand(Record, abstract=True):
    """The value of an entry that changes the configuration."""

    id: ConfigId
    members: Set[ServerId]


class InitCluster(ConfigCommand):
    """The first configuration."""


class AddVoter(ConfigCommand):
    """KIP-853: adds a voter."""

    new: ServerId


class RemoveVoter(ConfigCommand):
    """KIP-853: removes a voter."""

    old: ServerId


def is_config_command(entry):
    """IsConfigCommand(server_log, offset), of that entry."""
    return isinstance(entry.value, ConfigCommand)


def most_recent_reconfig_offset(log):
    """The offset that MostRecentReconfigEntry(server_log) returns, there with its entry.

    An error where the log has none, as CHOOSE is in TLC.
    """
    return max(o for o in log.offsets() if is_config_command(log.at(o)))


def most_recent_command(log):
    """The command of the entry that MostRecentReconfigEntry(server_log) returns."""
    return log.at(most_recent_reconfig_offset(log)).value


def no_config():
    """NoConfig: of a server that lost its disk."""
    return Config(id=0, members=set(), committed=False)


def config_for(offset, reconfig_entry, ci):
    """ConfigFor(offset, reconfig_entry, ci): the configuration that the entry at `offset` made, with ci committed."""
    return Config(id=reconfig_entry.value.id, members=reconfig_entry.value.members, committed=ci >= offset)


def most_recent_config(log, ci):
    """ConfigFor of MostRecentReconfigEntry(log): the configuration of this log, with all up to ci committed."""
    offset = most_recent_reconfig_offset(log)
    return config_for(offset, log.at(offset), ci)


def config_not_in_server_log(me, config_id):
    """ConfigNotInServerLog(s, config_id)."""
    return not any(is_config_command(entry) and entry.value.id == config_id for entry in me.log)


def config_in_server_log_and_committed(me, config_id):
    """ConfigInServerLogAndCommitted(s, config_id)."""
    return any(
        is_config_command(me.log.at(offset)) and me.log.at(offset).value.id == config_id and me.hwm >= offset
        for offset in me.log.offsets()
    )
