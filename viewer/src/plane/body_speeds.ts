// How fast bodies move: frames say where they are, so that it takes two of them.

import type { Frame } from "../layout";
import { linearRange, type ValueRange } from "./value_range";

/** Frames further apart than so many steps tell nothing about a speed. */
const MOST_STEPS = 8;

export class BodySpeeds {
  /** [m/s] a body; NaN where it is not known. */
  values = new Float32Array(0);
  private last: Frame | null = null;
  private reach: ValueRange | null = null;

  get range(): ValueRange {
    return (this.reach ??= linearRange(this.values));
  }

  /** Forget everything: another world begins. */
  clear(): void {
    this.last = null;
    this.setValues(new Float32Array(0));
  }

  /** Take notice of the next frame that is shown, later or earlier than the last. */
  see(frame: Frame): void {
    const last = this.last;
    if (last && last.bodyCount === frame.bodyCount && last.step === frame.step) return;
    this.last = frame;
    const seconds = last ? Math.abs(frame.time - last.time) : 0;
    const isSame = last !== null && last.bodyCount === frame.bodyCount;
    const isNear = isSame && Math.abs(frame.step - last.step) <= MOST_STEPS;
    const speeds = new Float32Array(frame.bodyCount).fill(frame.step === 0 ? 0 : NaN);
    if (isNear && seconds > 0) {
      for (let body = 0, at = 0; body < frame.bodyCount; body++, at += frame.bodyWidth) {
        const [right, up] = [frame.bodies[at]! - last.bodies[at]!, frame.bodies[at + 1]! - last.bodies[at + 1]!];
        speeds[body] = Math.hypot(right, up) / seconds;
      }
    }
    this.setValues(speeds);
  }

  private setValues(values: Float32Array<ArrayBuffer>): void {
    this.values = values;
    this.reach = null;
  }
}
