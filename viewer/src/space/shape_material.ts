// How shapes are drawn: unit geometries are brought to size and place in the vertex shader, lit there, too (which is
// cheap where there is no graphics card), and their edges are drawn in the fragment shader.

import {
  BackSide, DoubleSide, GLSL3, GreaterDepth, KeepStencilOp, NotEqualStencilFunc, RawShaderMaterial, ReplaceStencilOp,
} from "three";
import type { DrawnForm } from "./form_geometry";
import { type Look, SHADER_HEAD } from "./look";
import { RECORD_SHADER } from "./records";

const TO_SIZE: Record<DrawnForm, string> = {
  box: `vec3 half_ = size + grow; vec3 local = position * half_; vec3 across = normal;`,
  round: `vec3 half_ = size + grow; vec3 local = position * half_; vec3 across = normalize(normal / half_);`,
  capsule: `vec3 half_ = size; vec3 local = position * (size.x + grow) + vec3(0.0, 0.0, sign(normal.z) * size.y);
  vec3 across = normal;`,
  cylinder: `vec3 half_ = size + grow; vec3 local = position * half_.xxy; vec3 across = normal;`,
  mesh: `vec3 half_ = size; vec3 local = position * (1.0 + grow / max(length(position), 1e-9)); vec3 across = normal;`,
};

const VERTEX = `
in vec3 position, normal;
flat out vec3 colour;
out vec3 onShape;
flat out vec3 reach;
out float light;
out float pixelHere;

vec3 turnedBy(vec4 turn, vec3 v) { return v + 2.0 * cross(turn.xyz, cross(turn.xyz, v) + turn.w * v); }
`;

/** How dark the surface is drawn here: 1 on an edge, 0 off it; and marks that show how round bodies turn. */
const LINES: Record<DrawnForm, string> = {
  box: `vec3 off = reach - abs(onShape);
  float edge = max(min(off.x, off.y), min(max(off.x, off.y), off.z)) / pixelHere;
  float small = min(reach.x, min(reach.y, reach.z)) / pixelHere;`,
  cylinder: `float edge = max(reach.y - abs(onShape.z), reach.x - length(onShape.xy)) / pixelHere;
  float small = min(reach.x, reach.y) / pixelHere;
  vec2 sides = clamp(onShape.xy / pixelHere, -1.0, 1.0);
  mark = 0.05 * sides.x * sides.y;`,
  round: `float edge = 10.0, small = 10.0;
  vec3 sides = clamp(onShape / pixelHere, -1.0, 1.0);
  mark = 0.05 * sides.x * sides.y * sides.z;`,
  capsule: `float edge = 10.0, small = 10.0;
  vec2 sides = clamp(onShape.xy / pixelHere, -1.0, 1.0);
  mark = 0.03 * sides.x * sides.y;`,
  mesh: `vec3 width = fwidth(corners) + 1e-6;
  vec3 away = corners / width;
  float edge = min(away.x, min(away.y, away.z));
  float small = 10.0;`,
};

function fragment(form: DrawnForm): string {
  return `${SHADER_HEAD}
flat in vec3 colour;
in vec3 onShape;
flat in vec3 reach;
in float light;
in float pixelHere;
${form === "mesh" ? "in vec3 corners;" : ""}
out vec4 shown;

void main() {
  float mark = 0.0;
  ${LINES[form]}
  float wide = ${form === "mesh" ? "0.5" : "0.9"} * ratio;
  float drawn = (1.0 - smoothstep(wide - 0.6, wide + 0.9, edge)) * clamp(0.1 * small / ratio - 0.1, 0.0, 1.0);
  vec3 lit = colour * (light + mark);
  shown = vec4(lit * (1.0 - 0.38 * drawn), 1.0);
}`;
}

function vertex(form: DrawnForm, defines: { outline?: boolean; shadow?: boolean }): string {
  const isSurface = !defines.outline && !defines.shadow;
  const corners = form === "mesh" && isSurface;
  const end = defines.shadow
    ? `float height = dot(world, shadowPlane.xyz) - shadowPlane.w;
  world -= sun * (height / dot(sun, shadowPlane.xyz));
  gl_Position = projection * vec4(world, 1.0);`
    : `gl_Position = projection * vec4(world, 1.0);
  colour = unpacked(placed.w);
  onShape = local;
  reach = half_;
  light = lightOn(turnedBy(turn, across), world);
  pixelHere = pixel * gl_Position.w;
  ${corners ? "corners = corner;" : ""}`;
  const grow = defines.outline ? "2.4 * ratio * pixel * (projection * vec4(placed.xyz, 1.0)).w" : "0.0";
  return `${SHADER_HEAD}${RECORD_SHADER}${VERTEX}${corners ? "in vec3 corner; out vec3 corners;" : ""}
void main() {
  int number = recordNumber();
  if (number >= recordCount) { // the last batch is not full
    gl_Position = vec4(0.0, 0.0, 2.0, 1.0);
    return;
  }
  vec4 placed = record(number, 0), turn = record(number, 1);
  vec3 size = record(number, 2).xyz;
  float grow = ${grow};
  ${TO_SIZE[form]}
  vec3 world = placed.xyz + turnedBy(turn, local);
  ${end}
}`;
}

/** The bodies themselves. */
export function shapeMaterial(form: DrawnForm, look: Look): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    uniforms: { ...look.uniforms },
    vertexShader: vertex(form, {}),
    fragmentShader: fragment(form),
  });
}

/** A hull a few pixels larger, of which only the back is drawn: what stands out around the body is its outline. */
export function outlineMaterial(form: DrawnForm, look: Look): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    uniforms: { ...look.uniforms },
    side: BackSide,
    vertexShader: vertex(form, { outline: true }),
    fragmentShader: `${SHADER_HEAD} out vec4 shown; void main() { shown = vec4(highlight, 1.0); }`,
  });
}

/** The chosen body shines through what is in front of it, and over itself. */
export function glowMaterial(form: DrawnForm, look: Look): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    uniforms: { ...look.uniforms },
    side: BackSide,
    transparent: true,
    depthWrite: false,
    depthFunc: GreaterDepth,
    vertexShader: vertex(form, {}),
    fragmentShader: `${SHADER_HEAD} out vec4 shown; void main() { shown = vec4(highlight, 0.38); }`,
  });
}

/** Shapes flattened onto the ground along the light. The stencil lets each pixel darken once only. */
export function shadowMaterial(form: DrawnForm, look: Look): RawShaderMaterial {
  return new RawShaderMaterial({
    glslVersion: GLSL3,
    uniforms: { ...look.uniforms },
    side: DoubleSide,
    transparent: true,
    depthWrite: false,
    stencilWrite: true,
    stencilRef: 1,
    stencilFunc: NotEqualStencilFunc,
    stencilFail: KeepStencilOp,
    stencilZFail: KeepStencilOp,
    stencilZPass: ReplaceStencilOp,
    vertexShader: vertex(form, { shadow: true }),
    fragmentShader: `${SHADER_HEAD} out vec4 shown; void main() { shown = vec4(0.05, 0.07, 0.1, shadowStrength); }`,
  });
}
