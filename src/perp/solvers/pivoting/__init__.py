"""Pivoting methods: guess which rows are at a bound, solve for the others, and change the guess (NOTES 5.1)."""
