// Forces of contacts, as arrows along the impulses on the second bodies.

import { cssColour, plainColour } from "../colours";
import type { Frame } from "../layout";
import type { Picture } from "./picture";

/** [px] */
const WIDTH = 1.6;
const HEAD_LENGTH = 7;
const HEAD_WIDTH = 6.5;
const SHORTEST = 2;
/** Of paper around an arrow, which sets it off from bodies and other arrows. */
const SEAM = 1.1;
/** The largest force of a frame is so long, as a share of the scene. */
const LONGEST = 0.11;
/** Forces below this share of the largest are not drawn. */
const LEAST_SHARE = 1e-3;

/** Where it begins [px], its direction on the screen, and its length [px]. */
interface Arrow {
  readonly x: number;
  readonly y: number;
  readonly right: number;
  readonly down: number;
  readonly length: number;
}

export function paintForces(picture: Picture): void {
  const { context, style, palette } = picture;
  if (!style.forces) return;
  const arrows = arrowsOf(picture);
  for (const [css, seam] of [[palette.paper, SEAM], [cssColour(plainColour(style.dark)), 0]] as const) {
    context.fillStyle = css;
    for (const arrow of arrows) fillArrow(context, arrow, seam);
  }
}

function arrowsOf({ camera, frame, scene, style }: Picture): Arrow[] {
  const largest = largestImpulse(frame);
  const size = Math.max(scene.high[0]! - scene.low[0]!, scene.high[1]! - scene.low[1]!);
  const longest = LONGEST * style.forceScale * size * camera.scale;
  const arrows: Arrow[] = [];
  for (let at = 0; at < frame.contacts.length; at += frame.contactWidth) {
    const [right, up] = [frame.contacts[at + 2]!, frame.contacts[at + 3]!];
    const impulse = Math.hypot(right, up);
    const length = (impulse / largest) * longest;
    if (!(impulse >= LEAST_SHARE * largest) || !(length >= SHORTEST && length < Infinity)) continue;
    const [x, y] = [camera.screenX(frame.contacts[at]!), camera.screenY(frame.contacts[at + 1]!)];
    const isInSight = x > -length && y > -length && x < camera.width + length && y < camera.height + length;
    if (isInSight) arrows.push({ x, y, right: right / impulse, down: -up / impulse, length });
  }
  return arrows;
}

function largestImpulse(frame: Frame): number {
  let largest = 0;
  for (let at = 2; at < frame.contacts.length; at += frame.contactWidth) {
    const impulse = Math.hypot(frame.contacts[at]!, frame.contacts[at + 1]!);
    if (impulse > largest && impulse < Infinity) largest = impulse;
  }
  return largest;
}

/** Shaft and head, wider by a seam all around; short arrows have small heads. */
function fillArrow(context: CanvasRenderingContext2D, arrow: Arrow, seam: number): void {
  const { x, y, right, down, length } = arrow;
  const head = Math.min(HEAD_LENGTH, 0.55 * length);
  const half = (0.5 * HEAD_WIDTH * head) / HEAD_LENGTH;
  const shaft = 0.5 * Math.min(WIDTH, half) + seam;
  const neck = length - head;
  const corner = (along: number, aside: number): void =>
    context.lineTo(x + along * right - aside * down, y + along * down + aside * right);
  context.beginPath();
  corner(-seam, shaft);
  corner(neck - seam, shaft);
  corner(neck - seam, half + 1.6 * seam);
  corner(length + 2.4 * seam, 0);
  corner(neck - seam, -half - 1.6 * seam);
  corner(neck - seam, -shaft);
  corner(-seam, -shaft);
  context.fill();
}
