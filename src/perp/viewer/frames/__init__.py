"""Steps and worlds as what the page reads."""
