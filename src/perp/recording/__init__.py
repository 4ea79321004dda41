"""What a world looks like at one moment, and moments on disk. Knows nothing of physics, solvers or drawing."""

from perp.recording.frame import ContactFrame, Frame
from perp.recording.shapes import Shape

__all__ = ["ContactFrame", "Frame", "Shape"]
