"""Orderings, triangular factors, and systems in body space."""
