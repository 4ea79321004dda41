// The colours of pictures and legends. Okabe & Ito's, which colour-blind readers can tell apart (as in
// `src/perp/lab/palette.py`); ramps grow steadily in lightness, so that they read in grey, too.

import { CONTACT_STATES } from "./layout";
import type { SceneMessage } from "./messages";
import type { Style } from "./view";

/** Red, green, blue in 0..1, as a screen takes them (sRGB). */
export type Rgb = readonly [number, number, number];

type Ramp = readonly Rgb[];

function hex(text: string): Rgb {
  const part = (at: number): number => parseInt(text.slice(at, at + 2), 16) / 255;
  return [part(1), part(3), part(5)];
}

/** A light and a dark variant, told apart by `+dark`. */
function pair<T>(light: T, dark: T): readonly [T, T] {
  return [light, dark];
}

const UNKNOWN = pair(hex("#8a919c"), hex("#858d99"));
const WORLD = pair(hex("#b9bfc8"), hex("#5c6470"));
const PLAIN = pair(hex("#1f2328"), hex("#e6e8eb"));

const STATES = pair(
  [hex("#0072b2"), hex("#d55e00"), hex("#b4578f"), hex("#d99400")],
  [hex("#4aa8e0"), hex("#f0803a"), hex("#dd8fbd"), hex("#f2b93b")],
);

const ISLANDS = pair(
  ["#0072b2", "#d55e00", "#009e73", "#b4578f", "#d99400", "#45a5dd", "#5b616b"].map(hex),
  ["#4aa8e0", "#f0803a", "#2cc295", "#dd8fbd", "#f2b93b", "#8fd0f5", "#a9b0bb"].map(hex),
);

/** Calm colours for bodies that have none of their own: contacts and forces are to stand out from them. */
const BODIES = pair(
  ["#a9b8c8", "#cfc2a6", "#acc0b1", "#cbb2a7", "#b6b3c6", "#c3c6bd"].map(hex),
  ["#8799ab", "#b0a488", "#8fa596", "#ab958b", "#9794aa", "#a2a59b"].map(hex),
);

/** What is worth a look stands out from the page: dark on light paper, bright on dark. */
const HEAT = pair<Ramp>(
  ["#f7dc8b", "#f2a65a", "#dc5f4b", "#a3245f", "#4a1052"].map(hex),
  ["#4c2a78", "#92358a", "#d2526b", "#f2934b", "#fbe38a"].map(hex),
);

const SPEED = pair<Ramp>(
  ["#3a69ad", "#2f8bb3", "#35a995", "#8ac66b", "#f0dd55"].map(hex),
  ["#2a62ad", "#2792bd", "#39b79f", "#93d06f", "#f6e56a"].map(hex),
);

const PRESSURE = pair<Ramp>(
  ["#d3e6f4", "#94c3e3", "#4795c8", "#1d5f9e", "#0d2f66"].map(hex),
  ["#1d3557", "#245a91", "#3b8bc4", "#7fc0e8", "#d9f1ff"].map(hex),
);

function sample(ramp: Ramp, share: number): Rgb {
  const at = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
  const first = Math.min(Math.floor(at), ramp.length - 2);
  const [a, b, t] = [ramp[first]!, ramp[first + 1]!, at - first];
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t];
}

/** Lighter (up to 1) or darker (down to -1). */
function shade(colour: Rgb, amount: number): Rgb {
  const to = amount > 0 ? 1 : 0;
  const share = Math.abs(amount);
  const part = (value: number): number => value + (to - value) * share;
  return [part(colour[0]), part(colour[1]), part(colour[2])];
}

/** In -1..1, evenly spread over whole numbers, so that neighbours differ (multiples of the golden section). */
function scatter(number: number): number {
  const product = number * 0.6180339887498949;
  return 2 * (product - Math.floor(product)) - 1;
}

/** Of a contact that does this (`CONTACT_STATES`); grey where it is not known. */
export function stateColour(state: number, dark: boolean): Rgb {
  return STATES[+dark]![state] ?? UNKNOWN[+dark]!;
}

/** Of a contact where states and residuals are not asked for. */
export function plainColour(dark: boolean): Rgb {
  return PLAIN[+dark]!;
}

