// All shapes of a scene: one draw call a form, whatever the number of bodies.

import { type BufferGeometry, Group, Mesh, type RawShaderMaterial } from "three";
import type { Mesh as MeshData, Shape } from "../messages";
import { type DrawnForm, formGeometry, meshesGeometry } from "./form_geometry";
import { composePoses, type LocalPoses, SHAPE_NUMBERS } from "./poses";
import { batchGeometry, batchSize, packColour, Records } from "./records";

const TEXELS = SHAPE_NUMBERS / 4;
const COLOUR_AT = 3;
const SIZE_AT = 8;

/** What is drawn in which way; planes are drawn elsewhere. */
function drawnForm(shape: Shape): DrawnForm | null {
  switch (shape.form) {
    case "box":
    case "capsule":
    case "cylinder":
      return shape.form;
    case "mesh":
      return shape.mesh === null ? null : "mesh";
    case "sphere":
    case "ellipsoid":
      return "round";
    default:
      return null;
  }
}

/** Three numbers that the shader of the form takes (see `TO_SIZE`). */
function drawnSize(shape: Shape): [number, number, number] {
  const [a = 1, b = a, c = b] = shape.size;
  return shape.form === "sphere" ? [a, a, a] : [a, b, c];
}

/** Shapes of one form. */
export class ShapeGroup {
  readonly records: Records;
  private readonly local: LocalPoses;
  private readonly geometry: BufferGeometry;
  private readonly colour = new Uint8Array(3);

  constructor(
    readonly form: DrawnForm,
    readonly shapes: readonly Shape[],
    meshes: readonly MeshData[],
  ) {
    const count = shapes.length;
    this.local = {
      body: Int32Array.from(shapes, (shape) => shape.body),
      position: Float32Array.from(shapes.flatMap((shape) => shape.position)),
      orientation: Float32Array.from(shapes.flatMap((shape) => shape.orientation)),
    };
    if (form === "mesh") {
      this.geometry = meshesGeometry(shapes.map((shape) => meshes[shape.mesh!]!)); // one batch holds them all
      this.records = new Records(TEXELS, count, count);
    } else {
      const unit = formGeometry(form, count);
      const batch = batchSize(unit, count);
      this.geometry = batchGeometry(unit, batch, count);
      this.records = new Records(TEXELS, count, batch);
    }
    shapes.forEach((shape, place) => this.numbers.set(drawnSize(shape), place * SHAPE_NUMBERS + SIZE_AT));
  }

  /** The records of the shapes, with where they are in the world. */
  get numbers(): Float32Array {
    return this.records.numbers;
  }

  mesh(material: RawShaderMaterial): Mesh {
    Object.assign(material.uniforms, this.records.uniforms);
    const mesh = new Mesh(this.geometry, material);
    mesh.frustumCulled = false; // where the shapes are only the shader knows
    return mesh;
  }

  move(bodies: Float32Array): void {
    composePoses(this.local, bodies, this.numbers);
    this.records.changed();
  }

  /** `colourOf` writes three bytes. */
  paint(colourOf: (shape: Shape, into: Uint8Array, at: number) => void): void {
    this.shapes.forEach((shape, place) => {
      colourOf(shape, this.colour, 0);
      this.numbers[place * SHAPE_NUMBERS + COLOUR_AT] = packColour(this.colour, 0);
    });
    this.records.changed();
  }

  dispose(): void {
    this.geometry.dispose();
    this.records.dispose();
  }
}

/** The groups of these shapes, one a form. */
export function groupShapes(shapes: readonly Shape[], meshes: readonly MeshData[]): ShapeGroup[] {
  const members = new Map<DrawnForm, Shape[]>();
  for (const shape of shapes) {
    const form = drawnForm(shape);
    if (!form) continue;
    const alike = members.get(form);
    if (alike) alike.push(shape);
    else members.set(form, [shape]);
  }
  return [...members].map(([form, alike]) => new ShapeGroup(form, alike, meshes));
}

/** Meshes of groups with one kind of material, under one node. Materials are kept: making shaders takes long. */
export class GroupLayer {
  readonly node = new Group();
  private readonly materials = new Map<DrawnForm, RawShaderMaterial>();

  constructor(private readonly make: (form: DrawnForm) => RawShaderMaterial) {}

  fill(groups: readonly ShapeGroup[]): void {
    this.node.clear();
    for (const group of groups) {
      if (!this.materials.has(group.form)) this.materials.set(group.form, this.make(group.form));
      this.node.add(group.mesh(this.materials.get(group.form)!));
    }
  }

  dispose(): void {
    this.node.clear();
    for (const material of this.materials.values()) material.dispose();
    this.materials.clear();
  }
}
