"""Complementarity problems stated as other problems."""
