// A signed distance at the nodes of a grid, as polygons: where it is negative, and the line where it is zero.

export interface NodeField {
  /** Cells along x and y; there is one node more along each. */
  readonly cells: readonly [number, number];
  readonly spacing: number;
  readonly origin: readonly [number, number];
  /** At the nodes, x slowest; negative inside. */
  readonly values: ArrayLike<number>;
}

/** Flat lists of x, y [m]. */
export interface Contours {
  /** Closed polygons that cover the inside together, without overlap. */
  readonly inside: number[][];
  /** Chains of points along the edge; a closed one ends where it began. */
  readonly edges: number[][];
}

/** Corners of a cell, counter-clockwise from the lower left one. */
const CORNERS = [[0, 0], [1, 0], [1, 1], [0, 1]] as const;

export function traceContours(field: NodeField): Contours {
  const [across, along] = field.cells;
  const inside: number[][] = [];
  const pieces: Piece[] = [];
  for (let j = 0; j < along; j++) {
    let runBegin = -1;
    for (let i = 0; i <= across; i++) {
      const count = i < across ? insideCorners(field, i, j) : 0;
      if (count === 4) {
        if (runBegin < 0) runBegin = i;
        continue;
      }
      if (runBegin >= 0) inside.push(rectangle(field, runBegin, i, j));
      runBegin = -1;
      if (count > 0) cutCell(field, i, j, inside, pieces);
    }
  }
  return { inside, edges: joinPieces(pieces) };
}

function valueAt(field: NodeField, i: number, j: number): number {
  return field.values[i * (field.cells[1] + 1) + j]!;
}

function insideCorners(field: NodeField, i: number, j: number): number {
  return CORNERS.reduce((sum, [right, up]) => sum + +(valueAt(field, i + right, j + up) < 0), 0);
}

function rectangle(field: NodeField, begin: number, end: number, j: number): number[] {
  const { origin, spacing } = field;
  const [left, right] = [origin[0] + begin * spacing, origin[0] + end * spacing];
  const [bottom, top] = [origin[1] + j * spacing, origin[1] + (j + 1) * spacing];
  return [left, bottom, right, bottom, right, top, left, top];
}

/** A straight piece of the edge within a cell, between two sides of it; the inside is at its left. */
interface Piece {
  readonly from: number;
  readonly to: number;
  readonly points: readonly [number, number, number, number];
}

/** Where the edge crosses a side of a cell; the two cells of a side give it the same number. */
interface Crossing {
  readonly side: number;
  readonly x: number;
  readonly y: number;
}

/** The part of a cell that is inside, by walking around it; two opposite corners are taken as one part. */
function cutCell(field: NodeField, i: number, j: number, inside: number[][], pieces: Piece[]): void {
  const polygon: number[] = [];
  let leaving: Crossing | null = null;
  let firstEntering: Crossing | null = null;
  for (let corner = 0; corner < 4; corner++) {
    const [[aRight, aUp], [bRight, bUp]] = [CORNERS[corner]!, CORNERS[(corner + 1) % 4]!];
    const [valueA, valueB] = [valueAt(field, i + aRight, j + aUp), valueAt(field, i + bRight, j + bUp)];
    if (valueA < 0) polygon.push(...place(field, i + aRight, j + aUp));
    if (valueA < 0 === valueB < 0) continue;
    const share = valueA / (valueA - valueB);
    const [x, y] = place(field, i + aRight + share * (bRight - aRight), j + aUp + share * (bUp - aUp));
    const node = (i + Math.min(aRight, bRight)) * (field.cells[1] + 1) + j + Math.min(aUp, bUp);
    const crossing = { side: 2 * node + (corner % 2), x, y };
    polygon.push(x, y);
    if (valueA < 0) {
      leaving = crossing;
    } else if (leaving) {
      pieces.push(piece(leaving, crossing));
      leaving = null;
    } else {
      firstEntering = crossing;
    }
  }
  if (leaving && firstEntering) pieces.push(piece(leaving, firstEntering));
  inside.push(polygon);
}

function piece(from: Crossing, to: Crossing): Piece {
  return { from: from.side, to: to.side, points: [from.x, from.y, to.x, to.y] };
}

function place(field: NodeField, i: number, j: number): [number, number] {
  return [field.origin[0] + i * field.spacing, field.origin[1] + j * field.spacing];
}

/** Pieces that end where another begins become one chain: only so a line has no gaps at its corners. */
function joinPieces(pieces: Piece[]): number[][] {
  const beginning = new Map(pieces.map((piece) => [piece.from, piece]));
  const ending = new Map(pieces.map((piece) => [piece.to, piece]));
  const used = new Set<Piece>();
  const chains: number[][] = [];
  for (const piece of pieces) {
    if (used.has(piece)) continue;
    let first = piece;
    let before = ending.get(piece.from);
    for (; before && before !== piece; before = ending.get(before.from)) first = before;
    const chain: number[] = [first.points[0], first.points[1]];
    for (let next: Piece | undefined = first; next && !used.has(next); next = beginning.get(next.to)) {
      used.add(next);
      chain.push(next.points[2], next.points[3]);
    }
    chains.push(chain);
  }
  return chains;
}
