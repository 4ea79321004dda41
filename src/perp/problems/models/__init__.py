"""The same contacts under another law, or written as an ordinary problem."""
