"""What a world looks like at one moment, and moments on disk. Knows nothing of physics, solvers or drawing."""

from perp.recording.frame import ContactFrame, Description, Frame, LiquidFrame, LiquidGrid, Shape
from perp.recording.reader import Recording
from perp.recording.writer import LiquidRecorder, Recorder

__all__ = [
    "ContactFrame",
    "Description",
    "Frame",
    "LiquidFrame",
    "LiquidGrid",
    "LiquidRecorder",
    "Recorder",
    "Recording",
    "Shape",
]
