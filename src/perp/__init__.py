"""perp: complementarity problems.  0 <= x  ⊥  A x + b >= 0."""

from typing import TYPE_CHECKING, Any

from perp import lazy

lazy.load_later("perp")

from perp import public  # noqa: E402 (only modules imported from here on wait)

if TYPE_CHECKING:
    from perp.public import *  # noqa: F403
    from perp.public import __all__ as __all__


def __getattr__(name: str) -> Any:
    value = globals()[name] = getattr(public, name)  # from now on it is found here
    return value


def __dir__() -> list[str]:
    return list(public.__all__)
