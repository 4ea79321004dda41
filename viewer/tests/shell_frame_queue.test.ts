import assert from "node:assert/strict";
import { test } from "node:test";

import type { Frame } from "../src/layout";
import { FrameQueue, framesAt } from "../src/shell/frame_queue";
import { recordHistory } from "../src/shell/history";
import { makeFrame } from "./shell_frames";
import type { HistoryRow } from "../src/store";

function makeQueue(lanes = 1) {
  const drawn: string[] = [];
  const done: number[] = [];
  let seconds = 0;
  let waiting: (() => void)[] = [];
  const words = (frames: (Frame | undefined)[]): string => Array.from(frames, (frame) => frame?.step ?? "-").join(" ");
  const queue = new FrameQueue({
    now: () => seconds,
    soon: (callback) => void waiting.push(callback),
    draw: (frames) => void drawn.push(words(frames)),
    done: (frame) => void done.push(frame.serial),
  });
  queue.lanes = lanes;
  let serial = 0;
  return {
    queue, drawn, done,
    push: (step: number, lane = 0) => queue.push(makeFrame({ STEP: step, PLACE: step, LANE: lane, SERIAL: serial++ })),
    picture: (after = 0) => {
      seconds += after;
      const callbacks = waiting;
      waiting = [];
      for (const callback of callbacks) callback();
    },
    asked: () => waiting.length,
  };
}

test("a frame is acknowledged after it was drawn", () => {
  const { push, picture, drawn, done } = makeQueue();
  push(1);
  assert.deepEqual([drawn, done], [[], []]);
  picture();
  assert.deepEqual([drawn, done], [["1"], [0]]);
});

test("a frame that another one overtakes is acknowledged, and never drawn", () => {
  const { push, picture, drawn, done } = makeQueue();
  push(1);
  push(2);
  push(3);
  assert.deepEqual(done, [0, 1]);
  picture();
  assert.deepEqual([drawn, done], [["3"], [0, 1, 2]]);
});

test("two lanes are drawn together", () => {
  const { push, picture, drawn, done } = makeQueue(2);
  push(1, 0);
  picture();
  assert.deepEqual(drawn, []);
  push(1, 1);
  push(2, 0); // of the next step: it waits, and the first two do not
  picture();
  assert.deepEqual([drawn, done], [["1 1"], [0, 1]]);
  push(2, 1);
  picture();
  assert.deepEqual(drawn, ["1 1", "2 2"]);
});

test("a lane whose other one does not come is drawn after a while", () => {
  const { push, picture, drawn, done, asked } = makeQueue(2);
  push(1, 0);
  picture(0.05);
  assert.deepEqual(drawn, []);
  picture(0.1);
  assert.deepEqual([drawn, done, asked()], [["1"], [0], 0]);
});

test("what waits for an old scene is passed over", () => {
  const { queue, push, picture, drawn, done } = makeQueue(2);
  push(1, 0);
  push(1, 1);
  push(2, 0);
  queue.clear();
  assert.deepEqual(done, [0, 1, 2]);
  picture(1);
  assert.deepEqual(drawn, []);
});

test("a picture that fails is acknowledged all the same", () => {
  const done: number[] = [];
  let flush = (): void => {};
  const queue = new FrameQueue({
    now: () => 0,
    soon: (callback) => (flush = callback),
    draw: () => assert.fail("no picture"),
    done: (frame) => void done.push(frame.serial),
  });
  queue.push(makeFrame({ SERIAL: 5 }));
  assert.throws(() => flush(), /no picture/);
  assert.deepEqual(done, [5]);
});

test("a lane shows nothing of a place where it was not at work, and is late where it was", () => {
  const at = (place: number, lane = 0): Frame => makeFrame({ PLACE: place, STEP: place, LANE: lane });
  const places = (frames: (Frame | null)[]): (number | undefined)[] => frames.map((frame) => frame?.place);
  const since = (first: number) => (_: number, place: number): boolean => place >= first;
  assert.deepEqual(places(framesAt([at(2)], [at(3), at(3, 1)], 2, since(3))), [2, undefined]);
  assert.deepEqual(places(framesAt([at(4)], [at(3), at(3, 1)], 2, since(3))), [4, 3]);
  assert.deepEqual(places(framesAt([at(4), at(4, 1)], [at(2), null], 2, since(3))), [4, 4]);
  assert.deepEqual(places(framesAt([undefined, at(4, 1)], [at(4), null], 2, since(3))), [4, 4]);
  assert.deepEqual(places(framesAt([at(5)], [at(4), at(4, 1)], 1, since(3))), [5]);
});

test("the history keeps a row a place and lane", () => {
  const history: HistoryRow[][] = [];
  recordHistory(history, makeFrame({ PLACE: 2, STEP: 20, RESIDUAL: 0.5, ITERATIONS: 7, LANE: 1 }));
  assert.equal(history[0]!.length, 0);
  assert.deepEqual(Object.keys(history[1]!), ["2"]);
  assert.deepEqual([history[1]![2]!.step, history[1]![2]!.residual, history[1]![2]!.iterations], [20, 0.5, 7]);
});
