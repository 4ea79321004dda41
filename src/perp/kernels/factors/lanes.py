"""Runs of 8 or 32 numbers at a time, as vectors of the machine.

The blocks of a sparse factor are small (6 to 36 rows), and LLVM turns a loop over so few numbers into scalar code: its
vector loop begins at 16 numbers, and the rest is done one by one. These pieces state the width. But for `subtract_run`
and `copy_run` they load and store whole runs: an array must have `LANES` numbers more than its last entry needs, and
numbers beyond the rows that are meant are computed and not used.

Multiplications and additions are fused where the machine can, and sums have a fixed order: the same bits every time.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from perp.kernels.compile import inlined, machine_code

LANES, MANY = 8, 32
"""Numbers in a run; the long run is for tall blocks, whose columns are then read 256 bytes at a time."""

_NUMBER = ir.DoubleType()
_FUSED = ("contract",)


def _address(context, builder, array_type, array, index):
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


def _load(builder, address, lanes):
    return builder.load(builder.bitcast(address, ir.VectorType(_NUMBER, lanes).as_pointer()), align=8)


def _store(builder, value, address):
    builder.store(value, builder.bitcast(address, value.type.as_pointer()), align=8)


def _repeat(builder, number, lanes):
    """A vector of equal numbers."""
    one = builder.insert_element(
        ir.Constant(ir.VectorType(_NUMBER, lanes), ir.Undefined), number, ir.Constant(ir.IntType(32), 0)
    )
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    return builder.shuffle_vector(one, one, zeros)


def _plain_multiples(y, y0, ld, factor0, step, count, x0):
    run = y[x0 : x0 + LANES].copy()
    for c in range(count):
        y[y0 + c * ld : y0 + c * ld + LANES] -= y[factor0 + c * step] * run


@machine_code(_plain_multiples)
def subtract_multiples(typing_context, y, y0, ld, factor0, step, count, x0):
    """y_c -= y[factor0 + c step] x, for the 8 numbers y_c from y0 + c ld on, c < count, and x from x0 on in y."""
    whole = types.uint64
    signature = types.void(y, whole, whole, whole, whole, whole, whole)

    def generate(context, builder, signature, arguments):
        y, y0, ld, factor0, step, count, x0 = arguments
        kind = signature.args[0]
        run = _load(builder, _address(context, builder, kind, y, x0), LANES)
        with cgutils.for_range(builder, count) as loop:
            at = builder.add(factor0, builder.mul(loop.index, step))
            factor = builder.load(_address(context, builder, kind, y, at))
            to = _address(context, builder, kind, y, builder.add(y0, builder.mul(loop.index, ld)))
            change = builder.fmul(run, _repeat(builder, factor, LANES), flags=_FUSED)
            _store(builder, builder.fsub(_load(builder, to, LANES), change, flags=_FUSED), to)
        return context.get_dummy_value()

    return signature, generate


def _plain_divide(y, y0, divisor):
    y[y0 : y0 + LANES] /= divisor


@machine_code(_plain_divide)
def divide(typing_context, y, y0, divisor):
    """y /= divisor, for 8 numbers from y0 on."""
    signature = types.void(y, types.uint64, types.float64)

    def generate(context, builder, signature, arguments):
        y, y0, divisor = arguments
        to = _address(context, builder, signature.args[0], y, y0)
        _store(builder, builder.fdiv(_load(builder, to, LANES), _repeat(builder, divisor, LANES)), to)
        return context.get_dummy_value()

    return signature, generate


def _by_runs(piece):
    """Code that does `piece(builder, y, x, lanes)` for a run of any length: eights, and 4, 2, 1 for the rest."""

    def generate(context, builder, signature, arguments):
        y, y0, x, x0, count = arguments
        y_type, x_type = signature.args[0], signature.args[2]
        whole = count.type

        def do(at, lanes):
            to = _address(context, builder, y_type, y, builder.add(y0, at))
            source = _address(context, builder, x_type, x, builder.add(x0, at))
            piece(builder, to, source, lanes)

        with cgutils.for_range(builder, builder.udiv(count, ir.Constant(whole, LANES))) as loop:
            do(builder.mul(loop.index, ir.Constant(whole, LANES)), LANES)
        lanes = LANES // 2
        while lanes:
            is_left = builder.icmp_unsigned("!=", builder.and_(count, ir.Constant(whole, lanes)), whole(0))
            with builder.if_then(is_left):
                do(builder.and_(count, ir.Constant(whole, -2 * lanes)), lanes)
            lanes //= 2
        return context.get_dummy_value()

    return generate


def _subtract_piece(builder, y, x, lanes):
    _store(builder, builder.fsub(_load(builder, y, lanes), _load(builder, x, lanes)), y)


def _copy_piece(builder, y, x, lanes):
    _store(builder, _load(builder, x, lanes), y)


def _two_runs(y, x):
    return types.void(y, types.uint64, x, types.uint64, types.uint64)


def _plain_subtract(y, y0, x, x0, count):
    y[y0 : y0 + count] -= x[x0 : x0 + count]


def _plain_copy(y, y0, x, x0, count):
    y[y0 : y0 + count] = x[x0 : x0 + count]


@machine_code(_plain_subtract)
def subtract_run(typing_context, y, y0, x, x0, count):
    """y -= x, for `count` numbers from y0 and x0 on, none beyond."""
    return _two_runs(y, x), _by_runs(_subtract_piece)


@machine_code(_plain_copy)
def copy_run(typing_context, y, y0, x, x0, count):
    """y = x, for `count` numbers from y0 and x0 on, none beyond."""
    return _two_runs(y, x), _by_runs(_copy_piece)


def _combine(lanes, sides, listed):
    """Code for out_c = sum over k of A_k x_c[k], where A_k are `lanes` numbers from a0 + k lda on.

    There are `sides` right sides x_c, `stride` apart, and as many results, `out_stride` apart. The coefficients are
    x[x0 + k], or x[list[x0 + k]] where `listed`. Four accumulators hide the latency of the additions: a run of 8 for
    one right side has them by taking turns.
    """
    turns = max(1, 4 // sides) if lanes == LANES else 1
    vector = ir.VectorType(_NUMBER, lanes)

    def generate(context, builder, signature, arguments):
        A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride = arguments
        kinds = signature.args
        whole = a0.type
        zero = ir.Constant(vector, [0.0] * lanes)
        sums = [[cgutils.alloca_once_value(builder, zero) for _ in range(turns)] for _ in range(sides)]
        for held in sums:
            for place in held:
                builder.store(zero, place)

        def add(k, turn):
            run = _load(builder, _address(context, builder, kinds[0], A, builder.add(a0, builder.mul(k, lda))), lanes)
            at = builder.add(x0, k)
            if listed:
                at = builder.load(_address(context, builder, kinds[4], numbers, at))
            for c in range(sides):
                here = builder.add(at, builder.mul(stride, ir.Constant(whole, c))) if c else at
                coefficient = builder.load(_address(context, builder, kinds[3], x, here))
                product = builder.fmul(run, _repeat(builder, coefficient, lanes), flags=_FUSED)
                place = sums[c][turn]
                builder.store(builder.fadd(builder.load(place), product, flags=_FUSED), place)

        rounds = builder.udiv(count, ir.Constant(whole, turns))
        done = builder.mul(rounds, ir.Constant(whole, turns))
        with cgutils.for_range(builder, rounds) as loop:
            first = builder.mul(loop.index, ir.Constant(whole, turns))
            for turn in range(turns):
                add(builder.add(first, ir.Constant(whole, turn)), turn)
        if turns > 1:
            with cgutils.for_range(builder, builder.sub(count, done)) as loop:
                add(builder.add(done, loop.index), 0)
        for c in range(sides):
            parts = [builder.load(place) for place in sums[c]]
            while len(parts) > 1:
                parts = [builder.fadd(p, q) for p, q in zip(parts[::2], parts[1::2], strict=True)]
            to = builder.add(o0, builder.mul(out_stride, ir.Constant(whole, c)))
            _store(builder, parts[0], _address(context, builder, kinds[8], out, to))
        return context.get_dummy_value()

    return generate


def _make(lanes, sides, listed):
    def plain(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride):
        sums = np.zeros((sides, lanes))
        for k in range(count):
            at = np.uint64(numbers[x0 + k]) if listed else x0 + k
            for c in range(sides):
                sums[c] += A[a0 + k * lda : a0 + k * lda + lanes] * x[at + stride * c]
        for c in range(sides):
            out[o0 + out_stride * c : o0 + out_stride * c + lanes] = sums[c]

    @machine_code(plain)
    def combine(typing_context, A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride):
        whole = types.uint64
        signature = types.void(A, whole, whole, x, numbers, whole, whole, whole, out, whole, whole)
        return signature, _combine(lanes, sides, listed)

    return combine


_run_1, _run_2, _run_3, _run_4 = (_make(LANES, sides, False) for sides in range(1, 5))
_long_1, _long_2, _long_3, _long_4 = (_make(MANY, sides, False) for sides in range(1, 5))
_listed_1, _listed_2, _listed_3, _listed_4 = (_make(LANES, sides, True) for sides in range(1, 5))
_long_listed_1, _long_listed_2, _long_listed_3, _long_listed_4 = (_make(MANY, sides, True) for sides in range(1, 5))


@inlined
def combine(sides, A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride):
    """out_c = sum over k < count of A_k x_c[k], for the 8 numbers A_k from a0 + k lda on, and 1 to 4 right sides.

    x_c[k] is x[x0 + k + c stride]; `numbers` is not looked at. Result c is at o0 + c out_stride of `out`.
    """
    if sides == 1:
        _run_1(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
    elif sides == 2:
        _run_2(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
    elif sides == 3:
        _run_3(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
    else:
        _run_4(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)


@inlined
def combine_long(sides, A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride):
    """`combine` for 32 numbers."""
    if sides == 1:
        _long_1(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
    elif sides == 2:
        _long_2(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
    elif sides == 3:
        _long_3(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
    else:
        _long_4(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)


@inlined
def combine_listed(sides, A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride):
    """`combine` where x_c[k] is x[numbers[x0 + k] + c stride]."""
    if sides == 1:
        _listed_1(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
    elif sides == 2:
        _listed_2(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
    elif sides == 3:
        _listed_3(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
    else:
        _listed_4(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)


@inlined
def combine_long_listed(sides, A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride):
    """`combine_listed` for 32 numbers."""
    if sides == 1:
        _long_listed_1(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
    elif sides == 2:
        _long_listed_2(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
    elif sides == 3:
        _long_listed_3(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
    else:
        _long_listed_4(A, a0, lda, x, numbers, x0, stride, count, out, o0, out_stride)
