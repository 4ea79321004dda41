"""HOW problems are solved: one loop, one roster, and the methods in the folders of the field's own taxonomy."""
