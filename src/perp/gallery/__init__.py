"""Problems with known answers.

    example = make("dense_pd", n=200, seed=1, active=0.3)
    example.problem, example.x

`kinds()` lists the generators; each is also a function of its own (`dense_pd(200, 1, active=0.3)`). The same arguments
always give the same numbers. `planted_lcp`, `planted_box` and `planted_contacts` plant a solution in any A.
"""

from perp.gallery.blocks import Scene, block_on_incline, block_on_wall, box_on_points
from perp.gallery.box_stack import box_stack, boxed_pile, boxed_stack
from perp.gallery.catalogue import Example, Expected, Kind, kinds, make
from perp.gallery.classic import (
    all_signs,
    block_pivot_cycle,
    degenerate,
    fathi,
    hilbert,
    infeasible,
    lemke_ray,
    murty,
    newton_min_cycle,
    pgs_divergent,
    redundant_contacts,
    several_solutions,
    sign_table,
    skew,
    unsolvable,
)
from perp.gallery.contact_like import contact_like
from perp.gallery.dense import boxed_pd, dense_p, dense_pd, dense_psd, infeasible_psd
from perp.gallery.grid import closed_fluid, fluid_like, poisson_2d, poisson_3d
from perp.gallery.grips import pinched_capsule
from perp.gallery.half_space import hertz, rough_surface
from perp.gallery.hinge_chain import hinged_chain
from perp.gallery.obstacles import Obstacle, double_obstacle, membrane, radial_obstacle
from perp.gallery.options import Option
from perp.gallery.planted import planted_box, planted_contacts, planted_lcp
from perp.gallery.sliding import painleve_rod, painleve_step, rolling_sphere
from perp.gallery.sphere_packing import sphere_packing
from perp.gallery.stacked_pair import heavy_on_light

__all__ = [
    "make",
    "kinds",
    "Example",
    "Expected",
    "Scene",
    "Obstacle",
    "Kind",
    "Option",
    "planted_lcp",
    "planted_box",
    "planted_contacts",
    "dense_pd",
    "dense_psd",
    "dense_p",
    "boxed_pd",
    "infeasible_psd",
    "fluid_like",
    "poisson_2d",
    "poisson_3d",
    "closed_fluid",
    "radial_obstacle",
    "membrane",
    "double_obstacle",
    "hertz",
    "rough_surface",
    "contact_like",
    "box_stack",
    "boxed_stack",
    "boxed_pile",
    "sphere_packing",
    "hinged_chain",
    "block_on_incline",
    "block_on_wall",
    "box_on_points",
    "pinched_capsule",
    "rolling_sphere",
    "heavy_on_light",
    "painleve_rod",
    "painleve_step",
    "sign_table",
    "all_signs",
    "murty",
    "fathi",
    "degenerate",
    "block_pivot_cycle",
    "newton_min_cycle",
    "pgs_divergent",
    "infeasible",
    "unsolvable",
    "lemke_ray",
    "skew",
    "redundant_contacts",
    "several_solutions",
    "hilbert",
]
