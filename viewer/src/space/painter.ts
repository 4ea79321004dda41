// When a picture is drawn: on demand, at most once an animation frame, and never before the last one is finished.

import { DrawingPace, REST } from "./drawing_pace";

/** How long until the graphics side is asked again whether it has finished [ms]. */
const ASK_AGAIN = 3;

export class Painter {
  private readonly pace: DrawingPace;
  private isWanted = false;
  private frame = 0;
  private asking: ReturnType<typeof setTimeout> | undefined;
  private resting: ReturnType<typeof setTimeout> | undefined;
  private unfinished: WebGLSync | null = null;
  private began = 0;
  private isStill = false;

  /** `draw` is told how many device pixels a CSS pixel has. */
  constructor(
    private readonly context: WebGL2RenderingContext,
    private readonly draw: (ratio: number) => void,
  ) {
    this.pace = new DrawingPace(context.getContextAttributes()?.antialias ?? false);
  }

  request(): void {
    this.isStill = false;
    this.want();
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.asking);
    clearTimeout(this.resting);
    this.frame = 0;
    this.unfinished = null;
    this.isWanted = false;
  }

  private want(): void {
    this.isWanted = true;
    if (this.frame === 0 && this.unfinished === null) this.frame = requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    this.frame = 0;
    if (!this.isWanted) return;
    this.isWanted = false;
    clearTimeout(this.resting);
    const screen = window.devicePixelRatio || 1;
    const ratio = this.isStill ? this.pace.still(screen) : this.pace.moving(screen);
    this.began = performance.now();
    this.draw(ratio);
    this.unfinished = this.context.fenceSync(this.context.SYNC_GPU_COMMANDS_COMPLETE, 0);
    this.context.flush();
    this.ask();
    if (!this.isStill && ratio < this.pace.still(screen)) {
      this.resting = setTimeout(() => {
        this.isStill = true;
        this.want();
      }, REST);
    }
  }

  private ask(): void {
    clearTimeout(this.asking);
    if (this.unfinished && !this.context.isContextLost()) {
      if (this.context.getSyncParameter(this.unfinished, this.context.SYNC_STATUS) !== this.context.SIGNALED) {
        this.asking = setTimeout(() => this.ask(), ASK_AGAIN);
        return;
      }
      this.context.deleteSync(this.unfinished);
      if (!this.isStill) this.pace.took(performance.now() - this.began);
    }
    this.unfinished = null;
    if (this.isWanted) this.want();
  }
}
