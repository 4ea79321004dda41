// What the colours mean.

import { cssColour, legend, type LegendGroup } from "../colours";
import { make } from "../panels/panel";
import type { Store } from "../store";

function drawGroup(group: LegendGroup): HTMLElement {
  const title = make("span", { class: "title" }, group.title);
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
  store.on(["style", "scene"], () => {
    const scene = store.get("scene");
    const groups = scene === null ? [] : legend(store.get("style"), scene.kind, scene.dimension);
    element.replaceChildren(...groups.map(drawGroup));
  });
  return element;
}
