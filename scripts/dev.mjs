import { spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { join } from "node:path";
import { buildDashboard } from "./build-dashboard.mjs";
import { install } from "./install.mjs";
import { nodeForServer, root, serverEnv } from "./pinned-node.mjs";

/** Editors write several files, or one file several times, for one change. */
const SETTLE_MS = 200;

await install({ dev: true });
await buildDashboard().catch((error) => process.stderr.write(`${error.message}\n`));

// Not `node --watch`: it sends messages of its own through the ports of worker threads, which the store's threads read.
let server = start();
let changed;
watch(join(root, "src"), { recursive: true }, (_, file) => {
  clearTimeout(changed);
  changed = setTimeout(() => restart(file), SETTLE_MS);
});
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => void stop().then(() => process.exit(0)));

function start() {
  return spawn(nodeForServer(), ["src/main.ts"], { cwd: root, stdio: "inherit", env: serverEnv });
}

let restarting = Promise.resolve();

function restart(file) {
  restarting = restarting.then(async () => {
    process.stdout.write(`\nsrc/${file} changed, restarting\n`);
    await stop();
    server = start();
  });
}

async function stop() {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.kill("SIGTERM");
  await once(server, "exit");
}
