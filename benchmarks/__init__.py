"""Ours beside the peers and beside C++ twins compiled on the spot: `make bench`. Ratios count, absolute times do not."""
