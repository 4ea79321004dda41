"""Pictures of an experiment: files beside the page, and the same inside it."""

from __future__ import annotations

import base64
import re
from pathlib import Path

from perp.lab.experiments.experiment import Picture
from perp.lab.page import Markup, element, prose
from perp.lab.pictures import draw_svg, figure_to_png, svg_in_page, svg_on_paper
from perp.problems.files.replacement import replacing

HEAVY = 400_000
"""Characters of SVG from which on the page shows the PNG in its place."""


def write_picture(picture: Picture, owner: str, folder: Path) -> Markup:
    """Write `owner`-`name`.svg and .png to the folder, and return the element for the page."""
    whole = picture.name if picture.name.startswith(owner) else f"{owner}-{picture.name}"
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", whole)
    drawing = draw_svg(picture.figure, name)
    picture.figure.set_layout_engine("none")  # the places of all panels are found, which takes as long as drawing them
    bitmap = figure_to_png(picture.figure)
    for path, data in ((folder / f"{name}.svg", svg_on_paper(drawing).encode()), (folder / f"{name}.png", bitmap)):
        with replacing(path) as temporary:
            temporary.write_bytes(data)
    if len(drawing) < HEAVY:
        shown = Markup(svg_in_page(drawing))
    else:
        letters = base64.b64encode(bitmap).decode("ascii")
        shown = Markup(f'<img src="data:image/png;base64,{letters}" alt="{name}">')
    width = picture.figure.get_figwidth()
    return element(
        "figure",
        shown,
        element("figcaption", prose(picture.caption)),
        class_="plot",
        style=f"max-width: {min(66.0, 6.4 * width):.1f}rem",
    )
