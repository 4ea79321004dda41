"""The last digits of an approximate answer; `polish.py` is the way in."""
