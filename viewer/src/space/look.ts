// What all shaders of the picture share: the light, the size of a pixel, and the colours of the page.

import { Color, type IUniform, Matrix4, Vector3, Vector4 } from "three";

/** From the ground to the sun. */
export const SUN = new Vector3(0.42, -0.5, 0.76).normalize();

interface Theme {
  background: string;
  ground: string;
  line: string;
  ink: string;
  highlight: string;
  shadow: number;
}

const LIGHT: Theme = {
  background: "#f6f8fa",
  ground: "#e4e8ed",
  line: "#cdd4dc",
  ink: "#1f2328",
  highlight: "#00a878",
  shadow: 0.16,
};
const DARK: Theme = {
  background: "#15181d",
  ground: "#22272f",
  line: "#343b46",
  ink: "#e6e8eb",
  highlight: "#4dffc3",
  shadow: 0.42,
};

/** A colour as the screen takes it: shaders here work in sRGB throughout, and convert nothing. */
export function screenColour(css: string): Color {
  return new Color().setStyle(css, "");
}

/** Uniforms that every material holds by reference: changed once, they change everywhere. */
export class Look {
  readonly uniforms = {
    sun: { value: SUN },
    eye: { value: new Vector3() },
    /** Metres that a pixel covers at a distance of 1 m. */
    pixel: { value: 1 },
    /** Device pixels per CSS pixel. */
    ratio: { value: 1 },
    background: { value: new Color() },
    ground: { value: new Color() },
    line: { value: new Color() },
    ink: { value: new Color() },
    highlight: { value: new Color() },
    shadowStrength: { value: 0 },
    /** The plane that shadows fall on: its normal and its distance from the origin. */
    shadowPlane: { value: new Vector4(0, 0, 1, 0) },
    /** From the world to what the camera sees. */
    projection: { value: new Matrix4() },
  } satisfies Record<string, IUniform>;

  constructor() {
    this.setDark(false);
  }

  setDark(dark: boolean): void {
    const theme = dark ? DARK : LIGHT;
    for (const name of ["background", "ground", "line", "ink", "highlight"] as const) {
      this.uniforms[name].value.copy(screenColour(theme[name]));
    }
    this.uniforms.shadowStrength.value = theme.shadow;
  }
}

/** The head of every shader: `projection` takes the world straight to the picture. */
export const SHADER_HEAD = `
precision highp float;
uniform mat4 projection;
uniform vec3 sun, eye, background, ground, line, ink, highlight;
uniform float pixel, ratio, shadowStrength;
uniform vec4 shadowPlane;

/** Soft light from sun and sky, and a little from the eye, so that no side of a body is without form. */
float lightOn(vec3 normal, vec3 place) {
  float sunlight = max(dot(normal, sun), 0.0);
  float sky = 0.5 + 0.5 * normal.z;
  float facing = max(dot(normal, normalize(eye - place)), 0.0);
  return 0.44 + 0.34 * sunlight + 0.2 * sky + 0.13 * facing;
}
`;
