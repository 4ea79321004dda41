// Which method works in a lane, and with which options. A change counts from the next step on.

import type { Lane, MethodForm, Note, OptionForm, SceneForm, State } from "../messages";
import type { Store } from "../store";
import { FieldSet, makeField } from "./form_fields";
import { limitFor, sceneLimit } from "./iteration_limit";
import { MethodChoice } from "./method_choice";
import { formatExactly } from "./numbers";
import { OptionFold } from "./option_fold";
import { describeCall } from "./option_values";
import { make, makeSection, setText, uniqueId } from "./panel";

const LIMITS: { tol: OptionForm; iterations: OptionForm } = {
  tol: {
    name: "tol",
    kind: "number",
    default: null,
    choices: [],
    optional: true,
    doc: "The solve has succeeded when the residual, the largest entry of the natural map, is at most this (auto: the scaled one).",
    at_least: 0,
    at_most: null,
  },
  iterations: {
    name: "max_iterations",
    kind: "integer",
    default: null,
    choices: [],
    optional: true,
    doc: "The solve ends after so many iterations. Where nothing is said, the method has a limit of its own.",
    at_least: 1,
    at_most: null,
  },
};

const RECORDED = "A recording holds no problems to be solved again: perp view SCENE runs the scene live, with every method.";

const PATIENCE = 3000; // [ms] until the form shows what the state says, where that is not what was asked for

/** The same text for lanes that say the same. */
function laneKey(lane: Lane): string {
  return JSON.stringify([lane.method, Object.entries(lane.options).sort(), lane.tol, lane.max_iterations]);
}

function describeLane(lane: Lane): string {
  const tol = lane.tol === null ? "" : `, tolerance ${formatExactly(lane.tol)}`;
  const limit = lane.max_iterations === null ? "" : `, at most ${lane.max_iterations} iterations`;
  return `${describeCall(lane.method, lane.options)}${tol}${limit}`;
}

