"""What a solve returns."""
