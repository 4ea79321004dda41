"""The large pieces of `cone_interior`, which call one another by address: each is compiled once (`by_address`)."""

from __future__ import annotations

from typing import Any

from numba import types

from perp.kernels.by_address import CONSTANTS, INTEGER, INTEGERS, NUMBER, NUMBERS, TABLE, TRUTH, called
from perp.kernels.conic.layout import Blocks, Cones, Factor, Iterate, Options, Pieces, System


def _named(group: Any, plain: Any, /, **others: Any) -> Any:
    """The type of a named tuple whose entries have the type `plain`, but for some."""
    if not others:
        return types.NamedUniTuple(plain, len(group._fields), group)
    return types.NamedTuple([others.get(name, plain) for name in group._fields], group)


CONES = _named(Cones, INTEGERS, sign=NUMBERS, offset=NUMBERS)
BLOCKS = _named(Blocks, INTEGERS)
SYSTEM = _named(System, INTEGERS, jacobian=NUMBERS, base=NUMBERS, values=NUMBERS)
FACTOR = _named(
    *(Factor, INTEGERS),
    **dict.fromkeys(("factor_at", "solve_at"), INTEGER),
    **dict.fromkeys(("super_start", "rows_start", "rows", "values_start"), CONSTANTS),
    **dict.fromkeys(("floor", "numbers", "L", "U", "product", "product_upper", "inverse", "work"), NUMBERS),
)
PIECES = _named(Pieces, INTEGER)
OPTIONS = _named(
    *(Options, NUMBER),
    **dict.fromkeys(("refinements", "correctors", "most_short"), INTEGER),
    polishes=TRUTH,
    pieces=PIECES,
)
ITERATE = _named(Iterate, NUMBERS, **dict.fromkeys(("rows", "bodies", "saved", "krylov"), TABLE))

FACTOR_PATH = (INTEGER, TRUTH, TRUTH, BLOCKS, CONES, SYSTEM, FACTOR, ITERATE), INTEGER
SOLVE_NEWTON = (TRUTH, NUMBER, INTEGER, NUMBER, NUMBER, BLOCKS, CONES, SYSTEM, FACTOR, ITERATE), INTEGER
ITERATION = (INTEGER, TRUTH, TRUTH, OPTIONS, BLOCKS, CONES, SYSTEM, FACTOR, ITERATE, NUMBERS), TRUTH
LINEARISE = (BLOCKS, CONES, ITERATE), NUMBER
RULES = (NUMBER, TRUTH, NUMBER)
POLISH = (
    *(INTEGER, INTEGER, TRUTH, INTEGER, *RULES, NUMBER, NUMBER),
    *(BLOCKS, CONES, SYSTEM, FACTOR, ITERATE, NUMBERS),
), TRUTH  # fmt: skip

call_factor_path = called(*FACTOR_PATH)
call_solve_newton = called(*SOLVE_NEWTON)
call_iterate = called(*ITERATION)
call_linearise = called(*LINEARISE)
call_polish = called(*POLISH)
