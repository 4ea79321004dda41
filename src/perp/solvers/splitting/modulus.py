"""The modulus family: Bai's methods and the accelerated ones of Zheng and Yin (AMGS section 2.3), one class each.

What they do is in `modulus_sweeps`; a class here is a splitting M1 = (D - acceleration L) / relaxation, and says
whether |z_new| is used where it is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from perp.solvers.options import RELAXATION_NAMES, About, option
from perp.solvers.splitting.modulus_sweeps import ModulusMethod, Sight

SOR_RELAXATION = About(
    "that of the splitting M1 = D / relaxation - L; Omega damps it", above=0.0, synonyms=RELAXATION_NAMES
)
AOR_RELAXATION = About(
    "that of the splitting M1 = (D - acceleration L) / relaxation; Omega damps it", above=0.0, synonyms=RELAXATION_NAMES
)
ACCELERATION = About("how much of a change later rows are shown: the factor of L in the splitting", at_least=0.0)


@dataclass(frozen=True)
class _Plain(ModulusMethod):
    """Bai's methods: |z| of the last iterate throughout (AMGS eq. 7)."""

    @property
    def sight(self) -> Sight:
        relaxation, acceleration = self.splitting
        return Sight(lag=1.0, lead=0.5 * acceleration / relaxation)


@dataclass(frozen=True)
class _Accelerated(ModulusMethod):
    """Zheng and Yin's methods: |z_new| where it is known (AMGS eq. 11 with M2 = D - U, N2 = L)."""

    adaptive: bool = option(False, About("pick alpha from the observed contraction, starting at `alpha`"))

    @property
    def is_adaptive(self) -> bool:
        return self.adaptive

    @property
    def sight(self) -> Sight:
        relaxation, acceleration = self.splitting
        return Sight(lag=0.0, lead=0.5 * (acceleration / relaxation - 1.0))


@dataclass(frozen=True)
class MJ(_Plain):
    """Modulus-based Jacobi: all rows from the old x. With Omega = D / gamma it is projected Jacobi without damping."""

    name: ClassVar[str] = "mj"
    synonyms: ClassVar[tuple[str, ...]] = ("modulus-based Jacobi", "modulus Jacobi")
    reference: ClassVar[str] = "AMGS eq. 7 with M0 = D; Bai 2010"

    @property
    def splitting(self) -> tuple[float, float]:
        return 1.0, 0.0


@dataclass(frozen=True)
class MGS(_Plain):
    """Modulus-based Gauss-Seidel: later rows see half the change of u, which for a row off its bounds is that of x."""

    name: ClassVar[str] = "mgs"
    synonyms: ClassVar[tuple[str, ...]] = ("modulus-based Gauss-Seidel", "modulus Gauss-Seidel")
    reference: ClassVar[str] = "AMGS eq. 7 with M0 = D - L; Bai 2010"

    @property
    def splitting(self) -> tuple[float, float]:
        return 1.0, 1.0


@dataclass(frozen=True)
class MSOR(_Plain):
    """Modulus-based successive over-relaxation; any `relaxation` > 0, as Omega damps it."""

    name: ClassVar[str] = "msor"
    synonyms: ClassVar[tuple[str, ...]] = ("modulus-based SOR", "modulus-based successive over-relaxation")
    reference: ClassVar[str] = "AMGS eq. 7 with M0 = D / relaxation - L; Bai 2010"

    relaxation: float = option(1.4, SOR_RELAXATION)

    @property
    def splitting(self) -> tuple[float, float]:
        return self.relaxation, self.relaxation


@dataclass(frozen=True)
class MAOR(_Plain):
    """Modulus-based accelerated over-relaxation: `acceleration` > `relaxation` shows later rows more of a change."""

    name: ClassVar[str] = "maor"
    synonyms: ClassVar[tuple[str, ...]] = ("modulus-based AOR", "modulus-based accelerated over-relaxation")
    reference: ClassVar[str] = "AMGS eq. 7 with M0 = (D - acceleration L) / relaxation; Bai 2010"

    relaxation: float = option(1.2, AOR_RELAXATION)
    acceleration: float = option(1.4, ACCELERATION)

    @property
    def splitting(self) -> tuple[float, float]:
        return self.relaxation, self.acceleration


@dataclass(frozen=True)
class AMJ(_Accelerated):
    """Accelerated modulus-based Jacobi: later rows see the new x less half the change of u.

    So they see rows at a bound move, though they rest; on contacts that takes a large alpha, and then it is slow.
    """

    name: ClassVar[str] = "amj"
    synonyms: ClassVar[tuple[str, ...]] = ("accelerated modulus-based Jacobi",)
    reference: ClassVar[str] = "AMGS eq. 11 with M1 = D, M2 = D - U; Zheng & Yin 2013"

    @property
    def splitting(self) -> tuple[float, float]:
        return 1.0, 0.0


@dataclass(frozen=True)
class AMGS(_Accelerated):
    """Accelerated modulus-based Gauss-Seidel: later rows see the newest x, so that a velocity can be kept for it.

    Method 2.2 where A is explicit, Method 3.1 where it is factored. With Omega = alpha D it is over-relaxation by
    r = 2 / (1 + gamma alpha) with a memory of what was clipped off:

        u_i <- x_i + (r - 1) (u_i - x_i) - r y_i / A_ii

    For alpha = 1 / gamma, the default, that is projected Gauss-Seidel, iterate for iterate; AMGS Table 1, in which the
    two differ by a factor of two, cannot come of the method as written.
    """

    name: ClassVar[str] = "amgs"
    synonyms: ClassVar[tuple[str, ...]] = ("accelerated modulus-based Gauss-Seidel",)
    reference: ClassVar[str] = "AMGS eq. 12-16, Methods 2.2, 3.1 and 3.2; Zheng & Yin 2013"

    @property
    def splitting(self) -> tuple[float, float]:
        return 1.0, 1.0


@dataclass(frozen=True)
class AMSOR(_Accelerated):
    """Accelerated modulus-based SOR: AMGS with A_ii / `relaxation` in the place of A_ii, in both of its forms."""

    name: ClassVar[str] = "amsor"
    synonyms: ClassVar[tuple[str, ...]] = (
        "accelerated modulus-based SOR",
        "accelerated modulus-based successive over-relaxation",
    )
    reference: ClassVar[str] = "AMGS eq. 11 with M1 = D / relaxation - L, M2 = D - U; Zheng & Yin 2013"

    relaxation: float = option(1.4, SOR_RELAXATION)

    @property
    def splitting(self) -> tuple[float, float]:
        return self.relaxation, self.relaxation


@dataclass(frozen=True)
class AMAOR(_Accelerated):
    """Accelerated modulus-based accelerated over-relaxation: acceleration / relaxation > 1 leads, < 1 looks back."""

    name: ClassVar[str] = "amaor"
    synonyms: ClassVar[tuple[str, ...]] = (
        "accelerated modulus-based AOR",
        "accelerated modulus-based accelerated over-relaxation",
    )
    reference: ClassVar[str] = "AMGS eq. 11 with M1 = (D - acceleration L) / relaxation, M2 = D - U; Zheng & Yin 2013"

    relaxation: float = option(1.2, AOR_RELAXATION)
    acceleration: float = option(1.4, ACCELERATION)

    @property
    def splitting(self) -> tuple[float, float]:
        return self.relaxation, self.acceleration
