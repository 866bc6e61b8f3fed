import { promisify } from "node:util";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { brotliCompress, constants, gzip } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { pruneCss } from "./prune-css.ts";

/** Compressing a smaller file saves no packet. */
const WORTH_BYTES = 1024;

/** Compresses the assets at build time, so that the server need not do it per request. */
function compressed(): Plugin {
  let outDir = "";
  return {
    name: "compressed",
    apply: "build",
    configResolved: (config) => void (outDir = join(config.root, config.build.outDir)),
    async writeBundle() {
      const assets = join(outDir, "assets");
      await Promise.all((await readdir(assets)).map((name) => compress(join(assets, name))));
    },
  };
}

/** Lists the modules in the build, for the licence file of a release. */
function listedModules(): Plugin {
  return {
    name: "listed-modules",
    apply: "build",
    generateBundle(_options, bundle) {
      const ids = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
      const root = join(import.meta.dirname, "..");
      const modules = ids.filter((id) => id.startsWith(join(root, "node_modules"))).map((id) => relative(root, id));
      this.emitFile({ type: "asset", fileName: "modules.json", source: JSON.stringify(modules) });
    },
  };
}

/**
 * Refuses chunks that import each other: a component of one would be undefined while another is evaluated, and the page would
 * stay empty.
 */
function withoutCycles(): Plugin {
  return {
    name: "without-cycles",
    apply: "build",
    generateBundle(_options, bundle) {
      const importsOf = (name: string): readonly string[] => {
        const file = bundle[name];
        return file?.type === "chunk" ? file.imports : [];
      };
      const done = new Set<string>();
      const visit = (name: string, path: readonly string[]): void => {
        if (path.includes(name)) this.error(`Chunks import each other: ${[...path, name].join(" → ")}`);
        if (done.has(name)) return;
        for (const each of importsOf(name)) visit(each, [...path, name]);
        done.add(name);
      };
      for (const name of Object.keys(bundle)) visit(name, []);
    },
  };
}

async function compress(file: string): Promise<void> {
  const content = await readFile(file);
  if (content.length < WORTH_BYTES) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, { params }));
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
}

/** The API server of the development proxy; `npm start` runs one. */
const SERVER = process.env.HELIOGRAPH_URL ?? "http://127.0.0.1:8080";

/** Hash of the build's sources, set by `scripts/build-dashboard.mjs`. */
const STAMP = (process.env.HELIOGRAPH_DASHBOARD_STAMP ?? "").slice(0, 8);

/** Rolldown names a shared chunk after all its importers, separated by tildes. */
const shortName = (name = "file"): string => name.replace(/~.*/s, "").replace(/\.css$/, "");

/** A few shared chunks besides one per page, because each request costs a round trip. */
const CHUNKS = [
  // The modules that run before the catalogue of texts is loaded.
  { name: "texts", test: /src.i18n.(?:t|format|language)\.ts|preload-helper|rolldown.runtime/, priority: 5 },
  {
    name: "react",
    test: /node_modules.(?:react|react-dom|scheduler|clsx|use-sync-external-store|wouter|@tanstack)\//,
    priority: 4,
  },
  // Inputs of forms, which lists and the page of a message do without.
  {
    name: "forms",
    test: /@mantine.form|klona|fast-deep-equal|TagsInput|MultiSelect|src.parts.(?:record(?!.secret-input)|password-form|number-input)|src.api-form/,
    priority: 3,
    includeDependenciesRecursively: false,
  },
  // The phone, and what composer and templates have in common with pages that show messages.
  { name: "phone", test: /src.parts.phone/, minShareCount: 2, priority: 2.8, includeDependenciesRecursively: false },
  {
    name: "writing",
    test: /src.pages.(?:templates|compose)/,
    minShareCount: 2,
    priority: 2.7,
    includeDependenciesRecursively: false,
  },
  // Modules of pages that other pages use as well. In "shared", the shell would load them all.
  {
    name: "features",
    test: /src.pages.(?!login)/,
    minShareCount: 2,
    priority: 2.5,
    entriesAware: true,
    entriesAwareMergeThreshold: 30_000,
    includeDependenciesRecursively: false,
  },
  // Parts of other components. In "shared", they would make chunks import each other.
  {
    name: "base",
    test: /AccordionChevron|SegmentedControl|FloatingIndicator|Fieldset|url-tabs|login.module|NavLink|components.Image|icons.Icon(?:Coins|ListDetails|ListSearch|Lock|PlugConnected|Receipt|TestPipe|Trash)\.|src.parts.origins/,
    priority: 2.2,
  },
  { name: "base", minShareCount: 10, priority: 2 },
  {
    name: "shared",
    minShareCount: 2,
    priority: 1,
    entriesAware: true,
    entriesAwareMergeThreshold: 400_000,
  },
];

export default defineConfig({
  root: import.meta.dirname,
  // Relative, so that the build works under any path. The server sets <base>.
  base: "./",
  // The server replaces this by a new nonce in every page.
  html: { cspNonce: "STYLE_NONCE" },
  plugins: [react(), pruneCss(), listedModules(), withoutCycles(), compressed()],
  build: {
    target: ["chrome123", "firefox121", "safari17.5"],
    assetsInlineLimit: 0,
    // One style sheet: those of the pages have 2 KB together, and each one was another request.
    cssCodeSplit: false,
    // Browsers cache assets for ever. The stamp changes the style sheet's name, because pruning depends on all scripts.
    rolldownOptions: {
      output: {
        assetFileNames: ({ names }) => `assets/${shortName(names[0])}-[hash]-${STAMP}[extname]`,
        chunkFileNames: ({ name }) => `assets/${shortName(name)}-[hash].js`,
        codeSplitting: { groups: CHUNKS },
      },
    },
    // Read by the test that measures the size of the first load.
    manifest: true,
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: Object.fromEntries(["/api", "/v1", "/docs", "/openapi.json"].map((path) => [path, SERVER])) },
});
