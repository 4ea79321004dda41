"""A pile of boxes with a condition number of 1e9, from nowhere: sweeps, gradients, interior points."""

import perp

pile = perp.gallery.make("boxed_pile", n=500, load="gravity").problem
for method in (
    perp.PSOR(),
    perp.APGD(),
    perp.PGCG(preconditioner="imaginary_ic0"),
    perp.InteriorPivoting(),
):
    result = perp.solve(pile, method, tol=1e-10, max_iterations=2000)
    print(f"{result.method:18} {result.status.name:16} residual {result.residual:.1e}, {result.iterations} iterations")

contacts = perp.gallery.make("contact_like", n=120, bodies=7).problem  # the LCP of Stewart and Trinkle
result = perp.solve(contacts, "fischer")
print(f"{result.method:18} {result.status.name:16} residual {result.residual:.1e}, {result.iterations} iterations")
