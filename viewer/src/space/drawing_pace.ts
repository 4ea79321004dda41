// How finely is drawn: as fine as the screen while that is quick, coarser while pictures take long. When nothing moves
// any more, the last picture is drawn once more, fine; twice as fine as the screen where edges are not smoothed.

/** A picture should not take longer than this [ms]. */
const SLOW = 70;
/** Quicker than this, it may be finer. */
const QUICK = 28;
/** So many pictures are measured before anything changes; the very first ones, when shaders are made, do not count. */
const MEASURED = 3;
const PASSED_OVER = 4;
const COARSEST = 0.5;
const FINEST = 2;
const LEAST_COARSENESS = COARSEST / FINEST;
/** Without a move for so long [ms], the picture is at rest. */
export const REST = 250;

export class DrawingPace {
  private coarseness = 1;
  private smooth = 0;
  private measured = -PASSED_OVER;

  /** `smoothsEdges`: the canvas does it by itself. */
  constructor(private readonly smoothsEdges: boolean) {}

  /** Device pixels per CSS pixel of a picture that moves, on a screen that has `screen` of them. */
  moving(screen: number): number {
    return Math.max(Math.min(screen, FINEST) * this.coarseness, Math.min(COARSEST, screen));
  }

  /** Of one that is at rest. */
  still(screen: number): number {
    return this.smoothsEdges ? Math.min(screen, FINEST) : FINEST;
  }

  /** A picture that moved took so long [ms]. */
  took(milliseconds: number): void {
    this.measured++;
    if (this.measured <= 0) return;
    this.smooth = this.measured === 1 ? milliseconds : 0.6 * this.smooth + 0.4 * milliseconds;
    if (this.measured < MEASURED) return;
    if (this.smooth > SLOW && this.coarseness > LEAST_COARSENESS) this.change(0.8);
    else if (this.smooth < QUICK && this.coarseness < 1) this.change(1.25);
  }

  private change(factor: number): void {
    this.coarseness = Math.min(Math.max(this.coarseness * factor, LEAST_COARSENESS), 1);
    this.measured = 0; // what was measured holds no longer
  }
}
