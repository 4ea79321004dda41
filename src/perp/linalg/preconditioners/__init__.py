"""Preconditioners for Krylov methods on a changing set of free rows, one family a file, and the one list of them."""

from __future__ import annotations

from perp.errors import suggest
from perp.linalg.preconditioners.base import Preconditioner, Recipe
from perp.linalg.preconditioners.cheap import (
    BlockJacobiPreconditioner,
    FourierPreconditioner,
    JacobiPreconditioner,
    NoPreconditioner,
    ScaledPreconditioner,
    SymmetricGaussSeidelPreconditioner,
)
from perp.linalg.preconditioners.incomplete_cholesky import (
    IC0,
    ICT,
    MIC0,
    CompensatedIC0,
    ImaginaryIC0,
    PartialShiftIC0,
)
from perp.linalg.preconditioners.multigrid import MultigridPreconditioner

RECIPES: tuple[type[Recipe], ...] = (
    NoPreconditioner,
    JacobiPreconditioner,
    BlockJacobiPreconditioner,
    SymmetricGaussSeidelPreconditioner,
    IC0,
    CompensatedIC0,
    MIC0,
    ICT,
    PartialShiftIC0,
    ImaginaryIC0,
    ScaledPreconditioner,
    MultigridPreconditioner,
    FourierPreconditioner,
)

BY_NAME: dict[str, type[Recipe]] = {recipe.name: recipe for recipe in RECIPES}


def make_recipe(given: str | Recipe | type[Recipe]) -> Recipe:
    """The recipe of that name with its default options, or the given one."""
    if isinstance(given, Recipe):
        return given
    if isinstance(given, type) and issubclass(given, Recipe):
        return given()
    if not isinstance(given, str):
        raise TypeError(f"preconditioner is {given!r}; a name of {', '.join(BY_NAME)} or a recipe is needed")
    if given not in BY_NAME:
        raise ValueError(f"preconditioner is {given!r}{suggest(given, BY_NAME)}")
    return BY_NAME[given]()


__all__ = [
    "Preconditioner",
    "Recipe",
    "RECIPES",
    "BY_NAME",
    "make_recipe",
    "NoPreconditioner",
    "JacobiPreconditioner",
    "BlockJacobiPreconditioner",
    "SymmetricGaussSeidelPreconditioner",
    "IC0",
    "CompensatedIC0",
    "MIC0",
    "ICT",
    "PartialShiftIC0",
    "ImaginaryIC0",
    "ScaledPreconditioner",
    "MultigridPreconditioner",
    "FourierPreconditioner",
]
