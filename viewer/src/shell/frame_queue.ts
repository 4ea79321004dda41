// Between the source and the picture: the newest frames wait for the browser's next picture, older ones are passed over.

import type { Frame } from "../layout";

const PATIENCE = 0.1; // [s] that a lane's frame waits for the other lane's one

export interface QueueWork {
  now(): number; // [s]
  /** Calls back before the next picture. */
  soon(callback: () => void): void;
  /** Draws frames, by lane; a hole where a lane has nothing new. */
  draw(frames: (Frame | undefined)[]): void;
  /** The frame was drawn or passed over. */
  done(frame: Frame): void;
}

/**
 * The frames to show, by lane: those that arrived, and of the lanes without one those that stand there. These go where
 * the lane was not at work at the place that is shown now, as the second one before it was chosen.
 */
export function framesAt(
  arrived: readonly (Frame | undefined)[], before: readonly (Frame | null)[], lanes: number,
  wasAtWork: (lane: number, place: number) => boolean,
): (Frame | null)[] {
  const place = (arrived[0] ?? before[0])?.place;
  return Array.from({ length: lanes }, (_, lane) => {
    const frame = arrived[lane] ?? before[lane] ?? null;
    const isLate = frame !== null && place !== undefined && frame.place !== place;
    return isLate && !wasAtWork(lane, place) ? null : frame;
  });
}

/** Holds at most two frames a lane, so that nothing can pile up. */
export class FrameQueue {
  /** How many lanes a step has. */
  lanes = 1;
  private readonly work: QueueWork;
  /** Frames of all lanes at one place. */
  private ready: Frame[] = [];
  /** Of one place, where a lane is still missing. */
  private coming: Frame[] = [];
  private came = 0;
  private scheduled = false;

  constructor(work: QueueWork) {
    this.work = work;
  }

  push(frame: Frame): void {
    if (this.coming.some((other) => other.place !== frame.place || other.lane === frame.lane)) {
      this.pass(this.coming);
      this.coming = [];
    }
    this.coming.push(frame);
    this.came = this.work.now();
    if (this.coming.length >= this.lanes) {
      this.pass(this.ready);
      this.ready = this.coming;
      this.coming = [];
    }
    this.schedule();
  }

  /** Nothing that waits is of interest any more. */
  clear(): void {
    this.pass([...this.ready, ...this.coming]);
    this.ready = [];
    this.coming = [];
  }

  private pass(frames: Frame[]): void {
    for (const frame of frames) this.work.done(frame);
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.work.soon(() => {
      this.scheduled = false;
      this.flush();
    });
  }

  private flush(): void {
    if (this.ready.length === 0 && this.work.now() - this.came >= PATIENCE) {
      this.ready = this.coming;
      this.coming = [];
    }
    if (this.ready.length > 0) {
      const frames = this.ready;
      this.ready = [];
      const byLane: (Frame | undefined)[] = [];
      for (const frame of frames) byLane[frame.lane] = frame;
      try {
        this.work.draw(byLane);
      } finally {
        this.pass(frames); // a picture that fails must not stop the simulation
      }
    }
    if (this.coming.length > 0) this.schedule();
  }
}
