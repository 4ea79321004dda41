import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCount, formatExactly, formatNumber, formatQuantity, formatVector } from "../src/panels/numbers";
import { finiteRange, linearAxis, logAxis, niceStep } from "../src/panels/ticks";

test("numbers have three digits that matter", () => {
  const written = [0, 0.5, 1.23456, 12.3456, 123.456, 999.6, 1234.56, 5, 0.001, 0.00099, 1e-8, -2.5e-7, 99999.9, 3.2e7];
  assert.deepEqual(written.map((value) => formatNumber(value)), [
    "0", "0.500", "1.23", "12.3", "123", "1000", "1235", "5", "0.00100", "9.90e-4", "1.00e-8", "-2.50e-7", "1.00e5", "3.20e7",
  ]);
});

test("what is not known is not recorded, and has no unit", () => {
  assert.equal(formatQuantity(NaN, "N"), "not recorded");
  assert.equal(formatVector([1, NaN], "m"), "not recorded");
  assert.equal(formatCount(NaN), "not recorded");
  assert.equal(formatQuantity(-Infinity, "J"), "-∞ J");
});

test("parts of a vector that are rounding errors are zero", () => {
  assert.equal(formatVector([1, -1e-9, 0.25], "m"), "(1, 0, 0.250) m");
  assert.equal(formatVector([1e-9, 2e-9]), "(1.00e-9, 2.00e-9)");
});

test("counts have their thousands set apart", () => {
  assert.equal(formatCount(12345), "12,345");
});

test("exact numbers can be typed in again", () => {
  for (const value of [1e-8, 2.5e-6, 0.5, 1e9, 123456, -0.001, 0, 1 / 3]) {
    assert.equal(Number(formatExactly(value)), value);
  }
  assert.equal(formatExactly(1e-8), "1e-8");
  assert.equal(formatExactly(1e9), "1e9");
});

test("steps between ticks are 1, 2 or 5 times a power of ten", () => {
  assert.equal(niceStep(10, 5), 2);
  assert.equal(niceStep(0.003, 3), 0.001);
  assert.equal(niceStep(700, 4), 200);
  assert.equal(niceStep(1300, 4), 500);
});

test("ticks of a linear axis lie within it, and are written alike", () => {
  const axis = linearAxis(0.13, 0.97, 5);
  assert.deepEqual(axis.ticks.map(axis.label), ["0.2", "0.4", "0.6", "0.8"]);
  const grown = linearAxis(0, 730, 4, { grow: true });
  assert.deepEqual([grown.low, grown.high], [0, 800]);
});

test("an axis that counts has no tick between two whole numbers", () => {
  assert.deepEqual(linearAxis(1, 3, 8, { whole: true }).ticks, [1, 2, 3]);
  assert.deepEqual(linearAxis(4, 4, 8, { whole: true }).ticks, [4, 5]);
});

test("a constant has an axis, too", () => {
  const axis = linearAxis(0, 0, 4, { grow: true });
  assert.ok(axis.high > axis.low && axis.ticks.length >= 2);
});

test("a log axis has whole powers of ten around the values", () => {
  const axis = logAxis(Math.log10(3e-9), Math.log10(0.02), 10);
  assert.deepEqual([axis.low, axis.high], [-9, -1]);
  assert.equal(axis.label(-8), "1e-8");
  const wide = logAxis(-16, 2, 5);
  assert.ok(wide.ticks.length <= 5);
  assert.equal(wide.ticks.length + wide.minor.length, 19);
});

test("a log axis of one value spans a decade; near 1 its labels are plain", () => {
  const axis = logAxis(0, 0, 4);
  assert.deepEqual([axis.low, axis.high], [0, 1]);
  assert.deepEqual(logAxis(-1, 2, 6).ticks.map(logAxis(-1, 2, 6).label), ["0.1", "1", "10", "100"]);
});

test("ranges pass over what has no place on the axis", () => {
  assert.deepEqual(finiteRange([[NaN, 0, 2, Infinity], [5]]), [0, 5]);
  assert.deepEqual(finiteRange([[NaN, 0, 2, Infinity], [5]], true), [2, 5]);
  assert.equal(finiteRange([[NaN], []]), null);
});
