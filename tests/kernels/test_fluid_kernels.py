"""Kernels of liquids beside readable twins: interpolation by SciPy, loops over cells and faces by NumPy indices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from plain_kernels import plain
from scipy import ndimage, sparse
from scipy.interpolate import RegularGridInterpolator

from perp.kernels.fluid import fields as fluid_fields
from perp.kernels.fluid import pressure as fluid_surface
from perp.worlds.fluid import Ball, HalfSpace, Union
from perp.worlds.fluid.flow import (
    IN_CELL,
    MOST_EXCESS,
    NARROW,
    carry_particles,
    collect_velocity,
    drop_pressure,
    find_attached,
    find_surface,
    return_velocity,
)
from perp.worlds.fluid.pressure import LEAST_SHARE, make_pressure_problem
from perp.worlds.fluid.vessel import StaggeredGrid, Vessel

GRIDS = {"plane": ((7, 5), (0.3, -0.2)), "space": ((4, 5, 3), (0.1, -0.4, 0.2)), "one column": ((1, 6), (0.0, 0.0))}
H = 0.25


def slope_and_ball(dimension):
    """A slanted floor and a ball: cells of all kinds."""
    normal = [0.4] * (dimension - 1) + [1.0]
    return Union(HalfSpace([0.2] * dimension, normal), Ball([1.0] * dimension, 0.3))


@pytest.fixture(params=GRIDS)
def grid(request):
    cells, origin = GRIDS[request.param]
    return StaggeredGrid(cells, H, origin)


@pytest.fixture
def vessel(grid):
    return Vessel(grid, slope_and_ball(grid.dimension))


def some_points(grid, count=50, seed=0):
    draw = np.random.default_rng(seed)
    return draw.uniform(grid.origin, grid.upper, (count, grid.dimension))


def read(grid, field, points, axis=None):
    """The value of a field of middles, or of faces across an axis, at points; it goes on beyond its ends as it ends."""
    lines, inside = [], points.copy()
    for k, count in enumerate(grid.cells):
        places = np.arange(count + 1) if k == axis else np.arange(count) + 0.5
        line = grid.origin[k] + H * places
        inside[:, k] = np.clip(points[:, k], line[0], line[-1])
        lines.append(np.append(line, line[-1] + H))  # SciPy wants two places an axis
    values = np.pad(field.reshape([len(line) - 1 for line in lines]), [(0, 1)] * grid.dimension, mode="edge")
    return RegularGridInterpolator(lines, values)(inside)


def weights(grid, points, axis=None):
    """One row a point: how much of each place it reads."""
    size = (grid.middles if axis is None else grid.faces[axis]).size
    return np.stack([read(grid, unit, points, axis) for unit in np.eye(size)], axis=1)


def neighbours(shape, cell):
    for axis, ahead in itertools.product(range(len(shape)), (0, 1)):
        other = list(cell)
        other[axis] += 2 * ahead - 1
        face = list(cell)
        face[axis] += ahead
        yield axis, tuple(face), tuple(other), 2 * ahead - 1


def test_velocities_are_collected_with_the_weights_of_linear_interpolation(grid):
    points, velocity = some_points(grid), some_points(grid, seed=1)
    fields, sums = collect_velocity(Vessel(grid), points.reshape(-1), velocity.reshape(-1))
    for axis in range(grid.dimension):
        share = weights(grid, points, axis)
        np.testing.assert_allclose(sums[axis], share.sum(axis=0), atol=1e-13)
        reached = share.sum(axis=0) > 0.0
        mean = share[:, reached].T @ velocity[:, axis] / share[:, reached].sum(axis=0)
        np.testing.assert_allclose(fields[axis][reached], mean, atol=1e-12)


@pytest.mark.parametrize("flip", [0.0, 0.9, 1.0])
def test_velocities_come_back_as_a_blend_of_what_the_grid_has_and_what_it_changed(grid, flip):
    points, velocity = some_points(grid), some_points(grid, seed=1)
    draw = np.random.default_rng(2)
    old, new = ([draw.normal(size=faces.size) for faces in grid.faces] for _ in range(2))
    got = return_velocity(Vessel(grid), points, velocity, flip, old, new)
    for axis in range(grid.dimension):
        was, now = read(grid, old[axis], points, axis), read(grid, new[axis], points, axis)
        blend = (1.0 - flip) * now + flip * (velocity[:, axis] + now - was)
        np.testing.assert_allclose(got[:, axis], blend, atol=1e-12)


def extended(field, known, layers):
    field, known = field.copy(), known.copy()
    for _ in range(layers):
        value, count = np.zeros(field.shape), np.zeros(field.shape)
        for axis, shift in itertools.product(range(field.ndim), (-1, 1)):
            source = tuple(
                slice(None) if k != axis else slice(max(shift, 0), field.shape[k] + min(shift, 0))
                for k in range(field.ndim)
            )
            target = tuple(
                slice(None) if k != axis else slice(max(-shift, 0), field.shape[k] + min(-shift, 0))
                for k in range(field.ndim)
            )
            value[target] += np.where(known, field, 0.0)[source]
            count[target] += known[source]
        new = ~known & (count > 0)
        field[new] = value[new] / count[new]
        known = known | new
    return field, known


@pytest.mark.parametrize("layers", [1, 2, 30])
def test_fields_go_on_layer_by_layer_as_the_mean_of_known_neighbours(grid, layers):
    draw = np.random.default_rng(0)
    known = draw.random(grid.cells) < 0.1
    known.flat[0] = True
    field = np.where(known, draw.normal(size=grid.cells), 0.0)
    expected, reached = extended(field, known, layers)
    flags, got = known.astype(np.uint8).reshape(-1), field.reshape(-1).copy()
    left = fluid_fields.extend(grid.shape, np.uint64(layers), got, flags)
    np.testing.assert_array_equal(flags.reshape(grid.cells) != 0, reached)
    np.testing.assert_allclose(got.reshape(grid.cells)[reached], expected[reached], atol=1e-14)
    assert left == np.count_nonzero(~reached)


def test_the_depth_below_a_flat_surface_is_that_of_the_weight_below_it():
    heights = np.linspace(-1.0, 1.0, 41)
    fine = (np.arange(20_000) + 0.5) / 10_000 - 1.0  # middles of parts of -1..1, where the weight 1 - |s| is not zero
    for z in heights:
        weight = (1.0 - np.abs(fine))[fine < -z].sum() * 1e-4  # liquid below a surface at -z
        assert plain(fluid_surface.depth_of)(weight) == pytest.approx(z, abs=2e-2 if abs(z) > 0.99 else 1e-3)


def test_levels_liquid_and_excess_are_those_of_the_density_of_particles(vessel):
    grid = vessel.grid
    points = some_points(grid, 60 * grid.size // 10)
    level, liquid, excess = find_surface(vessel, points.reshape(-1), 0.25)
    filled = 0.25 * weights(grid, points).sum(axis=0)
    fractions = [f.reshape(grid.face_shape(axis)) for axis, f in enumerate(vessel.fractions)]
    ratio = np.divide(filled, vessel.capacity, out=np.zeros(grid.size), where=vessel.capacity > 0.0)
    own = np.array([plain(fluid_surface.depth_of)(f) for f in ratio])
    own[vessel.capacity == 0.0] = 1.0
    expected, wet, surplus = own.copy(), np.zeros(grid.size, dtype=bool), np.zeros(grid.size)
    number = np.arange(grid.size).reshape(grid.cells)
    for cell in np.ndindex(*grid.cells):
        c = number[cell]
        ways = [
            (fractions[k][face], number[other])
            for k, face, other, _ in neighbours(grid.cells, cell)
            if fractions[k][face]
        ]
        seen = [(share, n) for share, n in ways if vessel.capacity[n] >= NARROW]
        if vessel.capacity[c] < NARROW and seen:
            expected[c] = sum(share * own[n] for share, n in seen) / sum(share for share, _ in seen)
        wet[c] = bool(ways) and expected[c] < 0.0
    for cell in np.ndindex(*grid.cells):
        c = number[cell]
        ways = [number[other] for k, face, other, _ in neighbours(grid.cells, cell) if fractions[k][face]]
        if wet[c] and vessel.capacity[c] >= NARROW:
            least = -MOST_EXCESS if all(wet[n] for n in ways) else 0.0
            surplus[c] = vessel.room[c] * np.clip(ratio[c] - 1.0, least, MOST_EXCESS)
    np.testing.assert_allclose(level, expected, atol=1e-9)
    np.testing.assert_array_equal(liquid != 0, wet)
    np.testing.assert_allclose(excess, surplus, atol=1e-12)


def test_cells_beside_liquid_that_the_surface_goes_through_are_attached_to_it(vessel):
    grid = vessel.grid
    level, liquid, _ = random_step(vessel, 0)
    attached = find_attached(vessel, level, liquid)
    fractions = [f.reshape(grid.face_shape(axis)) for axis, f in enumerate(vessel.fractions)]
    number = np.arange(grid.size).reshape(grid.cells)
    for cell in np.ndindex(*grid.cells):
        c = number[cell]
        beside = [number[other] for k, face, other, _ in neighbours(grid.cells, cell) if fractions[k][face]]
        assert attached[c] == (liquid[c] or (level[c] < IN_CELL and any(liquid[n] for n in beside)))


def random_step(vessel, seed):
    """Levels of any sign and velocities of any size, as no liquid would have them."""
    grid, draw = vessel.grid, np.random.default_rng(seed)
    is_open = np.zeros(grid.cells, dtype=bool)
    for axis, fraction in enumerate(vessel.fractions):
        way = np.moveaxis(fraction.reshape(grid.face_shape(axis)), axis, 0) > 0.0
        np.moveaxis(is_open, axis, 0)[:] |= way[1:] | way[:-1]
    level = draw.uniform(-1.0, 0.5, grid.size)
    liquid = ((level < 0.0) & is_open.reshape(-1)).astype(np.uint8)
    level = np.where(liquid != 0, level, np.abs(level))
    return level, liquid, [draw.normal(size=faces.size) for faces in grid.faces]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("separation", ["none", "walls", "everywhere"])
def test_the_problem_is_the_balance_of_every_cell(vessel, separation, seed):
    grid, dt = vessel.grid, 0.1
    level, liquid, velocity = random_step(vessel, seed)
    made = make_pressure_problem(grid, vessel.fractions, level, liquid, velocity, dt, separation=separation)
    fractions = [f.reshape(grid.face_shape(axis)) for axis, f in enumerate(vessel.fractions)]
    faces = [u.reshape(grid.face_shape(axis)) for axis, u in enumerate(velocity)]
    number, wet = np.arange(grid.size).reshape(grid.cells), liquid != 0
    A, b, at_wall, at_air = np.eye(grid.size), np.zeros(grid.size), np.zeros(grid.size, bool), np.zeros(grid.size, bool)
    for cell in np.ndindex(*grid.cells):
        c = number[cell]
        if not wet[c]:
            continue
        A[c, c] = 0.0
        for axis, face, other, sign in neighbours(grid.cells, cell):
            share = fractions[axis][face]
            at_wall[c] |= share < 1.0
            b[c] += sign * dt / H * share * faces[axis][face]
            if share > 0.0:
                n = number[other]
                theta = 1.0 if wet[n] else max(level[c] / (level[c] - level[n]), LEAST_SHARE)
                A[c, c] += share / theta
                A[c, n] -= share * wet[n]
                at_air[c] |= not wet[n]
    parts, label = sparse.csgraph.connected_components((A != 0.0) & wet & wet[:, None], directed=False)
    closed = np.array([wet[c] and not at_air[label == label[c]].any() for c in range(grid.size)])
    for part in range(parts):
        if closed[label == part].any():
            first = np.flatnonzero(label == part)[0]
            A[first, first] += 1.0
    bounded = {"none": np.zeros(grid.size, bool), "walls": at_wall, "everywhere": wet}[separation] & wet & ~closed
    np.testing.assert_allclose(made.problem.A.to_dense(), A, atol=1e-12)
    np.testing.assert_allclose(made.problem.b, b, atol=1e-12)
    np.testing.assert_array_equal(made.problem.lower, np.where(wet & ~bounded, -np.inf, 0.0))
    np.testing.assert_array_equal(made.problem.upper, np.where(wet, np.inf, 0.0))


@pytest.mark.parametrize("separation", ["none", "walls", "everywhere"])
def test_rows_of_liquid_cells_alone_are_the_same_numbers(vessel, separation):
    level, liquid, velocity = random_step(vessel, 5)
    whole, alone = (
        make_pressure_problem(
            vessel.grid, vessel.fractions, level, liquid, velocity, 0.1, separation=separation, form=f
        )
        for f in ("stencil", "sparse")
    )
    wet = np.flatnonzero(liquid)
    np.testing.assert_array_equal(alone.cells, wet)
    np.testing.assert_array_equal(alone.problem.A.to_dense(), whole.problem.A.to_dense()[np.ix_(wet, wet)])
    for one, other in zip(
        alone.problem.bounds(np.zeros(wet.size)), whole.problem.bounds(np.zeros(liquid.size)), strict=True
    ):
        np.testing.assert_array_equal(one, other[wet])
    np.testing.assert_array_equal(alone.problem.b, whole.problem.b[wet])
    numbers = np.arange(1.0, wet.size + 1.0)
    np.testing.assert_array_equal(alone.of_unknowns(alone.on_cells(numbers)), numbers)


def test_parts_without_air_are_those_that_an_image_library_finds():
    grid = StaggeredGrid((20, 16), H)
    vessel, draw = Vessel(grid), np.random.default_rng(0)
    for share in (0.5, 0.8, 0.97, 1.0):
        liquid = draw.random(grid.cells) < share
        level = np.where(liquid, -0.5, 0.5).reshape(-1)
        velocity = [np.zeros(faces.size) for faces in grid.faces]
        made = make_pressure_problem(
            grid, vessel.fractions, level, liquid.astype(np.uint8).reshape(-1), velocity, 0.1, separation="everywhere"
        )
        label, count = ndimage.label(liquid)
        touches = ndimage.binary_dilation(~liquid)
        closed = np.isin(label, [k for k in range(1, count + 1) if not touches[label == k].any()])
        np.testing.assert_array_equal(np.isinf(made.problem.lower).reshape(grid.cells), closed)


@pytest.mark.parametrize("seed", range(3))
def test_velocities_after_the_pressure_balance_as_the_problem_says(vessel, seed):
    """y = A x + b is the outflow of the velocities that x leaves: the two kernels see the same faces."""
    grid, dt = vessel.grid, 0.1
    level, liquid, velocity = random_step(vessel, seed)
    made = make_pressure_problem(grid, vessel.fractions, level, liquid, velocity, dt)
    x = np.where(liquid != 0, np.random.default_rng(seed).normal(size=grid.size), 0.0)
    y = made.problem.slack(x)
    pinned = np.flatnonzero(~np.isclose(made.problem.A.to_dense().sum(axis=1), _row_sums(made, vessel)))
    y[pinned] -= x[pinned]
    fields, flags = [u.copy() for u in velocity], [np.empty(u.size, dtype=np.uint8) for u in velocity]
    for axis in range(grid.dimension):
        made.drop(axis, x, liquid, np.zeros(fields[axis].size), fields[axis], flags[axis])
    outflow = np.zeros(grid.cells)
    for axis, (field, fraction) in enumerate(zip(fields, vessel.fractions, strict=True)):
        flux = np.moveaxis((field * fraction).reshape(grid.face_shape(axis)), axis, 0)
        np.moveaxis(outflow, axis, 0)[:] += dt / H * (flux[1:] - flux[:-1])
    wet = liquid != 0
    np.testing.assert_allclose(outflow.reshape(-1)[wet], y[wet], atol=1e-10)


def test_faces_of_liquid_and_of_spray_are_known_and_no_others(vessel):
    grid = vessel.grid
    level, liquid, velocity = random_step(vessel, 2)
    made = make_pressure_problem(grid, vessel.fractions, level, liquid, velocity, 0.1)
    attached = find_attached(vessel, level, liquid)
    for axis in range(grid.dimension):
        weight = np.random.default_rng(axis).integers(0, 2, velocity[axis].size).astype(float)
        known = np.empty(weight.size, dtype=np.uint8)
        made.drop(axis, np.zeros(grid.size), attached, weight, velocity[axis].copy(), known)
        expected = np.zeros(grid.face_shape(axis), dtype=bool)
        inner = np.moveaxis(expected, axis, 0)[1:-1]
        wet, near = (np.moveaxis(flags.reshape(grid.cells) != 0, axis, 0) for flags in (liquid, attached))
        spray = ~near[1:] & ~near[:-1] & np.moveaxis(weight.reshape(expected.shape) > 0.0, axis, 0)[1:-1]
        inner[:] = wet[1:] | wet[:-1] | spray
        np.testing.assert_array_equal(known != 0, expected.reshape(-1) & (vessel.fractions[axis] > 0.0))


def _row_sums(made, vessel):
    """Sums of rows without pins: what the free surface adds to the diagonal."""
    grid, level, wet = made.grid, made.level, made.liquid != 0
    sums, number = np.where(wet, 0.0, 1.0), np.arange(made.grid.size).reshape(grid.cells)
    for cell in np.ndindex(*grid.cells):
        for axis, face, other, _ in neighbours(grid.cells, cell):
            share = vessel.fractions[axis].reshape(grid.face_shape(axis))[face]
            if wet[number[cell]] and share > 0.0 and not wet[number[other]]:
                c, n = number[cell], number[other]
                sums[c] += share / max(level[c] / (level[c] - level[n]), LEAST_SHARE)
    return sums


def test_no_velocity_at_a_closed_face_enters_the_wall(vessel):
    grid = vessel.grid
    level, liquid, velocity = random_step(vessel, 1)
    made = make_pressure_problem(grid, vessel.fractions, level, liquid, velocity, 0.1)
    weight = [np.ones(faces.size) for faces in grid.faces]
    separating = np.random.default_rng(0).random(grid.size) < 0.5
    fields = drop_pressure(vessel, made, np.zeros(grid.size), separating, velocity, weight)
    for axis, faces in enumerate(grid.faces):
        known = np.empty(faces.size, dtype=np.uint8)
        made.drop(axis, np.zeros(grid.size), liquid, np.zeros(faces.size), velocity[axis].copy(), known)
        of_liquid = known != 0
        np.testing.assert_array_equal(fields[axis][of_liquid], velocity[axis][of_liquid])
        rim = np.moveaxis(fields[axis].reshape(grid.face_shape(axis)), axis, 0)
        assert (rim[0] >= 0.0).all()
        assert (rim[-1] <= 0.0).all()
        holds = np.moveaxis(((liquid != 0) & ~separating).reshape(grid.cells), axis, 0)
        assert not rim[0][holds[0]].any()
        assert not rim[-1][holds[-1]].any()


def third_order(grid, fields, points, dt):
    """Ralston's method, one step."""

    def flow(at):
        return np.stack([read(grid, field, at, axis) for axis, field in enumerate(fields)], axis=1)

    k1 = flow(points)
    k2 = flow(points + 0.5 * dt * k1)
    k3 = flow(points + 0.75 * dt * k2)
    return points + dt / 9.0 * (2.0 * k1 + 3.0 * k2 + 4.0 * k3)


