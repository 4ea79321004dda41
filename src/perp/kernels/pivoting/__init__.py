"""Pivots."""
