"""Liquids."""
