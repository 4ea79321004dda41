"""Options of methods: what they mean, their words and ranges, and checks."""
