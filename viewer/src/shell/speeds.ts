// The speeds that one can choose.

/** Simulated seconds in a second; null: as fast as it goes. */
export const SPEEDS: readonly (number | null)[] = [0.1, 0.25, 0.5, 1, 2, 4, null];

const order = (speed: number | null): number => speed ?? Infinity;

/** The next faster (+1) or slower (-1) speed; the same at the end of the list. */
export function neighbourSpeed(speed: number | null, direction: 1 | -1): number | null {
  if (direction > 0) {
    const faster = SPEEDS.find((other) => order(other) > order(speed));
    return faster === undefined ? speed : faster;
  }
  const slower = SPEEDS.findLast((other) => order(other) < order(speed));
  return slower === undefined ? speed : slower;
}

export function speedValue(speed: number | null): string {
  return speed === null ? "max" : String(speed);
}

export function readSpeed(value: string): number | null {
  return value === "max" ? null : Number(value);
}
