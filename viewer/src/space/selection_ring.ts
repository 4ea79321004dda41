// A ring around a contact or a particle that was picked, drawn over everything.

import { BufferAttribute, BufferGeometry, GLSL3, Points, RawShaderMaterial } from "three";
import { type Look, SHADER_HEAD } from "./look";

const VERTEX = `${SHADER_HEAD}
in vec3 position;
out float dotPixels;

void main() {
  gl_Position = projection * vec4(position, 1.0);
  dotPixels = 11.0 * ratio;
  gl_PointSize = 2.0 * dotPixels + 2.0;
}`;

const FRAGMENT = `${SHADER_HEAD}
in float dotPixels;
out vec4 shown;

void main() {
  float off = length(2.0 * gl_PointCoord - 1.0) * (dotPixels + 1.0);
  float wide = clamp(dotPixels + 0.5 - off, 0.0, 1.0) * clamp(off - dotPixels + 4.0 * ratio, 0.0, 1.0);
  if (wide <= 0.0) discard;
  float core = clamp(dotPixels - 0.5 * ratio - off, 0.0, 1.0) * clamp(off - dotPixels + 3.0 * ratio, 0.0, 1.0);
  shown = vec4(mix(background, highlight, core), wide);
}`;

export class SelectionRing {
  readonly node: Points;
  private readonly geometry = new BufferGeometry();
  private readonly place = new BufferAttribute(new Float32Array(3), 3);
  private readonly material: RawShaderMaterial;

  constructor(look: Look) {
    this.geometry.setAttribute("position", this.place);
    this.material = new RawShaderMaterial({
      glslVersion: GLSL3,
      uniforms: look.uniforms,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthTest: false,
      depthWrite: false,
    });
    this.node = new Points(this.geometry, this.material);
    this.node.frustumCulled = false;
    this.hide();
  }

  /** Around the point whose three numbers begin at `at` of `rows`; nowhere if they are not there. */
  show(rows: Float32Array, at: number): void {
    this.node.visible = at >= 0 && at + 3 <= rows.length;
    if (!this.node.visible) return;
    this.place.setXYZ(0, rows[at]!, rows[at + 1]!, rows[at + 2]!);
    this.place.needsUpdate = true;
  }

  hide(): void {
    this.node.visible = false;
  }

  dispose(): void {
    this.geometry.dispose();
    this.material.dispose();
  }
}
