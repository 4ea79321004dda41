"""Runs: tasks, the rows that they become, and how they are carried out.

A `Task` is plain data whose `key` is the hash of what it measures. `perform` makes its row in this process; a run gives
each task a process of its own:

    runner        the loop of every experiment, in this process or in many
    driver        which tasks have no row yet, and what is left (`plan`)
    isolation     start a task, wait for its end; `cluster` does the same on the workers of a Dask scheduler
    fork_server   one process that has perp and all kernels loaded; a task is a fork of it
    process       in that fork: limits (`limits`), `perform`, and the row is kept before the process ends
    store         the rows of a folder, as Parquet (`parquet`); nobody else holds any

Who dies, dies alone: a task that crashes or takes too long becomes a row that says so; a server that is killed is
replaced; a driver that is killed takes its processes along and finds, when it is started again, every finished row.
"""
