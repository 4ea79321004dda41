// The one or two methods at work: how they are called and drawn, and which one took which steps.

import type { Frame } from "../layout";
import type { State } from "../messages";

/** How the curve of a lane looks: the second one can be told from the first without colours, too. */
export function laneStroke(lane: number): { colour: string; dash: number[] } {
  return lane === 0 ? { colour: "--series-1", dash: [] } : { colour: "--series-2", dash: [6, 3] };
}

/**
 * Frames do not say which method made them, and the state tells what works from now on. So it is noted, when the newest
 * frame is first shown, what was at work then.
 */
export class MethodLog {
  private readonly spans: { first: number; method: string }[][] = [];
  private readonly newest: number[] = [];

  clear(): void {
    this.spans.length = this.newest.length = 0;
  }

  note(frames: (Frame | null)[], state: State | null): void {
    frames.forEach((frame, lane) => {
      const method = state?.lanes[lane]?.method;
      if (!frame || method === undefined || frame.place <= (this.newest[lane] ?? -1)) return;
      this.newest[lane] = frame.place;
      const spans = (this.spans[lane] ??= []);
      if (spans.at(-1)?.method !== method) spans.push({ first: frame.place, method });
    });
  }

  /** Empty where nothing is known. */
  methodAt(lane: number, place: number): string {
    return this.spans[lane]?.findLast((span) => span.first <= place)?.method ?? "";
  }
}
