// The page: frames of its own where it was exported, or those of the server that sent it.

import "./style/page.css";
import "./style/shell.css";
import { LiveSource } from "./live_source";
import { makeConvergenceChart } from "./panels/convergence_chart";
import { makeHistoryCharts } from "./panels/history_charts";
import { makeInspector } from "./panels/inspector";
import { makeMethodPanel } from "./panels/method_panel";
import { makeScenePanel } from "./panels/scene_panel";
import { makeStepPanel } from "./panels/step_panel";
import { PlaneView } from "./plane/plane_view";
import { RecordedSource } from "./recorded_source";
import { readRecording, recordingElement } from "./recording";
import { startPage, type Makers } from "./shell/page";
import { SpaceView } from "./space/space_view";

const MAKERS: Makers = {
  view: (dimension) => (dimension === 3 ? new SpaceView() : new PlaneView()),
  panels: {
    scene: makeScenePanel,
    method: makeMethodPanel,
    inspector: makeInspector,
    convergence: makeConvergenceChart,
    history: makeHistoryCharts,
    step: makeStepPanel,
  },
};

async function start(): Promise<void> {
  const element = recordingElement();
  if (element === null) return startPage(MAKERS, new LiveSource());
  const source = new RecordedSource(await readRecording(element.textContent));
  startPage(MAKERS, source, source.frames());
}

start().catch((error: unknown) => document.body.append(`The page cannot begin: ${String(error)}`));
