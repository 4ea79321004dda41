"""Bodies, joints and how they touch."""
