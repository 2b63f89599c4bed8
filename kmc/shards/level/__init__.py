"""The making of a level: tasks that expand rows, tasks that merge entries, and the findings of the level."""
