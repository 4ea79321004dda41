// The slider over all frames that can be gone back to.

import { make, setText } from "../panels/panel";
import type { Store } from "../store";
import { button } from "./controls";
import { formatTime } from "./numbers";
import type { Session } from "./session";

export function makeTimeline(store: Store, session: Session): HTMLElement {
  const seek = (place: number): void => store.send({ type: "seek", place }); // of many, only the last is answered
  const slider = make("input", {
    type: "range", step: 1, min: 0, max: 0, value: 0, "data-action": "seek", "aria-label": "Frame that is shown",
  });
  const place = make("output", { class: "place", "data-testid": "place" });
  const note = make("span", {}, "an older step is shown");
  const newest = button("newest", {}, () => seek(session.last()), "back to the newest");
  const older = make("div", { class: "older", role: "status", "data-testid": "older", hidden: true }, note, newest);
  let dragged = false;
  slider.addEventListener("pointerdown", () => (dragged = true));
  for (const end of ["pointerup", "pointercancel", "change"]) slider.addEventListener(end, () => (dragged = false));
  slider.addEventListener("input", () => {
    if (store.get("state")?.playing) store.send({ type: "pause" });
    seek(Number(slider.value));
  });

  store.on(["frames", "state", "lost"], () => {
    const frame = store.get("frames")[0] ?? null;
    const first = store.get("state")?.first ?? 0;
    const last = session.last();
    slider.min = String(Math.min(first, last));
    slider.max = String(last);
    slider.disabled = last <= first || store.get("lost") !== null;
    older.hidden = !session.isBack();
    if (frame === null) return;
    if (!dragged) slider.value = String(session.goal() ?? frame.place);
    slider.setAttribute("aria-valuetext", `step ${frame.step}, ${formatTime(frame.time)}, frame ${frame.place} of ${last}`);
    setText(place, `${frame.place} / ${last}`);
  });
  return make("div", { class: "timeline" }, slider, place, older);
}
