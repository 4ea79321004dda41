"""One contact by itself, solved exactly: its impulse for a given slack of the others.

With W the block of A that belongs to the contact and y its slack at x, find x' such that x' and y + W (x' - x) obey the
law of the contact. Any block will do in the place of W, for x' = x says that x and y obey it: so W may be symmetrised,
divided by a relaxation, and freed from directions of (almost) no stiffness, and the sweeps still have the same limit.

Normal and tangents are taken apart by the Schur complement S = W_tt - W_tn W_nt / W_nn, and the tangents are turned to
the eigenvectors of S, where it is diagonal. A contact then holds `cells` numbers in `local`, from k on:

    k + 0  W_nn     + 1  1 / W_nn     + 2, 3  (W_n1, W_n2) / W_nn     + 4, 5  S_11, S_22     + 6, 7  cosine, sine

Boxes must not be turned: they have cosine 1, sine 0, and S_12 in the place of the sine. What other laws need follows
these eight (`FIXED_DISCS`: W_tt in its own eigenvectors; `CONES`: see `slide_on_cone`).
In two dimensions the second tangent is there, too, with a stiffness of 1 and no velocity.
"""

from __future__ import annotations

import math

import numpy as np

from perp.kernels.compile import inlined, part
from perp.kernels.measures.projection import BOXES, CONES, DISCS, tangent_limit

INVERSE, A_1, A_2, S_1, S_2, COSINE, SINE = (np.uint64(k) for k in range(1, 8))
W_1, W_2, W_COSINE, W_SINE = (np.uint64(k) for k in range(8, 12))
FRAME, STIFFNESS = np.uint64(8), np.uint64(17)
ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)

STEPS = 100
"""Of a root search; Newton needs three to six, bisection alone would need some sixty."""

ROUNDING = 4e-16
CLOSE = 1e-8
"""A Newton step of this share doubles its digits, and is then the last."""

TINY = 1e-300


@inlined
def rests(law, x_n, y_n):
    """Whether a contact without an impulse goes on without one, which needs no look at its tangents."""
    return x_n == 0.0 and y_n >= 0.0 and law in (DISCS, BOXES)


@inlined
def solve_contact(law, friction, local, k, x_n, x_p, x_q, y_n, y_p, y_q):
    """The impulse (normal, tangent, tangent) that the contact has when the others rest."""
    if law == DISCS:
        return solve_coulomb(friction, local, k, x_n, x_p, x_q, y_n, y_p, y_q)
    if law == BOXES:
        return solve_box(friction, local, k, x_n, x_p, x_q, y_n, y_p, y_q)
    return solve_convex(law, friction, local, k, x_n, x_p, x_q, y_n, y_p, y_q)


@inlined
def solve_coulomb(friction, local, k, x_n, x_p, x_q, y_n, y_p, y_q):
    """Coulomb's law. Where it allows a contact to separate and to stick (normal and tangents strongly coupled), it
    separates. Sticking is x - W^-1 y: an increment keeps the digits that y has beside a large x.
    """
    a_1, a_2, s_1, s_2 = local[k + A_1], local[k + A_2], local[k + S_1], local[k + S_2]
    inverse, cosine, sine = local[k + INVERSE], local[k + COSINE], local[k + SINE]
    old_1, old_2 = cosine * x_p + sine * x_q, cosine * x_q - sine * x_p
    q_n = y_n - local[k] * (x_n + a_1 * old_1 + a_2 * old_2)  # of q = y - W x, the slack without the own impulse
    if q_n >= 0.0:
        return 0.0, 0.0, 0.0
    pull_1, pull_2 = (
        cosine * y_p + sine * y_q - a_1 * y_n,
        cosine * y_q - sine * y_p - a_2 * y_n,
    )  # y_t - W_tn y_n / W_nn
    d_1, d_2 = -pull_1 / s_1, -pull_2 / s_2
    new_n = x_n - inverse * y_n - a_1 * d_1 - a_2 * d_2
    new_1, new_2 = old_1 + d_1, old_2 + d_2
    limit = friction * new_n
    if new_n < 0.0 or new_1 * new_1 + new_2 * new_2 > limit * limit:
        r_1, r_2 = pull_1 - s_1 * old_1, pull_2 - s_2 * old_2  # q_t - W_tn q_n / W_nn
        slip, length = math.sqrt(y_p * y_p + y_q * y_q), math.sqrt(old_1 * old_1 + old_2 * old_2)
        guess = slip / max(length, TINY)
        new_n, new_1, new_2 = slide_on_disc(friction, -q_n * inverse, a_1, a_2, s_1, s_2, r_1, r_2, guess)
    return new_n, cosine * new_1 - sine * new_2, sine * new_1 + cosine * new_2


