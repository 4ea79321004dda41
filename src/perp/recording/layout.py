"""How a recording lies in its HDF5 file. Every one has T frames, in d = 2 or 3 dimensions:

    /                    attributes: format, dimension (integers), dt [s] (number); scene, method (text);
                         options, seed, versions (JSON text)
    frames               (1)        int64    T, how many frames are whole: it is written after them
    step                 (T)        int64    steps taken
    time                 (T)        float64  [s]
    statistics/<name>    (T)        float64  what the steps measured; NaN where step 0 has nothing to say

Format 1 is that of n bodies with s shapes and C contacts in all:

    /                    attribute: bodies (integer), n
    position             (T, n, d)  float64  [m], centres of mass
    orientation          (T, n, q)  float64  q = 4: unit quaternions (w, x, y, z); in the plane q = 1: angles [rad]
    velocity             (T, n, d)  float64  [m/s]
    spin                 (T, n, w)  float64  [rad/s], w = 3, in the plane 1
    contacts/end         (T)        int64    frame i owns the contacts end[i - 1] (0 for the first) to end[i]
    contacts/bodies      (C, 2)     int32    -1 is the world
    contacts/point       (C, d)     float64  [m]
    contacts/normal      (C, d)     float64  from the first body to the second
    contacts/gap         (C)        float64  [m], before the step
    contacts/impulse     (C, d)     float64  [N s], on the second body, along the axes of the world
    shapes/form          (s)        int8     a number of `FORMS`
    shapes/body          (s)        int32    -1 is the world
    shapes/size          (s, 3)     float64  see `Shape`; NaN after those numbers that the form has
    shapes/position      (s, d)     float64  [m], in the frame of the body's centre of mass
    shapes/orientation   (s, 4)     float64  unit quaternions in that frame
    shapes/color         (s, 3)     float64  red, green, blue in 0..1; NaN where the scene chose none
    shapes/vertices      (v, d)     float64  of all shapes; shape i owns vertex_end[i - 1] to vertex_end[i]
    shapes/faces         (f, 3)     int32    triangles, numbers of the shape's own vertices; likewise with face_end
    shapes/names         (c)        uint8    UTF-8; likewise with name_end

Format 2 is that of a liquid in c_1 x ... x c_d cells, with P particles in all frames together. Numbers are rounded to
single precision, which is far finer than the grid and halves the file:

    /                    attribute: spacing (number), the edge of a cell [m]
    grid/cells           (d)        int64    c_1, ..., c_d
    grid/origin          (d)        float64  [m], the lower corner of the first cell
    grid/solid           (c_1 + 1, ..., c_d + 1)
                                    float64  signed distance to the solid at the nodes [m], negative inside it
    particles/end        (T)        int64    frame i owns the particles end[i - 1] (0 for the first) to end[i]
    particles/position   (P, d)     float32  [m]
    particles/velocity   (P, d)     float32  [m/s]
    cells/pressure       (T, c_1, ..., c_d)
                                    float32  [Pa]
    cells/state          (T, c_1, ..., c_d)
                                    uint8    the sum of 1 where there is liquid and 2 where it is separating

Datasets may be longer than the counts say: what stands behind them is of a frame that was never finished, and is not to
be read. No filters, no links but hard ones.

A recording is written in HDF5's mode of one writer and many readers, which keeps the file whole at every moment: other
programs may follow it while it grows, and a process that is killed leaves every frame up to its last `flush` readable.
HDF5 then still marks the file as open for writing. `Recording` reads it nevertheless (`guarded_columns`), h5py with
`swmr=True`, any other program after `h5clear -s FILE`.
"""

from __future__ import annotations

from typing import get_args

from perp.recording.shapes import Form

BODIES, LIQUID = 1, 2
"""Formats. A change that an older reader would misread gets a number of its own, the next one."""

FORMS: tuple[Form, ...] = get_args(Form)

STATE = ("position", "orientation", "velocity", "spin")


def state_width(name: str, dimension: int) -> int:
    """How many numbers of this part of the state a body has."""
    if name in ("position", "velocity"):
        return dimension
    return 1 if dimension == 2 else {"orientation": 4, "spin": 3}[name]


def contact_widths(dimension: int) -> dict[str, tuple[int, ...]]:
    """The shape of one contact's row in each dataset of `contacts`, but for `end`."""
    vector = (dimension,)
    return {"bodies": (2,), "point": vector, "normal": vector, "gap": (), "impulse": vector}


IS_LIQUID, IS_SEPARATING = 1, 2
"""The bits of `cells/state`."""
