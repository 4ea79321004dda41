import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bodyColour, cssColour, islandColour, legend, logShare, pressureColour, residualColour, type Rgb, speedColour,
  stateColour,
} from "../src/colours";
import type { Style } from "../src/view";

const STYLE: Style = {
  bodies: "own",
  contacts: "state",
  forces: true,
  forceScale: 1,
  liquid: "speed",
  particles: true,
  dark: false,
};

function lightness([red, green, blue]: Rgb): number {
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function assertSteady(colours: Rgb[]): void {
  const steps = colours.slice(1).map((colour, place) => lightness(colour) - lightness(colours[place]!));
  assert.ok(steps.every((step) => step > 0) || steps.every((step) => step < 0), String(steps));
}

const SHARES = Array.from({ length: 21 }, (_, place) => place / 20);

test("ramps of quantities grow or fall steadily in lightness", () => {
  for (const dark of [false, true]) {
    assertSteady(SHARES.map((share) => speedColour(share, dark)));
    assertSteady(SHARES.map((share) => pressureColour(share, dark)));
    assertSteady(SHARES.map((share) => residualColour(10 ** (4 * share - 8), 1e-8, 1e-4, dark)));
  }
});

test("large residuals stand out from the page: dark on light paper, bright on dark", () => {
  assert.ok(lightness(residualColour(1, 1e-6, 1, false)) < lightness(residualColour(1e-6, 1e-6, 1, false)));
  assert.ok(lightness(residualColour(1, 1e-6, 1, true)) > lightness(residualColour(1e-6, 1e-6, 1, true)));
});

test("a residual is placed by its logarithm", () => {
  assert.equal(logShare(1e-3, 1e-6, 1).toFixed(12), "0.500000000000");
  assert.equal(logShare(0, 1e-6, 1), 0);
  assert.equal(logShare(5, 1e-6, 1), 1);
  assert.equal(logShare(2, 2, 2), 0);
  assert.ok(Number.isNaN(logShare(NaN, 1e-6, 1)));
});

test("what is not known is grey", () => {
  const grey = residualColour(NaN, 1e-6, 1, false);
  assert.ok(Math.max(...grey) - Math.min(...grey) < 0.1);
  assert.deepEqual(stateColour(NaN, false), grey);
  assert.deepEqual(islandColour(-1, false), grey);
  assert.deepEqual(speedColour(NaN, false), grey);
});

test("the four states have four colours", () => {
  for (const dark of [false, true]) {
    assert.equal(new Set([0, 1, 2, 3].map((state) => cssColour(stateColour(state, dark)))).size, 4);
  }
});

test("neighbouring islands and neighbouring bodies of one colour differ", () => {
  for (let number = 0; number < 40; number++) {
    assert.notEqual(cssColour(islandColour(number, true)), cssColour(islandColour(number + 1, true)));
    const own: Rgb = [0.5, 0.4, 0.3];
    assert.notEqual(cssColour(bodyColour(number, own, false)), cssColour(bodyColour(number + 1, own, false)));
  }
});

test("colours are within what a screen has", () => {
  for (let number = -1; number < 200; number++) {
    const bodies = [bodyColour(number, [1, 1, 1], true), bodyColour(number, null, false)];
    for (const colour of [islandColour(number, false), ...bodies]) {
      assert.ok(colour.every((part) => part >= 0 && part <= 1));
    }
  }
});

test("a legend has what the style shows", () => {
  const titles = (style: Partial<Style>, kind: "bodies" | "liquid", dimension?: 2 | 3): string[] =>
    legend({ ...STYLE, ...style }, kind, dimension).map((group) => group.title);
  assert.deepEqual(titles({}, "bodies"), ["Contacts"]);
  assert.deepEqual(titles({ contacts: "hidden", forces: false }, "bodies"), []);
  assert.deepEqual(titles({ bodies: "speed", contacts: "residual" }, "bodies"), [
    "Speed of bodies",
    "Residual of contacts (log)",
  ]);
  assert.deepEqual(titles({ liquid: "pressure" }, "liquid"), ["Pressure"]);
  assert.deepEqual(titles({ liquid: "pressure" }, "liquid", 3), ["Speed"]);
});
