// What a painter gets: the canvas, the camera, and what to paint; and the colours that are no data.

import type { Frame } from "../layout";
import type { SceneMessage } from "../messages";
import type { Selection, Style } from "../view";
import type { PlaneCamera } from "./plane_camera";
import type { PlaneShapes } from "./plane_shapes";

export interface Picture {
  /** Scaled to CSS pixels. */
  readonly context: CanvasRenderingContext2D;
  /** Pixels of the screen in a CSS pixel. */
  readonly ratio: number;
  readonly camera: PlaneCamera;
  readonly scene: SceneMessage;
  readonly shapes: PlaneShapes;
  readonly frame: Frame;
  readonly style: Style;
  readonly selection: Selection | null;
  readonly palette: Palette;
}

export interface Palette {
  readonly paper: string;
  readonly ink: string;
  readonly muted: string;
  /** Inside of walls, their hatch, and their edge. */
  readonly solid: string;
  readonly hatch: string;
  readonly edge: string;
  /** Outlines of bodies. */
  readonly outline: string;
}

const LIGHT: Palette = {
  paper: "#fffffe",
  ink: "#1f2328",
  muted: "#667085",
  solid: "#eef1f5",
  hatch: "#b4bcc8",
  edge: "#5b616b",
  outline: "rgb(31 35 40 / 62%)",
};

const DARK: Palette = {
  paper: "#15181d",
  ink: "#e6e8eb",
  muted: "#98a2b3",
  solid: "#20252d",
  hatch: "#4b5462",
  edge: "#98a2b3",
  outline: "rgb(12 14 18 / 80%)",
};

export function paletteOf(dark: boolean): Palette {
  return dark ? DARK : LIGHT;
}
