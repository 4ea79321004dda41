"""Sweeps over rows and contacts, one rule after another."""
