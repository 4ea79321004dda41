// Everything that is drawn of a scene in space, and its colours.

import { Scene, Vector3 } from "three";
import { type Frame, LIQUID } from "../layout";
import type { SceneMessage, Shape } from "../messages";
import type { Selection, Style } from "../view";
import { BodyLayers } from "./body_layers";
import { ContactMarks } from "./contact_marks";
import { ContactPaint } from "./contact_paint";
import { ForceArrows } from "./force_arrows";
import { Ground } from "./ground";
import { LiquidPoints } from "./liquid_points";
import { Look } from "./look";
import { SelectionRing } from "./selection_ring";

/** The floor that a tank stands on: so far below that it cuts no particle. */
function floorOf(scene: SceneMessage): Shape {
  const [position, orientation] = [[0, 0, scene.low[2]! - 0.4 * (scene.grid?.spacing ?? 0)], [1, 0, 0, 0]];
  return { form: "plane", body: -1, size: [], position, orientation, color: null, name: "", mesh: null };
}

export class Stage {
  readonly scene = new Scene();
  readonly look = new Look();
  readonly bodies = new BodyLayers(this.look);
  readonly liquid = new LiquidPoints(this.look);
  private readonly ground = new Ground(this.look);
  private readonly marks = new ContactMarks(this.look);
  private readonly arrows = new ForceArrows(this.look);
  private readonly ring = new SelectionRing(this.look);
  private readonly paint = new ContactPaint();
  private colours = new Uint8Array(0);

  constructor() {
    // In the order of drawing. The ground comes after the bodies: what they cover of it need not be drawn.
    const parts = [this.bodies, this.liquid, this.ground, this.marks, this.arrows, this.ring];
    this.scene.add(...parts.map((part) => part.node));
    this.scene.matrixWorldAutoUpdate = false; // nothing here has a matrix: shaders place all
    this.clear();
  }

  /** Returns the radius of the scene [m]. */
  build(scene: SceneMessage): number {
    const [low, high] = [new Vector3(...scene.low), new Vector3(...scene.high)];
    const radius = Math.max(0.5 * low.distanceTo(high), 1e-3);
    // Among very many bodies dots and arrows are smaller, or nothing else would be seen.
    const grain = radius * Math.min(1, Math.cbrt(150 / Math.max(scene.bodies, 1)));
    const planes = scene.shapes.filter((shape) => shape.form === "plane");
    this.bodies.build(scene.shapes, scene.meshes);
    this.liquid.build(scene.kind === "liquid" ? scene.grid : null);
    this.ground.build(scene.kind === "liquid" ? [floorOf(scene)] : planes, low.add(high).multiplyScalar(0.5), radius);
    this.marks.setScale(grain);
    this.arrows.setScale(grain);
    this.clear();
    return radius;
  }

  setDark(dark: boolean): void {
    this.look.setDark(dark);
    this.bodies.setDark(dark);
    this.liquid.setDark(dark);
  }

  clear(): void {
    this.bodies.hide();
    this.liquid.clear();
    this.marks.node.visible = false;
    this.arrows.node.visible = false;
    this.ring.hide();
  }

  show(frame: Frame, style: Style, selection: Selection | null): void {
    if (frame.kind === LIQUID) this.liquid.show(frame, style.particles);
    else this.showBodies(frame, style, selection);
    this.showRing(frame, selection);
  }

  private showBodies(frame: Frame, style: Style, selection: Selection | null): void {
    this.bodies.select(selection?.kind === "body" ? selection.index : null);
    this.bodies.show(frame, style);
    const marked = style.contacts !== "hidden";
    if (this.colours.length < 4 * frame.contactCount) this.colours = new Uint8Array(6 * frame.contactCount);
    if (marked || style.forces) this.paint.paint(frame, style, this.colours);
    this.marks.show(frame, marked, this.colours);
    this.arrows.show(frame, style.forces, style.forceScale, this.colours);
  }

  private showRing(frame: Frame, selection: Selection | null): void {
    if (selection?.kind === "contact") this.ring.show(frame.contacts, selection.index * frame.contactWidth);
    else if (selection?.kind === "particle") this.ring.show(frame.bodies, selection.index * frame.bodyWidth);
    else this.ring.hide();
  }

  /** Before a picture is taken from there. */
  seeFrom(eye: Vector3): void {
    this.look.uniforms.eye.value.copy(eye);
    this.bodies.castShadows(this.ground.hasShadow && this.ground.isSeenFrom(eye));
  }

  dispose(): void {
    for (const part of [this.bodies, this.liquid, this.ground, this.marks, this.arrows, this.ring]) part.dispose();
    this.scene.clear();
  }
}
