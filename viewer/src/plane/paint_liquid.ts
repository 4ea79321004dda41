// A liquid in the plane: its cells or its particles, and the solid around it.

import { speedColour } from "../colours";
import type { Grid } from "../messages";
import { colourCells, liquidRange } from "./cell_colours";
import { pixelRamp } from "./colour_tables";
import { ParticleLayer } from "./particle_layer";
import { PixelImage } from "./pixel_image";
import type { Picture } from "./picture";
import { solidPaths, type SolidPaths } from "./solid_paths";
import type { ValueRange } from "./value_range";
import { WaterLayer } from "./water_layer";

const EDGE_WIDTH = 1.5; // px
/** Of the water under its particles. */
const WATER_OPACITY = 0.55;

export class LiquidPainter {
  private readonly grid: Grid;
  private readonly solid: SolidPaths;
  private readonly particles = new ParticleLayer();
  private readonly water: WaterLayer;
  private readonly image = new PixelImage();

  constructor(grid: Grid) {
    this.grid = grid;
    this.solid = solidPaths(grid);
    this.water = new WaterLayer(grid);
  }

  /** Paints everything; returns what the colours reach to. */
  paint(picture: Picture): ValueRange {
    const { frame, style } = picture;
    const range = liquidRange(frame, style);
    this.paintRoom(picture);
    if (style.liquid === "speed") this.paintWater(picture, range);
    else this.paintCells(picture, range);
    if (style.particles) this.particles.paint(picture, this.grid, range);
    this.paintSolid(picture);
    return range;
  }

  /** All that is outside the grid is solid. */
  private paintRoom({ context, camera, palette }: Picture): void {
    context.fillStyle = palette.solid;
    context.fillRect(0, 0, camera.width, camera.height);
    context.fillStyle = palette.paper;
    context.fillRect(...this.gridOnScreen(camera));
  }

  private paintCells({ context, camera, frame, style }: Picture, range: ValueRange): void {
    const pixels = this.image.begin(this.grid.cells[0]!, this.grid.cells[1]!);
    colourCells(pixels.data, frame, this.grid, style, range);
    this.image.finish();
    context.imageSmoothingEnabled = false;
    context.drawImage(this.image.canvas, ...this.gridOnScreen(camera));
  }

  private paintWater({ context, camera, frame, style }: Picture, range: ValueRange): void {
    const water = this.water.draw(frame, this.grid, pixelRamp((share) => speedColour(share, style.dark)), range.high);
    context.save();
    context.globalAlpha = style.particles ? WATER_OPACITY : 1;
    context.imageSmoothingEnabled = true;
    context.drawImage(water, ...this.gridOnScreen(camera));
    context.restore();
  }

  private paintSolid({ context, camera, palette }: Picture): void {
    context.save();
    context.transform(camera.scale, 0, 0, -camera.scale, camera.screenX(0), camera.screenY(0));
    context.fillStyle = palette.solid;
    context.fill(this.solid.inside);
    context.lineWidth = EDGE_WIDTH / camera.scale;
    context.lineJoin = "round";
    context.strokeStyle = palette.edge;
    context.stroke(this.solid.edge);
    context.restore();
  }

  private gridOnScreen(camera: Picture["camera"]): [number, number, number, number] {
    const { cells, spacing, origin } = this.grid;
    const [width, height] = [cells[0]! * spacing * camera.scale, cells[1]! * spacing * camera.scale];
    return [camera.screenX(origin[0]!), camera.screenY(origin[1]!) - height, width, height];
  }
}
