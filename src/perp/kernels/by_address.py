"""Kernels that other kernels call by address, as they call SciPy's BLAS.

Numba puts the code of all that a kernel calls into the kernel, and LLVM optimises it there again. A large piece that
is called by address is compiled once, lies in the cache under its own name, and is compiled only if it is asked for.
A call costs what an unknown function costs, some hundred arguments included: a fraction of a microsecond.

Both sides of such a call must agree on its types, which are therefore stated: `called(types, result)` is what a kernel
calls with an address and a tuple of arguments; `address_of(kernel, types, result)` is the address, for Python to pass
to it, in every process another one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba import types
from numba.core.errors import TypingError

from perp.kernels.compile import IS_PLAIN, machine_code

INTEGER, NUMBER, TRUTH = types.int64, types.float64, types.boolean
INTEGERS, NUMBERS, TABLE = types.int64[::1], types.float64[::1], types.float64[:, ::1]
CONSTANTS = types.Array(types.int64, 1, "C", readonly=True)


_plain: list[Any] = []
"""Kernels that run as plain Python: their address is their place here."""


@cache
def address_of(kernel: Any, arguments: tuple[Any, ...], result: Any = types.none) -> int:
    """Where the kernel for these types of arguments is in this process."""
    if IS_PLAIN:
        _plain.append(kernel)
        return len(_plain) - 1
    kernel.compile(arguments)
    compiled = kernel.overloads[arguments]
    if compiled.signature.return_type != result:
        raise TypeError(f"{kernel.__name__} returns {compiled.signature.return_type}, not {result}")
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def called(arguments: tuple[Any, ...], result: Any = types.none) -> Any:
    """`call(address, arguments)` for a kernel that takes these types and returns that one."""

    @machine_code(lambda address, given: _plain[address](*given))
    def call(typing_context, address, given):
        for kind, wanted in zip(given.types, arguments, strict=True):
            if typing_context.can_convert(kind, wanted) is None:
                raise TypingError(f"an argument of a call by address is {kind}, not {wanted}")

        def generate(context, builder, signature, values):
            convention = context.call_conv
            parts = [
                context.cast(builder, builder.extract_value(values[1], k), kind, wanted)
                for k, (kind, wanted) in enumerate(zip(signature.args[1].types, arguments, strict=True))
            ]
            place = builder.inttoptr(values[0], convention.get_function_type(result, arguments).as_pointer())
            return convention.call_function(builder, place, result, arguments, parts)[1]

        return result(types.int64, given), generate

    return call
