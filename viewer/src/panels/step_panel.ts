// What can be taken away of the shown step: its problem as a file, and the Python that reproduces it.

import type { FileMessage } from "../messages";
import type { Store } from "../store";
import { make, makeSection, oncePerPicture, setText, uniqueId } from "./panel";

export { showCode } from "./code_dialog";

/** Hands a file of the server to the user, as a download. */
export function offerFile(message: FileMessage): void {
  const bytes = Uint8Array.from(atob(message.base64), (letter) => letter.charCodeAt(0));
  const address = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  const link = make("a", { href: address, download: message.name });
  document.body.append(link);
  link.click();
  link.remove();
  // The browser may still be reading it.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

export function makeStepPanel(store: Store): HTMLElement {
  const section = makeSection("This step", { "data-testid": "step-panel" });
  const id = uniqueId();
  const lane = make("select", { id, "data-action": "save-lane" });
  lane.append(make("option", { value: 0 }), make("option", { value: 1 }));
  const laneRow = make("div", { class: "field" }, make("label", { for: id }, "with the answer of"), lane);
  const reason = make("p", { class: "remark", id: `${id}-reason` });
  const described = { type: "button", "aria-describedby": reason.id };
  const npz = make("button", { ...described, "data-action": "save-npz" }, ".npz");
  const fclib = make("button", { ...described, "data-action": "save-fclib" }, "FCLIB");
  const code = make("button", { type: "button", "data-action": "copy-code" }, "Copy the Python that reproduces it");
  section.append(
    make("div", { class: "buttons" }, make("span", {}, "Save this step as a problem"), npz, fclib),
    laneRow, reason,
    make("div", { class: "buttons" }, code),
  );

  const chosenLane = (): number => (laneRow.hidden ? 0 : Number(lane.value));
  const shownPlace = (): number | null => store.get("frames")[chosenLane()]?.place ?? null;

  function whyNot(): string {
    const state = store.get("state");
    const frame = store.get("frames")[chosenLane()];
    if (store.get("lost") !== null) return "There is no connection any more.";
    if (state === null || !frame) return "There is no step yet.";
    if (!state.can_save) return "A recording holds motion and forces, not the problems: it cannot be saved as one.";
    if (frame.step === 0) return "Nothing was solved before the first step.";
    return frame.value("ROWS") === 0 ? "The problem of this step has no rows." : "";
  }

  const update = oncePerPicture(() => {
    const lanes = store.get("state")?.lanes ?? [];
    laneRow.hidden = lanes.length < 2;
    lanes.forEach((one, i) => setText(lane.options[i]!, `${i + 1}: ${one.method}`));
    const why = whyNot();
    const isLiquid = store.get("scene")?.kind === "liquid";
    npz.disabled = why !== "";
    fclib.disabled = why !== "" || isLiquid;
    fclib.title = isLiquid ? "FCLIB is a format for contacts with friction" : "";
    code.disabled = shownPlace() === null || store.get("lost") !== null;
    setText(reason, why);
    reason.hidden = why === "";
  });

  const save = (format: "npz" | "fclib"): void => {
    const place = shownPlace();
    if (place !== null) store.send({ type: "save", format, place, lane: chosenLane() });
  };
  npz.addEventListener("click", () => save("npz"));
  fclib.addEventListener("click", () => save("fclib"));
  code.addEventListener("click", () => {
    const place = shownPlace();
    if (place !== null) store.send({ type: "code", place });
  });
  lane.addEventListener("change", update);
  store.on(["scene", "state", "frames", "lost"], update);
  return section;
}
