"""Gradients, products and projections."""
