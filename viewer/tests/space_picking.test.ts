import assert from "node:assert/strict";
import { test } from "node:test";
import { Matrix4, PerspectiveCamera } from "three";
import type { Form, Mesh, Shape } from "../src/messages";
import { hitShape, pickBody, pickPoint } from "../src/space/picking";

function shapeOf(form: Form, size: number[], body = 0, mesh: number | null = null): Shape {
  return { form, body, size, position: [0, 0, 0], orientation: [1, 0, 0, 0], color: null, name: "", mesh };
}

/** A record at this place, turned by the quaternion x y z w. */
function recordAt(place: number[], turn = [0, 0, 0, 1]): Float32Array {
  return Float32Array.from([...place, 0, ...turn, 0, 0, 0, 0]);
}

const DOWN = { origin: [0, 0, 10], direction: [0, 0, -1] };
const TETRAHEDRON: Mesh = {
  vertices: [[0, 0, 1], [1, 0, -1], [-1, 1, -1], [-1, -1, -1]],
  faces: [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]],
};

function distance(form: Form, size: number[], place = [0, 0, 0], turn?: number[]): number {
  return hitShape(DOWN, shapeOf(form, size, 0, form === "mesh" ? 0 : null), recordAt(place, turn), 0, [TETRAHEDRON]);
}

test("a ray meets each form at its surface", () => {
  assert.equal(distance("box", [1, 2, 3]), 7);
  assert.equal(distance("sphere", [2]), 8);
  assert.equal(distance("ellipsoid", [5, 5, 0.5]), 9.5);
  assert.equal(distance("capsule", [1, 2]), 7);
  assert.equal(distance("cylinder", [1, 2]), 8);
  assert.equal(distance("mesh", []), 9);
});

test("shapes that are turned are met where they are", () => {
  const onItsSide = [Math.SQRT1_2, 0, 0, Math.SQRT1_2];
  for (const [form, expected] of [["box", 8], ["capsule", 9], ["cylinder", 9]] as const) {
    const size = form === "box" ? [1, 2, 3] : [1, 5];
    assert.ok(Math.abs(distance(form, size, [0, 0, 0], onItsSide) - expected) < 1e-5, form);
  }
});

test("a ray passes by", () => {
  for (const form of ["box", "sphere", "ellipsoid", "capsule", "cylinder", "mesh"] as const) {
    assert.equal(distance(form, [1, 1, 1], [3, 3, 0]), Infinity, form);
    assert.equal(distance(form, [1, 1, 1], [0, 0, 20]), Infinity, `${form} behind the eye`);
  }
  assert.equal(distance("plane", [1, 1]), Infinity);
});

test("the nearest body is picked, and the world hides what is behind it", () => {
  const group = (heights: number[], bodies: number[]): { shapes: Shape[]; numbers: Float32Array } => ({
    shapes: bodies.map((body) => shapeOf("sphere", [1], body)),
    numbers: Float32Array.from(heights.flatMap((height) => [...recordAt([0, 0, height])])),
  });
  assert.deepEqual(pickBody(DOWN, [group([0], [4]), group([-5, 3], [5, 6])], []), { body: 6, distance: 6 });
  assert.equal(pickBody(DOWN, [group([0, 4], [4, -1])], [])?.body, -1);
  assert.equal(pickBody({ origin: [9, 0, 10], direction: [0, 0, -1] }, [group([0], [4])], []), null);
});

test("the point nearest to the pointer is picked, within reach and in front of the eye", () => {
  const camera = new PerspectiveCamera(90, 2, 0.1, 100);
  camera.position.set(0, 0, 10);
  camera.updateMatrixWorld();
  const projection = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
  const picture = { width: 200, height: 100 };
  const rows = new Float32Array([0, 0, 0, 9, 1, 0, 0, 9, 0, 0, 30, 9, 0, 0, 5, 9]);
  const pick = (x: number, y: number, reach: number, nearest = false): number =>
    pickPoint(rows, 4, projection, picture, { x, y }, reach, nearest);
  assert.equal(pick(104.9, 50, 3), 1); // one metre is five pixels there
  assert.equal(pick(100, 52, 3), 0);
  assert.equal(pick(100, 52, 3, true), 3, "the one that hides the other");
  assert.equal(pick(120, 50, 3), -1);
});
