"""KRaft as KIP-595 describes it: elections, fetching and truncation; a mirror of KRaft.tla, action by action."""
