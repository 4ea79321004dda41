// What a chart shows, and what it says of it in words.

import { finiteRange } from "./ticks";
import { formatNumber } from "./numbers";
import { nearestIndex } from "./decimation";

/** Points with rising x. y: NaN where nothing is known. */
export interface Series {
  label: string;
  /** The name of a CSS variable. */
  colour: string;
  /** Lengths of dashes and gaps [px]; empty: a solid line. */
  dash: number[];
  x: ArrayLike<number>;
  y: ArrayLike<number>;
}

/** A horizontal line through the whole chart. */
export interface Level {
  label: string;
  colour: string;
  dash: number[];
  y: number;
}

export interface Content {
  series: Series[];
  levels: Level[];
  /** A vertical line at what is shown now. */
  marker: number | null;
  /** Stands in the place of curves where there are none. */
  message: string;
}

export interface ChartKind {
  title: string;
  /** With units. */
  xTitle: string;
  yTitle: string;
  /** What a point is, before its number: "step", "iteration". */
  point: string;
  unit: string;
  log: boolean;
  /** y counts things. */
  whole: boolean;
  action: string;
}

/** First, last, least and largest of each series, for those who do not see it. */
export function describeContent(kind: ChartKind, content: Content): string {
  const parts = [`${kind.title}, ${kind.yTitle} against ${kind.xTitle}${kind.log ? ", logarithmic" : ""}.`];
  if (content.message !== "") parts.push(content.message);
  for (const { label, y } of content.series) {
    const range = finiteRange([y]);
    if (range === null) continue;
    let count = 0;
    let [first, last] = [NaN, NaN];
    for (let i = 0; i < y.length; i++) {
      if (Number.isNaN(y[i]!)) continue;
      if (count === 0) first = y[i]!;
      last = y[i]!;
      count += 1;
    }
    const words = ["first", "last", "least", "largest"];
    const values = [first, last, ...range].map((value, i) => `${words[i]!} ${formatNumber(value)}`);
    parts.push(`${label}: ${count} points, ${values.join(", ")}.`);
  }
  for (const { label } of content.levels) parts.push(`${label}.`);
  return parts.join(" ");
}

/** The x of any series that is nearest to the wanted one; NaN where there is none. */
export function nearestX(series: Series[], wanted: number): number {
  let nearest = NaN;
  for (const { x } of series) {
    const index = nearestIndex(x, wanted);
    const found = index < 0 ? NaN : x[index]!;
    if (Number.isNaN(nearest) || Math.abs(found - wanted) < Math.abs(nearest - wanted)) nearest = found;
  }
  return nearest;
}

/** The next x of any series to the right (1) or left (-1) of this one; the same where there is none. */
export function neighbourX(series: Series[], from: number, direction: 1 | -1): number {
  let next = from;
  for (const { x } of series) {
    const index = nearestIndex(x, from);
    for (const candidate of [x[index - 1], x[index], x[index + 1]]) {
      if (candidate === undefined || (candidate - from) * direction <= 0) continue;
      if (next === from || (candidate - next) * direction < 0) next = candidate;
    }
  }
  return next;
}

/** "step 12: psor 1.20e-9, nsgs 3.40e-6": what the curves say at an x that one of them has. */
export function readOut(kind: ChartKind, content: Content, at: number): string {
  const parts: string[] = [];
  for (const { label, x, y } of content.series) {
    const index = nearestIndex(x, at);
    if (index < 0 || x[index] !== at) continue;
    const value = y[index]!;
    const text = kind.unit === "" || Number.isNaN(value) ? formatNumber(value) : `${formatNumber(value)} ${kind.unit}`;
    parts.push(content.series.length > 1 ? `${label} ${text}` : text);
  }
  return parts.length === 0 ? "" : `${kind.point} ${formatNumber(at)}: ${parts.join(", ")}`;
}
