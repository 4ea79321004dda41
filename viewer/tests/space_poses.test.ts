import assert from "node:assert/strict";
import { test } from "node:test";
import { composePoses, SHAPE_NUMBERS, TURN_AT, turnBack } from "../src/space/poses";

const HALF = Math.SQRT1_2;

function near(actual: ArrayLike<number>, expected: number[]): void {
  expected.forEach((value, place) => {
    assert.ok(Math.abs(actual[place]! - value) < 1e-6, `${place}: ${actual[place]}, not ${value}`);
  });
}

function compose(body: number, position: number[], orientation: number[], bodies: number[]): Float32Array {
  const out = new Float32Array(SHAPE_NUMBERS);
  const local = {
    body: Int32Array.of(body),
    position: Float32Array.from(position),
    orientation: Float32Array.from(orientation),
  };
  composePoses(local, Float32Array.from(bodies), out);
  return out;
}

test("a shape goes where its body turns it", () => {
  // The body stands at (1, 2, 3), a quarter turn about z; the shape a quarter turn about x, 2 along the body's x.
  const out = compose(0, [2, 0, 0], [HALF, HALF, 0, 0], [1, 2, 3, HALF, 0, 0, HALF, -1]);
  near(out, [1, 4, 3]);
  near(out.subarray(TURN_AT), [0.5, 0.5, 0.5, 0.5]); // first about x, then about z
});

test("the second body is read from the second row", () => {
  const rows = [0, 0, 0, 1, 0, 0, 0, -1, 5, 6, 7, 1, 0, 0, 0, -1];
  near(compose(1, [1, 0, 0], [1, 0, 0, 0], rows), [6, 6, 7]);
});

test("a shape of the world stays where it is", () => {
  const out = compose(-1, [1, 2, 3], [HALF, 0, HALF, 0], [9, 9, 9, 1, 0, 0, 0, -1]);
  near(out, [1, 2, 3]);
  near(out.subarray(TURN_AT), [0, HALF, 0, HALF]);
});

test("a shape of a body that the frame has not is nowhere", () => {
  assert.ok(Number.isNaN(compose(3, [0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, -1])[0]));
});

test("turning back undoes the turn", () => {
  const out = compose(0, [0.3, -0.4, 0.5], [1, 0, 0, 0], [0, 0, 0, 0.5, 0.5, -0.5, 0.5, -1]);
  const back = new Float64Array(3);
  turnBack(out, TURN_AT, out.subarray(0, 3), back);
  near(back, [0.3, -0.4, 0.5]);
});
