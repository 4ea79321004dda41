"""Methods that work on several levels of a problem at once."""
