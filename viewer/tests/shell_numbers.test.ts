import assert from "node:assert/strict";
import { test } from "node:test";

import { closeWords } from "../src/live_source";
import { formatDuration, formatResidual, formatSpeed, formatTimeStep, statusWords } from "../src/shell/numbers";
import { Rate } from "../src/shell/rate";
import { waitWords, type Wait } from "../src/shell/wait_words";

test("residuals have two digits", () => {
  assert.deepEqual([3.21e-7, 0, 12, NaN, Infinity].map(formatResidual), ["3.2e-7", "0", "1.2e+1", "–", "∞"]);
});

test("durations have the unit that suits them", () => {
  assert.deepEqual(
    [0.00042, 0.00996, 0.0171, 0.5, 0.9996, 3.44, 72, NaN].map(formatDuration),
    ["0.42 ms", "10.0 ms", "17.1 ms", "500 ms", "1.0 s", "3.4 s", "1 min 12 s", "–"]);
});

test("time steps are written as people say them", () => {
  assert.deepEqual([1 / 60, 0.01, 0.005, 1 / 30, 0.5].map(formatTimeStep), ["1/60 s", "0.01 s", "0.005 s", "1/30 s", "0.5 s"]);
});

test("speeds and statuses are words", () => {
  assert.deepEqual([0.25, 1, null].map(formatSpeed), ["0.25×", "1×", "max"]);
  assert.equal(statusWords("ITERATION_LIMIT"), "iteration limit");
});

test("every way to lose the connection has words", () => {
  for (const code of [1000, 1006, 1008, 1009, 1011, 4000]) assert.match(closeWords(code), /\.$/);
  assert.match(closeWords(4000), /4000/);
});

const WAIT: Wait = { scene: true, frame: true, building: false, unanswered: false, playing: true, steps: 0, quiet: 0, interval: 0 };

test("a wait is told after a second, and not where none is asked for", () => {
  assert.equal(waitWords({ ...WAIT, quiet: 0.9 }), null);
  assert.equal(waitWords({ ...WAIT, quiet: 12.7 }), "compiling or solving… 12 s");
  assert.equal(waitWords({ ...WAIT, quiet: 12.7, playing: false }), null);
  assert.equal(waitWords({ ...WAIT, quiet: 3, playing: false, steps: 1 }), "compiling or solving… 3 s");
});

test("slow motion is no wait", () => {
  assert.equal(waitWords({ ...WAIT, quiet: 2.5, interval: 2 }), null);
  assert.notEqual(waitWords({ ...WAIT, quiet: 3.5, interval: 2 }), null);
});

test("long steps are counted down, so that the page does not look as if it hung", () => {
  assert.equal(waitWords({ ...WAIT, quiet: 2.5, interval: 10 }), "the next step comes in 8 s at this speed");
  assert.equal(waitWords({ ...WAIT, quiet: 12, interval: 10 }), null);
  assert.equal(waitWords({ ...WAIT, quiet: 2.5, interval: 10, playing: false }), null);
  assert.equal(waitWords({ ...WAIT, quiet: 16, interval: 10 }), "compiling or solving… 16 s");
});

test("who asks for a pause or a scene during a long solve hears what it waits for, and at last of a way out", () => {
  const asked = { ...WAIT, unanswered: true };
  assert.equal(waitWords({ ...asked, quiet: 0.4 }), null);
  assert.equal(waitWords({ ...asked, quiet: 5 }), "pausing after the step under way… 5 s");
  assert.equal(waitWords({ ...asked, quiet: 5, building: true }), "waiting for the end of the step under way… 5 s");
  assert.match(waitWords({ ...WAIT, quiet: 25 }) ?? "", /^compiling or solving… 25 s \(loading the page again/);
});

test("a scene that is built is told at once; one that was refused is not waited for", () => {
  assert.equal(waitWords({ ...WAIT, building: true }), "building the scene…");
  assert.equal(waitWords({ ...WAIT, building: true, quiet: 4 }), "building the scene… 4 s");
  assert.equal(waitWords({ ...WAIT, scene: false, frame: false, playing: false, quiet: 9 }), null);
});

test("a rate is that of the last seconds", () => {
  const rate = new Rate();
  assert.equal(rate.perSecond(0), 0);
  for (let picture = 0; picture <= 20; picture++) rate.count(picture / 10);
  assert.ok(Math.abs(rate.perSecond(2) - 10) < 1e-9);
  assert.equal(rate.perSecond(9), 0);
});
