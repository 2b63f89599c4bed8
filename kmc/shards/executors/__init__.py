"""The executors of a search's tasks: threads of this process, or processes, which get a job as bytes."""
