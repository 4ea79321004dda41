"""Policy iteration."""
