// The unit geometries of forms. A shader brings them to size, each form in its own way (see `shape_material.ts`).

import { BufferAttribute, BufferGeometry } from "three";
import type { Mesh as MeshData } from "../messages";

/** Forms that are drawn with instances of one geometry; each mesh is a geometry of its own. */
export type DrawnForm = "box" | "round" | "capsule" | "cylinder" | "mesh";

/** Two faces that meet at less than this angle are one surface; its cosine. */
const CREASE = Math.cos((12 * Math.PI) / 180);

class Triangles {
  readonly position: number[] = [];
  readonly normal: number[] = [];
  /** Share along three edges of a triangle that is drawn as a line; 1 where there is none. */
  readonly corner: number[] = [];
  private index: number[] | null = null;

  vertex(position: readonly number[], normal: readonly number[]): number {
    this.position.push(...position);
    this.normal.push(...normal);
    return this.position.length / 3 - 1;
  }

  triangle(a: number, b: number, c: number): void {
    (this.index ??= []).push(a, b, c);
  }

  quad(a: number, b: number, c: number, d: number): void {
    this.triangle(a, b, c);
    this.triangle(a, c, d);
  }

  geometry(): BufferGeometry {
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(this.position), 3));
    geometry.setAttribute("normal", new BufferAttribute(new Float32Array(this.normal), 3));
    if (this.corner.length) geometry.setAttribute("corner", new BufferAttribute(new Float32Array(this.corner), 3));
    if (this.index) geometry.setIndex(this.index);
    return geometry;
  }
}

/** Half edges 1. */
function boxGeometry(): BufferGeometry {
  const built = new Triangles();
  for (let axis = 0; axis < 3; axis++) {
    for (const side of [-1, 1]) {
      const corner = (u: number, v: number): number => {
        const position = [0, 0, 0];
        position[axis] = side;
        position[(axis + 1) % 3] = u * side;
        position[(axis + 2) % 3] = v;
        const normal = [0, 0, 0];
        normal[axis] = side;
        return built.vertex(position, normal);
      };
      built.quad(corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1));
    }
  }
  return built.geometry();
}

/**
 * A sphere of radius 1 about the z axis; of a capsule, whose equator is there twice: the shader moves the halves apart
 * (normals with z > 0 upwards), and what is between them is its cylinder.
 */
function roundGeometry(rings: number, around: number): BufferGeometry {
  const built = new Triangles();
  const row = (latitude: number): number => {
    const first = built.position.length / 3;
    for (let place = 0; place <= around; place++) {
      const longitude = (2 * Math.PI * place) / around;
      const out = Math.cos(latitude);
      const direction = [out * Math.cos(longitude), out * Math.sin(longitude), Math.sin(latitude)];
      built.vertex(direction, direction);
    }
    return first;
  };
  const latitudes: number[] = [];
  for (let ring = 0; ring <= rings; ring++) latitudes.push(Math.PI * (ring / rings - 0.5));
  const middle = rings / 2;
  latitudes.splice(middle, 1, -1e-4, 1e-4);
  const rows = latitudes.map(row);
  for (let ring = 0; ring + 1 < rows.length; ring++) {
    for (let place = 0; place < around; place++) {
      const [low, high] = [rows[ring]! + place, rows[ring + 1]! + place];
      if (ring > 0) built.triangle(low, low + 1, high + 1);
      if (ring + 2 < rows.length) built.triangle(low, high + 1, high);
    }
  }
  return built.geometry();
}

/** Radius 1, half length 1 along z. */
function cylinderGeometry(around: number): BufferGeometry {
  const built = new Triangles();
  const direction = (place: number): [number, number] => {
    const angle = (2 * Math.PI * place) / around;
    return [Math.cos(angle), Math.sin(angle)];
  };
  for (let place = 0; place < around; place++) {
    const [a, b] = [direction(place), direction(place + 1)];
    const low = built.vertex([...a, -1], [...a, 0]);
    const next = built.vertex([...b, -1], [...b, 0]);
    built.quad(low, next, built.vertex([...b, 1], [...b, 0]), built.vertex([...a, 1], [...a, 0]));
  }
  for (const side of [-1, 1]) {
    const middle = built.vertex([0, 0, side], [0, 0, side]);
    for (let place = 0; place < around; place++) {
      const a = built.vertex([...direction(place), side], [0, 0, side]);
      const b = built.vertex([...direction(place + 1), side], [0, 0, side]);
      if (side > 0) built.triangle(middle, a, b);
      else built.triangle(middle, b, a);
    }
  }
  return built.geometry();
}

type Point = readonly [number, number, number];

function faceNormal(a: Point, b: Point, c: Point): [number, number, number] {
  const [ux, uy, uz] = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
  const [vx, vy, vz] = [c[0] - a[0], c[1] - a[1], c[2] - a[2]];
  const normal: [number, number, number] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
  const length = Math.hypot(...normal) || 1;
  return [normal[0] / length, normal[1] / length, normal[2] / length];
}

/** Adds flat faces; edges at which two of them meet at an angle are marked. Faces of more corners become fans. */
function addMesh(built: Triangles, mesh: MeshData): void {
  const faces = mesh.faces.flatMap((face) => face.slice(2).map((_, fan) => [face[0]!, face[fan + 1]!, face[fan + 2]!]));
  const at = (vertex: number): Point => mesh.vertices[vertex] as unknown as Point;
  const normals = faces.map((face) => faceNormal(at(face[0]!), at(face[1]!), at(face[2]!)));
  const key = (a: number, b: number): string => (a < b ? `${a} ${b}` : `${b} ${a}`);
  const meeting = new Map<string, number[]>();
  faces.forEach((face, number) => {
    for (let side = 0; side < 3; side++) {
      const edge = key(face[side]!, face[(side + 1) % 3]!);
      meeting.set(edge, [...(meeting.get(edge) ?? []), number]);
    }
  });
  const isLine = (a: number, b: number): boolean => {
    const [one, other] = meeting.get(key(a, b))!.map((face) => normals[face]!);
    return !other || one![0] * other[0] + one![1] * other[1] + one![2] * other[2] < CREASE;
  };
  faces.forEach((face, number) => {
    // The number of a corner is 0 all along the edge that it does not lie on; 1 everywhere where that edge is no line.
    const lines = [0, 1, 2].map((corner) => isLine(face[(corner + 1) % 3]!, face[(corner + 2) % 3]!));
    face.forEach((vertex, corner) => {
      built.vertex(at(vertex), normals[number]!);
      built.corner.push(...lines.map((line, other) => (!line || other === corner ? 1 : 0)));
    });
  });
}

/** All these meshes as one geometry; the attribute `copy` numbers them. */
export function meshesGeometry(meshes: readonly MeshData[]): BufferGeometry {
  const built = new Triangles();
  const copies: number[] = [];
  meshes.forEach((mesh, number) => {
    addMesh(built, mesh);
    while (copies.length < built.position.length / 3) copies.push(number);
  });
  const geometry = built.geometry();
  geometry.setAttribute("copy", new BufferAttribute(new Float32Array(copies), 1));
  return geometry;
}

export function formGeometry(form: Exclude<DrawnForm, "mesh">, count: number): BufferGeometry {
  const fine = count <= 1000; // many shapes are small in the picture
  if (form === "box") return boxGeometry();
  if (form === "cylinder") return cylinderGeometry(fine ? 36 : 20);
  return fine ? roundGeometry(form === "capsule" ? 10 : 20, form === "capsule" ? 18 : 32) : roundGeometry(8, 12);
}
