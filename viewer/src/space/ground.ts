// Planes without an end: a grid of lines that fades into the page, and the shadow that bodies throw on it.

import { BufferAttribute, BufferGeometry, GLSL3, Group, Mesh, RawShaderMaterial, Quaternion, Vector3 } from "three";
import type { Shape } from "../messages";
import { type Look, SHADER_HEAD } from "./look";

/** How far the ground is drawn, in radii of the scene. */
const REACH = 7;

const VERTEX = `${SHADER_HEAD}
in vec2 position;
uniform vec3 middle, along, across;
uniform vec2 start;
uniform float reach;
out vec2 place;
out vec2 fromMiddle;

void main() {
  fromMiddle = position;
  vec2 onPlane = reach * position;
  place = start + onPlane;
  gl_Position = projection * vec4(middle + onPlane.x * along + onPlane.y * across, 1.0);
}`;

const FRAGMENT = `${SHADER_HEAD}
in vec2 place;
in vec2 fromMiddle;
uniform float spacing;
out vec4 shown;

/** Lines at whole numbers, where a pixel covers \`step_\` of them; fading where they would flicker. */
float lines(vec2 at, vec2 step_, float wide) {
  vec2 off = abs(fract(at - 0.5) - 0.5) / step_;
  vec2 drawn = clamp(wide + 0.5 - off, 0.0, 1.0) * clamp(1.4 - 2.8 * step_, 0.0, 1.0);
  return max(drawn.x, drawn.y);
}

void main() {
  vec2 at = place / spacing;
  vec2 step_ = fwidth(at) + 1e-6;
  float drawn = max(0.5 * lines(at, step_, 0.5 * ratio), lines(0.2 * at, 0.2 * step_, 0.6 * ratio));
  shown = vec4(mix(mix(ground, line, drawn), background, smoothstep(0.12, 0.95, length(fromMiddle))), 1.0);
}`;

/** 1, 2 or 5 times a power of ten [m], near to `length`. */
export function roundLength(length: number): number {
  const power = 10 ** Math.floor(Math.log10(length));
  const share = length / power;
  return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

export class Ground {
  readonly node = new Group();
  private readonly quad = new BufferGeometry();
  private readonly materials: RawShaderMaterial[] = [];
  private readonly normal = new Vector3();
  private height = 0;

  constructor(private readonly look: Look) {
    const corners = new Float32Array([-1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1, 1]);
    this.quad.setAttribute("position", new BufferAttribute(corners, 2));
  }

  /** Whether there is a plane that shadows fall on. */
  get hasShadow(): boolean {
    return this.materials.length > 0 && this.normal.z > 0.5;
  }

  /** Whether the camera sees the upper side of it. */
  isSeenFrom(eye: Vector3): boolean {
    return eye.dot(this.normal) > this.height;
  }

  /** `middle` and `radius` of the scene [m]: around it the planes are drawn. */
  build(planes: readonly Shape[], middle: Vector3, radius: number): void {
    this.clear();
    for (const plane of planes) this.add(plane, middle, radius);
  }

  private add(plane: Shape, middle: Vector3, radius: number): void {
    const [w = 1, x = 0, y = 0, z = 0] = plane.orientation;
    const turn = new Quaternion(x, y, z, w);
    const origin = new Vector3(...plane.position);
    const [along, across, normal] = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)];
    for (const axis of [along, across, normal]) axis.applyQuaternion(turn);
    const height = origin.dot(normal);
    const foot = middle.clone().addScaledVector(normal, height - middle.dot(normal));
    const offset = foot.clone().sub(origin);
    if (!this.hasShadow) {
      this.normal.copy(normal);
      this.height = height;
      this.look.uniforms.shadowPlane.value.set(normal.x, normal.y, normal.z, height);
    }
    const material = new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      polygonOffset: true, // shadows and contacts lie on it
      polygonOffsetFactor: 1,
      polygonOffsetUnits: 2,
      uniforms: {
        ...this.look.uniforms,
        middle: { value: foot },
        along: { value: along },
        across: { value: across },
        start: { value: [offset.dot(along), offset.dot(across)] },
        reach: { value: REACH * radius },
        spacing: { value: roundLength(radius / 4) },
      },
    });
    this.materials.push(material);
    const mesh = new Mesh(this.quad, material);
    mesh.frustumCulled = false;
    this.node.add(mesh);
  }

  private clear(): void {
    this.node.clear();
    for (const material of this.materials) material.dispose();
    this.materials.length = 0;
    this.normal.set(0, 0, 0);
  }

  dispose(): void {
    this.clear();
    this.quad.dispose();
  }
}
