// Which scene is simulated. Unlike a change of the method, building one begins anew.

import { LIQUID } from "../layout";
import type { OptionForm, SceneForm } from "../messages";
import { formatTimeStep } from "../shell/numbers";
import type { Store } from "../store";
import { FieldSet, makeField } from "./form_fields";
import { formatCount } from "./numbers";
import { changedValues, describeCall } from "./option_values";
import { fillGroups, make, makeSection, oncePerPicture, setText, uniqueId } from "./panel";

const SEED: OptionForm = {
  name: "seed",
  kind: "integer",
  default: 0,
  choices: [],
  optional: false,
  doc: "Another number gives another world of the same kind.",
  at_least: 0,
  at_most: null,
};

const WARNING = "Building begins anew: the state and the recorded steps are gone. The method stays where the scene is the same.";

const RECORDED = "A recording is of one run: perp view SCENE builds every scene, of every size.";

export function makeScenePanel(store: Store): HTMLElement {
  const section = makeSection("Scene", { "data-testid": "scene-panel" });
  const id = uniqueId();
  const select = make("select", { id, "data-action": "scene" });
  const atWork = make("p", { class: "at-work", "data-testid": "scene-at-work" });
  const description = make("p", { class: "summary" });
  const source = make("p", { class: "source" });
  const rows = make("div", { class: "fields" });
  const warning = make("p", { class: "warning", id: `${id}-warning` }, WARNING);
  const defaults = make("button", { type: "button", "data-action": "scene-defaults" }, "Defaults");
  const build = make("button", { type: "button", class: "primary", "data-action": "build", "aria-describedby": warning.id }, "Build");
  const chooser = make("div", { class: "field" }, make("label", { for: id }, "scene"), select);
  const buttons = make("div", { class: "buttons" }, build, defaults);
  // No <form>: the Enter that ends a field would build, and the state be gone.
  const form = make("fieldset", { class: "form", "aria-label": "Scene and options" }, chooser, description, source, rows, buttons, warning);
  const recorded = make("p", { class: "remark", hidden: true }, RECORDED);
  section.append(atWork, form, recorded);

  let options = new FieldSet([]);
  let seed = new FieldSet([]);
  let seen = ""; // the scene, as it was last built

  function find(name: string): SceneForm | undefined {
    return store.get("welcome")?.scenes.find((scene) => scene.name === name);
  }

  function showScene(scene: SceneForm | undefined): void {
    select.value = scene?.name ?? "";
    options = new FieldSet((scene?.options ?? []).map((one) => makeField(one, `scene-option-${one.name}`, judge)));
    seed = new FieldSet(scene?.seeded ? [makeField(SEED, "seed", judge)] : []);
    rows.replaceChildren(...[...options.fields, ...seed.fields].map((field) => field.element));
    setText(description, scene?.description ?? "");
    setText(source, scene ? [scene.source && `Source: ${scene.source}`, `own method: ${scene.method}`].filter(Boolean).join("; ") : "");
    build.disabled = scene === undefined;
    setText(build, scene === undefined ? "Build" : `Build ${scene.name}`);
  }

  /** Fields say themselves what is wrong; nothing is sent before the button is pressed. */
  function judge(): void {
    options.read();
    seed.read();
  }

  /** The form shows what was built, whenever that is something else than before. */
  function follow(): void {
    const scene = store.get("scene");
    const hasForms = (store.get("welcome")?.scenes.length ?? 0) > 0;
    form.hidden = !hasForms;
    recorded.hidden = store.get("welcome")?.mode !== "replay";
    if (scene === null || !hasForms) return;
    const now = JSON.stringify([scene.name, scene.options, scene.seed]);
    if (now === seen) return;
    seen = now;
    showScene(find(scene.name));
    options.write(scene.options);
    seed.write({ seed: scene.seed });
  }

  const tell = oncePerPicture(() => {
    const scene = store.get("scene");
    const frame = store.get("frames").find((one) => one !== null);
    if (scene === null) return setText(atWork, "No scene yet.");
    const many = formatCount(frame?.bodyCount ?? scene.bodies);
    const form = find(scene.name);
    const changed = form === undefined ? scene.options : changedValues(form.options, scene.options);
    const parts = [`${describeCall(scene.name, changed)}: ${many} ${scene.kind === "liquid" ? "particles" : "bodies"}`];
    if (frame && frame.step > 0) parts.push(`${formatCount(frame.value("ROWS"))} rows`);
    if (frame && frame.step > 0 && frame.kind !== LIQUID) parts.push(`${formatCount(frame.contactCount)} contacts`);
    parts.push(`dt ${formatTimeStep(scene.dt)}`);
    setText(atWork, parts.join(", "));
  });

  select.addEventListener("change", () => showScene(find(select.value)));
  defaults.addEventListener("click", () => {
    options.reset();
    seed.reset();
  });
  build.addEventListener("click", () => {
    const values = options.read();
    const number = seed.read();
    if (values === null) return options.focusWrong();
    if (number === null) return seed.focusWrong();
    store.send({ type: "build", scene: select.value, options: values, seed: (number["seed"] ?? 0) as number });
  });
  store.on(["welcome"], () => {
    const optionOf = (scene: SceneForm): HTMLOptionElement => make("option", { value: scene.name }, scene.name);
    fillGroups(select, store.get("welcome")?.scenes ?? [], (scene) => scene.group, optionOf);
    seen = "";
    follow();
  });
  store.on(["scene"], follow);
  store.on(["lost"], () => (form.disabled = store.get("lost") !== null));
  store.on(["scene", "frames"], tell);
  return section;
}
