// Draws a chart on a canvas: axes with their marks, curves, levels, and where the reader points. The title of y stands above.

import type { ChartKind, Content, Series } from "./chart_content";
import { decimate } from "./decimation";
import { finiteRange, linearAxis, logAxis, type Axis } from "./ticks";

const FONT = 11; // [px]
const TOP = 8;
const LEFT = 46; // at least, so that charts below each other have their axes below each other [px]
const BOTTOM = 2 * FONT + 12; // room for ticks and the title of x
const RIGHT = 10;
const DOT = 2;
const OPEN = 3; // radius of markers at values that the axis has no place for [px]
const DENSE = 0.7; // opacity of curves that would hide each other
const APART = 7; // least distance of two such markers [px]

/** Where the chart's inner rectangle is [px], and what it spans. */
export interface Plot {
  left: number;
  top: number;
  width: number;
  height: number;
  x: Axis;
  y: Axis;
}

export interface Paints {
  ink: string;
  muted: string;
  line: string;
  paper: string;
  of(variable: string): string;
}

/** The axes that hold all curves and levels; null where there is nothing to draw. */
export function planPlot(
  kind: ChartKind, content: Content, width: number, height: number, widest: (texts: string[]) => number,
): Plot | null {
  const xRange = finiteRange(content.series.map(({ x }) => x));
  if (xRange === null) return null;
  const levels = content.levels.map(({ y }) => y);
  const range = finiteRange([...content.series.map(({ y }) => y), levels], kind.log);
  const innerHeight = height - TOP - BOTTOM;
  const count = Math.max(2, Math.floor(innerHeight / 26));
  const y = kind.log
    ? logAxis(...((range ?? [1e-8, 1]).map(Math.log10) as [number, number]), count)
    : linearAxis(Math.min(0, range?.[0] ?? 0), range?.[1] ?? 1, count, { whole: kind.whole, grow: true });
  const left = Math.max(LEFT, Math.ceil(widest(y.ticks.map(y.label))) + 10);
  const innerWidth = width - left - RIGHT;
  if (innerWidth < 20 || innerHeight < 20) return null;
  const x = linearAxis(...xRange, Math.max(2, Math.floor(innerWidth / 56)), { whole: true });
  return { left, top: TOP, width: innerWidth, height: innerHeight, x, y };
}

export function xToPixel(plot: Plot, x: number): number {
  return plot.left + ((x - plot.x.low) / (plot.x.high - plot.x.low)) * plot.width;
}

export function pixelToX(plot: Plot, pixel: number): number {
  return plot.x.low + ((pixel - plot.left) / plot.width) * (plot.x.high - plot.x.low);
}

/** Where a value lies on the canvas; `outside` where the axis has no place for it: 0 on a log axis, or infinity. */
function yToPixel(plot: Plot, log: boolean, value: number): { pixel: number; outside: boolean } {
  const bottom = plot.top + plot.height;
  if (value === Infinity) return { pixel: plot.top, outside: true };
  if (log && value <= 0) return { pixel: bottom, outside: true };
  const place = log ? Math.log10(value) : value;
  return { pixel: bottom - ((place - plot.y.low) / (plot.y.high - plot.y.low)) * plot.height, outside: false };
}

export function drawChart(
  context: CanvasRenderingContext2D, kind: ChartKind, content: Content, plot: Plot, paints: Paints, cursor: number | null,
): void {
  drawAxes(context, kind, plot, paints);
  for (const level of content.levels) {
    const { pixel } = yToPixel(plot, kind.log, level.y);
    strokeLine(context, paints.of(level.colour), level.dash, [plot.left, pixel], [plot.left + plot.width, pixel]);
  }
  if (content.marker !== null) drawUpright(context, plot, content.marker, paints.ink, []);
  for (const series of content.series) drawSeries(context, kind, series, plot, paints);
  if (cursor !== null) {
    drawUpright(context, plot, cursor, paints.muted, [3, 3]);
    for (const series of content.series) drawCursorDots(context, kind, series, plot, paints, cursor);
  }
}

