"""How every kernel is compiled.

* `contract` is the only fast-math freedom: fused multiply-add. Sums keep their order, so results repeat bit by bit.
* `error_model="numpy"`: a division by zero gives inf, as in C, instead of a test and an exception.
* Indices are unsigned (uint32 in memory, uint64 in arithmetic): Numba then drops its test for negative indices.
* A dot product keeps several independent partial sums, which hides the latency of the additions.
* Numba's disk cache watches the file of a kernel only. What kernels share stands in projection.py: whoever changes that
  file runs `make clean-kernels`.
"""

from __future__ import annotations

from typing import Any

from numba import njit

kernel: Any = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
