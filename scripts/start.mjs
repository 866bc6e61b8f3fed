import module from "node:module";
import { join } from "node:path";
import { buildDashboard } from "./build-dashboard.mjs";
import { install } from "./install.mjs";
import { compiled, continueWithPinnedNode, nodeRunsServer, root, serverEnv } from "./pinned-node.mjs";

await install({ dev: false });
// The API works without a dashboard, so a failed build does not stop the start.
await buildDashboard().catch((error) => process.stderr.write(`${error.message}\n`));
const args = process.argv.slice(2);
if (!nodeRunsServer()) await continueWithPinnedNode("src/main.ts", args);
// The C library reads its settings when a process starts, so the server replaces this one, with the same process id. A parent's
// IPC channel would be lost by that.
else if (process.execve && !process.connected) {
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, join(root, "src/main.ts"), ...args],
    serverEnv,
  );
} else {
  module.enableCompileCache(compiled);
  await import("../src/main.ts");
}
