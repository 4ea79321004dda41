// What the colours mean.

import { cssColour, type LegendGroup } from "../colours";
import { make } from "../panels/panel";
import type { Store } from "../store";
import { frameWords, legendGroups } from "./legend_groups";

function drawGroup(group: LegendGroup): HTMLElement {
  const title = group.title === "" ? "" : make("span", { class: "title" }, group.title);
  if (group.kind === "swatches") {
    const items = group.items.map(({ label, colour }) => {
      const swatch = make("span", { class: "swatch" });
      swatch.style.background = cssColour(colour);
      return make("li", {}, swatch, label);
    });
    return make("div", { class: "legend-group" }, title, make("ul", {}, ...items));
  }
  const ramp = make("span", { class: "ramp", role: "img", "aria-label": `colours from ${group.low} to ${group.high}` });
  ramp.style.background = `linear-gradient(to right, ${group.colours.map(cssColour).join(", ")})`;
  return make("div", { class: "legend-group" }, title, make("span", {}, group.low), ramp, make("span", {}, group.high));
}

export function makeLegend(store: Store): HTMLElement {
  const element = make("div", { class: "legend", role: "group", "aria-label": "What the colours mean", "data-testid": "legend" });
  let told = "";
  store.on(["style", "scene", "frames"], () => {
    const { scene, style, frames } = store.model;
    const words = frameWords(frames[0] ?? null, style);
    const key = JSON.stringify([scene?.kind, scene?.dimension, style, words]);
    if (key === told) return; // most frames change nothing
    told = key;
    element.replaceChildren(...(scene === null ? [] : legendGroups(style, scene, words)).map(drawGroup));
  });
  return element;
}
