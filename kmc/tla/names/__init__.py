"""Names of TLA+: modules, instances, scopes and `.cfg` files; what turns syntax into the resolved tree."""
