"""Interior points of second-order cones: one compiled loop in body or contact space."""
