"""Ill-conditioned contacts from nowhere
=====================================

A pile of boxes with a condition number of 1e9, from nowhere: sweeps, gradients, interior points.
"""

from importlib.util import find_spec

import perp

histories = {}
pile = perp.gallery.make("boxed_pile", n=500, load="gravity").problem
for method in (
    perp.PSOR(),
    perp.APGD(),
    perp.PGCG(preconditioner="imaginary_ic0"),
    perp.InteriorPivoting(),
):
    result = perp.solve(pile, method, tol=1e-10, max_iterations=2000)
    histories[result.method] = result.history
    print(f"{result.method:18} {result.status.name:16} residual {result.residual:.1e}, {result.iterations} iterations")

contacts = perp.gallery.make("contact_like", n=120, bodies=7).problem  # the LCP of Stewart and Trinkle
result = perp.solve(contacts, "fischer")
print(f"{result.method:18} {result.status.name:16} residual {result.residual:.1e}, {result.iterations} iterations")

if find_spec("matplotlib"):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    for name, history in histories.items():
        axes.loglog(history.iteration + 1, history.residual, label=name)
    axes.set(xlabel="iteration", ylabel="residual")
    axes.legend()
    plt.show()
