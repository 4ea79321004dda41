// Discs, with a line from the middle that shows how they are turned, and segments.

import { bodyColour, cssColour, islandColour, speedColour, type Rgb } from "../colours";
import type { Frame } from "../layout";
import { cssRamp, levelOf, roundedCss } from "./colour_tables";
import type { Picture } from "./picture";
import { type Disc, type Segment, placePoint, poseOf } from "./plane_shapes";
import type { ValueRange } from "./value_range";

const SPEED_LEVELS = 48;
/** Smaller discs have no outline [px]. */
const LEAST_OUTLINED = 2.5;
const SEGMENT_WIDTH = 2.5; // px

/** Speeds of bodies [m/s] and what their colours reach to; null where nobody asked. */
export interface Speeds {
  readonly values: Float32Array;
  readonly range: ValueRange;
}

export function paintBodies(picture: Picture, speeds: Speeds | null): void {
  const cssOf = colourChooser(picture, speeds);
  paintSegments(picture, cssOf);
  paintDiscs(picture, cssOf);
}

type CssOf = (shape: Disc | Segment) => string;

function colourChooser({ style, frame }: Picture, speeds: Speeds | null): CssOf {
  const own = (body: number, colour: Rgb | null): string => roundedCss(bodyColour(body, colour, style.dark));
  if (style.bodies === "island") {
    const known = new Map<number, string>();
    return ({ body, colour }) => {
      if (body < 0) return own(body, colour);
      const island = islandOf(frame, body);
      if (!known.has(island)) known.set(island, cssColour(calm(islandColour(island, style.dark), style.dark)));
      return known.get(island)!;
    };
  }
  if (style.bodies === "speed" && speeds) {
    const ramp = cssRamp((share) => speedColour(share, style.dark), SPEED_LEVELS);
    const unknown = cssColour(speedColour(NaN, style.dark));
    return ({ body, colour }) => {
      if (body < 0) return own(body, colour);
      const speed = speeds.values[body] ?? NaN;
      const share = speeds.range.high > 0 ? speed / speeds.range.high : 0 * speed;
      return Number.isNaN(share) ? unknown : ramp[levelOf(share, SPEED_LEVELS)]!;
    };
  }
  return ({ body, colour }) => own(body, colour);
}

/** A little nearer to the paper: contacts and forces are to stand out from bodies. */
function calm(colour: Rgb, dark: boolean): Rgb {
  const paper = dark ? 0.08 : 1;
  const part = (place: 0 | 1 | 2): number => colour[place] + 0.3 * (paper - colour[place]);
  return [part(0), part(1), part(2)];
}

function islandOf(frame: Frame, body: number): number {
  return body < frame.bodyCount ? frame.island(body) : -1;
}

function paintSegments({ context, camera, shapes, frame, palette }: Picture, cssOf: CssOf): void {
  context.lineCap = "round";
  context.lineWidth = SEGMENT_WIDTH;
  for (const segment of shapes.segments) {
    const pose = poseOf(frame, segment.body);
    if (!pose) continue;
    context.beginPath();
    for (const end of segment.ends) {
      const [x, y] = placePoint(pose, end);
      context.lineTo(camera.screenX(x), camera.screenY(y));
    }
    context.strokeStyle = segment.body < 0 && !segment.colour ? palette.edge : cssOf(segment);
    context.stroke();
  }
}

/** Each for itself: a canvas without a graphics card takes longer for one path of many discs. */
function paintDiscs({ context, camera, shapes, frame, palette }: Picture, cssOf: CssOf): void {
  context.lineWidth = 1;
  context.strokeStyle = palette.outline;
  for (const disc of shapes.discs) {
    const pose = poseOf(frame, disc.body);
    if (!pose) continue;
    const [centreX, centreY] = placePoint(pose, disc.centre);
    const [x, y, radius] = [camera.screenX(centreX), camera.screenY(centreY), disc.radius * camera.scale];
    const isInSight = x + radius > 0 && y + radius > 0 && x - radius < camera.width && y - radius < camera.height;
    if (!isInSight) continue; // NaN is not in sight either
    const isOutlined = radius >= LEAST_OUTLINED;
    if (isOutlined) fillCircle(context, x, y, radius, palette.outline);
    fillCircle(context, x, y, isOutlined ? radius - 1 : radius, cssOf(disc));
    if (!isOutlined) continue;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + radius * pose.cos, y - radius * pose.sin);
    context.stroke();
  }
}

function fillCircle(context: CanvasRenderingContext2D, x: number, y: number, radius: number, css: string): void {
  context.fillStyle = css;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}
