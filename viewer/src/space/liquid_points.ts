// The particles of a liquid as small lit balls, coloured by speed; and the tank that they are in.

import { BufferAttribute, BufferGeometry, Color, GLSL3, Group, LineSegments, Points, RawShaderMaterial } from "three";
import { speedColour } from "../colours";
import type { Frame } from "../layout";
import type { Grid } from "../messages";
import { GrowingBuffer } from "./growing_buffer";
import { type Look, SHADER_HEAD } from "./look";

/** Of a ball, in cells: particles overlap a little, and close the surface. */
const RADIUS = 0.36;
const STOPS = 5;

const VERTEX = `${SHADER_HEAD}
in vec4 position; // and speed
uniform float radius, fastest;
uniform vec3 ramp[${STOPS}];
out vec3 colour;

void main() {
  gl_Position = projection * vec4(position.xyz, 1.0);
  gl_PointSize = max(2.0 * radius / (pixel * gl_Position.w), 1.5);
  float at = clamp(position.w / fastest, 0.0, 1.0) * ${(STOPS - 1).toFixed(1)};
  int first = min(int(at), ${STOPS - 2});
  colour = mix(ramp[first], ramp[first + 1], at - float(first));
}`;

const FRAGMENT = `${SHADER_HEAD}
in vec3 colour;
out vec4 shown;

void main() {
  vec2 at = 2.0 * gl_PointCoord - 1.0;
  float off = dot(at, at);
  if (off > 1.0) discard;
  float facing = sqrt(1.0 - off);
  float light = 0.62 + 0.3 * facing + 0.26 * dot(at, vec2(0.3, -0.6));
  float gleam = pow(max(dot(vec3(at.x, -at.y, facing), vec3(0.26, 0.52, 0.81)), 0.0), 24.0);
  shown = vec4(colour * light + 0.22 * gleam, 1.0);
}`;

const TANK_VERTEX = `${SHADER_HEAD}
in vec3 position;
void main() { gl_Position = projection * vec4(position, 1.0); }`;

const TANK_FRAGMENT = `${SHADER_HEAD}
out vec4 shown;
void main() { shown = vec4(mix(background, ink, 0.55), 1.0); }`;

/** The twelve edges of a box from `low` to `high`: two points each. */
export function boxEdges(low: readonly number[], high: readonly number[]): number[] {
  const points: number[] = [];
  for (let axis = 0; axis < 3; axis++) {
    const [second, third] = [(axis + 1) % 3, (axis + 2) % 3];
    for (const b of [low, high]) {
      for (const c of [low, high]) {
        for (const a of [low, high]) {
          const point = [0, 0, 0];
          point[axis] = a[axis]!;
          point[second] = b[second]!;
          point[third] = c[third]!;
          points.push(...point);
        }
      }
    }
  }
  return points;
}

export class LiquidPoints {
  readonly node = new Group();
  private readonly geometry = new BufferGeometry();
  private readonly tankGeometry = new BufferGeometry();
  private readonly rows = new GrowingBuffer(this.geometry, "position", 4, (length) => new Float32Array(length));
  private readonly radius = { value: 0.01 };
  private readonly fastest = { value: 1e-9 };
  private readonly ramp = { value: Array.from({ length: STOPS }, () => new Color()) };
  private readonly material: RawShaderMaterial;
  private readonly tankMaterial: RawShaderMaterial;
  private readonly points: Points;

  constructor(look: Look) {
    this.material = new RawShaderMaterial({
      glslVersion: GLSL3,
      uniforms: { ...look.uniforms, radius: this.radius, fastest: this.fastest, ramp: this.ramp },
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
    });
    this.tankMaterial = new RawShaderMaterial({
      glslVersion: GLSL3,
      uniforms: look.uniforms,
      vertexShader: TANK_VERTEX,
      fragmentShader: TANK_FRAGMENT,
    });
    this.points = new Points(this.geometry, this.material);
    const tank = new LineSegments(this.tankGeometry, this.tankMaterial);
    for (const part of [this.points, tank]) {
      part.frustumCulled = false;
      this.node.add(part);
    }
    this.node.visible = false;
    this.setDark(false);
  }

  /** Radius of a particle [m]. */
  get particleRadius(): number {
    return this.radius.value;
  }

  setDark(dark: boolean): void {
    this.ramp.value.forEach((stop, place) => stop.setRGB(...speedColour(place / (STOPS - 1), dark), ""));
  }

  build(grid: Grid | null): void {
    this.node.visible = grid !== null;
    this.fastest.value = 1e-9;
    this.clear();
    if (!grid) return;
    this.radius.value = RADIUS * grid.spacing;
    const high = grid.origin.map((low, axis) => low + grid.spacing * grid.cells[axis]!);
    this.tankGeometry.setAttribute("position", new BufferAttribute(new Float32Array(boxEdges(grid.origin, high)), 3));
  }

  /** No particles; the tank stays. */
  clear(): void {
    this.geometry.setDrawRange(0, 0);
  }

  show(frame: Frame, visible: boolean): void {
    this.points.visible = visible;
    const count = frame.bodyCount;
    this.rows.reserve(count);
    this.rows.array.set(frame.bodies);
    this.rows.changed(count);
    this.geometry.setDrawRange(0, count);
    // Colours stay comparable over time: the scale only grows, as the fastest particle of the run does.
    for (let k = 0; k < count; k++) this.fastest.value = Math.max(this.fastest.value, frame.bodies[4 * k + 3]! || 0);
  }

  dispose(): void {
    for (const part of [this.geometry, this.tankGeometry, this.material, this.tankMaterial]) part.dispose();
  }
}
