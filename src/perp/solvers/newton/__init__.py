"""Newton methods (NOTES 5.4-5.5) and interior points (SLIDES)."""
