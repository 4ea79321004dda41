import assert from "node:assert/strict";
import { test } from "node:test";
import type { Frame } from "../src/layout";
import type { Shape } from "../src/messages";
import { cellAt, pickAt, segmentDistance } from "../src/plane/picking";
import { readShapes, type PlaneShapes } from "../src/plane/plane_shapes";
import type { Selection, Style } from "../src/view";
import { GRID, makeFrame, makeLiquid, SCENE } from "./plane_frames";

const STYLE: Style = {
  bodies: "own", contacts: "state", forces: false, forceScale: 1, liquid: "speed", particles: true, dark: false,
};
const SCALE = 100; // pixels of a metre

function disc(body: number, radius: number): Shape {
  const place = { position: [0, 0], orientation: [1, 0, 0, 0] };
  return { form: "disc", body, size: [radius], ...place, color: null, name: "", mesh: null };
}

/** Two discs side by side that touch at the origin, and a rod on body 2, which is turned upright. */
function makeWorld(): { frame: Frame; shapes: PlaneShapes } {
  const rod: Shape = { ...disc(2, 0), form: "segment", size: [], mesh: 0 };
  const ground: Shape = { ...disc(-1, 0), form: "half_plane", size: [], mesh: 1 };
  const scene = {
    ...SCENE,
    shapes: [disc(0, 1), disc(1, 1), rod, ground],
    meshes: [{ vertices: [[0, 0], [1, 0]], faces: [] }, { vertices: [[0, -1], [0, 2]], faces: [] }],
  };
  const bodies = [[-1, 0, 0, 0], [1, 0, 0, 0], [5, 0, Math.PI / 2, 0]];
  const contacts = [[0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]];
  return { frame: makeFrame({ bodies, contacts }), shapes: readShapes(scene) };
}

function pick(x: number, y: number, style: Partial<Style> = {}): Selection | null {
  const { frame, shapes } = makeWorld();
  return pickAt({ x, y, scale: SCALE }, frame, shapes, null, { ...STYLE, ...style });
}

test("a contact wins over the body that it lies upon, within some pixels", () => {
  assert.deepEqual(pick(0.05, 0), { kind: "contact", index: 0 });
  assert.deepEqual(pick(0.2, 0), { kind: "body", index: 1 });
});

test("hidden contacts are not picked, unless their forces are shown", () => {
  assert.deepEqual(pick(-0.05, 0, { contacts: "hidden" }), { kind: "body", index: 0 });
  assert.deepEqual(pick(-0.05, 0, { contacts: "hidden", forces: true }), { kind: "contact", index: 0 });
});

test("beside all bodies there is nothing, and walls of the world are none", () => {
  assert.equal(pick(0, 1.5), null);
  assert.equal(pick(0, -1.5), null);
});

test("segments turn with their bodies", () => {
  assert.deepEqual(pick(5.03, 0.7), { kind: "body", index: 2 });
  assert.equal(pick(5.7, 0.03), null);
});

test("of two bodies that overlap, the one whose edge is farther away has the point", () => {
  const shapes = readShapes({ ...SCENE, shapes: [disc(0, 2), disc(1, 1)] });
  const frame = makeFrame({ bodies: [[0, 0, 0, 0], [1.5, 0, 0, 0]] });
  assert.deepEqual(pickAt({ x: 1.6, y: 0, scale: SCALE }, frame, shapes, null, STYLE), { kind: "body", index: 1 });
});

test("shapes of bodies that a frame does not have are passed over", () => {
  const shapes = readShapes({ ...SCENE, shapes: [disc(7, 1)] });
  assert.equal(pickAt({ x: 0, y: 0, scale: SCALE }, makeFrame({ bodies: [[0, 0, 0, 0]] }), shapes, null, STYLE), null);
});

test("cells are counted with x slowest", () => {
  assert.equal(cellAt(1.1, 2.1, GRID), 0);
  assert.equal(cellAt(1.1, 3.4, GRID), 2);
  assert.equal(cellAt(1.6, 2.1, GRID), 3);
  const outside = [[0.9, 2.1], [2.1, 2.1], [1.1, 1.9], [1.1, 3.6], [NaN, 2.1]] as const;
  for (const [x, y] of outside) assert.equal(cellAt(x, y, GRID), -1);
});

test("of a liquid, cells are picked where they have colours, and particles where those have", () => {
  const cells = Array.from({ length: 6 }, (_, cell) => [0, cell === 3 ? 1 : 0, 0]);
  const frame = makeLiquid([[1.7, 2.2, 1], [1.2, 2.2, 1]], cells);
  const at = (x: number, y: number, style: Partial<Style>): Selection | null =>
    pickAt({ x, y, scale: SCALE }, frame, { discs: [], segments: [], halfPlanes: [] }, GRID, { ...STYLE, ...style });
  assert.deepEqual(at(1.71, 2.21, {}), { kind: "particle", index: 0 });
  assert.deepEqual(at(1.71, 2.21, { liquid: "pressure" }), { kind: "cell", index: 3 });
  assert.deepEqual(at(1.71, 2.21, { particles: false }), { kind: "cell", index: 3 });
  assert.deepEqual(at(1.21, 2.2, { liquid: "pressure" }), { kind: "particle", index: 1 }, "spray has no cell");
  assert.equal(at(1.2, 3.2, {}), null);
});

test("a segment is nearest at its ends or between them", () => {
  const from = (x: number, y: number): number => segmentDistance([0, 0], [2, 0], { x, y, scale: 1 });
  assert.deepEqual([from(1, 3), from(-3, 4), from(5, 0)], [3, 5, 3]);
  assert.equal(segmentDistance([1, 1], [1, 1], { x: 1, y: 3, scale: 1 }), 2);
});
