// How fast bodies move: frames say where they are, so that it takes two of them.

import type { Frame } from "./layout";

/** Frames further apart than so many steps tell nothing about a speed. */
const MOST_STEPS = 8;

export class BodySpeeds {
  /** [m/s] a body; NaN where it is not known. */
  values = new Float32Array(0);
  /** The largest since the world began, so that colours can be compared over time. */
  fastest = 0;
  private last: Frame | null = null;

  /** Forget everything: another world begins. */
  clear(): void {
    this.last = null;
    this.fastest = 0;
    this.values = new Float32Array(0);
  }

  /** Take notice of the next frame that is shown, later or earlier than the last; whether that changed anything. */
  see(frame: Frame): boolean {
    const last = this.last;
    const isSame = last !== null && last.bodyCount === frame.bodyCount;
    if (isSame && last.step === frame.step) return false;
    this.last = frame;
    const seconds = last ? Math.abs(frame.time - last.time) : 0;
    const isNear = isSame && seconds > 0 && Math.abs(frame.step - last.step) <= MOST_STEPS;
    if (this.values.length !== frame.bodyCount) this.values = new Float32Array(frame.bodyCount);
    this.values.fill(frame.step === 0 ? 0 : NaN);
    if (isNear) this.compare(last, frame, seconds);
    return true;
  }

  private compare(last: Frame, frame: Frame, seconds: number): void {
    const { bodies, bodyWidth, dimension } = frame;
    for (let body = 0, at = 0; body < frame.bodyCount; body++, at += bodyWidth) {
      let square = 0;
      for (let axis = at; axis < at + dimension; axis++) square += (bodies[axis]! - last.bodies[axis]!) ** 2;
      const speed = Math.sqrt(square) / seconds;
      this.values[body] = speed;
      if (speed > this.fastest && speed < Infinity) this.fastest = speed;
    }
  }
}
