// Where the axes of a chart have their marks, and what is written there.

import { formatExactly } from "./numbers";

export interface Axis {
  low: number;
  high: number;
  ticks: number[];
  /** Marks without a label, between the others. */
  minor: number[];
  label(tick: number): string;
}

/** The step 1, 2 or 5 times a power of ten that gives at most so many ticks. */
export function niceStep(span: number, count: number): number {
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const share = rough / power;
  const factor = share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10;
  // 10 ** -3 is not exactly 0.001: a division is nearer.
  return power < 1 ? factor / Math.round(1 / power) : factor * power;
}

/** A linear axis from low to high. `whole`: numbers of things, so that no tick stands between two of them. */
export function linearAxis(low: number, high: number, count: number, options: { whole?: boolean; grow?: boolean } = {}): Axis {
  if (!(high > low)) high = low + (options.whole ? 1 : Math.abs(low) || 1);
  const step = options.whole ? Math.max(1, niceStep(high - low, count)) : niceStep(high - low, count);
  if (options.grow) {
    low = Math.floor(low / step + 1e-9) * step;
    high = Math.ceil(high / step - 1e-9) * step;
  }
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const exponent = Math.max(Math.abs(low), Math.abs(high)) >= 1e6 || step < 1e-4;
  const label = (tick: number): string => (exponent ? formatExactly(Number(tick.toPrecision(6))) : tick.toFixed(digits));
  return { low, high, ticks, minor: [], label };
}

/** A logarithmic axis in whole powers of ten around the values; all of its numbers are exponents. */
export function logAxis(low: number, high: number, count: number): Axis {
  const first = Math.floor(low + 1e-9);
  const last = Math.max(first + 1, Math.ceil(high - 1e-9));
  const step = [1, 2, 3, 5, 10, 20, 50, 100].find((one) => (last - first) / one <= count) ?? 200;
  const ticks: number[] = [];
  const minor: number[] = [];
  for (let k = first; k <= last; k++) (k % step === 0 ? ticks : minor).push(k);
  const isPlain = first >= -2 && last <= 4;
  return { low: first, high: last, ticks, minor, label: (tick) => (isPlain ? formatExactly(Number(`1e${tick}`)) : `1e${tick}`) };
}

/** The least and the largest finite number; with `positive`, of those above 0. Null where there is none. */
export function finiteRange(lists: Iterable<ArrayLike<number>>, positive = false): [number, number] | null {
  let low = Infinity;
  let high = -Infinity;
  for (const list of lists) {
    for (let i = 0; i < list.length; i++) {
      const value = list[i]!;
      if (!Number.isFinite(value) || (positive && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low <= high ? [low, high] : null;
}
