"""What scenes share: options of bodies in contact, and turns in the plane of x and z."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from perp.gallery.options import About

Friction = Annotated[float, About("coefficient of friction", 0.0)]
Model = Annotated[Literal["box", "cone", "convex"], About("law of friction")]
Compliance = Annotated[float, About("C of the contacts [(m/s)/(N s)]; the THESIS has 1e-10 to 1e-7", 0.0)]
Mass = Annotated[float, About("[kg]", 1e-6, 1e9)]
Length = Annotated[float, About("[m]", 1e-6, 1e6)]


def turned(angle: float) -> tuple[float, float, float, float]:
    """The unit quaternion that turns x by `angle` towards z: about y, the other way round."""
    return math.cos(angle / 2.0), 0.0, -math.sin(angle / 2.0), 0.0