@part
def solve_convex(law, friction, local, k, x_n, x_p, x_q, y_n, y_p, y_q):
    """Convex cones and discs of given radii: stick, as above, or what is left of their law."""
    a_1, a_2, s_1, s_2 = local[k + A_1], local[k + A_2], local[k + S_1], local[k + S_2]
    inverse, cosine, sine = local[k + INVERSE], local[k + COSINE], local[k + SINE]
    old_1, old_2 = cosine * x_p + sine * x_q, cosine * x_q - sine * x_p
    pull_1, pull_2 = cosine * y_p + sine * y_q - a_1 * y_n, cosine * y_q - sine * y_p - a_2 * y_n
    d_1, d_2 = -pull_1 / s_1, -pull_2 / s_2
    new_n = x_n - inverse * y_n - a_1 * d_1 - a_2 * d_2
    new_1, new_2 = old_1 + d_1, old_2 + d_2
    limit = tangent_limit(law, friction, new_n)
    if new_n < 0.0 or new_1 * new_1 + new_2 * new_2 > limit * limit:
        q_n = y_n - local[k] * (x_n + a_1 * old_1 + a_2 * old_2)
        r_1, r_2 = pull_1 - s_1 * old_1, pull_2 - s_2 * old_2
        if law == CONES:
            return slide_on_cone(friction, local, k, q_n, r_1, r_2)
        return rub_on_disc(friction, local, k, q_n, r_1, r_2)
    return new_n, cosine * new_1 - sine * new_2, sine * new_1 + cosine * new_2


@part
def slide_on_disc(friction, free_n, a_1, a_2, s_1, s_2, r_1, r_2, guess):
    """Coulomb's law where the contact neither sticks nor separates: y_n = 0, y_t = -alpha x_t, |x_t| = friction x_n.

    By (S + alpha) x_t = -r the friction is a function of alpha > 0, and so is x_n = free_n - (W_nt / W_nn) x_t, with
    free_n = -q_n / W_nn > 0. At alpha = 0 the contact sticks, and leaves its cone; the larger alpha, the shorter x_t.
    Wanted is the root of

        h(alpha) = friction x_n / |x_t| - 1,

    almost a straight line where alpha is large. Newton steps start from a guess (by the slip of the last sweep) and are
    kept in an interval with h < 0 at one end and h > 0 at the other.
    """
    if friction <= 0.0:
        return free_n, 0.0, 0.0
    low = 0.0
    high = (1.0 + friction * math.sqrt(a_1 * a_1 + a_2 * a_2)) * math.sqrt(r_1 * r_1 + r_2 * r_2) / (friction * free_n)
    alpha = guess if low < guess < high else 0.5 * high
    x_n = x_1 = x_2 = length = 0.0
    close = False
    for _ in range(STEPS):
        soft_1, soft_2 = 1.0 / (s_1 + alpha), 1.0 / (s_2 + alpha)
        x_1, x_2 = -r_1 * soft_1, -r_2 * soft_2
        x_n = free_n - a_1 * x_1 - a_2 * x_2
        length = math.sqrt(x_1 * x_1 + x_2 * x_2)
        excess = friction * x_n - length
        if close or abs(excess) <= ROUNDING * length:
            break
        if excess < 0.0:
            low = alpha
        else:
            high = alpha
        fall_1, fall_2 = x_1 * soft_1, x_2 * soft_2  # -dx_t / dalpha
        growth = (a_1 * fall_1 + a_2 * fall_2) * length + x_n * (x_1 * fall_1 + x_2 * fall_2) / length
        newton = alpha - excess * length / (friction * growth) if growth > 0.0 else low
        if low < newton < high:
            close = abs(newton - alpha) <= CLOSE * alpha
            alpha = newton
        else:
            close = high - low <= ROUNDING * high
            alpha = 0.5 * (low + high)
    x_n = max(x_n, 0.0)
    factor = friction * x_n / max(length, TINY)
    return x_n, factor * x_1, factor * x_2


@inlined
def shorten(radius, s_1, s_2, r_1, r_2):
    """x with (S + alpha) x = -r, alpha >= 0, and |x| <= radius, = radius where alpha > 0: a quadratic over a disc.

    Newton for 1 / |x| = 1 / radius comes from the left and never overshoots (More & Sorensen 1983); the interval is for
    rounding errors.
    """
    x_1, x_2 = -r_1 / s_1, -r_2 / s_2
    if math.hypot(x_1, x_2) <= radius:
        return x_1, x_2
    if radius <= 0.0:
        return 0.0, 0.0
    low, high = 0.0, math.hypot(r_1, r_2) / radius
    alpha = 0.0
    for _ in range(STEPS):
        x_1, x_2 = -r_1 / (s_1 + alpha), -r_2 / (s_2 + alpha)
        length = math.hypot(x_1, x_2)
        if abs(length - radius) <= ROUNDING * radius or high - low <= ROUNDING * high:
            break
        if length > radius:
            low = alpha
        else:
            high = alpha
        fall = (x_1 * x_1 / (s_1 + alpha) + x_2 * x_2 / (s_2 + alpha)) / length
        newton = alpha + (length - radius) / radius * length / fall
        if low < newton < high:
            if abs(newton - alpha) <= ROUNDING * alpha:
                break
            alpha = newton
        else:
            alpha = 0.5 * (low + high)
    factor = radius / math.hypot(x_1, x_2)
    return factor * x_1, factor * x_2


