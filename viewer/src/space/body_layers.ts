// The bodies of a scene: their surfaces, their shadow on the ground, and outline and glow of the one that is chosen.

import { Group } from "three";
import { bodyColour, islandColour, type Rgb, speedColour } from "../colours";
import type { Frame } from "../layout";
import type { Mesh as MeshData, Shape } from "../messages";
import type { Style } from "../view";
import { BodySpeeds } from "../body_speeds";
import { ColourList, ColourRamp, writeColour } from "./colour_table";
import type { Look } from "./look";
import { GroupLayer, groupShapes, type ShapeGroup } from "./shape_groups";
import { glowMaterial, outlineMaterial, shadowMaterial, shapeMaterial } from "./shape_material";

export class BodyLayers {
  readonly node = new Group();
  /** For picking. */
  groups: ShapeGroup[] = [];
  meshes: readonly MeshData[] = [];
  private shapes: readonly Shape[] = [];
  private chosen: ShapeGroup[] = [];
  private selected: number | null = null;
  private readonly surfaces: GroupLayer;
  private readonly shadows: GroupLayer;
  private readonly outlines: GroupLayer;
  private readonly glows: GroupLayer;
  private readonly speeds = new BodySpeeds();
  private own: (shape: Shape) => Rgb = (shape) => bodyColour(shape.body, shape.color, false);
  private islands = new ColourList((island) => islandColour(island, false));
  private ramp = new ColourRamp((share) => speedColour(share, false));
  /** What the bodies were painted for last: their own colours need painting once only. */
  private painted: Style["bodies"] | null = null;

  constructor(look: Look) {
    this.surfaces = new GroupLayer((form) => shapeMaterial(form, look));
    this.outlines = new GroupLayer((form) => outlineMaterial(form, look));
    this.shadows = new GroupLayer((form) => shadowMaterial(form, look));
    this.glows = new GroupLayer((form) => glowMaterial(form, look));
    this.node.add(...this.layers().map((layer) => layer.node));
    this.node.visible = false;
  }

  build(shapes: readonly Shape[], meshes: readonly MeshData[]): void {
    this.clear();
    this.shapes = shapes;
    this.meshes = meshes;
    this.groups = groupShapes(shapes, meshes);
    this.surfaces.fill(this.groups);
    this.shadows.fill(this.groups);
    this.node.visible = false;
  }

  setDark(dark: boolean): void {
    this.own = (shape) => bodyColour(shape.body, shape.color, dark);
    this.islands = new ColourList((island) => islandColour(island, dark));
    this.ramp = new ColourRamp((share) => speedColour(share, dark));
    this.painted = null;
  }

  castShadows(cast: boolean): void {
    this.shadows.node.visible = cast;
  }

  show(frame: Frame, style: Style): void {
    this.node.visible = true;
    this.speeds.see(frame);
    for (const group of this.groups) group.move(frame.bodies);
    for (const group of this.chosen) group.move(frame.bodies);
    if (style.bodies === "own" && this.painted === "own") return;
    this.painted = style.bodies;
    const colourOf = this.colouring(frame, style.bodies);
    for (const group of this.groups) group.paint(colourOf);
  }

  hide(): void {
    this.node.visible = false;
  }

  select(body: number | null): void {
    if (body === this.selected) return;
    this.selected = body;
    for (const group of this.chosen) group.dispose();
    const shapes = body === null ? [] : this.shapes.filter((shape) => shape.body === body);
    this.chosen = groupShapes(shapes, this.meshes);
    this.outlines.fill(this.chosen);
    this.glows.fill(this.chosen);
  }

  private colouring(frame: Frame, by: Style["bodies"]): (shape: Shape, into: Uint8Array, at: number) => void {
    if (by === "own") return (shape, into, at) => writeColour(this.own(shape), into, at);
    const { values, fastest } = this.speeds;
    return (shape, into, at) => {
      if (shape.body < 0) writeColour(this.own(shape), into, at);
      else if (by === "island") this.islands.write(frame.island(shape.body), into, at);
      else this.ramp.write(fastest > 0 ? values[shape.body]! / fastest : 0, into, at);
    };
  }

  /** In the order of drawing. */
  private layers(): GroupLayer[] {
    return [this.surfaces, this.outlines, this.shadows, this.glows];
  }

  private clear(): void {
    for (const group of [...this.groups, ...this.chosen]) group.dispose();
    this.groups = [];
    this.chosen = [];
    this.selected = null;
    this.painted = null;
    this.speeds.clear();
    for (const layer of this.layers()) layer.fill([]);
  }

  dispose(): void {
    this.clear();
    for (const layer of this.layers()) layer.dispose();
  }
}
