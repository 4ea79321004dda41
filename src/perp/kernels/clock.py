"""The clock inside kernels: that of `time.perf_counter`, called by address.

A compiled loop that may run longer than its caller has time left reads the clock itself. It is given the address of
the clock and an absolute deadline on `perf_counter` (`Deadline.at`), and asks now and then

    if seconds(clock) >= deadline: ...

Python's own function is taken because it is the same clock on every system (CLOCK_MONOTONIC on Linux,
mach_absolute_time on macOS, QueryPerformanceCounter on Windows): numbers of the two may be compared. It needs no
interpreter lock. An address is another one in every process, so that it is an argument and kernels remain cacheable.
One reading takes about 30 ns.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from time import perf_counter_ns

from llvmlite import ir
from numba import types
from numba.core import cgutils

from perp.kernels.compile import inlined, machine_code

WRITES = sys.version_info >= (3, 13)
"""Whether the clock writes its nanoseconds to where it is told (PyTime_PerfCounterRaw), or returns them."""

NAME = "PyTime_PerfCounterRaw" if WRITES else "_PyTime_GetPerfCounter"


@cache
def clock_address() -> int:
    """Where the clock is in this process."""
    return int(ctypes.cast(getattr(ctypes.pythonapi, NAME), ctypes.c_void_p).value or 0)


@machine_code(lambda address: perf_counter_ns())
def _nanoseconds(typing_context, address):
    """What the function at this address says."""

    def generate(context, builder, signature, arguments):
        whole = ir.IntType(64)
        if not WRITES:
            function = builder.inttoptr(arguments[0], ir.FunctionType(whole, ()).as_pointer())
            return builder.call(function, ())
        function_type = ir.FunctionType(ir.IntType(32), (whole.as_pointer(),))
        place = cgutils.alloca_once_value(builder, ir.Constant(whole, 0))
        builder.call(builder.inttoptr(arguments[0], function_type.as_pointer()), (place,))
        return builder.load(place)

    return types.int64(types.int64), generate


@inlined
def seconds(address):
    """Seconds on the clock of `time.perf_counter`."""
    return 1e-9 * _nanoseconds(address)
