// Which points of a long curve are worth drawing: no picture shows more than a few in one column of pixels.

/**
 * Indices, in order, of the first, the least, the largest and the last point in each column: every peak stays.
 * x must not fall. Points without a number are kept where a gap begins, so that the line breaks there.
 */
export function decimate(x: ArrayLike<number>, y: ArrayLike<number>, low: number, high: number, columns: number): number[] {
  const count = Math.min(x.length, y.length);
  if (count <= 4 * columns) return Array.from({ length: count }, (_, i) => i);
  const scale = columns / (high - low || 1);
  const kept: number[] = [];
  let column = NaN;
  let first = -1, least = -1, largest = -1, last = -1, gap = -1;
  const flush = (): void => {
    const some = [first, least, largest, last, gap].filter((i) => i >= 0).sort((a, b) => a - b);
    for (const i of some) if (kept[kept.length - 1] !== i) kept.push(i);
    first = least = largest = last = gap = -1;
  };
  for (let i = 0; i < count; i++) {
    const here = Math.floor((x[i]! - low) * scale);
    if (here !== column) {
      flush();
      column = here;
    }
    const value = y[i]!;
    if (Number.isNaN(value)) {
      if (gap < 0) gap = i;
      continue;
    }
    if (first < 0) first = least = largest = i;
    if (value < y[least]!) least = i;
    if (value > y[largest]!) largest = i;
    last = i;
  }
  flush();
  return kept;
}

/** The index of the x nearest to the wanted one; x must not fall. -1 where there is none. */
export function nearestIndex(x: ArrayLike<number>, wanted: number): number {
  let low = 0;
  let high = x.length - 1;
  if (high < 0) return -1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (x[middle]! < wanted) low = middle;
    else high = middle;
  }
  return wanted - x[low]! <= x[high]! - wanted ? low : high;
}
