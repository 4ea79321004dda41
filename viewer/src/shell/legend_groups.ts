// What the legend says of the frame that is shown, beyond what the style alone tells: islands, and what is not known.

import { islandColour, legend, stateColour, type LegendGroup } from "../colours";
import { LIQUID, type Frame } from "../layout";
import type { SceneMessage } from "../messages";
import type { Style } from "../view";

const SHOWN = 3; // islands with a swatch of their own

/** Whether nothing is known of this number of contacts, as in a recording. */
function isUnknown(frame: Frame, what: "STATE" | "RESIDUAL"): boolean {
  return frame.contactCount > 0 && Number.isNaN(frame.contactValue(0, what));
}

/** What the legend has to say of a frame; the same text for frames with the same legend. */
export interface FrameWords {
  /** Numbers of the first islands; -1 where a body is in none. */
  islands: number[];
  islandCount: number;
  unknownState: boolean;
  unknownResidual: boolean;
}

export function frameWords(frame: Frame | null, style: Style): FrameWords {
  if (frame === null || frame.kind === LIQUID) return { islands: [], islandCount: 0, unknownState: false, unknownResidual: false };
  const seen = new Set<number>();
  let hasOthers = false;
  if (style.bodies === "island") {
    for (let body = 0; body < frame.bodyCount; body++) {
      const island = frame.island(body);
      if (island < 0) hasOthers = true;
      else if (seen.size < SHOWN) seen.add(island);
    }
  }
  return {
    islands: hasOthers ? [...seen, -1] : [...seen],
    islandCount: style.bodies === "island" ? frame.value("ISLANDS") : 0,
    unknownState: isUnknown(frame, "STATE"),
    unknownResidual: isUnknown(frame, "RESIDUAL"),
  };
}

function islandGroup({ islands, islandCount }: FrameWords, dark: boolean): LegendGroup {
  const items = islands.map((number) => ({ label: number < 0 ? "in none" : String(number), colour: islandColour(number, dark) }));
  const left = islandCount - islands.filter((number) => number >= 0).length;
  return { kind: "swatches", title: left > 0 ? `Islands (${left} more)` : "Islands", items };
}

export function legendGroups(style: Style, scene: SceneMessage, words: FrameWords): LegendGroup[] {
  const groups = legend(style, scene.kind, scene.dimension);
  if (scene.kind === "liquid") return groups;
  const grey = { label: "not recorded", colour: stateColour(NaN, style.dark) };
  const first = style.bodies === "island" && words.islands.length > 0 ? [islandGroup(words, style.dark)] : [];
  const isGrey = (style.contacts === "state" && words.unknownState) || (style.contacts === "residual" && words.unknownResidual);
  const last: LegendGroup[] = isGrey ? [{ kind: "swatches", title: "", items: [grey] }] : [];
  return [...first, ...groups, ...last];
}
