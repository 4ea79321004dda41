// What a picture of a world can do, in the plane (canvas) or in space (three.js).

import type { Frame } from "./layout";
import type { SceneMessage } from "./messages";

export type Selection = { kind: "body" | "contact" | "cell" | "particle"; index: number };

/** What bodies, contacts and liquids are coloured by. */
export interface Style {
  bodies: "own" | "island" | "speed";
  contacts: "state" | "residual" | "plain" | "hidden";
  forces: boolean; // arrows
  forceScale: number; // 1: the largest of the frame is a fair share of the picture
  liquid: "speed" | "pressure" | "separating" | "residual";
  particles: boolean;
  dark: boolean;
}

/** What a page begins with. */
export const DEFAULT_STYLE: Style = {
  bodies: "own",
  contacts: "state",
  forces: true,
  forceScale: 1,
  liquid: "speed",
  particles: true,
  dark: false,
};

/** A camera, as plain numbers, so that two views can share one. */
export type Camera = number[];

export interface View {
  readonly element: HTMLElement;
  setScene(scene: SceneMessage): void;
  /** Draws this frame; null clears the picture. */
  show(frame: Frame | null): void;
  setStyle(style: Style): void;
  select(selection: Selection | null): void;
  /** The camera keeps this body in its middle; null lets it stand. */
  follow(body: number | null): void;
  /** The whole scene comes into sight. */
  fit(): void;
  /** By keyboard: turns (space only) or shifts by these shares of the picture, and magnifies. */
  orbit(right: number, up: number): void;
  pan(right: number, up: number): void;
  zoom(factor: number): void;
  camera(): Camera;
  setCamera(camera: Camera): void;
  /** Called when the user picks something, or nothing; and when the user moves the camera. */
  onPick: (selection: Selection | null) => void;
  onCamera: () => void;
  /** The element has another size. */
  resize(): void;
  dispose(): void;
}
