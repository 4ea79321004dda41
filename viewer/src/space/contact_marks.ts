// Contacts as dots. They lie between bodies: what is hidden shines through, faintly.

import { BufferGeometry, GLSL3, GreaterDepth, Group, LessEqualDepth, Points, RawShaderMaterial } from "three";
import type { Frame } from "../layout";
import { GrowingBuffer } from "./growing_buffer";
import { type Look, SHADER_HEAD } from "./look";

/** Of a dot [CSS pixels]: its radius follows the scene between these. */
const LEAST = 2.5;
const MOST = 7;

const VERTEX = `${SHADER_HEAD}
in vec3 position;
in vec4 tint;
uniform float radius;
out vec3 colour;
out float dotPixels;

void main() {
  vec3 nearer = position + radius * normalize(eye - position);
  gl_Position = projection * vec4(nearer, 1.0);
  dotPixels = clamp(radius / (pixel * gl_Position.w), ${LEAST.toFixed(1)} * ratio, ${MOST.toFixed(1)} * ratio);
  gl_PointSize = 2.0 * dotPixels + 2.0;
  colour = tint.rgb;
}`;

const FRAGMENT = `${SHADER_HEAD}
in vec3 colour;
in float dotPixels;
uniform float strength;
out vec4 shown;

void main() {
  vec2 at = 2.0 * gl_PointCoord - 1.0;
  float off = length(at) * (dotPixels + 1.0);
  float inside = clamp(dotPixels + 0.5 - off, 0.0, 1.0);
  if (inside <= 0.0) discard;
  float rim = smoothstep(dotPixels - 1.6 * ratio, dotPixels - 0.6 * ratio, off);
  float light = 0.92 + 0.22 * dot(at, vec2(-0.4, -0.6));
  shown = vec4(mix(colour * light, background, 0.75 * rim), strength * inside);
}`;

export class ContactMarks {
  readonly node = new Group();
  private readonly geometry = new BufferGeometry();
  private readonly place = new GrowingBuffer(this.geometry, "position", 3, (length) => new Float32Array(length));
  private readonly tint = new GrowingBuffer(this.geometry, "tint", 4, (length) => new Uint8Array(length));
  private readonly radius = { value: 0.01 };
  /** Of dots behind bodies: of very many each one is fainter. */
  private readonly faintness = { value: 0 };
  private readonly materials: RawShaderMaterial[];

  constructor(look: Look) {
    const make = (strength: { value: number }): RawShaderMaterial =>
      new RawShaderMaterial({
        glslVersion: GLSL3,
        uniforms: { ...look.uniforms, radius: this.radius, strength },
        vertexShader: VERTEX,
        fragmentShader: FRAGMENT,
        transparent: true,
        depthWrite: false,
      });
    const [hidden, seen] = [make(this.faintness), make({ value: 1 })];
    hidden.depthFunc = GreaterDepth;
    seen.depthFunc = LessEqualDepth;
    this.materials = [hidden, seen];
    for (const material of this.materials) {
      const points = new Points(this.geometry, material);
      points.frustumCulled = false;
      this.node.add(points);
    }
    this.geometry.setDrawRange(0, 0);
  }

  /** The size of what is to be seen in one look [m]. */
  setScale(size: number): void {
    this.radius.value = 0.009 * size;
  }

  /** `colours`: four bytes a contact. */
  show(frame: Frame, visible: boolean, colours: Uint8Array): void {
    const count = frame.contactCount;
    this.node.visible = visible && count > 0;
    if (!this.node.visible) return;
    this.faintness.value = 0.3 * Math.min(Math.max(1500 / count, 0.25), 1);
    this.place.reserve(count);
    this.tint.reserve(count);
    const [from, to, width] = [frame.contacts, this.place.array, frame.contactWidth];
    for (let k = 0; k < count; k++) {
      to[3 * k] = from[k * width]!;
      to[3 * k + 1] = from[k * width + 1]!;
      to[3 * k + 2] = from[k * width + 2]!;
    }
    this.tint.array.set(colours.subarray(0, 4 * count));
    this.place.changed(count);
    this.tint.changed(count);
    this.geometry.setDrawRange(0, count);
  }

  dispose(): void {
    this.geometry.dispose();
    for (const material of this.materials) material.dispose();
  }
}
