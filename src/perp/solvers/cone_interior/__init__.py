"""`cone_interior`: an interior-point method for friction cones, boxes and half-lines."""
