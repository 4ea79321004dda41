// How long a metre is: a bar of a round length, as on a map.

const LONGEST = 130; // px
const STEPS = [5, 2, 1];

export interface ScaleBar {
  readonly metres: number;
  readonly pixels: number;
  readonly label: string;
}

/** The longest bar of 1, 2 or 5 times a power of ten metres that is not longer than `longest` pixels. */
export function chooseScaleBar(scale: number, longest: number = LONGEST): ScaleBar {
  const room = longest / scale;
  const exponent = Math.floor(Math.log10(room) + 1e-9);
  const step = STEPS.find((candidate) => Number(`${candidate}e${exponent}`) <= room * (1 + 1e-9)) ?? 1;
  const metres = Number(`${step}e${exponent}`);
  return { metres, pixels: metres * scale, label: lengthLabel(step, exponent) };
}

function lengthLabel(step: number, exponent: number): string {
  const units: [number, string][] = [[3, "km"], [0, "m"], [-2, "cm"], [-3, "mm"], [-6, "µm"]];
  const [power, unit] = units.find(([at]) => exponent >= at) ?? [-6, "µm"];
  const value = Number(`${step}e${exponent - power}`);
  return `${value >= 1e4 || value < 0.1 ? value.toExponential(0) : value} ${unit}`;
}
