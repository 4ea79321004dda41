"""Options that the commands which run a scene share: `perp simulate` and `perp view`."""

from __future__ import annotations

from typing import Annotated

import typer

MethodName = Annotated[
    str | None, typer.Option("--method", "-m", help="A method; default the scene's own, 'perp methods' lists all.")
]
MethodOptions = Annotated[
    list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of the method; may be repeated.")
]
SceneSizes = Annotated[
    list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of the scene; --NAME VALUE does the same.")
]
Seed = Annotated[int | None, typer.Option(help="Seed of the scene's random numbers; default 0.")]
FrictionLaw = Annotated[str | None, typer.Option(help="The law of friction: box, cone or convex.")]
Tolerance = Annotated[
    float | None, typer.Option(help="Residual at which the solve of a step has succeeded; default 1e-8.")
]
IterationLimit = Annotated[
    int | None,
    typer.Option(help="Limit for each step; default the scene's for its own method, else that of the method."),
]
StepLength = Annotated[float | None, typer.Option(help="Length of a step in seconds; default the scene's own.")]
