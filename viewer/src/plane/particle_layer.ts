// The particles of a liquid, as one image over the part of the picture that the grid takes.

import { speedColour } from "../colours";
import type { Grid } from "../messages";
import type { Style } from "../view";
import { levelOf, pixelOf, pixelRamp } from "./colour_tables";
import { makeStamp, type Stamp, stampDot } from "./particle_stamps";
import { PixelImage } from "./pixel_image";
import type { Picture } from "./picture";
import type { ValueRange } from "./value_range";

/** Radius of a particle in cells; there are about four to a cell. */
const RADIUS = 0.27;
/** Where cells have colours particles are only hinted at. */
const QUIET_RADIUS = 0.11;
const QUIET_OPACITY = 0.38;
/** [pixels of the screen] */
const SMALLEST = 0.75;
const LARGEST = 20;

export class ParticleLayer {
  private readonly image = new PixelImage();
  private stamp: Stamp | null = null;
  private stampRadius = NaN;

  paint(picture: Picture, grid: Grid, range: ValueRange): void {
    const { context, camera, frame, ratio, style } = picture;
    const area = visibleArea(picture, grid);
    if (!area) return;
    const pixels = this.image.begin(area.width, area.height);
    const isQuiet = style.liquid !== "speed";
    const stamp = this.stampOf((isQuiet ? QUIET_RADIUS : RADIUS) * grid.spacing * camera.scale * ratio);
    const colours = coloursOf(style);
    const toLevel = range.high > 0 && !isQuiet ? 1 / range.high : 0;
    const { bodies, bodyWidth } = frame;
    const scale = camera.scale * ratio;
    const [shiftX, shiftY] = [camera.screenX(0) * ratio - area.left, camera.screenY(0) * ratio - area.top];
    for (let at = 0; at < bodies.length; at += bodyWidth) {
      const [x, y] = [shiftX + bodies[at]! * scale, shiftY - bodies[at + 1]! * scale];
      if (!(x > -LARGEST && y > -LARGEST && x < area.width + LARGEST && y < area.height + LARGEST)) continue;
      stampDot(pixels, stamp, x, y, colours[levelOf(bodies[at + 2]! * toLevel, colours.length)]!);
    }
    this.image.finish();
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.globalAlpha = isQuiet ? QUIET_OPACITY : 1;
    context.drawImage(this.image.canvas, area.left, area.top);
    context.restore();
  }

  private stampOf(radius: number): Stamp {
    const clamped = Math.min(Math.max(radius, SMALLEST), LARGEST);
    if (this.stamp && this.stampRadius === clamped) return this.stamp;
    this.stampRadius = clamped;
    return (this.stamp = makeStamp(clamped));
  }
}

/** By speed, or one for all where cells have the colours. */
function coloursOf(style: Style): Uint32Array {
  if (style.liquid === "speed") return pixelRamp((share) => speedColour(share, style.dark));
  return Uint32Array.of(pixelOf(style.dark ? [1, 1, 1] : [0, 0, 0]));
}

interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Where the grid is in the picture, in whole pixels of the screen; null where it is out of sight. */
function visibleArea({ camera, ratio }: Picture, grid: Grid): Area | null {
  const [x, y] = [grid.origin[0]!, grid.origin[1]!];
  const [endX, endY] = [x + grid.cells[0]! * grid.spacing, y + grid.cells[1]! * grid.spacing];
  const left = Math.max(0, Math.floor(camera.screenX(x) * ratio));
  const top = Math.max(0, Math.floor(camera.screenY(endY) * ratio));
  const right = Math.ceil(Math.min(camera.width, camera.screenX(endX)) * ratio);
  const bottom = Math.ceil(Math.min(camera.height, camera.screenY(y)) * ratio);
  return right > left && bottom > top ? { left, top, width: right - left, height: bottom - top } : null;
}
