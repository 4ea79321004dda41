// The words between page and server: JSON texts, each with a `type`. `src/perp/viewer/messages.py` checks what the page says.

export type OptionKind = "number" | "integer" | "text" | "choice" | "switch" | "numbers";
export type OptionValue = number | string | boolean | null | number[];

/** One field of a form: of a method (a field of its dataclass) or of a scene (a parameter of its builder). */
export interface OptionForm {
  name: string;
  kind: OptionKind;
  default: OptionValue;
  choices: OptionValue[]; // empty where any value of the kind will do
  optional: boolean; // null is a value, too
  doc: string;
  at_least: number | null;
  at_most: number | null;
}

export interface MethodForm {
  name: string;
  family: string;
  summary: string; // one paragraph
  doc: string; // the whole docstring
  accepts: string[];
  requires: string;
  reference: string;
  options: OptionForm[];
}

export interface SceneForm {
  name: string;
  group: string;
  source: string;
  description: string;
  dt: number;
  method: string;
  max_iterations: number | null;
  seeded: boolean;
  options: OptionForm[];
}

/** The first message of a connection. */
export interface Welcome {
  type: "welcome";
  version: string;
  layout: number;
  mode: "live" | "replay";
  statuses: Record<string, string>; // by code: "0" -> "CONVERGED"
  methods: MethodForm[]; // "auto" first; empty in a replay
  scenes: SceneForm[]; // empty in a replay
}

export type Form =
  | "disc" | "segment" | "half_plane" | "box" | "sphere" | "capsule" | "cylinder" | "ellipsoid" | "mesh" | "plane";

/** See `perp.recording.Shape`. In the plane positions and vertices have two numbers. */
export interface Shape {
  form: Form;
  body: number; // -1: the world
  size: number[];
  position: number[];
  orientation: number[]; // w x y z
  color: [number, number, number] | null;
  name: string;
  mesh: number | null; // number in `meshes`: of a mesh, a segment or a half plane
}

export interface Mesh {
  vertices: number[][];
  faces: number[][];
}

export interface Grid {
  cells: number[];
  spacing: number;
  origin: number[];
  solid: number[] | null; // signed distance at the nodes [m], C order; null in space
}

/** A world was built: frames of an earlier one mean nothing any more. */
export interface SceneMessage {
  type: "scene";
  name: string;
  kind: "bodies" | "liquid";
  dimension: 2 | 3;
  bodies: number;
  dt: number;
  seed: number;
  options: Record<string, OptionValue>;
  shapes: Shape[];
  meshes: Mesh[];
  grid: Grid | null;
  low: number[]; // a box that the first frame lies in [m], for the camera
  high: number[];
}

/** One of the one or two methods that are at work. */
export interface Lane {
  method: string;
  options: Record<string, OptionValue>; // those that differ from the defaults
  tol: number | null;
  max_iterations: number | null;
}

export type Compare = "off" | "same_state" | "own_ways";

export interface State {
  type: "state";
  playing: boolean;
  speed: number | null; // simulated seconds a second; null: as fast as it goes
  compare: Compare;
  lanes: Lane[]; // one, or two side by side
  first: number; // places that can be gone back to
  last: number;
  suitable: string[] | null; // methods that take the last step's problem; null before the first
  can_save: boolean; // whether steps can be saved as problems
}

export interface Note {
  type: "note";
  level: "info" | "warning" | "error";
  text: string;
}

/** A file for the user to keep. */
export interface FileMessage {
  type: "file";
  name: string;
  base64: string;
}

/** The Python that reproduces a step. */
export interface Code {
  type: "code";
  text: string;
}

export type ServerMessage = Welcome | SceneMessage | State | Note | FileMessage | Code;

export type Command =
  | { type: "ack"; serial: number }
  | { type: "play" }
  | { type: "pause" }
  | { type: "step"; count?: number }
  | { type: "reset" }
  | { type: "speed"; factor: number | null }
  | { type: "build"; scene: string; options: Record<string, OptionValue>; seed: number }
  | { type: "method"; lane: number; name: string; options: Record<string, OptionValue>; tol: number | null; max_iterations: number | null }
  | { type: "compare"; mode: Compare }
  | { type: "seek"; place: number }
  | { type: "save"; format: "npz" | "fclib"; place: number; lane: number }
  | { type: "code"; place: number };
