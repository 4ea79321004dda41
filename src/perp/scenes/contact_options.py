"""Options that scenes of bodies in contact share."""

from __future__ import annotations

from typing import Annotated, Literal

from perp.gallery.options import About

Friction = Annotated[float, About("coefficient of friction", 0.0)]
Model = Annotated[Literal["box", "cone", "convex"], About("law of friction")]
Compliance = Annotated[float, About("C of the contacts [(m/s)/(N s)]; the THESIS has 1e-10 to 1e-7", 0.0)]
Mass = Annotated[float, About("[kg]", 1e-6, 1e9)]
Length = Annotated[float, About("[m]", 1e-6, 1e6)]