export function makeMethodPanel(store: Store, lane: number): HTMLElement {
  const section = makeSection("Method", { "data-testid": `method-panel-${lane}`, "data-lane": lane });
  const heading = section.querySelector("h2")!;
  const id = uniqueId();
  const choice = new MethodChoice(id, `method-${lane}`);
  const atWork = make("p", { class: "at-work", "data-testid": `at-work-${lane}`, "aria-live": "polite" });
  const summary = make("p", { class: "summary" });
  const reference = make("p", { class: "source" });
  const doc = make("pre", { class: "whole-doc", tabindex: 0 });
  const about = make("details", { class: "about-method" }, make("summary", {}, "Reference and description"), reference, doc);
  const fold = new OptionFold(`options-${lane}`);
  const defaults = make("button", { type: "button", "data-action": `defaults-${lane}` }, "Defaults");
  const tol = makeField(LIMITS.tol, `tol-${lane}`, send, { label: "tolerance", empty: "perp's own" });
  const iterations = makeField(LIMITS.iterations, `iterations-${lane}`, send, { label: "iterations at most", empty: "the method's own" });
  const limits = new FieldSet([tol, iterations]);
  const chooser = make("div", { class: "field" }, make("label", { for: id }, "method"), choice.select);
  const form = make("fieldset", { class: "form", "aria-label": "Method and options" }, chooser, summary);
  form.append(tol.element, iterations.element, fold.element, about, choice.refused, defaults);
  const recorded = make("p", { class: "remark", hidden: true }, RECORDED);
  section.append(atWork, form, recorded);

  let shown = ""; // the method that the fields belong to
  let seen = ""; // the lane, as the state last had it
  let sent: string | null = null; // what the state should say next
  let patience = 0;
  let isWrong = false; // a field has no right value, so that nothing is sent
  let lastNote: Note | undefined;

  function sceneForm(): SceneForm | undefined {
    return store.get("welcome")?.scenes.find((scene) => scene.name === store.get("scene")?.name);
  }

  function showMethod(method: MethodForm | undefined): void {
    shown = method?.name ?? "";
    choice.select.value = shown;
    fold.fill((method?.options ?? []).map((one) => makeField(one, `option-${lane}-${one.name}`, send)));
    setText(summary, method?.summary ?? "");
    setText(reference, method?.reference ? `Reference: ${method.reference}` : "");
    setText(doc, method?.doc ?? "");
    about.hidden = !method?.doc;
  }

  function send(): void {
    const values = fold.fields.read();
    const bounds = limits.read();
    fold.tell();
    isWrong = values === null || bounds === null;
    if (values === null || bounds === null) return tell();
    const wanted: Lane = {
      method: shown,
      options: values,
      tol: (bounds["tol"] ?? null) as number | null,
      max_iterations: (bounds["max_iterations"] ?? null) as number | null,
    };
    sent = laneKey(wanted);
    clearTimeout(patience);
    patience = window.setTimeout(() => {
      const one = store.get("state")?.lanes[lane];
      if (sent !== null && one !== undefined) follow(one);
      tell();
    }, PATIENCE);
    const { method: name, ...rest } = wanted;
    store.send({ type: "method", lane, name, ...rest });
    tell();
  }

  /** The form says what the state says; options of another method wait while somebody is typing. */
  function follow(one: Lane): void {
    if (one.method !== shown) {
      if (fold.fields.isEdited()) return;
      showMethod(choice.find(one.method));
    }
    fold.fields.write(one.options);
    fold.tell();
    limits.write({ tol: one.tol, max_iterations: one.max_iterations });
    sent = null;
    isWrong = false;
  }

  function tell(): void {
    const one = store.get("state")?.lanes[lane];
    if (one === undefined) return;
    const isPending = sent !== null && sent !== laneKey(one);
    const words = store.get("welcome")?.mode === "replay" ? "Recorded with" : "At work";
    const news = isWrong ? ". Nothing is changed before the wrong value is mended." : isPending ? "; the change counts from the next step on" : "";
    setText(atWork, `${words}: ${describeLane(one)}${news}`);
  }

  function update(): void {
    const state: State | null = store.get("state");
    const one = state?.lanes[lane];
    section.hidden = one === undefined;
    if (state === null || one === undefined) return;
    setText(heading, state.lanes.length > 1 ? `Method ${lane + 1}` : "Method");
    const isReplay = store.get("welcome")?.mode === "replay" || choice.select.options.length === 0;
    form.hidden = isReplay;
    recorded.hidden = store.get("welcome")?.mode !== "replay";
    choice.mark(state.suitable);
    const now = laneKey(one);
    if (now !== seen || shown === "") {
      seen = now;
      if (!isReplay) follow(one);
    }
    tell();
  }

  choice.select.addEventListener("change", () => {
    const one = store.get("state")?.lanes[lane];
    if (one !== undefined) limits.write({ tol: one.tol, max_iterations: limitFor(sceneForm(), one, choice.select.value) });
    showMethod(choice.find(choice.select.value));
    send();
  });
  defaults.addEventListener("click", () => {
    fold.fields.reset();
    limits.write({ max_iterations: sceneLimit(sceneForm(), shown) });
    send();
  });
  // What waited for the end of typing.
  form.addEventListener("focusout", () => {
    const one = store.get("state")?.lanes[lane];
    if (one !== undefined && sent === null && one.method !== shown && !form.hidden) setTimeout(() => follow(one));
  });
  store.on(["welcome"], () => {
    choice.fill(store.get("welcome")?.methods ?? []);
    shown = "";
    update();
  });
  store.on(["state"], update);
  store.on(["lost"], () => (form.disabled = store.get("lost") !== null));
  // A command that was refused comes with a note: what is really at work is shown again.
  store.on(["notes"], () => {
    const note = store.get("notes").at(-1);
    const one = store.get("state")?.lanes[lane];
    const isNews = note !== lastNote;
    lastNote = note;
    if (!isNews || sent === null || one === undefined || note === undefined || note.level === "info") return;
    follow(one);
    tell();
  });
  return section;
}