def test_particles_are_carried_along_by_a_method_of_third_order(grid):
    draw, dt = np.random.default_rng(3), 0.05
    fields = [0.2 * draw.normal(size=faces.size) for faces in grid.faces]
    middle = 0.5 * (grid.origin + grid.upper)
    points = middle + 0.7 * (some_points(grid) - middle)
    velocity = np.zeros(points.shape)
    got = carry_particles(Vessel(grid), dt, fields, points, velocity)
    np.testing.assert_allclose(got, third_order(grid, fields, points, dt), atol=1e-14)


def test_a_particle_that_crosses_many_cells_does_so_one_at_a_time():
    """Round a circle of eight cells in one step of dt: a single step of the method would end far away."""
    grid = StaggeredGrid((32, 32), H)
    centre = 0.5 * grid.upper
    fields = []
    for axis, sign in ((0, -1.0), (1, 1.0)):
        arm = grid.face_points(axis) - centre
        fields.append(sign * arm[:, 1 - axis])
    start = centre + np.array([[2.0, 0.0], [0.0, -1.0]])
    got = carry_particles(Vessel(grid), 2.0 * np.pi, fields, start, np.zeros((2, 2)))
    # a step turns by about 1/8 rad at 8 cells, 1/4 at 4: 51 (26) steps, each off by about angle^4 / 24 of the radius
    np.testing.assert_allclose(got, start, atol=0.03)


