// A soft body of water, alone or under its particles: wide dots on a coarse image, which is magnified smoothly.

import type { Frame } from "../layout";
import type { Grid } from "../messages";
import { levelOf } from "./colour_tables";
import { makeStamp, type Stamp, stampDot } from "./particle_stamps";
import { PixelImage } from "./pixel_image";

/** Pixels along the grid, at most so many a cell: few enough to cost little, and enough for a smooth surface. */
const PIXELS = 400;
const FINEST = 3;
/** Radius of a dot in cells: neighbours that are a cell apart leave no gap. */
const RADIUS = 0.85;

export class WaterLayer {
  private readonly image = new PixelImage();
  private readonly fine: number;
  private readonly stamp: Stamp;

  constructor(grid: Grid) {
    this.fine = Math.min(Math.max(Math.round(PIXELS / Math.max(...grid.cells)), 1), FINEST);
    this.stamp = makeStamp(RADIUS * this.fine);
  }

  /** The water of this frame, as an image that spans the grid. */
  draw(frame: Frame, grid: Grid, colours: Uint32Array, fastest: number): HTMLCanvasElement {
    const [width, height] = [grid.cells[0]! * this.fine, grid.cells[1]! * this.fine];
    const pixels = this.image.begin(width, height);
    const scale = this.fine / grid.spacing;
    const [left, bottom] = [grid.origin[0]!, grid.origin[1]!];
    const toLevel = fastest > 0 ? 1 / fastest : 0;
    for (let at = 0; at < frame.bodies.length; at += frame.bodyWidth) {
      const [x, y] = [(frame.bodies[at]! - left) * scale, height - (frame.bodies[at + 1]! - bottom) * scale];
      if (!(x >= 0 && y >= 0 && x < width && y < height)) continue;
      stampDot(pixels, this.stamp, x, y, colours[levelOf(frame.bodies[at + 2]! * toLevel)]!);
    }
    this.image.finish();
    return this.image.canvas;
  }
}
