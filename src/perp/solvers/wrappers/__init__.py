"""Wrappers: methods made of another method. What they add is named, so that nothing happens behind a method's back."""
