// Builds the TypeScript client into sdk/typescript/dist: npm run build:sdk, and with -- --types its types first.
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { continueWithPinnedNode, fail, pinnedNodeIsAnother, root, runToEnd } from "./pinned-node.mjs";

const folder = join(root, "sdk", "typescript");
const types = join(folder, "src", "schema.ts");

if (pinnedNodeIsAnother()) await continueWithPinnedNode("scripts/build-sdk.mjs", process.argv.slice(2));
else await build();

async function build() {
  if (process.argv.includes("--types")) {
    const { schemaTypes } = await import("./sdk/schema-types.mjs");
    writeFileSync(types, schemaTypes());
    await runTool("oxfmt", [types]);
  }
  rmSync(join(folder, "dist"), { recursive: true, force: true });
  await runTool("tsc", ["-p", folder]);
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (manifest.version !== version)
    fail(`sdk/typescript/package.json has version ${manifest.version}, not ${version}.`);
}

async function runTool(tool, args) {
  const { code } = await runToEnd(process.execPath, [join(root, "node_modules", ".bin", tool), ...args], {});
  if (code !== 0) fail(`${tool} failed.`);
}
