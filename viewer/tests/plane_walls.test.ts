import assert from "node:assert/strict";
import { test } from "node:test";
import { freeEdge, freePolygon, type Wall } from "../src/plane/half_planes";
import { readShapes } from "../src/plane/plane_shapes";
import { sceneBox } from "../src/plane/scene_box";
import { GRID, makeFrame, SCENE } from "./plane_frames";

const BOX = { low: [-10, -10], high: [10, 10] } as const;
const GROUND: Wall = { point: [0, 0], normal: [0, 1] };
const LEFT: Wall = { point: [-2, 0], normal: [1, 0] };
const RIGHT: Wall = { point: [3, 0], normal: [-1, 0] };

test("walls leave a polygon free", () => {
  const corners = freePolygon([GROUND, LEFT, RIGHT], BOX);
  const points = Array.from({ length: corners.length / 2 }, (_, i) => `${corners[2 * i]} ${corners[2 * i + 1]}`);
  assert.deepEqual(new Set(points), new Set(["-2 0", "3 0", "3 10", "-2 10"]));
  assert.deepEqual(freePolygon([GROUND, { point: [0, -1], normal: [0, -1] }], BOX), []);
});

test("an edge ends where another wall begins", () => {
  assert.deepEqual(freeEdge(GROUND, [LEFT, RIGHT], BOX), [-2, 3]);
  assert.deepEqual(freeEdge(GROUND, [], BOX), [-10, 10]);
});

test("the edge of an upright wall is counted from its point along the normal turned clockwise", () => {
  const ends = (wall: Wall): number[] => freeEdge(wall, [GROUND], BOX)!.map((end) => end + 0); // -0 becomes 0
  assert.deepEqual(ends(LEFT), [-10, 0]);
  assert.deepEqual(ends(RIGHT), [0, 10]);
});

test("an edge in another wall, or out of sight, is none", () => {
  assert.equal(freeEdge(GROUND, [{ point: [0, 1], normal: [0, 1] }], BOX), null);
  assert.equal(freeEdge({ point: [0, -11], normal: [0, 1] }, [], BOX), null);
});

test("a scene's box grows with its discs, but not with those that flew away", () => {
  const shapes = readShapes({
    ...SCENE,
    shapes: [0, 1, 2].map((body) => ({
      form: "disc", body, size: [0.5], position: [0, 0], orientation: [1, 0, 0, 0], color: null, name: "", mesh: null,
    })),
  });
  const frame = makeFrame({ bodies: [[0, 1, 0, 0], [2, 1, 0, 0], [1e6, NaN, 0, 0]] });
  assert.deepEqual(sceneBox(SCENE, shapes, null), { low: [-1, 0], high: [1, 2] });
  assert.deepEqual(sceneBox(SCENE, shapes, frame), { low: [-1, 0], high: [2.5, 2] });
  assert.deepEqual(sceneBox({ ...SCENE, grid: GRID }, shapes, frame), { low: [1, 2], high: [2, 3.5] });
});
