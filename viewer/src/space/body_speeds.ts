// How fast bodies are, told by two frames: frames have positions only.

import type { Frame } from "../layout";

export class BodySpeeds {
  /** [m/s], one a body; 0 before there are two frames. */
  speed = new Float32Array(0);
  /** The largest since the scene began, so that colours can be compared over time. */
  fastest = 0;
  private last: { position: Float32Array; time: number } | null = null;

  forget(): void {
    this.last = null;
    this.fastest = 0;
    this.speed = new Float32Array(0);
  }

  see(frame: Frame): void {
    const [count, width] = [frame.bodyCount, frame.bodyWidth];
    if (this.speed.length !== count) {
      this.speed = new Float32Array(count);
      this.last = null;
    }
    if (!this.last) {
      this.last = { position: new Float32Array(3 * count), time: frame.time };
      this.keep(frame);
      return;
    }
    const dt = Math.abs(frame.time - this.last.time);
    if (dt === 0) return;
    const { position } = this.last;
    for (let body = 0; body < count; body++) {
      const [at, was] = [body * width, 3 * body];
      const dx = frame.bodies[at]! - position[was]!;
      const dy = frame.bodies[at + 1]! - position[was + 1]!;
      const dz = frame.bodies[at + 2]! - position[was + 2]!;
      const speed = Math.sqrt(dx * dx + dy * dy + dz * dz) / dt;
      this.speed[body] = speed;
      if (speed > this.fastest && speed < Infinity) this.fastest = speed;
    }
    this.keep(frame);
  }

  private keep(frame: Frame): void {
    const { position } = this.last!;
    for (let body = 0; body < frame.bodyCount; body++) {
      for (let axis = 0; axis < 3; axis++) position[3 * body + axis] = frame.bodies[body * frame.bodyWidth + axis]!;
    }
    this.last!.time = frame.time;
  }
}
