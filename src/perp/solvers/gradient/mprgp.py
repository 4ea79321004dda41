"""Modified proportioning with reduced gradient projections (Dostál & Schöberl 2005; Domorádová & Dostál 2007)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from perp.kernels.gradient import conjugate_gradients as kernels
from perp.linalg.preconditioners import Recipe, make_recipe
from perp.problems.inputs import Vector, freeze, require_count, require_number
from perp.problems.operators.base import APPLY
from perp.problems.problem import Problem
from perp.solvers.gradient.face_states import SplitState, load_kernels
from perp.solvers.gradient.projection import diagonal_weights, estimate_largest_eigenvalue
from perp.solvers.gradient.rays import end_on_ray, optimal_step
from perp.solvers.method import Method
from perp.solvers.nested_start import INITIAL, START, nested_start
from perp.solvers.options import PRECONDITIONERS, About, option, require_choices
from perp.solvers.results import Status
from perp.solvers.symmetry import asymmetry_objection

EXPANSIONS = ("gradient", "conjugate")

REFRESH_EVERY = 64
"""Steps after which the gradient is computed anew; expansions do that by themselves."""

ROUNDING = 1e-13
"""A projected step that raises the objective by more than this share of its terms was too long."""

ROUGH, MOST_STEPS = 1e-4, 200
"""How well a coarser grid is solved for a start on the next finer one, and the steps that this may take."""

SHORTEST = 1e-12
"""A step that had to be shortened to this share of the first guess shows that shortening is no help."""


@dataclass(frozen=True)
class MPRGP(Method[SplitState]):
    """Conjugate gradients in a face, projected gradient steps to leave it early, steps to free rows when it pays.

    The gradient y = A x + b is split: the free gradient is its part on rows strictly between their bounds, the chopped
    gradient its part on rows at a bound whose slack has the wrong sign. x is proportional when

        |chopped|^2 <= gamma^2 (reduced free gradient)^T (free gradient)

    where the reduced one leads no row across its bound. One iteration is one step:

    * proportional, and a conjugate gradient step stays in the box: that step, one product with A;
    * proportional, and it does not (expansion): go to the nearest bound, then from there a gradient step of fixed
      length on the free rows, clipped: many rows may get to a bound at once; two products;
    * not proportional (proportioning): the best step along the chopped gradient, which frees rows; one product. Where
      another bound is in the way, a clipped gradient step on all rows instead; two products.

    No other parameter is needed for a bound on the linear rate: with alpha = `expansion` / |A| and gamma' = max(gamma,
    1 / gamma) each step has f(x_new) - f* <= eta (f(x) - f*),

        eta = 1 - min(alpha, 2 / |A| - alpha) lambda_min / (t + t gamma'^2),     t = 2 max(alpha |A|, 1)

    (Dostál 2009; the tests measure it, on boxes too). `expansion` lies in (0, 2]; |A| is estimated by `norm_products`
    steps of Lanczos from a vector of `seed`, and doubled should a clipped step ever raise the objective.

    With `scaling` all lengths are measured in units of the diagonal of A where it is known, so that A above stands for
    D A D, D_ii = 1 / sqrt(A_ii). `preconditioner` acts in the face only, on conjugate gradient steps, since it does not
    leave a box a box; it is made anew when the face changes (Domorádová & Dostál 2007).

    `expand_along="conjugate"` expands by clipping the conjugate gradient step itself, if that lowers the objective, and
    only else as above (Kružík, Horák, Čermák, Pospíšil & Pecha 2020): where P is good, that brings the right rows to
    their bounds at once. The bound on the rate then holds no longer.

    With `initial="nested"` it begins at the answer of coarser grids (`perp.solvers.nested_start`) where A is a stencil.
    With both, and multigrid as the preconditioner, about as many steps are enough on every grid.
    """

    name: ClassVar[str] = "mprgp"
    family: ClassVar[str] = "gradient"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp", "box"})
    needs: ClassVar[frozenset[str]] = frozenset({APPLY})
    requires: ClassVar[str] = "symmetric positive semi-definite A"
    reference: ClassVar[str] = "Dostál & Schöberl 2005; preconditioning in face: Domorádová & Dostál 2007"
    scales_itself: ClassVar[bool] = True
    check_every: ClassVar[int] = 10
    counted: ClassVar[tuple[str, ...]] = ("products", "cg_steps", "expansions", "proportionings", "preconditioners")

    preconditioner: str | Recipe = option("none", About("that of steps within a face", PRECONDITIONERS))
    gamma: float = option(1.0, About("larger: rows at a bound are freed later", above=0.0))
    expansion: float = option(1.9, About("length of gradient steps in units of 1 / |A|", above=0.0, at_most=2.0))
    scaling: bool = option(True, About("measure lengths in units of the diagonal of A, where it is known"))
    norm_products: int = option(12, About("steps of Lanczos that estimate |A|", at_least=1))
    seed: int = option(0, About("of the vector that Lanczos begins with", at_least=0))
    initial: str = option("given", START)
    expand_along: str = option(
        "gradient", About("rows get to bounds by gradient steps, or by clipped conjugate gradient steps", EXPANSIONS)
    )

    def __post_init__(self) -> None:
        make_recipe(self.preconditioner)
        require_choices(self, initial=INITIAL, expand_along=EXPANSIONS)
        require_number(self.gamma, "gamma", positive=True)
        require_number(self.expansion, "expansion", positive=True)
        if self.expansion > 2.0:
            raise ValueError(f"expansion is {self.expansion}; it must lie in (0, 2], in units of 1 / |A|")
        if not isinstance(self.scaling, bool):
            raise TypeError(f"scaling is {self.scaling!r}; True or False is needed")
        require_count(self.norm_products, "norm_products", least=1)
        require_count(self.seed, "seed")

    def objection(self, problem: Problem) -> str | None:
        return make_recipe(self.preconditioner).objection(problem) or asymmetry_objection(problem)

    def default_iterations(self, problem: Problem) -> int:
        return max(1000, 50 * problem.n)

    def start(self, problem: Problem, x: Vector) -> SplitState:
        n = problem.n
        lower, upper = (bound.copy() for bound in problem.bounds(x))
        weight = diagonal_weights(problem) if self.scaling else np.ones(n)
        norm, products = estimate_largest_eigenvalue(problem, weight, self.norm_products, self.seed)
        recipe = make_recipe(self.preconditioner)
        length = self.expansion / norm if norm > 0.0 else 1.0
        state = SplitState(
            x,
            y=np.empty(n),
            lower=lower,
            upper=upper,
            weight=weight,
            preconditioner=None if recipe.name == "none" else recipe.prepare(problem),
            q=np.zeros(n),
            product=np.empty(n),
            r=np.zeros(n),
            trial=np.empty(n),
            trial_y=np.empty(n),
            zero=freeze(np.zeros(n)),
            no_shift=np.zeros(n),
            length=length,
            shortest=SHORTEST * length,
            is_new=self.initial == "nested",
            repeatable=False,
            counters=dict.fromkeys(self.counted, 0.0) | {"products": float(products)},
        )
        if norm == np.inf:
            state.ended = Status.BREAKDOWN, "the largest eigenvalue of A is not finite"
        self.refresh(problem, state)
        return state

    def refresh(self, problem: Problem, state: SplitState) -> None:
        state.renew_slack(problem)
        state.is_new_face = True

    def step(self, problem: Problem, state: SplitState, count: int) -> None:
        if count == 0:
            load_kernels()
        done = 0
        while done < count and state.ended is None:
            if state.is_new:
                self._begin_nested(problem, state)
            if state.steps_since_refresh >= REFRESH_EVERY or (state.is_small and state.steps_since_refresh > 0):
                state.renew_slack(problem)  # only rounding errors change, and the directions may go on
            if state.is_small and state.has_only_noise:
                state.ended = Status.REDUCED_ACCURACY, "the projected gradient is zero up to rounding"
                break
            if state.chopped <= self.gamma**2 * state.reduced:
                self._stay_in_face(problem, state)
            else:
                self._free_rows(problem, state)
            state.steps_since_refresh += 1
            done += 1
        state.unused = count - done

    def _begin_nested(self, problem: Problem, state: SplitState) -> None:
        state.is_new = False
        inner = replace(self, initial="given")

        def answer(coarse: Problem, x: Vector) -> Vector:
            """Steps until the projected gradient is ROUGH times what it was."""
            at = inner.start(coarse, x)
            first, steps = max(at.reduced, at.chopped), 0
            while max(at.reduced, at.chopped) > ROUGH**2 * first and steps < MOST_STEPS and at.ended is None:
                inner.step(coarse, at, 1)
                steps += 1
            return at.x

        state.x = nested_start(problem, state.x, answer)
        self.refresh(problem, state)

    def _stay_in_face(self, problem: Problem, state: SplitState) -> None:
        """A conjugate gradient step, or an expansion."""
        if state.is_new_face or not kernels.dot(state.r, state.q) > 0.0:  # rounding may turn q away from descent
            state.q = self._precondition(state)
            state.is_new_face = False
        step, longest, curvature = self._find_step(problem, state)
        if state.ended is not None:
            return
        bounds = (state.lower, state.upper)
        if step <= longest:
            state.is_new_face = kernels.take_step(state.x, state.y, state.q, state.product, step, *bounds) > 0
            state.counters["cg_steps"] += 1
            state.split()
            if not state.is_new_face:
                z = self._precondition(state)
                kernels.turn(state.q, z, -kernels.dot(z, state.product) / curvature)
            return
        if self.expand_along == "conjugate" and step < np.inf and self._clip_step(problem, state, step):
            return
        kernels.take_step(state.x, state.y, state.q, state.product, longest, *bounds)
        self._expand(problem, state, only_free=True)

    @staticmethod
    def _clip_step(problem: Problem, state: SplitState, step: float) -> bool:
        """x <- clip(x + step q), if that lowers the objective."""
        kernels.project_step(state.x, state.q, step, state.lower, state.upper, state.trial)
        problem.A.slack(state.trial, problem.b, state.trial_y)
        state.counters["products"] += 1
        change, size = kernels.change_of_objective(state.x, state.y, state.trial, state.trial_y)
        if not change < -ROUNDING * size:
            return False
        state.counters["expansions"] += 1
        state.move_to_trial()
        return True

    def _free_rows(self, problem: Problem, state: SplitState) -> None:
        """A proportioning step."""
        bounds = (state.lower, state.upper)
        kernels.chopped_direction(state.x, state.y, *bounds, state.weight, state.r, state.q)
        step, longest, _ = self._find_step(problem, state)
        if state.ended is not None:
            return
        state.counters["proportionings"] += 1
        if step > longest:
            self._expand(problem, state, only_free=False)
            return
        kernels.take_step(state.x, state.y, state.q, state.product, step, *bounds)
        state.is_new_face = True
        state.split()

    @staticmethod
    def _find_step(problem: Problem, state: SplitState) -> tuple[float, float, float]:
        """The step to the minimum along q (inf where there is none), the step to the nearest bound, the curvature."""
        problem.A.slack(state.q, state.zero, state.product)
        state.counters["products"] += 1
        slope, curvature, size = kernels.measure_direction(state.r, state.q, state.product, state.weight)
        longest = kernels.step_to_bound(state.x, state.q, state.lower, state.upper)
        if not (np.isfinite(slope + curvature + size) and slope > 0.0 and size > 0.0):
            state.ended = (
                Status.BREAKDOWN,
                "a direction is out of range, or the preconditioner is not positive definite",
            )
            return 0.0, 0.0, 0.0
        state.stiffness = max(state.stiffness, abs(curvature) / size)
        step = optimal_step(slope, curvature, size, state.stiffness)
        if step == np.inf == longest:
            end_on_ray(problem, state, state.q, curvature, size, state.stiffness)
        return step, longest, curvature

    @staticmethod
    def _expand(problem: Problem, state: SplitState, only_free: bool) -> None:
        """x <- clip(x - length weight y), on free rows or all; shorter, if that raised the objective."""
        state.counters["expansions"] += 1
        bounds, here = (state.lower, state.upper), (state.x, state.y)
        while True:
            kernels.project_gradient(*here, *bounds, state.weight, state.length, only_free, state.trial)
            problem.A.slack(state.trial, problem.b, state.trial_y)
            state.counters["products"] += 1
            change, size = kernels.change_of_objective(*here, state.trial, state.trial_y)
            if change <= ROUNDING * size:
                break
            state.length *= 0.5
            if not state.length > state.shortest:
                state.ended = Status.BREAKDOWN, "no step along the projected gradient lowers the objective"
                return
        state.move_to_trial()

    @staticmethod
    def _precondition(state: SplitState) -> Vector:
        """z = P^-1 r, zero outside the face."""
        if state.preconditioner is None:
            return state.weight * state.r
        if state.is_new_face:
            state.preconditioner.follow((state.lower < state.x) & (state.x < state.upper), state.no_shift)
            state.counters["preconditioners"] += 1
        return state.preconditioner.apply(state.r)
