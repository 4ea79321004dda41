// The bar under the picture: play, step, reset, speed, and how fast it goes.

import { make, setText } from "../panels/panel";
import type { Store } from "../store";
import { button, choice } from "./controls";
import { icon } from "./icons";
import { formatDuration, formatSpeed } from "./numbers";
import type { Session } from "./session";
import { readSpeed, SPEEDS, speedValue } from "./speeds";
import { makeTimeline } from "./timeline";

const REFRESH = 500; // [ms] between two readouts of the frame rate

export function playPause(store: Store): void {
  store.send({ type: store.get("state")?.playing ? "pause" : "play" });
}

export function makeTransport(store: Store, session: Session): HTMLElement {
  const play = button("play-pause", { class: "main" }, () => playPause(store));
  const step = button("step", {}, () => store.send({ type: "step", count: 1 }), icon("step"));
  const reset = button("reset", {}, () => store.send({ type: "reset" }), icon("reset"));
  describe(step, "One step", "→");
  const speed = choice("speed", "Speed", SPEEDS.map((one) => [speedValue(one), formatSpeed(one)] as const), (value) =>
    store.send({ type: "speed", factor: readSpeed(value) }));
  const fps = make("span", { class: "value", "data-testid": "fps" }, "–");
  const stepTime = make("span", { class: "value", "data-testid": "step-time" }, "–");
  const readouts = make("div", { class: "rates" },
    make("span", { class: "readout" }, fps, make("span", { class: "title" }, "fps")),
    make("span", { class: "readout", title: "Time of the whole step: collisions, solve and motion" },
      make("span", { class: "title" }, "whole step"), stepTime));
  const controls = make("div", { class: "buttons" }, play, step, reset, speed.element, readouts);

  store.on(["welcome"], () => describe(reset, store.get("welcome")?.mode === "live" ? "Build the scene anew" : "To the beginning", ""));
  store.on(["state", "lost"], () => {
    const state = store.get("state");
    const playing = state?.playing ?? false;
    play.replaceChildren(icon(playing ? "pause" : "play"));
    describe(play, playing ? "Pause" : "Play", "space");
    for (const control of [play, step, reset, speed.select]) control.disabled = state === null || store.get("lost") !== null;
    const factor = state === null ? 1 : state.speed;
    const value = speedValue(factor);
    if (![...speed.select.options].some((option) => option.value === value)) {
      speed.select.append(make("option", { value }, formatSpeed(factor)));
    }
    speed.select.value = value;
  });
  store.on(["frames"], () => {
    const seconds = store.get("frames")[0]?.value("STEP_SECONDS") ?? NaN;
    setText(stepTime, seconds > 0 ? formatDuration(seconds) : "–");
  });
  setInterval(() => {
    const rate = session.rate.perSecond(performance.now() / 1e3);
    setText(fps, rate === 0 ? "–" : rate.toFixed(rate < 10 ? 1 : 0));
  }, REFRESH);
  return make("section", { class: "transport", "aria-label": "Time" }, controls, makeTimeline(store, session));
}

function describe(control: HTMLElement, words: string, key: string): void {
  control.setAttribute("aria-label", words);
  control.title = key === "" ? words : `${words} (${key})`;
}
