#!/usr/bin/env node
// The command of the npm package. The server needs Node 24.18. An older Node starts the one that npm installed beside this
// package, so this file uses only syntax that old versions parse.
import { spawn } from "node:child_process";
import module from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const cli = fileURLToPath(new URL("../lib/cli.mjs", import.meta.url));

function isNewEnough() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  return major > 24 || (major === 24 && minor >= 18);
}

function findInstalledNode() {
  const require = module.createRequire(import.meta.url);
  try {
    const manifest = require.resolve(`node-${process.platform}-${process.arch}/package.json`);
    return join(dirname(manifest), "bin", "node");
  } catch {
    return null;
  }
}

if (isNewEnough()) {
  // Not the default in /tmp: another user could put code there first.
  module.enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "heliograph"));
  await import(pathToFileURL(cli).href);
} else {
  const node = findInstalledNode();
  if (node === null) {
    process.stderr.write(
      `heliograph: Node 24.18 or later is needed, this is ${process.version}: install Node 24, or install this package without --omit=optional.\n`,
    );
    process.exit(1);
  }
  const child = spawn(node, [cli, ...process.argv.slice(2)], { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("close", (code, signal) => {
    if (signal === null) process.exit(code);
    process.kill(process.pid, signal);
  });
}
