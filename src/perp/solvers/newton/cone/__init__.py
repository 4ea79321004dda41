"""Newton's method for contact laws."""
