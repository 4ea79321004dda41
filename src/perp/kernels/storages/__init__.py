"""Products and sweeps of the storages of A, row by row."""
