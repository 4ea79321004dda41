"""What one contact is: bounds, cones, exact solves, derivatives."""