@part
def rub_on_disc(radius, local, k, q_n, r_1, r_2):
    """A disc of given radius, and a normal impulse that is free of it: convex, hence two cases.

    If the normal impulse that belongs to y_n = 0 is negative, the contact has none, and W_tt takes the place of S.
    """
    cosine, sine = local[k + COSINE], local[k + SINE]
    x_1, x_2 = shorten(radius, local[k + S_1], local[k + S_2], r_1, r_2)
    x_n = -q_n * local[k + INVERSE] - local[k + A_1] * x_1 - local[k + A_2] * x_2
    if x_n >= 0.0:
        return x_n, cosine * x_1 - sine * x_2, sine * x_1 + cosine * x_2
    q_1, q_2 = r_1 + local[k + A_1] * q_n, r_2 + local[k + A_2] * q_n
    q_p, q_q = cosine * q_1 - sine * q_2, sine * q_1 + cosine * q_2
    cosine, sine = local[k + W_COSINE], local[k + W_SINE]
    x_1, x_2 = shorten(radius, local[k + W_1], local[k + W_2], cosine * q_p + sine * q_q, cosine * q_q - sine * q_p)
    return 0.0, cosine * x_1 - sine * x_2, sine * x_1 + cosine * x_2


@part
def slide_on_cone(friction, local, k, q_n, r_1, r_2):
    """min 1/2 x^T W x + q^T x over the cone x^T D x <= 0, x_n >= 0, D ~ diag(-friction^2, 1, 1); sticking excluded.

    On the surface (W + alpha D) x = -q. Three vectors T_i with T^T W T = 1 and T^T D T = diag(d), d_0 < 0 < d_1, d_2,
    kept for each contact, make that x = -sum_i c_i / (1 + alpha d_i) T_i, c_i = T_i · q, and the surface an equation in
    alpha: sqrt(-d_0) xi_0 = sqrt(d_1 xi_1^2 + d_2 xi_2^2), xi the coordinates of x. T_0 lies within the cone. If
    c_0 < 0, the root is between 0 and -1 / d_0; otherwise beyond, or x = 0 because q is in the dual cone.
    """
    if friction <= 0.0:
        return max(-q_n * local[k + INVERSE], 0.0), 0.0, 0.0
    cosine, sine = local[k + COSINE], local[k + SINE]
    q_1, q_2 = r_1 + local[k + A_1] * q_n, r_2 + local[k + A_2] * q_n
    q_p, q_q = cosine * q_1 - sine * q_2, sine * q_1 + cosine * q_2
    t = k + FRAME
    c_0 = local[t] * q_n + local[t + ONE] * q_p + local[t + TWO] * q_q
    t += THREE
    c_1 = local[t] * q_n + local[t + ONE] * q_p + local[t + TWO] * q_q
    t += THREE
    c_2 = local[t] * q_n + local[t + ONE] * q_p + local[t + TWO] * q_q
    d_0, d_1, d_2 = local[k + STIFFNESS], local[k + STIFFNESS + ONE], local[k + STIFFNESS + TWO]
    time = math.sqrt(-d_0) * abs(c_0)
    low, high, sign = 0.0, -1.0 / d_0, 1.0
    if c_0 >= 0.0:
        low, sign = high, -1.0
        high = 2.0 * low
        for _ in range(STEPS):
            side = math.hypot(math.sqrt(d_1) * c_1 / (1.0 + high * d_1), math.sqrt(d_2) * c_2 / (1.0 + high * d_2))
            if -(1.0 + high * d_0) * side > time:
                break
            high *= 8.0
        else:
            return 0.0, 0.0, 0.0
    alpha = 0.5 * (low + high)
    xi_1 = xi_2 = side = 0.0
    for _ in range(STEPS):
        xi_1, xi_2 = c_1 / (1.0 + alpha * d_1), c_2 / (1.0 + alpha * d_2)
        side = math.hypot(math.sqrt(d_1) * xi_1, math.sqrt(d_2) * xi_2)
        gap = sign * (1.0 + alpha * d_0)
        excess = gap * side - time  # falls with alpha before -1 / d_0, and rises behind
        if abs(excess) <= ROUNDING * time or high - low <= ROUNDING * high:
            break
        if excess * sign > 0.0:
            low = alpha
        else:
            high = alpha
        fall = (d_1 * d_1 * xi_1 * xi_1 / (1.0 + alpha * d_1) + d_2 * d_2 * xi_2 * xi_2 / (1.0 + alpha * d_2)) / side
        slope = sign * d_0 * side - gap * fall
        newton = alpha - excess / slope if slope != 0.0 else low
        if low < newton < high:
            if abs(newton - alpha) <= ROUNDING * alpha:
                break
            alpha = newton
        else:
            alpha = 0.5 * (low + high)
    xi_0 = side / math.sqrt(-d_0)  # as the surface says, which holds where c_0 and 1 + alpha d_0 are both nothing
    t = k + FRAME
    x_n = max(xi_0 * local[t] - xi_1 * local[t + THREE] - xi_2 * local[t + THREE + THREE], 0.0)
    t += ONE
    x_p = xi_0 * local[t] - xi_1 * local[t + THREE] - xi_2 * local[t + THREE + THREE]
    t += ONE
    x_q = xi_0 * local[t] - xi_1 * local[t + THREE] - xi_2 * local[t + THREE + THREE]
    length = math.hypot(x_p, x_q)
    if friction > 1.0:  # of the two, the longer is the better known
        return length / friction, x_p, x_q
    factor = friction * x_n / max(length, TINY)
    return x_n, factor * x_p, factor * x_q


