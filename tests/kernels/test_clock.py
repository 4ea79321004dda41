"""The clock that kernels read is the clock that Python reads."""

from __future__ import annotations

from time import perf_counter

from numba import njit

from perp.kernels.clock import clock_address, seconds


@njit(nogil=True)
def _read(address):
    return seconds(address)


@njit(nogil=True)
def _count_until(address, deadline):
    readings = 0
    while seconds(address) < deadline:
        readings += 1
    return readings


def test_a_kernel_reads_the_clock_of_perf_counter() -> None:
    _read(clock_address())
    for _ in range(100):
        before = perf_counter()
        inside = _read(clock_address())
        assert before - 1e-6 <= inside <= perf_counter() + 1e-6


def test_a_compiled_loop_sees_time_pass_and_ends_after_its_deadline() -> None:
    _count_until(clock_address(), 0.0)
    deadline = perf_counter() + 0.01
    assert _count_until(clock_address(), deadline) > 100
    assert perf_counter() >= deadline


def test_a_deadline_that_has_passed_is_seen_at_the_first_reading() -> None:
    assert _count_until(clock_address(), perf_counter() - 1.0) == 0
