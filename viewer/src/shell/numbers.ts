// How the page writes numbers: few digits, always the same width where they change quickly.

/** Of a residual or a tolerance: "3.2e-7"; "–" where it is not known. */
export function formatResidual(value: number): string {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  return value === 0 ? "0" : value.toExponential(1);
}

/** Of a time that something took: "0.42 ms", "17 ms", "3.4 s", "1 min 12 s". */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 0.00995) return `${(seconds * 1e3).toFixed(2)} ms`;
  if (seconds < 0.0995) return `${(seconds * 1e3).toFixed(1)} ms`;
  if (seconds < 0.9995) return `${(seconds * 1e3).toFixed(0)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** A moment of the simulation [s]. */
export function formatTime(seconds: number): string {
  return `${seconds.toFixed(3)} s`;
}

/** A time step [s]: as 1/60 where it is such a fraction. float32 and decimals of it are both met. */
export function formatTimeStep(seconds: number): string {
  const rate = Math.round(1 / seconds);
  if (rate > 1 && Math.abs(seconds * rate - 1) < 1e-6 && !Number.isInteger(Math.round(seconds * 1e9) / 1e6)) return `1/${rate} s`;
  return `${Number(seconds.toPrecision(4))} s`;
}

/** Simulated seconds in a second; null: as fast as it goes. */
export function formatSpeed(speed: number | null): string {
  return speed === null ? "max" : `${Number(speed.toPrecision(3))}×`;
}

/** "ITERATION_LIMIT" as words: "iteration limit". */
export function statusWords(name: string): string {
  return name.toLowerCase().replaceAll("_", " ");
}