@part
def solve_box(friction, local, k, x_n, x_p, x_q, y_n, y_p, y_q):
    """Two tangents with bounds +- friction x_n each: no impulse, or one of nine cases.

    Each tangent is free (side 0) or at a bound (side -1, 1), which must be held by the sign of its slack. Both free are
    tried first, by increments; of the others the first without a violation is taken, or, for rounding errors may spoil
    them all, the one with the least.
    """
    w_n, inverse = local[k], local[k + INVERSE]
    a_p, a_q, s_p, s_q, s_pq = local[k + A_1], local[k + A_2], local[k + S_1], local[k + S_2], local[k + SINE]
    q_n = y_n - w_n * (x_n + a_p * x_p + a_q * x_q)
    if q_n >= 0.0:
        return 0.0, 0.0, 0.0
    pull_p, pull_q = y_p - a_p * y_n, y_q - a_q * y_n
    determinant = s_p * s_q - s_pq * s_pq
    d_p, d_q = (s_pq * pull_q - s_q * pull_p) / determinant, (s_pq * pull_p - s_p * pull_q) / determinant
    best_n, best_p, best_q = x_n - inverse * y_n - a_p * d_p - a_q * d_q, x_p + d_p, x_q + d_q
    if max(abs(best_p), abs(best_q)) <= friction * best_n:
        return best_n, best_p, best_q
    free_n = -q_n * inverse
    r_p = pull_p - s_p * x_p - s_pq * x_q
    r_q = pull_q - s_pq * x_p - s_q * x_q
    least = np.inf
    for case in range(1, 9):
        side_p = float(case % 3 - (3 if case % 3 == 2 else 0))  # 0, 1, -1
        side_q = float(case // 3 - (3 if case // 3 == 2 else 0))
        # y_n = 0 is x_n = free_n - a · x_t; a bounded tangent is x = side friction x_n, a free one S x + r = 0
        n = p = q = 0.0
        if side_p != 0.0 and side_q != 0.0:
            n = free_n / (1.0 + friction * (a_p * side_p + a_q * side_q))
            p, q = side_p * friction * n, side_q * friction * n
        elif side_p != 0.0:
            share = side_p * friction
            n = (free_n + a_q * r_q / s_q) / (1.0 + share * (a_p - a_q * s_pq / s_q))
            p = share * n
            q = -(r_q + s_pq * p) / s_q
        else:
            share = side_q * friction
            n = (free_n + a_p * r_p / s_p) / (1.0 + share * (a_q - a_p * s_pq / s_p))
            q = share * n
            p = -(r_p + s_pq * q) / s_p
        limit = friction * n
        slack_p, slack_q = r_p + s_p * p + s_pq * q, r_q + s_pq * p + s_q * q
        wrong_p = side_p * slack_p if side_p != 0.0 else s_p * (abs(p) - limit)
        wrong_q = side_q * slack_q if side_q != 0.0 else s_q * (abs(q) - limit)
        violation = max(max(wrong_p, wrong_q), -w_n * n)
        if violation < least:
            best_n, best_p, best_q, least = n, p, q, violation
        if violation <= 0.0:
            break
    best_n = max(best_n, 0.0)
    limit = friction * best_n
    return best_n, min(max(best_p, -limit), limit), min(max(best_q, -limit), limit)
