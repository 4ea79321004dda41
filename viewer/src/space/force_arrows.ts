// Contact impulses as arrows, on the second body of each contact. They are seen through bodies, paler.

import {
  BufferAttribute, BufferGeometry, DoubleSide, GLSL3, GreaterDepth, Group, Mesh, RawShaderMaterial,
} from "three";
import type { Frame } from "../layout";
import { ARROW_NUMBERS, writeArrows } from "./arrow_vectors";
import { type Look, SHADER_HEAD } from "./look";
import { batchGeometry, RECORD_SHADER, Records } from "./records";

const TEXELS = ARROW_NUMBERS / 4;
const BATCH = 512;
/** Of more arrows than this, those inside of bodies cannot be told apart: they are not drawn. */
const CROWD = 3000;

const VERTEX = `${SHADER_HEAD}${RECORD_SHADER}
in vec2 position; // across, in shafts; along: 0 foot, 1 neck, 2 tip
uniform float thickness;
out vec3 colour;
out float across;

void main() {
  int number = recordNumber();
  if (number >= recordCount) { // the last batch is not full
    gl_Position = vec4(0.0, 0.0, 2.0, 1.0);
    return;
  }
  vec4 placed = record(number, 0);
  vec3 foot = placed.xyz, reach = record(number, 1).xyz;
  float length_ = length(reach);
  vec3 ahead = reach / max(length_, 1e-30);
  vec3 side = cross(ahead, eye - foot);
  side /= max(length(side), 1e-30);
  float pixelHere = ratio * pixel * (projection * vec4(foot, 1.0)).w;
  float wide = min(clamp(thickness, 1.1 * pixelHere, 4.0 * pixelHere), 0.16 * length_);
  float head = min(7.0 * wide, 0.5 * length_);
  float along = position.y < 1.5 ? position.y * (length_ - head) : length_;
  gl_Position = projection * vec4(foot + along * ahead + wide * position.x * side, 1.0);
  across = clamp(position.x, -1.0, 1.0);
  colour = unpacked(placed.w);
}`;

const FRAGMENT = `${SHADER_HEAD}
in vec3 colour;
in float across;
uniform float strength;
out vec4 shown;
void main() { shown = vec4(colour * (1.02 - 0.22 * across * across + 0.1 * across), strength); }`;

/** A flat arrow, which the shader turns towards the eye and shades as if it were round: thousands of them are cheap. */
function arrowGeometry(): BufferGeometry {
  const shaft = [-1, 0, 1, 0, 1, 1, -1, 1];
  const head = [-2.7, 1, 2.7, 1, 0, 2];
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array([...shaft, ...head]), 2));
  geometry.setIndex([0, 1, 2, 0, 2, 3, 4, 5, 6]);
  return geometry;
}

export class ForceArrows {
  readonly node = new Group();
  private readonly geometry = batchGeometry(arrowGeometry(), BATCH, 0);
  private readonly records = new Records(TEXELS, 0, BATCH);
  private readonly thickness = { value: 0.01 };
  private readonly materials: RawShaderMaterial[];
  private readonly hidden: Mesh;
  private longest = 1;

  constructor(look: Look) {
    const shared = { ...look.uniforms, ...this.records.uniforms, thickness: this.thickness };
    const make = (strength: number): RawShaderMaterial =>
      new RawShaderMaterial({
        glslVersion: GLSL3,
        uniforms: { ...shared, strength: { value: strength } },
        vertexShader: VERTEX,
        fragmentShader: FRAGMENT,
        transparent: strength < 1,
        depthWrite: strength === 1,
        side: DoubleSide,
      });
    const [seen, hidden] = [make(1), make(0.42)];
    hidden.depthFunc = GreaterDepth;
    this.materials = [seen, hidden];
    this.hidden = new Mesh(this.geometry, hidden);
    for (const mesh of [new Mesh(this.geometry, seen), this.hidden]) {
      mesh.frustumCulled = false;
      this.node.add(mesh);
    }
    this.node.visible = false;
  }

  /** The size of what is to be seen in one look [m]. */
  setScale(size: number): void {
    this.longest = 0.32 * size;
    this.thickness.value = 0.0065 * size;
  }

  /** `colours`: four bytes a contact. */
  show(frame: Frame, visible: boolean, scale: number, colours: Uint8Array): void {
    this.node.visible = visible && frame.contactCount > 0;
    if (!this.node.visible) return;
    this.records.resize(frame.contactCount);
    const count = writeArrows(frame, scale * this.longest, this.records.numbers, colours);
    this.records.resize(count);
    this.records.changed();
    this.geometry.instanceCount = Math.ceil(count / BATCH);
    this.node.visible = count > 0;
    this.hidden.visible = count <= CROWD;
  }

  dispose(): void {
    this.geometry.dispose();
    this.records.dispose();
    for (const material of this.materials) material.dispose();
  }
}
