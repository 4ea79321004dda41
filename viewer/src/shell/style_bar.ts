// What the picture shows: colours of bodies, contacts and liquids, arrows, particles.

import { make } from "../panels/panel";
import type { Store } from "../store";
import type { Style } from "../view";
import { choice, tick } from "./controls";

/** Changes a part of the style. */
export function restyle(store: Store, part: Partial<Style>): void {
  store.set("style", { ...store.get("style"), ...part });
}

export function makeStyleBar(store: Store): HTMLElement {
  const bodies = choice("bodies", "Bodies", [["own", "own colours"], ["island", "by island"], ["speed", "by speed"]], (value) =>
    restyle(store, { bodies: value }));
  const contacts = choice("contacts", "Contacts",
    [["state", "by state"], ["residual", "by residual"], ["plain", "plain"], ["hidden", "hidden"]], (value) =>
      restyle(store, { contacts: value }));
  const forces = tick("forces", "Forces", (on) => restyle(store, { forces: on }));
  const scale = make("input", {
    type: "range", min: -1.5, max: 1.5, step: 0.1, value: 0, "data-action": "force-scale", "aria-label": "Length of the arrows",
  });
  scale.addEventListener("input", () => restyle(store, { forceScale: 10 ** Number(scale.value) }));
  const liquid = choice("liquid", "Liquid",
    [["speed", "by speed"], ["pressure", "by pressure"], ["separating", "what separates"], ["residual", "by residual"]],
    (value) => restyle(store, { liquid: value }));
  const particles = tick("particles", "Particles", (on) => restyle(store, { particles: on }));
  const arrows = make("span", { class: "control-pair" }, forces.element, scale);
  const bar = make("div", { class: "style-bar", role: "group", "aria-label": "What the picture shows" },
    bodies.element, contacts.element, arrows, liquid.element, particles.element);

  store.on(["style", "scene"], () => {
    const style = store.get("style");
    const isLiquid = store.get("scene")?.kind === "liquid";
    for (const node of [bodies.element, contacts.element, arrows]) node.hidden = isLiquid;
    particles.element.hidden = !isLiquid;
    liquid.element.hidden = !isLiquid || store.get("scene")?.dimension === 3; // in space there are particles only
    bodies.select.value = style.bodies;
    contacts.select.value = style.contacts;
    forces.box.checked = style.forces;
    scale.disabled = !style.forces;
    scale.value = String(Math.log10(style.forceScale));
    scale.setAttribute("aria-valuetext", `${style.forceScale.toPrecision(2)} times`);
    liquid.select.value = style.liquid;
    particles.box.checked = style.particles;
  });
  return bar;
}
