"""Residuals, index sets and what the loop watches."""
