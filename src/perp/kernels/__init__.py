"""Compiled inner loops, one storage a file: arrays in, arrays changed in place; they decide and allocate nothing.

Importing this package does not import Numba; importing one of its modules does. So callers import a kernel inside the
function that needs it, and `import perp` stays quick.
"""
