"""Newton's method on Fischer's function."""
