// Bundles the server and its command line. Node refuses TypeScript inside node_modules, so a package needs JavaScript.
import { readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { rolldown, RolldownMagicString } from "rolldown";
import { root } from "../pinned-node.mjs";
import { packagesOf } from "./components.mjs";

const FILE_URL = /new URL\("([^"]+)", import\.meta\.url\)/g;

/**
 * Bundles files that the code finds by their URL: a script of a thread becomes an entry, any other file is copied. The
 * dashboard's folder lies beside that of the bundle.
 */
const bundleFileUrls = {
  name: "bundle-file-urls",
  transform: {
    filter: { id: /\/src\/.*\.ts$/, code: FILE_URL },
    handler(code, id) {
      const text = new RolldownMagicString(code);
      for (const { 0: found, 1: path, index } of code.matchAll(FILE_URL)) {
        text.overwrite(index, index + found.length, urlOf(this, resolve(dirname(id), path), path));
      }
      return { code: text.toString(), map: text.generateMap({ hires: true }).toString() };
    },
  },
};

function urlOf(context, file, path) {
  if (path.endsWith("dashboard/dist/")) return 'new URL("../dashboard/", import.meta.url)';
  const emitted = path.endsWith(".ts")
    ? {
        type: "chunk",
        id: file,
        name: relative(join(root, "src"), file).replaceAll(/[/\\]/g, "-").replace(/\.ts$/, ""),
      }
    : { type: "asset", name: basename(file), source: readFileSync(file) };
  return `new URL(import.meta.ROLLUP_FILE_URL_${context.emitFile(emitted)})`;
}

/**
 * Writes the entries, by default `cli.mjs`, and their chunks into the folder, and returns the libraries that they
 * contain. `build` is the version information that the bundle reports.
 */
export async function bundle(folder, build, entries = { cli: "src/cli/heliograph.ts" }) {
  const built = await rolldown({
    cwd: root,
    input: entries,
    platform: "node",
    plugins: [bundleFileUrls],
    transform: { define: { HELIOGRAPH_BUILD: JSON.stringify(build) } },
    onLog(level, log, report) {
      if (level === "warn") throw new Error(`The bundle is incomplete: ${log.message}`);
      report(level, log);
    },
  });
  const { output } = await built.write({
    dir: folder,
    format: "esm",
    sourcemap: true,
    // As in the repository, wherever the bundle is written to.
    sourcemapPathTransform: (source, map) => join("..", relative(root, resolve(dirname(map), source))),
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name].mjs",
    assetFileNames: "[name][extname]",
    // Whitespace only: stack traces keep the names of functions.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  });
  await built.close();
  return packagesOf(output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : [])));
}
