"""Experiments of AMGS: Miyamoto & Yamashita 2019, Accelerated modulus-based Gauss-Seidel for rigid bodies."""
