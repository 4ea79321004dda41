// How the shown step was solved: the residual against the iterations.

import { CURVE_NUMBERS, type Frame } from "../layout";
import type { Store } from "../store";
import { LineChart } from "./chart";
import type { Level, Series } from "./chart_content";
import { laneStroke, MethodLog } from "./lanes";
import { formatExactly, formatNumber } from "./numbers";
import { make, makeSection, oncePerPicture, setText } from "./panel";

const SCALED = "The tolerance of auto is one of the scaled residual, which has no units; the curve is the residual itself.";

function curveOf(frame: Frame): { x: Float64Array; y: Float64Array } {
  const count = frame.curveCount;
  const part = (k: number): Float64Array => Float64Array.from({ length: count }, (_, i) => frame.curve[i * CURVE_NUMBERS + k]!);
  return { x: part(0), y: part(1) };
}

/** Why there is no curve to see. */
function explain(frame: Frame | null): string {
  if (frame === null || frame.step === 0) return "Nothing has been solved yet.";
  if (frame.value("ROWS") === 0) return "Nothing was to be solved in this step: the problem has no rows.";
  if (frame.value("ITERATIONS") === 0) return "No iteration was needed: the starting point is within the tolerance.";
  const isOneStep = frame.value("ITERATIONS") <= 1 && frame.curveCount > 0;
  return isOneStep ? "The method takes one step: there is no curve." : "The curve was not recorded.";
}

/** A solve may return its best point, or polish its last one: then the curve does not end with the answer. */
function tellAnswer(frame: Frame): string {
  const last = frame.curve[frame.curve.length - 1]!;
  const answer = frame.value("RESIDUAL");
  if (Number.isNaN(answer) || Math.abs(last - answer) <= 0.1 * Math.max(last, answer)) return "";
  return `The answer has a residual of ${formatNumber(answer)}: it is not the last point of the curve, but the best one or a polished one.`;
}

/** float32 has seven digits: 9.99999994e-9 was 1e-8. */
function formatTolerance(tol: number): string {
  return formatExactly(Number(tol.toPrecision(6)));
}

function levelsOf(frames: Frame[]): Level[] {
  const tolerances = frames.map((frame) => frame.value("TOL"));
  const isOne = tolerances.every((tol) => tol === tolerances[0]);
  return tolerances.flatMap((tol, lane) => {
    if (!(tol > 0) || (isOne && lane > 0)) return [];
    const whose = isOne ? "" : ` of ${lane + 1}`;
    const colour = isOne ? "--muted" : laneStroke(lane).colour;
    return [{ label: `tolerance${whose} ${formatTolerance(tol)}`, colour, dash: [2, 3], y: tol }];
  });
}

export function makeConvergenceChart(store: Store): HTMLElement {
  const section = makeSection("Convergence", { "data-testid": "convergence" });
  const chart = new LineChart({
    title: "Residual in this step", xTitle: "iteration", yTitle: "residual (natural map)", point: "iteration", unit: "",
    log: true, whole: false, action: "chart-convergence",
  });
  const remark = make("p", { class: "remark" });
  section.append(chart.element, remark);
  const log = new MethodLog();

  const update = oncePerPicture(() => {
    const frames = store.get("frames").filter((frame) => frame !== null);
    const hasTwo = (store.get("state")?.lanes.length ?? 1) > 1;
    const methods = frames.map((frame) => log.methodAt(frame.lane, frame.place));
    const series = frames.flatMap((frame, i): Series[] => {
      if (frame.curveCount < 2) return [];
      const label = hasTwo ? `${frame.lane + 1}: ${methods[i]!}` : methods[i]! || "residual";
      return [{ label, ...laneStroke(frame.lane), ...curveOf(frame) }];
    });
    const without = frames.filter((frame) => frame.curveCount < 2);
    const message = series.length === 0 ? explain(frames[0] ?? null) : "";
    chart.show({ series, levels: series.length === 0 ? [] : levelsOf(frames), marker: null, message });
    const remarks = series.length === 0 ? [] : without.map((frame) => `${frame.lane + 1}: ${explain(frame)}`);
    if (methods.includes("auto") && series.length > 0) remarks.push(SCALED);
    for (const frame of frames) {
      const words = frame.curveCount < 2 ? "" : tellAnswer(frame);
      if (words !== "") remarks.push(hasTwo ? `${frame.lane + 1}: ${words}` : words);
    }
    setText(remark, remarks.join(" "));
    remark.hidden = remarks.length === 0;
  });

  store.on(["scene"], () => log.clear());
  store.on(["frames", "state"], () => {
    log.note(store.get("frames"), store.get("state"));
    update();
  });
  store.on(["theme"], chart.redraw);
  return section;
}
