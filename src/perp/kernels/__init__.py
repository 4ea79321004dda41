"""Compiled inner loops, one storage a file: arrays in, arrays changed in place; they decide and allocate nothing.

Import the module of a kernel (`from perp.kernels.factors import supernodal`), not names out of it: then the module is
executed, and Numba imported, at its first use (`perp.lazy`).
"""
