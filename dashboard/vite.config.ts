import { promisify } from "node:util";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompress, constants, gzip } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { pruneCss } from "./prune-css.ts";

/** Below this a compressed file saves no packet. */
const WORTH_BYTES = 1024;

/** Compresses once, when built, what the server would otherwise compress for every visitor. */
function compressed(): Plugin {
  let outDir = "";
  return {
    name: "compressed",
    apply: "build",
    configResolved: (config) => void (outDir = join(config.root, config.build.outDir)),
    async closeBundle() {
      const assets = join(outDir, "assets");
      await Promise.all((await readdir(assets)).map((name) => compress(join(assets, name))));
    },
  };
}

async function compress(file: string): Promise<void> {
  const content = await readFile(file);
  if (content.length < WORTH_BYTES) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, { params }));
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
}

/** A server to develop against; `npm start` runs one. */
const SERVER = process.env.HELIOGRAPH_URL ?? "http://127.0.0.1:8080";

/** Says what the build is made of; `scripts/build-dashboard.mjs` knows. */
const STAMP = (process.env.HELIOGRAPH_DASHBOARD_STAMP ?? "").slice(0, 8);

export default defineConfig({
  root: import.meta.dirname,
  // Relative, so that the same build works below any path; the server says which in <base>.
  base: "./",
  // The server puts a fresh nonce in its place with every page.
  html: { cspNonce: "STYLE_NONCE" },
  plugins: [react(), pruneCss(), compressed()],
  build: {
    target: ["chrome123", "firefox121", "safari17.5"],
    assetsInlineLimit: 0,
    // Which styles are left depends on all the scripts, and a name that is kept for ever must change with them.
    rolldownOptions: { output: { assetFileNames: `assets/[name]-[hash]-${STAMP}[extname]` } },
    // For the test that measures the first load.
    manifest: true,
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: Object.fromEntries(["/api", "/v1", "/docs", "/openapi.json"].map((path) => [path, SERVER])) },
});
