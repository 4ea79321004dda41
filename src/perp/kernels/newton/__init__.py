"""Newton methods and interior points for boxes."""
