"""How a frame travels to the page: one binary message a step and lane, float32 throughout, little-endian.

    header      HEADER numbers, named by `Header`
    bodies      n rows: in the plane  x y angle island             (4)
                        in space      x y z  qw qx qy qz  island   (8)
                or the particles of a liquid:  x y (z) speed       (3 or 4)
    contacts    m rows: point (d) [m], impulse (d) [N s] on the second body along the axes of the world, then
                `ContactNumber` (9):  body_a body_b state normal_impulse gap opening slip residual energy_error
    cells       c rows, of liquids in the plane:  pressure [Pa], state (1 liquid + 2 separating), residual   (3)
                in the order of the cells' C array (x slowest)
    curve       k rows:  iteration, residual                       (2)

n, m, c, k and d stand in the header, so that a frame knows its own length and frames can be strung together. Whole
numbers are floats, too: they are exact up to 2^24. NaN means that something is not known, as the residuals of contacts
in a recording, which has none; -1 is the world among bodies, no island among islands, and no solve among statuses.

A change that an older page would misread gets a new `LAYOUT`. `viewer/src/layout.ts` says the same to the page.
"""

from __future__ import annotations

from enum import IntEnum

LAYOUT = 1
"""The number of this layout."""

HEADER = 32
"""Numbers in a header; those that `Header` does not name are 0."""

BODIES, LIQUID = 1, 2
"""Kinds of frames."""

SERIALS = 1 << 24
"""Serial numbers count up to this one, and begin again at 0."""


class Header(IntEnum):
    """Where in the header a number stands."""

    LAYOUT = 0
    KIND = 1
    LANE = 2
    """0, or 1 for the second method of two side by side."""
    SERIAL = 3
    """What the page acknowledges."""
    STEP = 4
    """Steps taken; 0 is the beginning."""
    TIME = 5
    """[s]"""
    DIMENSION = 6
    BODIES = 7
    """n, bodies or particles."""
    CONTACTS = 8
    """m"""
    CELLS = 9
    """c"""
    CURVE = 10
    """k, points of the convergence curve."""
    ROWS = 11
    """Of the problem."""
    ITERATIONS = 12
    STATUS = 13
    """`perp.Status(...).code`; -1 without a solve."""
    RESIDUAL = 14
    """The largest entry of the natural map, over all rows of the problem (`perp.verify`)."""
    SOLVE_SECONDS = 15
    """Of the clock, as the next one [s]."""
    STEP_SECONDS = 16
    """All of the step, the solve included."""
    ENERGY = 17
    """Kinetic and potential [J]."""
    ENERGY_MEAN = 18
    """Mean energy error of a row [J]; NaN for liquids."""
    ENERGY_MAX = 19
    """The largest of a row [J]."""
    PENETRATION = 20
    """The deepest overlap before the step [m]; NaN for liquids."""
    ISLANDS = 21
    """How many."""
    WARM = 22
    """1 where the solver started from the last step."""
    TOL = 23
    """The tolerance that the solve was asked for; "auto" means it of the scaled residual."""
    PLACE = 24
    """What `messages.Seek` names the frame by: the step; in a recording the number of the frame, 0 first."""
    VOLUME = 25
    """Of a liquid [m^d]."""
    CONVERGED = 26
    """1 or 0; of recordings, which have no status, too."""


class ContactNumber(IntEnum):
    """Where in a contact's row a number stands, counted after point and impulse."""

    BODY_A = 0
    BODY_B = 1
    STATE = 2
    """`perp.ContactState`: 0 sticking, 1 sliding, 2 separating, 3 grazing (see `contact_numbers.measure_contacts`)."""
    NORMAL_IMPULSE = 3
    """[N s]"""
    GAP = 4
    """Before the step [m]."""
    OPENING = 5
    """y_n [m/s], the velocity of the gap."""
    SLIP = 6
    """|y_t| [m/s]."""
    RESIDUAL = 7
    """The largest entry of the natural map among its rows."""
    ENERGY_ERROR = 8
    """The sum of 1/2 A_ii r_i^2 over its rows [J] (see `perp.Residuals.energy_mean`)."""


CONTACT_NUMBERS = len(ContactNumber)
CELL_NUMBERS = 3
CURVE_NUMBERS = 2
