// In the corner: how long a metre is, and what the colours reach to.

import type { Picture } from "./picture";
import { chooseScaleBar } from "./scale_bar";

/** [px] */
const INSET = 16;
const TICK = 4;
const FONT = "11.5px system-ui, sans-serif";

export function paintCaption(picture: Picture, words: readonly string[]): void {
  const { context, camera, palette } = picture;
  const bar = chooseScaleBar(camera.scale);
  const [left, right] = [INSET + 0.5, Math.round(INSET + bar.pixels) + 0.5];
  const bottom = Math.round(camera.height - INSET) + 0.5;
  context.beginPath();
  context.moveTo(left, bottom - TICK);
  context.lineTo(left, bottom);
  context.lineTo(right, bottom);
  context.lineTo(right, bottom - TICK);
  context.lineCap = "square";
  context.lineJoin = "miter";
  for (const [width, css] of [[4, palette.paper], [1, palette.ink]] as const) {
    context.lineWidth = width;
    context.strokeStyle = css;
    context.stroke();
  }
  write(picture, bar.label, (left + right) / 2, bottom - TICK - 2, "center");
  write(picture, words.join("  ·  "), right + INSET, bottom, "left");
}

/** Text with a seam of paper, which keeps it readable upon anything. */
function write({ context, palette }: Picture, text: string, x: number, y: number, align: CanvasTextAlign): void {
  context.font = FONT;
  context.textBaseline = "alphabetic";
  context.textAlign = align;
  context.lineWidth = 3;
  context.lineJoin = "round";
  context.strokeStyle = palette.paper;
  context.strokeText(text, x, y);
  context.fillStyle = palette.ink;
  context.fillText(text, x, y);
}
