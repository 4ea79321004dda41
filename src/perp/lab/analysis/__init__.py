"""What rows tell: rates, profiles, time to a residual, and whether a comparison compares anything."""