@pytest.mark.parametrize("cells", [(9, 8), (6, 5, 7)], ids=["plane", "space"])
def test_particles_are_pushed_out_of_a_slanted_wall_and_lose_what_drives_them_in(cells):
    grid = StaggeredGrid(cells, H)
    wall = HalfSpace([0.7] * grid.dimension, [0.4] * (grid.dimension - 1) + [1.0])
    points = some_points(grid, 1500)
    velocity = some_points(grid, 1500, seed=4) - 0.5 * grid.upper
    before = velocity.copy()
    got = carry_particles(Vessel(grid, wall), 0.1, [np.zeros(faces.size) for faces in grid.faces], points, velocity)
    rim = np.minimum(points - grid.origin, grid.upper - points).min(axis=1) < H
    near, far = (wall(points) < 0.01 * H) & ~rim, (wall(points) > 0.01 * H) & ~rim
    assert near.sum() > 20
    # pushed to one hundredth of a cell off the wall, straight out of it
    np.testing.assert_allclose(wall(got[near]), 0.01 * H, atol=1e-12)
    way = got[near] - points[near]
    np.testing.assert_allclose(way, np.outer(way @ wall.normal, wall.normal), atol=1e-12)
    into = np.minimum(before[near] @ wall.normal, 0.0)
    np.testing.assert_allclose(velocity[near], before[near] - np.outer(into, wall.normal), atol=1e-12)
    np.testing.assert_array_equal(got[far], points[far])
    np.testing.assert_array_equal(velocity[far], before[far])
    assert (got >= grid.origin).all()
    assert (got <= grid.upper).all()


