"""Pool 1 of Miyamoto and Yamashita (2019), small: discs settle in a container, started warm from step to step."""

import perp

scene = perp.scenes.make("pool1", discs=60, width=3.0)
world = scene.world
for _ in range(150):
    report = world.step(scene.dt, lambda problem, x0: perp.solve(problem, "pgs", x0=x0, max_iterations=200))
doing = perp.contact_states(report.problem, report.x, tol=1e-3).counts
overlap = 1e3 * report.contacts.penetration
print(f"t = {world.time:.2f} s: {len(report.contacts)} contacts, deepest overlap {overlap:.2f} mm")
print(", ".join(f"{count} {name}" for name, count in doing.items()))
print(f"energy {world.energy():.1f} J, residual {report.residuals.residual:.1e}")
