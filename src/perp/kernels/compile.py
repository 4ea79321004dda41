"""How every kernel is compiled.

* `contract` is the only fast-math freedom: fused multiply-add. Sums keep their order, so results repeat bit by bit.
* `error_model="numpy"`: a division by zero gives inf, as in C, instead of a test and an exception.
* Indices are unsigned (uint32 in memory, uint64 in arithmetic): Numba then drops its test for negative indices.
* A dot product keeps several independent partial sums, which hides the latency of the additions.

`kernel` is for what Python calls, and is cached on disk. `inlined` is for what kernels call: it is not cached, because
a function that Numba takes from its cache is object code, which nobody can inline any more (seen here: half the speed).
`part` is for large pieces that a kernel calls from several places: inlined, they would take a minute to compile. They
lie in the cache of the kernels that call them, and nobody else can. `spliced` is for large pieces that are called from
one place: Numba puts their code there before it compiles anything. Each `part` is optimised together with all that it
calls, so that a deep tree of parts is optimised over and over (seen here: 73 against 42 s for `conic`).

The cache watches the file of a kernel only: after a change in a file that others take pieces from (projection.py,
fischer.py, cones.py, local_contacts.py, sweeping.py, dense.py, csr.py, runs.py, factored.py, body_pairs.py,
planar_pairs.py, discs_walls.py, point_contacts.py, modulus.py, nncg.py, joints_frames.py, body_space.py, blas.py,
clock.py, lanes.py, cholesky.py, principal_pivots.py, growing_factor.py, lemke_basis.py, index_sets.py,
supernodal_lu.py, all of conic/, incomplete_cholesky.py, grid_sweeping.py, grid_constant.py, grid_faces.py,
multigrid_steps.py, multigrid_rows.py, multigrid_transfer.py, multigrid_table.py, multigrid_coarsening.py,
multigrid_bounds.py, fluid_cells.py, fluid_fields.py, fluid_walls.py) run `make clean-kernels`.
"""

from __future__ import annotations

from typing import Any

from numba import njit

_SETTINGS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
_UNSEEN: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

kernel: Any = njit(cache=True, **_SETTINGS)
inlined: Any = njit(forceinline=True, **_SETTINGS)
part: Any = njit(**_SETTINGS, **_UNSEEN)
spliced: Any = njit(inline="always", **_SETTINGS)
