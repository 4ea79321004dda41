"""Splitting methods: A = M - N, and the complementarity problem of M solved in closed form (NOTES 5.2)."""
