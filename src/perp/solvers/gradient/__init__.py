"""Conjugate gradients and projected gradients on index sets and boxes (THESIS chapter 5; Dostál; Nesterov)."""