/** Where a value lies between low and high on a log scale, 0..1; NaN where the value is unknown. */
export function logShare(value: number, low: number, high: number): number {
  if (!(value >= 0)) return NaN;
  const floor = Math.max(low, 1e-30);
  if (value <= floor) return 0;
  if (!(high > floor)) return 1;
  return Math.min(Math.log(value / floor) / Math.log(high / floor), 1);
}

/** Heat on a log scale from `low` to `high`; grey where the value is not known. */
export function residualColour(value: number, low: number, high: number, dark: boolean): Rgb {
  const share = logShare(value, low, high);
  return Number.isNaN(share) ? UNKNOWN[+dark]! : sample(HEAT[+dark]!, share);
}

/** Of an island; the same colour comes again in another shade after seven. */
export function islandColour(number: number, dark: boolean): Rgb {
  if (!(number >= 0)) return UNKNOWN[+dark]!;
  const colours = ISLANDS[+dark]!;
  const lap = Math.floor(number / colours.length);
  const base = dark ? -0.2 : 0.45; // pale on a light page, deep on a dark one: forces in full colours stand out
  return shade(colours[number % colours.length]!, lap === 0 ? base : base + 0.2 * scatter(lap));
}

/** A body's own colour, or a calm one by its number; each a little lighter or darker than its neighbours. */
export function bodyColour(body: number, own: Rgb | null, dark: boolean): Rgb {
  const colours = BODIES[+dark]!;
  const chosen = own && dark ? shade(own, 0.16) : own; // black would be lost on a dark page
  if (body < 0) return chosen ?? WORLD[+dark]!;
  return shade(chosen ?? colours[body % colours.length]!, 0.09 * scatter(body));
}

/** Of a speed, as a share (0..1) of the largest. */
export function speedColour(share: number, dark: boolean): Rgb {
  return Number.isFinite(share) ? sample(SPEED[+dark]!, share) : UNKNOWN[+dark]!;
}

/** Of a pressure, as a share (0..1) of the largest. */
export function pressureColour(share: number, dark: boolean): Rgb {
  return Number.isFinite(share) ? sample(PRESSURE[+dark]!, share) : UNKNOWN[+dark]!;
}

export function cssColour(colour: Rgb): string {
  return `rgb(${colour.map((part) => Math.round(255 * part)).join(" ")})`;
}

/** One group of a legend: single colours with words, or a ramp from `low` to `high`. */
export type LegendGroup =
  | { kind: "swatches"; title: string; items: { label: string; colour: Rgb }[] }
  | { kind: "ramp"; title: string; colours: Rgb[]; low: string; high: string };

function ramp(title: string, colours: Ramp, low = "0", high = "largest"): LegendGroup {
  return { kind: "ramp", title, colours: [...colours], low, high };
}

/** What the colours of a picture mean; empty where they mean nothing. Liquids in space are coloured by speed only. */
export function legend(
  style: Style,
  kind: SceneMessage["kind"],
  dimension: SceneMessage["dimension"] = 2,
): LegendGroup[] {
  const groups: LegendGroup[] = [];
  const dark = +style.dark;
  if (kind === "liquid") {
    if (style.liquid === "speed" || dimension === 3) groups.push(ramp("Speed", SPEED[dark]!));
    else if (style.liquid === "pressure") groups.push(ramp("Pressure", PRESSURE[dark]!));
    else if (style.liquid === "residual") groups.push(ramp("Residual (log)", HEAT[dark]!, "smallest"));
    else {
      const items = ["pressing", "separating"].map((label, place) => ({ label, colour: STATES[dark]![2 * place]! }));
      groups.push({ kind: "swatches", title: "Cells", items });
    }
    return groups;
  }
  if (style.bodies === "speed") groups.push(ramp("Speed of bodies", SPEED[dark]!));
  if (style.contacts === "state") {
    const items = CONTACT_STATES.map((label, state) => ({ label, colour: stateColour(state, style.dark) }));
    groups.push({ kind: "swatches", title: "Contacts", items });
  } else if (style.contacts === "residual") {
    groups.push(ramp("Residual of contacts (log)", HEAT[dark]!, "smallest"));
  }
  return groups;
}
