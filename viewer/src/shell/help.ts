// The help: all keys, what the colours mean, what the page can do.

import { make } from "../panels/panel";
import type { Store } from "../store";
import { button } from "./controls";
import { KEY_HELP } from "./keyboard";
import { methodKeys } from "./method_keys";

const COMMON = [
  "Click a body or a contact, a cell or a particle to see its numbers under “Selected”. Drag turns the picture, the right button or shift shifts it, the wheel magnifies.",
  "“Convergence” has the residual of the step that is shown, iteration by iteration; “History” the residual, iterations and time of every step. A click there goes to that step.",
];
const LIVE = [
  "“Scene” builds another scene, of another size or seed. “Method” changes the solver and its options from the next step on; the world stays as it is.",
  "“Compare” lets two methods work side by side: on the problem of the same state in every step, or each on its own way.",
  ...COMMON,
  "The slider goes back over the steps so far; the simulation goes on from the newest one.",
  "“This step” saves its problem as a file (npz, or FCLIB where friction has cones), or gives the Python that reproduces it.",
  "Each page has a simulation of its own: loading it again begins anew.",
];
const RECORDED = [
  "This page shows a recorded run. Play it, go through it with the slider or the arrow keys.",
  ...COMMON,
  "“This step” gives the Python that reproduces it.",
];
const COLOURS: readonly (readonly [string, string])[] = [
  ["by state", "sticking: friction holds; sliding: friction is at its limit; separating: no impulse; grazing: neither impulse nor velocity; grey: not recorded"],
  ["by residual", "heat on a log scale, of the largest entry of the natural map among the rows of a contact or cell"],
  ["by island", "bodies that touch each other, directly or through others, share a colour: their problems are solved apart"],
  ["forces", "arrows along the impulse on the second body, their length in proportion to the largest of the frame"],
];

function table(rows: readonly (readonly [string, string])[]): HTMLElement {
  return make("dl", {}, ...rows.flatMap(([term, words]) => [make("dt", {}, term), make("dd", {}, words)]));
}

/** The names that the keys 1 to 9 stand for at this moment. */
export function currentMethodKeys(store: Store): string[] {
  const { welcome, scene, state } = store.model;
  const own = welcome?.scenes.find((form) => form.name === scene?.name)?.method ?? null;
  return methodKeys(own, welcome?.methods.map((method) => method.name) ?? [], state?.suitable ?? null);
}

export function makeHelp(store: Store): { element: HTMLDialogElement; toggle(): void } {
  const close = button("close-help", {}, () => dialog.close(), "Close");
  const keys = make("div", { class: "key-groups" });
  const abilities = make("ul");
  const dialog = make("dialog", { class: "help", "aria-labelledby": "help-title", "data-testid": "help" },
    make("header", {}, make("h2", { id: "help-title" }, "Help"), close),
    make("h3", {}, "What this page can do"), abilities,
    make("h3", {}, "Keys"), keys,
    make("h3", {}, "What the colours mean"), table(COLOURS));
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // on the backdrop
  });

  function fill(): void {
    const live = store.get("welcome")?.mode === "live";
    abilities.replaceChildren(...(live ? LIVE : RECORDED).map((words) => make("li", {}, words)));
    const names = currentMethodKeys(store).map((name, place) => `${place + 1} ${name}`);
    const groups = KEY_HELP.filter(([title]) => live || !["Methods", "Panels"].includes(title)).map(([title, rows]) =>
      make("section", {}, make("h4", {}, title), table(rows), title === "Methods" && names.length > 0
        ? make("p", { class: "method-keys", "data-testid": "method-keys" }, `Here: ${names.join(", ")}.`) : ""));
    keys.replaceChildren(...groups);
  }

  return {
    element: dialog,
    toggle(): void {
      if (dialog.open) return dialog.close();
      fill();
      dialog.showModal();
    },
  };
}
