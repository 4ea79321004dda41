// How many pictures a second are drawn.

const SPAN = 2; // [s]

/** Counts what happened within the last two seconds. */
export class Rate {
  private readonly moments: number[] = [];

  /** Something happened, at this time [s]. */
  count(now: number): void {
    this.moments.push(now);
    this.forget(now);
  }

  /** A second; 0 where nothing happened for a while. */
  perSecond(now: number): number {
    this.forget(now);
    const span = this.moments.length < 2 ? 0 : this.moments.at(-1)! - this.moments[0]!;
    return span > 0 ? (this.moments.length - 1) / span : 0;
  }

  private forget(now: number): void {
    while (this.moments.length > 0 && this.moments[0]! < now - SPAN) this.moments.shift();
  }
}
