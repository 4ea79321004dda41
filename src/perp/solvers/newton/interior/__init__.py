"""Interior points of bounds."""
