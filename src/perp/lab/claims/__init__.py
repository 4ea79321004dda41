"""Claims of the papers as data, and the verdict of a run on each."""