def test_particles_end_outside_of_a_ball(vessel):
    """Within what linear interpolation makes of a ball of two cells: h^2 / 8 times its curvature 1 / r, an axis."""
    grid = vessel.grid
    points = some_points(grid, 300)
    got = carry_particles(vessel, 0.1, [np.zeros(faces.size) for faces in grid.faces], points, np.zeros(points.shape))
    shallow = (np.abs(got - points).max(axis=1) > 0.0) & (slope_and_ball(grid.dimension)(points) > -0.4 * H)
    assert (slope_and_ball(grid.dimension)(got)[shallow] > -(grid.dimension * H**2 / 8 / 0.3)).all()


def test_the_room_of_cells_is_what_a_lattice_of_points_finds_open(vessel):
    """Four points an axis everywhere: in cells without a wall the two that the kernel takes sum up to the same."""
    grid, fine = vessel.grid, 4
    points = StaggeredGrid([fine * n for n in grid.cells], H / fine, grid.origin).middle_points()
    lines = [grid.origin[k] + H * np.arange(n + 1) for k, n in enumerate(grid.cells)]
    distance = RegularGridInterpolator(lines, vessel.solid.reshape([len(line) for line in lines]))(points)
    assert np.abs(distance).min() > 1e-12
    is_open = distance > 0.0
    cell = np.ravel_multi_index(tuple(((points - grid.origin) / H).astype(int).T), grid.cells)
    room = np.bincount(cell[is_open], minlength=grid.size) / fine**grid.dimension
    np.testing.assert_allclose(vessel.room, room, atol=1e-14)
    capacity = weights(grid, points[is_open]).sum(axis=0) / fine**grid.dimension
    np.testing.assert_allclose(vessel.capacity, capacity, atol=1e-13)
