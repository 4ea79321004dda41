import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import type { Frame } from "../src/layout";
import type { SceneMessage, ServerMessage, State, Welcome } from "../src/messages";
import { RecordedSource, type Clock } from "../src/recorded_source";
import { readRecording, splitMoments, type Recording } from "../src/recording";
import { frameNumbers } from "./shell_frames";

const DT = 0.25; // [s], exact in float32
const COUNT = 9;

/** Stands still until it is told to go on. */
class TestClock implements Clock {
  seconds = 100;
  private waiting: (() => void)[] = [];

  now(): number {
    return this.seconds;
  }

  soon(callback: () => void): void {
    this.waiting.push(callback);
  }

  /** So many seconds go by, and then one picture is drawn. */
  pass(seconds: number): void {
    this.seconds += seconds;
    const callbacks = this.waiting;
    this.waiting = [];
    for (const callback of callbacks) callback();
  }
}

function strung(lanes: number[] = [0]): Float32Array {
  const parts = Array.from({ length: COUNT }, (_, step) =>
    lanes.map((lane) => frameNumbers({ STEP: step, TIME: step * DT, PLACE: step, LANE: lane, BODIES: 1 }))).flat();
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const STATE: State = {
  type: "state", playing: true, speed: null, compare: "off", lanes: [], first: 3, last: 4, suitable: null, can_save: true,
};

function recording(lanes: number[] = [0]): Recording {
  const welcome = { type: "welcome", mode: "live", methods: [{}], scenes: [{}] } as unknown as Welcome;
  return { welcome, scene: { type: "scene" } as SceneMessage, state: STATE, code: "print(1)", moments: splitMoments(strung(lanes)) };
}

function play(lanes: number[] = [0], acknowledge = true) {
  const clock = new TestClock();
  const source = new RecordedSource(recording(lanes), clock);
  const frames: Frame[] = [];
  const messages: ServerMessage[] = [];
  source.start({
    message: (message) => void messages.push(message),
    frame: (frame) => {
      frames.push(frame);
      if (acknowledge) source.acknowledge(frame);
    },
    lost: (reason) => assert.fail(reason),
  });
  const state = (): State => messages.findLast((message) => message.type === "state")!;
  return { clock, source, frames, messages, state, steps: () => frames.map((frame) => frame.step) };
}

test("a recording begins with its words and its first frame, and does not play", () => {
  const { clock, messages, state, steps } = play();
  assert.deepEqual(messages.map((message) => message.type), ["welcome", "scene", "state"]);
  const welcome = messages[0] as Welcome;
  assert.equal(welcome.mode, "replay");
  assert.deepEqual([welcome.methods, welcome.scenes], [[], []]);
  assert.deepEqual([state().playing, state().speed, state().first, state().last, state().can_save], [false, 1, 0, COUNT - 1, false]);
  clock.pass(1);
  assert.deepEqual(steps(), [0]);
});

test("playing shows the last frame that the clock has reached", () => {
  const { clock, source, steps, state } = play();
  source.send({ type: "play" });
  clock.pass(0.2);
  assert.deepEqual(steps(), [0], "0.2 s is before the first step");
  clock.pass(0.1);
  assert.deepEqual(steps(), [0, 1]);
  clock.pass(0.5); // 0.8 s: step 2 is passed over
  assert.deepEqual(steps(), [0, 1, 3]);
  assert.equal(state().playing, true);
  clock.pass(10);
  assert.deepEqual(steps(), [0, 1, 3, COUNT - 1]);
  assert.equal(state().playing, false, "the end pauses");
});

test("speed counts from now on", () => {
  const { clock, source, steps, state } = play();
  source.send({ type: "play" });
  clock.pass(0.25);
  source.send({ type: "speed", factor: 0.1 });
  assert.equal(state().speed, 0.1);
  clock.pass(2);
  assert.deepEqual(steps(), [0, 1], "0.45 s simulated");
  clock.pass(0.6);
  assert.deepEqual(steps(), [0, 1, 2]);
});

test("at the largest speed every frame is shown", () => {
  const { clock, source, steps } = play();
  source.send({ type: "speed", factor: null });
  source.send({ type: "play" });
  for (let picture = 0; picture < COUNT + 3; picture++) clock.pass(1e-3);
  assert.deepEqual(steps(), Array.from({ length: COUNT }, (_, step) => step));
});

test("no frame comes before the last one was drawn", () => {
  const { clock, source, frames, steps } = play([0, 1], false);
  source.send({ type: "play" });
  clock.pass(0.3);
  assert.deepEqual(steps(), [0, 0]);
  source.acknowledge(frames[0]!);
  clock.pass(0.3);
  assert.deepEqual(steps(), [0, 0], "the second lane is still to be drawn");
  source.acknowledge(frames[1]!);
  clock.pass(0.3);
  assert.deepEqual(steps(), [0, 0, 3, 3]);
  assert.deepEqual(frames.map((frame) => frame.lane), [0, 1, 0, 1]);
});

test("a pause holds the clock", () => {
  const { clock, source, steps, state } = play();
  source.send({ type: "play" });
  clock.pass(0.3);
  source.send({ type: "pause" });
  clock.pass(5);
  assert.equal(state().playing, false);
  source.send({ type: "play" });
  clock.pass(0.1);
  assert.deepEqual(steps(), [0, 1]);
  clock.pass(0.15); // 0.55 s
  assert.deepEqual(steps(), [0, 1, 2]);
});

test("steps, places and the beginning are gone to at once, and stay within the recording", () => {
  const { source, steps } = play();
  source.send({ type: "step" });
  source.send({ type: "step", count: 10 });
  source.send({ type: "seek", place: 4 });
  source.send({ type: "seek", place: 400 });
  source.send({ type: "reset" });
  assert.deepEqual(steps(), [0, 1, COUNT - 1, 4, COUNT - 1, 0]);
});

test("playing goes on from where one went to, and from the beginning after the end", () => {
  const { clock, source, steps } = play();
  source.send({ type: "seek", place: 6 });
  clock.pass(50);
  source.send({ type: "play" });
  clock.pass(0.25);
  assert.deepEqual(steps(), [0, 6, 7]);
  clock.pass(0.25);
  source.send({ type: "play" });
  assert.deepEqual(steps(), [0, 6, 7, 8, 0]);
});

test("the Python is at hand, and what needs a solver is refused with a note", () => {
  const { source, messages } = play();
  source.send({ type: "code", place: 8 });
  assert.deepEqual(messages.at(-1), { type: "code", text: "print(1)" });
  source.send({ type: "code", place: 2 });
  assert.match((messages.at(-1) as { text: string }).text, /^# .* step 2 .*\nprint\(1\)$/);
  source.send({ type: "compare", mode: "same_state" });
  const note = messages.at(-1)!;
  assert.equal(note.type, "note");
});

test("frames strung together come apart by place and lane", () => {
  const moments = splitMoments(strung([1, 0]));
  assert.equal(moments.length, COUNT);
  assert.deepEqual(moments[5]!.map((frame) => [frame.place, frame.lane]), [[5, 0], [5, 1]]);
});

test("an exported page's text is read", async () => {
  const numbers = strung();
  const frames = gzipSync(new Uint8Array(numbers.buffer)).toString("base64");
  const { moments, code } = await readRecording(JSON.stringify({ welcome: {}, scene: {}, state: STATE, code: "x", frames }));
  assert.equal(code, "x");
  assert.deepEqual(moments.map((moment) => moment[0]!.step), Array.from({ length: COUNT }, (_, step) => step));
});

test("frames that end too early are told", () => {
  assert.throws(() => splitMoments(strung().subarray(0, -1)), /shorter/);
});
