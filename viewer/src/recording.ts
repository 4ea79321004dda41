// A recorded run inside the page itself: the `#perp-recording` element of an exported page.

import { Frame } from "./layout";
import type { SceneMessage, State, Welcome } from "./messages";

/** What the element holds. */
interface RecordingText {
  welcome: Welcome;
  scene: SceneMessage;
  state: State;
  code: string;
  frames: string; // base64 of the gzip of all frames, strung together
}

/** The frames of one place, one a lane. */
export type Moment = Frame[];

export interface Recording {
  welcome: Welcome;
  scene: SceneMessage;
  state: State;
  code: string;
  /** By place, lowest first. */
  moments: Moment[];
}

/** The element of an exported page; null in a page that a server shows. */
export function recordingElement(): HTMLElement | null {
  return document.getElementById("perp-recording");
}

/** Reads an exported page's own frames. */
export async function readRecording(text: string): Promise<Recording> {
  const { frames, ...rest } = JSON.parse(text) as RecordingText;
  return { ...rest, moments: splitMoments(await gunzip(decodeBase64(frames))) };
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let place = 0; place < bytes.length; place++) bytes[place] = characters.charCodeAt(place);
  return bytes;
}

async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Float32Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Float32Array(await new Response(stream).arrayBuffer());
}

/** Frames that follow each other without gaps, gathered by place and in the order of places. */
export function splitMoments(numbers: Float32Array): Moment[] {
  const byPlace = new Map<number, Moment>();
  for (let offset = 0; offset < numbers.length; ) {
    const frame = new Frame(numbers, offset);
    const moment = byPlace.get(frame.place) ?? [];
    moment.push(frame);
    byPlace.set(frame.place, moment);
    offset += frame.length;
  }
  for (const moment of byPlace.values()) moment.sort((a, b) => a.lane - b.lane);
  return [...byPlace.values()].sort((a, b) => a[0]!.place - b[0]!.place);
}
