import assert from "node:assert/strict";
import { test } from "node:test";
import { PlaneCamera } from "../src/plane/plane_camera";

function makeCamera(): PlaneCamera {
  const camera = new PlaneCamera();
  camera.setSize(800, 600);
  camera.fit({ low: [0, 0], high: [4, 2] });
  return camera;
}

function near(found: readonly number[], wanted: readonly number[], within = 1e-9): void {
  assert.equal(found.length, wanted.length);
  const isNear = found.every((value, place) => Math.abs(value - wanted[place]!) <= within);
  assert.ok(isNear, `${found} instead of ${wanted}`);
}

test("y points up, and pixels lead back to the same point", () => {
  const camera = makeCamera();
  assert.ok(camera.screenY(1) < camera.screenY(0));
  assert.ok(camera.screenX(1) > camera.screenX(0));
  near(camera.pointAt(camera.screenX(1.25), camera.screenY(-0.5)), [1.25, -0.5]);
});

test("a fitted box lies in the picture, and fills it in one direction", () => {
  const camera = makeCamera();
  const [left, right] = [camera.screenX(0), camera.screenX(4)];
  const [bottom, top] = [camera.screenY(0), camera.screenY(2)];
  assert.ok(left >= 14 && right <= 786 && top >= 14 && bottom <= 600 - 40, "all in sight, with room for the caption");
  assert.ok(right - left > 0.9 * 800);
});

test("a point has a fit, too", () => {
  const camera = makeCamera();
  camera.fit({ low: [3, 3], high: [3, 3] });
  assert.ok(Number.isFinite(camera.scale) && camera.scale > 0);
});

test("magnifying keeps the point under the pointer", () => {
  const camera = makeCamera();
  const before = camera.pointAt(130, 470);
  const { scale } = camera;
  camera.zoomAt(130, 470, 2.5);
  near(camera.pointAt(130, 470), before);
  near([camera.scale / scale], [2.5]);
});

test("magnifying ends somewhere, and keeps the point under the pointer there as well", () => {
  const camera = makeCamera();
  const before = camera.pointAt(200, 200);
  for (const factor of [1e30, 1e-60, 0, NaN, Infinity, -1]) {
    camera.zoomAt(200, 200, factor);
    assert.ok(camera.scale > 0 && Number.isFinite(camera.scale), `after ${factor}`);
    near(camera.pointAt(200, 200), before, 1e-6);
  }
});

test("a shift moves what is drawn by as many pixels", () => {
  const camera = makeCamera();
  const [x, y] = [camera.screenX(1), camera.screenY(1)];
  camera.shift(30, -20);
  near([camera.screenX(1), camera.screenY(1)], [x + 30, y - 20]);
});

test("another size keeps the middle and the shorter side", () => {
  const camera = makeCamera();
  const [x, y, span] = [camera.x, camera.y, camera.span];
  camera.setSize(300, 900);
  near([camera.x, camera.y, camera.span], [x, y, span]);
  camera.setSize(0, 0);
  camera.setSize(400, 400);
  assert.ok(camera.scale > 0 && Number.isFinite(camera.span));
});

test("pictures of two sizes share the span", () => {
  const [one, other] = [makeCamera(), new PlaneCamera()];
  other.setSize(400, 300);
  other.fit({ low: [0, 0], high: [4, 2] });
  one.zoomAt(0, 0, 3);
  other.setSpan(one.span);
  near([other.span], [one.span]);
  other.setSpan(0);
  near([other.span], [one.span]);
});

test("what is seen is what the corners see", () => {
  const camera = makeCamera();
  const { low, high } = camera.box;
  near(camera.pointAt(0, 600), low);
  near(camera.pointAt(800, 0), high);
});
