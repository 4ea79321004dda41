// What the colours of a picture reach to, in words.

import type { ValueRange } from "./value_range";

export type Quantity = "speed" | "pressure" | "residual";

const UNITS: Record<Quantity, string> = { speed: "m/s", pressure: "Pa", residual: "" };
const PREFIXES: readonly (readonly [number, string])[] = [[1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"]];

/**
 * As "pressure 0 to 5 kPa" or "residual 1e-9 to 1e-4"; null where there is nothing to tell. Pressures below zero have a
 * hue of their own, as far as those above (`cell_colours`).
 */
export function rangeWords(quantity: Quantity, range: ValueRange): string | null {
  if (!(range.high > 0)) return null;
  if (quantity === "residual") return `residual ${power(range.low)} to ${power(range.high)}`;
  const below = range.low < 0 ? " (orange: below 0)" : "";
  return `${quantity} 0 to ${withUnit(range.high, UNITS[quantity])}${below}`;
}

function power(value: number): string {
  return value.toExponential(0).replace("e+", "e");
}

/** Three digits, with a prefix to the unit where the number is large or small. */
function withUnit(value: number, unit: string): string {
  const [factor, prefix] = unit === "m/s" ? [1, ""] : (PREFIXES.find(([least]) => value >= least) ?? [1, ""]);
  return `${Number((value / factor).toPrecision(3))} ${prefix}${unit}`;
}
