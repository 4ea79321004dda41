// From what to what the colours of a picture reach. Ends are round numbers, so that colours are calm over many steps.

const MANTISSAS = [1, 1.5, 2, 3, 4, 5, 7, 10];
const MOST_SAMPLES = 4096;
const MOST_DECADES = 6;
/** The share of the values above zero that may lie below the range: a few of them are often zero but for rounding. */
const SMALLER = 0.05;

export interface ValueRange {
  readonly low: number;
  readonly high: number;
}

/** The smallest round number that is not below this one; 0 for 0. */
export function roundUp(value: number): number {
  if (!(value > 0)) return 0;
  const exponent = Math.floor(Math.log10(value));
  for (const mantissa of MANTISSAS) {
    const rounded = Number(`${mantissa}e${exponent}`);
    if (rounded >= value * (1 - 1e-6)) return rounded;
  }
  return Number(`1e${exponent + 1}`);
}

/** The value that this share (0..1) of the finite ones does not exceed; NaN of none. Many are sampled evenly. */
export function quantile(values: Float32Array, share: number, stride = 1, offset = 0): number {
  const count = Math.max(0, Math.ceil((values.length - offset) / stride));
  const every = Math.max(1, Math.ceil(count / MOST_SAMPLES));
  const taken = new Float32Array(Math.ceil(count / every));
  let kept = 0;
  for (let i = 0; i < count; i += every) {
    const value = values[offset + i * stride]!;
    if (Number.isFinite(value)) taken[kept++] = value;
  }
  if (kept === 0) return NaN;
  const sorted = taken.subarray(0, kept).sort();
  return sorted[Math.min(kept - 1, Math.floor(share * kept))]!;
}

/** From 0 to a round number that this share of the values stay below. */
export function linearRange(values: Float32Array, stride = 1, offset = 0, share = 0.99): ValueRange {
  return { low: 0, high: roundUp(quantile(values, share, stride, offset)) };
}

/** Whole decades from the smaller ones of the values above zero up to the largest; 0 to 0 of none. */
export function decades(values: Float32Array, stride = 1, offset = 0): ValueRange {
  const positive = new Float32Array(Math.max(0, Math.ceil((values.length - offset) / stride))).fill(NaN);
  let high = 0;
  for (let i = offset, row = 0; i < values.length; i += stride, row++) {
    const value = values[i]!;
    if (!(value > 0) || value === Infinity) continue;
    positive[row] = value;
    high = Math.max(high, value);
  }
  if (high === 0) return { low: 0, high: 0 };
  const top = Math.ceil(Math.log10(high) - 1e-6);
  const bottom = Math.floor(Math.log10(quantile(positive, SMALLER)) + 1e-6);
  return { low: Number(`1e${Math.max(Math.min(bottom, top - 1), top - MOST_DECADES)}`), high: Number(`1e${top}`) };
}
