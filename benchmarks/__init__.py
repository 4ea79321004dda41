"""Ours beside the peers and beside C++ twins compiled on the spot: `make bench`. Only ratios count."""
