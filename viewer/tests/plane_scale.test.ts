import assert from "node:assert/strict";
import { test } from "node:test";
import { rangeWords } from "../src/plane/range_words";
import { chooseScaleBar } from "../src/plane/scale_bar";
import { decades, linearRange, quantile, roundUp } from "../src/plane/value_range";

test("a scale bar has a round length and a fair share of its room at any scale", () => {
  for (let exponent = -6; exponent <= 8; exponent += 0.137) {
    const scale = 10 ** exponent;
    const bar = chooseScaleBar(scale, 130);
    assert.ok(bar.pixels <= 130 * (1 + 1e-6) && bar.pixels >= 130 / 2.6, `${bar.pixels} px at ${scale}`);
    assert.ok(["1", "2", "5"].includes(bar.metres.toExponential()[0]!), bar.label);
    assert.ok(Math.abs(bar.metres * scale - bar.pixels) < 1e-6);
  }
});

test("a scale bar says its length in a unit that fits", () => {
  const label = (metres: number): string => chooseScaleBar(130 / metres, 130).label;
  const lengths = [5000, 20, 1, 0.5, 0.02, 0.005, 2e-6];
  assert.deepEqual(lengths.map(label), ["5 km", "20 m", "1 m", "50 cm", "2 cm", "5 mm", "2 µm"]);
});

test("numbers are rounded up to few digits", () => {
  assert.deepEqual([0, -1, NaN, 1, 1.01, 2.4, 7.5, 0.00031, 45].map(roundUp), [0, 0, 0, 1, 1.5, 3, 10, 0.0004, 50]);
});

test("a quantile passes over what is not finite, and takes every so many-th number", () => {
  const values = Float32Array.from([9, 1, NaN, 9, 2, Infinity, 9, 3, 9, 4]);
  assert.equal(quantile(Float32Array.from([3, NaN, 1, 2]), 0.5), 2);
  assert.equal(quantile(values, 0.99, 3, 1), 3);
  assert.ok(Number.isNaN(quantile(Float32Array.from([NaN]), 0.5)));
  assert.ok(Number.isNaN(quantile(new Float32Array(0), 0.5)));
});

test("one number far out does not take the colours from all others", () => {
  const values = Float32Array.from({ length: 1000 }, (_, i) => (i === 500 ? 1e6 : i / 1000));
  assert.deepEqual(linearRange(values), { low: 0, high: 1 });
});

test("decades hold the values; zeros, unknown ones and a few tiny ones do not count", () => {
  assert.deepEqual(decades(Float32Array.from([0, NaN, 3e-5, 2e-3, Infinity])), { low: 1e-5, high: 1e-2 });
  const rounding = Float32Array.from({ length: 100 }, (_, i) => (i < 3 ? 1e-19 : 2e-4 * (1 + i)));
  assert.deepEqual(decades(rounding), { low: 1e-3, high: 1e-1 });
  assert.deepEqual(decades(Float32Array.from([1e-3, 1e-3])), { low: 1e-4, high: 1e-3 }, "one decade at least");
  assert.deepEqual(decades(Float32Array.from([1e-30, 1])), { low: 1e-6, high: 1 }, "and not too many");
  assert.deepEqual(decades(Float32Array.from([0, NaN])), { low: 0, high: 0 });
});

test("ranges are told in words with units", () => {
  assert.equal(rangeWords("speed", { low: 0, high: 0.05 }), "speed 0 to 0.05 m/s");
  assert.equal(rangeWords("pressure", { low: 0, high: 5000 }), "pressure 0 to 5 kPa");
  assert.equal(rangeWords("pressure", { low: -300, high: 300 }), "pressure 0 to 300 Pa (orange: below 0)");
  assert.equal(rangeWords("residual", { low: 1e-9, high: 10 }), "residual 1e-9 to 1e1");
  assert.equal(rangeWords("residual", { low: 0, high: 0 }), null);
});
