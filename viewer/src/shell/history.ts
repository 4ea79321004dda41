// What the steps were like, kept from the headers of all frames, of those that were never drawn, too.

import type { Frame } from "../layout";
import type { HistoryRow } from "../store";

export function historyRow(frame: Frame): HistoryRow {
  return {
    place: frame.place,
    step: frame.step,
    time: frame.time,
    residual: frame.value("RESIDUAL"),
    iterations: frame.value("ITERATIONS"),
    solveSeconds: frame.value("SOLVE_SECONDS"),
    energy: frame.value("ENERGY"),
    status: frame.value("STATUS"),
  };
}

/** Keeps a frame's row; a lane that was not there before begins a list. */
export function recordHistory(history: HistoryRow[][], frame: Frame): void {
  while (history.length <= frame.lane) history.push([]);
  history[frame.lane]![frame.place] = historyRow(frame);
}
