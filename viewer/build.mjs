// Makes the page: one script, one style sheet and one HTML file, in the Python package that serves them.
//
//   node build.mjs            the page, minified
//   node build.mjs --tests    the tests of the page's logic, for `node --test`

import { copyFile, mkdir, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const page = join(here, "..", "src", "perp", "viewer", "page");
const LARGEST = 1_000_000; // bytes of script and style sheet together

async function buildPage() {
  await mkdir(page, { recursive: true });
  await build({
    entryPoints: { viewer: join(here, "src", "main.ts") },
    outdir: page,
    bundle: true,
    minify: true,
    format: "iife", // an exported page holds it inline, and is opened from disk
    target: "es2022",
    legalComments: "eof", // who wrote what is bundled; the licence itself lies beside it
    charset: "utf8",
    logLevel: "warning",
  });
  await copyFile(join(here, "index.html"), join(page, "index.html"));
  await copyFile(join(here, "node_modules", "three", "LICENSE"), join(page, "three_LICENSE.txt"));
  const sizes = await Promise.all(["viewer.js", "viewer.css"].map(async (name) => (await stat(join(page, name))).size));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`the viewer's page: ${(total / 1e3).toFixed(0)} kB`);
  if (total > LARGEST) throw new Error(`the bundle has ${total} bytes, more than ${LARGEST}`);
}

async function buildTests() {
  const names = (await readdir(join(here, "tests"))).filter((name) => name.endsWith(".test.ts"));
  await build({
    entryPoints: names.map((name) => join(here, "tests", name)),
    outdir: join(here, "build", "tests"),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    outExtension: { ".js": ".mjs" },
    logLevel: "warning",
  });
}

await (process.argv.includes("--tests") ? buildTests() : buildPage());
