"""The search for a proof that there is no solution."""
