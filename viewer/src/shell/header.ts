// The line at the top: which scene, which methods, and the buttons for the page as a whole.

import type { Compare } from "../messages";
import { formatCount, formatExactly } from "../panels/numbers";
import { make, setText } from "../panels/panel";
import type { Store } from "../store";
import { toggleCompare } from "./actions";
import { button, choice } from "./controls";
import { formatTimeStep } from "./numbers";

function sceneWords(store: Store): string {
  const { scene, frames } = store.model;
  if (scene === null) return "";
  const count = scene.kind === "liquid" ? frames[0]?.bodyCount ?? scene.bodies : scene.bodies;
  const things = scene.kind === "liquid" ? "particles" : "bodies";
  return `${formatCount(count)} ${things}, step of ${formatTimeStep(scene.dt)}`;
}

function methodWords(store: Store): string {
  const lanes = store.get("state")?.lanes ?? [];
  const words = lanes.map(({ method, tol, max_iterations: most }) => {
    const limits = [...(tol === null ? [] : [`tol ${formatExactly(tol)}`]), ...(most === null ? [] : [`≤ ${most} it.`])];
    return limits.length === 0 ? method : `${method} (${limits.join(", ")})`;
  });
  return words.join("  |  ");
}

export function makeHeader(store: Store, page: { help(): void; theme(): void }): HTMLElement {
  const hasTitle = document.title !== "perp"; // an exported page has one
  const name = make("h1", { "data-testid": "scene-name" });
  const about = make("span", { class: "about" });
  const methods = make("span", { class: "about methods" });
  const side = { title: "Two methods side by side (c)", "aria-pressed": "false" };
  const compare = button("compare", side, () => toggleCompare(store), "Compare");
  const mode = choice<Compare>("compare-mode", "How the two methods hang together",
    [["same_state", "on the same state"], ["own_ways", "each on its own way"]],
    (value) => store.send({ type: "compare", mode: value }), true);
  const theme = button("theme", { title: "Light or dark (t)" }, page.theme);
  const help = button("help", { title: "Help (h or ?)", "aria-label": "Help" }, page.help, "Help");

  store.on(["scene", "frames"], () => {
    const scene = store.get("scene");
    setText(name, scene?.name ?? "");
    if (!hasTitle && scene !== null) document.title = `${scene.name} – perp`;
    setText(about, sceneWords(store));
  });
  store.on(["state", "welcome", "lost"], () => {
    const state = store.get("state");
    const live = store.get("welcome")?.mode === "live";
    const isComparing = (state?.compare ?? "off") !== "off";
    setText(methods, methodWords(store));
    compare.hidden = !live;
    compare.disabled = mode.select.disabled = state === null || store.get("lost") !== null;
    compare.setAttribute("aria-pressed", String(isComparing));
    mode.element.hidden = !live || !isComparing;
    if (isComparing) mode.select.value = state!.compare;
  });
  store.on(["theme"], () => {
    const other = store.get("theme") === "dark" ? "Light" : "Dark";
    setText(theme, other);
    theme.setAttribute("aria-label", `${other} colours`);
  });
  return make("header", { class: "page-header" },
    make("span", { class: "brand" }, "perp"), name, about, methods,
    make("div", { class: "page-buttons" }, compare, mode.element, theme, help));
}
