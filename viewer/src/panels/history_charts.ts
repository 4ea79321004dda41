// What the steps were like: residual, iterations and time of each. A click goes to that step.

import type { HistoryRow, Store } from "../store";
import { LineChart } from "./chart";
import type { ChartKind, Series } from "./chart_content";
import { columnsOf, seenRows } from "./history_rows";
import { laneStroke } from "./lanes";
import { makeSection, oncePerPicture } from "./panel";

interface Quantity {
  kind: ChartKind;
  of(row: HistoryRow): number;
}

const COMMON = { xTitle: "step", point: "step" };

const QUANTITIES: Quantity[] = [
  {
    kind: { ...COMMON, title: "Residual", yTitle: "residual (natural map)", unit: "", log: true, whole: false, action: "chart-residual" },
    of: (row) => row.residual,
  },
  {
    kind: { ...COMMON, title: "Iterations", yTitle: "iterations", unit: "", log: false, whole: true, action: "chart-iterations" },
    of: (row) => row.iterations,
  },
  {
    // Logarithmic, since the first solve, which loads kernels, may take a thousand times as long as all others.
    kind: { ...COMMON, title: "Solve time", yTitle: "solve time [ms]", unit: "ms", log: true, whole: false, action: "chart-time" },
    of: (row) => 1e3 * row.solveSeconds,
  },
];

export function makeHistoryCharts(store: Store): HTMLElement {
  const section = makeSection("History", { "data-testid": "history" });
  const charts = QUANTITIES.map(({ kind }) => new LineChart(kind));
  section.append(...charts.map((chart) => chart.element));

  const update = oncePerPicture(() => {
    const lanes = store.get("state")?.lanes.length ?? 1;
    const rows = store.get("history").slice(0, lanes).map(seenRows);
    const shown = store.get("frames")[0] ?? null;
    const message = rows.some((list) => list.length > 0) ? "" : "No steps yet.";
    const marker = shown === null || shown.step === 0 ? null : shown.step;
    QUANTITIES.forEach((quantity, i) => {
      const series = rows.map((list, lane): Series => {
        return { label: `method ${lane + 1}`, ...laneStroke(lane), ...columnsOf(list, quantity.of) };
      });
      charts[i]!.show({ series, levels: [], marker, message });
    });
  });

  const seek = (step: number): void => {
    for (const list of store.get("history")) {
      const row = list.find((one) => one !== undefined && one.step === step);
      if (row !== undefined) return store.send({ type: "seek", place: row.place });
    }
  };
  for (const chart of charts) chart.onChoose = seek;
  store.on(["history", "frames", "state"], update);
  store.on(["theme"], () => charts.forEach((chart) => chart.redraw()));
  return section;
}
