"""Newton's method on the minimum map."""
