"""Experiments of SLIDES: Erleben, Linear complementarity problems: a short introduction."""
