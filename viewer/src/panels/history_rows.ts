// The history of a lane as columns for a chart.

import type { HistoryRow } from "../store";

/** The steps of a lane that were seen, in order; null between two that do not follow each other. */
export function seenRows(list: HistoryRow[]): (HistoryRow | null)[] {
  const rows: (HistoryRow | null)[] = [];
  let place = NaN;
  // forEach passes over holes; nothing was solved before the first step.
  list.forEach((row) => {
    if (row.step === 0) return;
    if (row.place > place + 1) rows.push(null);
    place = row.place;
    rows.push(row);
  });
  return rows;
}

/** Steps and one quantity of them; NaN in gaps. */
export function columnsOf(rows: (HistoryRow | null)[], of: (row: HistoryRow) => number): { x: Float64Array; y: Float64Array } {
  const x = new Float64Array(rows.length);
  const y = new Float64Array(rows.length);
  rows.forEach((row, i) => {
    // A gap lies half a step after the last row, so that x rises.
    x[i] = row === null ? x[i - 1]! + 0.5 : row.step;
    y[i] = row === null ? NaN : of(row);
  });
  return { x, y };
}
