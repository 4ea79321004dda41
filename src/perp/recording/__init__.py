"""What a world looks like at one moment, and moments on disk. Knows nothing of physics, solvers or drawing."""

from perp.recording.description import Description
from perp.recording.frame import ContactFrame, Frame, LiquidFrame, LiquidGrid
from perp.recording.liquid_writer import LiquidRecorder
from perp.recording.reader import Recording
from perp.recording.shapes import Shape
from perp.recording.writer import Recorder

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
