"""Ours beside the peers and beside C++ twins compiled on the spot: `make bench`. Only ratios count."""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[_name] = "1"  # read when NumPy is first imported, which comes later: ours and the peers on one thread
