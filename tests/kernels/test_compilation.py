"""Kernels are compiled once, for one type of every argument, and what they call is inlined."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

from plain_kernels import needs_compiler

import perp.kernels
from perp.kernels import compile as stamps

USE_EVERYTHING = """
import importlib, importlib.util, json, pkgutil
import numpy as np
import perp, perp.kernels, perp.linalg.sparse_lu
from perp.solvers.roster import suitable_methods

stack = perp.gallery.make("box_stack", n=48).problem
sparse_mass = perp.FactoredOperator(stack.A.J, stack.A.mass.to_sparse())
dense = perp.DenseOperator(stack.A.to_dense())
runs, scattered = perp.SparseOperator(stack.A.to_sparse()), perp.SparseOperator(stack.A.to_sparse())
scattered.__dict__["runs"] = None
matrices = [stack.A, sparse_mass, dense, runs, scattered]
for A in matrices:
    A @ np.ones(stack.n)
    for problem in (
        perp.LCP(A, stack.b),
        perp.BoxLCP(A, stack.b, -1.0, 1.0),
        perp.ContactProblem(A, stack.b, stack.friction),
        perp.ContactProblem(A, stack.b, stack.friction, "cone"),
        perp.ContactProblem(A, stack.b, stack.friction, "convex"),
        perp.ContactProblem(A, stack.b, stack.friction, "disc"),
        perp.ContactProblem(A, stack.b, stack.friction[:-1], extra_rows=3, lower=-1.0),
    ):
        problem.slack(np.ones(problem.n))
        shuffled = [] if problem.kind in ("contact/convex", "contact/disc") else [perp.PGS(order="random")]
        for method in (*suitable_methods(problem), *shuffled):
            result = perp.solve(problem, method, max_iterations=3, x0=np.ones(problem.n))
            result.verify(), perp.verify(problem, result.x), perp.verify(problem, [0] * problem.n)
for couplings in (-1.0, [-np.ones((2, 4)), -np.ones((3, 3))]):
    stencil = perp.StencilOperator((3, 4), 4.5, couplings)
    for problem in (perp.LCP(stencil, -np.ones(12)), perp.BoxLCP(stencil, -np.ones(12), 0.0, 1.0)):
        coloured = (perp.PSOR(order="coloured"), perp.SymmetricPSOR(order="coloured"))
        for method in (*suitable_methods(problem), *coloured):
            perp.solve(problem, method, max_iterations=3, x0=np.ones(12)).verify()
perp.solve(perp.LCP(np.eye(2), [-1e200, 1e200]), "pgs", max_iterations=3)  # squares overflow
perp.enumerate(perp.gallery.make("degenerate", n=4).problem)
perp.warm_up()
perp.worlds.warm_up()
for name in ("pool1", "stacking", *(("boxes", "snake") if importlib.util.find_spec("mujoco") else ())):
    scene = perp.scenes.make(name, **perp.scenes.kinds()[name].small)
    for _ in range(3):
        sweep = lambda p, x0: perp.solve_islands(p, "block_gauss_seidel", x0=x0, at_least=1)
        report = scene.world.step(scene.dt, sweep)
        report.residuals, perp.contact_states(report.problem, report.x)
wall = perp.gallery.make("boxed_stack", n=200, mass_ratio=1000.0, compliance=1e-8, load="gravity").problem
for space in ("sparse", "body"):  # blocks of uncoupled rows in both
    perp.solve(wall, perp.BlockPrincipal(space=space), max_iterations=60)
for ordering in ("cuthill_mckee", "nested_dissection", "best"):
    grid = perp.gallery.make("poisson_2d", n=900).problem
    perp.solve(grid, perp.BlockPrincipal(ordering=ordering))
lu = perp.linalg.sparse_lu.SparseLU(grid.A.to_sparse())
lu.factor(lu.matrix.data)
lu.factor_symmetric(lu.matrix.data[lu.plan.source])
lu.solve(np.ones(900)), lu.solve(np.ones((900, 2)))

counts = {}
for module in pkgutil.walk_packages(perp.kernels.__path__, "perp.kernels."):
    loaded = importlib.import_module(module.name)
    hasattr(loaded, "a name that it has not")  # executes it
    for name, item in dict(vars(loaded)).items():
        if hasattr(item, "signatures") and item.py_func.__module__ == loaded.__name__:
            if not {"forceinline", "inline", "no_cpython_wrapper"} & set(item.targetoptions):
                counts[f"{module.name}.{name}"] = len(item.signatures)
print(json.dumps(counts))
"""


@needs_compiler
def test_every_kernel_is_compiled_for_exactly_one_signature():
    run = subprocess.run([sys.executable, "-c", USE_EVERYTHING], check=True, capture_output=True, text=True)
    counts = json.loads(run.stdout)
    assert len(counts) >= 14
    assert counts == dict.fromkeys(counts, 1)


# -- the key of the cache ----------------------------------------------------------------------------------------------


MODULES = [module.name for module in pkgutil.walk_packages(perp.kernels.__path__, "perp.kernels.")]


def executed(name):
    """The names of a module, which `perp.lazy` executes when a name is missing."""
    module = importlib.import_module(name)
    hasattr(module, "a name that it has not")
    return dict(vars(module))


def test_imports_are_followed_through_packages_and_names_in_brackets():
    found = {
        path.relative_to(stamps.FOLDER).as_posix() for path in stamps.all_files(stamps.FOLDER / "conic" / "run.py")
    }
    own = {"conic/run.py", "conic/lorentz.py", "conic/newton.py"}
    assert own | {"factors/supernodal_lu.py", "factors/lanes.py", "blas.py"} <= found
    assert "worlds/discs.py" not in found


def test_a_change_in_any_file_that_is_imported_changes_the_stamp(tmp_path, monkeypatch):
    monkeypatch.setattr(stamps, "FOLDER", tmp_path)
    (tmp_path / "a.py").write_text("from perp.kernels.b import (\n    piece,\n)\n")
    (tmp_path / "b.py").write_text("from perp.kernels import c\n")
    (tmp_path / "c.py").write_text("number = 1\n")
    (tmp_path / "d.py").write_text("number = 1\n")

    def stamp() -> str:
        stamps.imported_files.cache_clear()
        stamps.source_stamp.cache_clear()
        return stamps.source_stamp(tmp_path / "a.py")

    before = stamp()
    (tmp_path / "d.py").write_text("number = 2\n")
    assert stamp() == before
    (tmp_path / "c.py").write_text("number = 2\n")
    assert stamp() != before


@needs_compiler
def test_every_kernel_is_cached_under_the_stamp_of_its_sources():
    checked = 0
    for name in MODULES:
        for item in executed(name).values():
            file = getattr(getattr(item, "_cache", None), "_cache_file", None)
            if file is not None:
                assert file._source_stamp == stamps.source_stamp(Path(item.py_func.__code__.co_filename))
                checked += 1
    assert checked > 100
