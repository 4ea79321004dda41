import assert from "node:assert/strict";
import { test } from "node:test";
import { Matrix4, PerspectiveCamera, Vector3 } from "three";
import { DrawingPace } from "../src/space/drawing_pace";
import { frameBox, growBox } from "../src/space/framing";
import { roundLength } from "../src/space/ground";
import { boxEdges } from "../src/space/liquid_points";

function farthestCorner(low: number[], high: number[], aspect: number): number {
  const camera = new PerspectiveCamera(35, aspect, 0.01, 1e4);
  const { eye, target } = frameBox(low, high, Math.tan((35 * Math.PI) / 360), aspect);
  camera.up.set(0, 0, 1);
  camera.position.set(...eye);
  camera.lookAt(...target);
  camera.updateMatrixWorld();
  const projection = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
  let farthest = 0;
  for (let corner = 0; corner < 8; corner++) {
    const at = [0, 1, 2].map((axis) => ((corner >> axis) & 1 ? high[axis]! : low[axis]!));
    const seen = new Vector3(...at).applyMatrix4(projection);
    assert.ok(seen.z < 1);
    farthest = Math.max(farthest, Math.abs(seen.x), Math.abs(seen.y));
  }
  return farthest;
}

test("a scene of any form fills the picture and stays inside of it", () => {
  for (const [low, high] of [
    [[-1, -1, 0], [1, 1, 20]],
    [[-9, -0.2, 0], [9, 0.2, 1]],
    [[-0.2, -9, 0], [0.2, 9, 1]],
    [[3, 3, 3], [3.1, 3.1, 3.1]],
    [[0, 0, 0], [0, 0, 0]],
  ] as const) {
    for (const aspect of [0.5, 1, 2.4]) {
      const farthest = farthestCorner([...low], [...high], aspect);
      assert.ok(farthest < 1, `${farthest}`);
      if (high[2] > low[2]) assert.ok(farthest > 0.6, `${farthest}`);
    }
  }
});

test("the box grows with the bodies, but not without an end", () => {
  const rows = new Float32Array([0.5, 0.5, 2, 9, -1e6, 0, NaN, 9]);
  const { low, high } = growBox([0, 0, 0], [1, 2, 2], rows, 4);
  assert.deepEqual([low, high], [[-3, 0, 0], [1, 2, 2]]);
});

test("a wall is seen from the front, along whichever axis it stands", () => {
  const [alongX, alongY] = [frameBox([-9, -1, 0], [9, 1, 3], 0.3, 1.6), frameBox([-1, -9, 0], [1, 9, 3], 0.3, 1.6)];
  assert.ok(Math.abs(alongX.eye[1]) > 2 * Math.abs(alongX.eye[0]));
  assert.ok(Math.abs(alongY.eye[0]) > 2 * Math.abs(alongY.eye[1]));
});

test("lines of the ground are at round lengths", () => {
  assert.deepEqual([0.9, 1.4, 1.6, 4, 8, 23].map(roundLength), [1, 1, 2, 5, 10, 20]);
});

test("a box has twelve edges, along the axes", () => {
  const points = boxEdges([0, 0, 0], [1, 2, 3]);
  assert.equal(points.length, 12 * 6);
  const lengths = Array.from({ length: 12 }, (_, edge) => {
    const at = points.slice(6 * edge, 6 * edge + 6);
    return Math.hypot(at[3]! - at[0]!, at[4]! - at[1]!, at[5]! - at[2]!);
  });
  assert.deepEqual(lengths, [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
});

function paceAfter(milliseconds: number[]): DrawingPace {
  const pace = new DrawingPace(true);
  milliseconds.forEach((time) => pace.took(time));
  return pace;
}

const many = (milliseconds: number): number[] => new Array<number>(100).fill(milliseconds);

test("slow pictures become coarser, quick ones fine again, and those at rest are always fine", () => {
  assert.equal(paceAfter([]).moving(1), 1);
  assert.equal(paceAfter([500, 500, 500]).moving(1), 1, "shaders are made in the first ones");
  assert.equal(paceAfter(many(200)).moving(1), 0.5);
  assert.equal(paceAfter(many(200)).moving(2), 0.5);
  assert.equal(paceAfter(many(200)).still(2), 2);
  assert.equal(paceAfter([...many(200), ...many(10)]).moving(2), 2);
  assert.equal(paceAfter(many(10)).moving(3), 2, "no screen needs more");
  assert.equal(new DrawingPace(false).still(1), 2, "where edges are not smoothed, more pixels do it");
});
