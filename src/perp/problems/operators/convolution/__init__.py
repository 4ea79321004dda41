"""A as a convolution on a regular grid, applied by the fast Fourier transform, and the kernels of elastic contact."""

from perp.problems.operators.convolution.half_space import half_space_kernel, periodic_half_space_kernel
from perp.problems.operators.convolution.operator import ConvolutionOperator

__all__ = ["ConvolutionOperator", "half_space_kernel", "periodic_half_space_kernel"]