function drawAxes(context: CanvasRenderingContext2D, kind: ChartKind, plot: Plot, paints: Paints): void {
  const bottom = plot.top + plot.height;
  const right = plot.left + plot.width;
  const yPixel = (tick: number): number => bottom - ((tick - plot.y.low) / (plot.y.high - plot.y.low)) * plot.height;
  context.font = `${FONT}px system-ui, sans-serif`;
  for (const tick of plot.y.ticks) {
    strokeLine(context, paints.line, [], [plot.left, yPixel(tick)], [right, yPixel(tick)]);
    write(context, plot.y.label(tick), plot.left - 6, yPixel(tick), paints.muted, "right", "middle");
  }
  for (const tick of plot.y.minor) strokeLine(context, paints.muted, [], [plot.left - 3, yPixel(tick)], [plot.left, yPixel(tick)]);
  for (const tick of plot.x.ticks) {
    const pixel = xToPixel(plot, tick);
    strokeLine(context, paints.line, [], [pixel, plot.top], [pixel, bottom]);
    const label = plot.x.label(tick);
    const most = right + RIGHT - context.measureText(label).width / 2;
    write(context, label, Math.min(pixel, most), bottom + 5, paints.muted, "center", "top");
  }
  strokeLine(context, paints.muted, [], [plot.left, plot.top], [plot.left, bottom]);
  strokeLine(context, paints.muted, [], [plot.left, bottom], [right, bottom]);
  write(context, kind.xTitle, right, bottom + FONT + 9, paints.ink, "right", "top");
}

function drawSeries(context: CanvasRenderingContext2D, kind: ChartKind, series: Series, plot: Plot, paints: Paints): void {
  const { x, y } = series;
  const kept = decimate(x, y, plot.x.low, plot.x.high, Math.ceil(plot.width));
  const outside: [number, number][] = [];
  const single: [number, number][] = [];
  context.strokeStyle = context.fillStyle = paints.of(series.colour);
  // Curves that fill whole columns are thin and solid: dashes could not be seen there, and take long to draw.
  const isDense = kept.length > plot.width;
  context.lineWidth = isDense ? 1 : 1.5;
  context.setLineDash(isDense ? [] : series.dash);
  context.globalAlpha = isDense ? DENSE : 1;
  context.beginPath();
  let isDown = false;
  kept.forEach((index, k) => {
    const value = y[index]!;
    if (Number.isNaN(value) || (value < 0 && kind.log)) {
      isDown = false;
      return;
    }
    const pixel = xToPixel(plot, x[index]!);
    const place = yToPixel(plot, kind.log, value);
    if (isDown) context.lineTo(pixel, place.pixel);
    else context.moveTo(pixel, place.pixel);
    const next = kept[k + 1];
    if (!isDown && (next === undefined || Number.isNaN(y[next]!))) single.push([pixel, place.pixel]);
    isDown = true;
    if (place.outside && (outside.length === 0 || pixel - outside.at(-1)![0] >= APART)) outside.push([pixel, place.pixel]);
  });
  context.stroke();
  context.globalAlpha = 1;
  context.setLineDash([]);
  // Dots where points lie far enough apart to be told from each other, and where one stands alone.
  const isSparse = kept.length * 8 < plot.width;
  const dots = isSparse ? kept.map((i): [number, number] => [xToPixel(plot, x[i]!), yToPixel(plot, kind.log, y[i]!).pixel]) : single;
  for (const [left, top] of dots) if (!Number.isNaN(top)) fillDot(context, left, top, DOT);
  context.fillStyle = paints.paper;
  for (const [left, top] of outside) {
    fillDot(context, left, top, OPEN);
    context.stroke();
  }
}

function drawCursorDots(
  context: CanvasRenderingContext2D, kind: ChartKind, { x, y, colour }: Series, plot: Plot, paints: Paints, cursor: number,
): void {
  const index = Array.prototype.indexOf.call(x, cursor);
  if (index < 0 || Number.isNaN(y[index]!)) return;
  context.fillStyle = paints.of(colour);
  fillDot(context, xToPixel(plot, cursor), yToPixel(plot, kind.log, y[index]!).pixel, 2 * DOT);
}

function drawUpright(context: CanvasRenderingContext2D, plot: Plot, x: number, colour: string, dash: number[]): void {
  const pixel = xToPixel(plot, x);
  if (!(pixel >= plot.left - 1 && pixel <= plot.left + plot.width + 1)) return;
  strokeLine(context, colour, dash, [pixel, plot.top], [pixel, plot.top + plot.height]);
}

function fillDot(context: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

function strokeLine(
  context: CanvasRenderingContext2D, colour: string, dash: number[], from: [number, number], to: [number, number],
): void {
  // Half a pixel off, lines of one pixel's width are sharp.
  const sharp = (value: number): number => Math.round(value) + 0.5;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(sharp(from[0]), sharp(from[1]));
  context.lineTo(sharp(to[0]), sharp(to[1]));
  context.stroke();
  context.setLineDash([]);
}

function write(
  context: CanvasRenderingContext2D, text: string, x: number, y: number, colour: string,
  align: CanvasTextAlign, baseline: CanvasTextBaseline,
): void {
  context.fillStyle = colour;
  context.textAlign = align;
  context.textBaseline = baseline;
  context.fillText(text, x, y);
}
