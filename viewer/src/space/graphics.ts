// What the browser draws with: a graphics card, or the processor alone.

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

let known: boolean | null = null;

/** Whether pictures are computed by the processor, where smoothing edges in every picture costs half of the speed. */
export function isSoftwareDrawn(): boolean {
  if (known !== null) return known;
  const context = document.createElement("canvas").getContext("webgl2");
  if (!context) return false;
  const info = context.getExtension("WEBGL_debug_renderer_info");
  const name: unknown = context.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : context.RENDERER);
  context.getExtension("WEBGL_lose_context")?.loseContext();
  known = typeof name === "string" && SOFTWARE.test(name);
  return known;
}
