import module from "node:module";
import { buildDashboard } from "./build-dashboard.mjs";
import { install } from "./install.mjs";
import { compiled, continueWithPinnedNode, nodeRunsServer } from "./pinned-node.mjs";

await install({ dev: false });
// Messages go out without a dashboard too.
await buildDashboard().catch((error) => process.stderr.write(`${error.message}\n`));
if (nodeRunsServer()) {
  module.enableCompileCache(compiled);
  await import("../src/main.ts");
} else await continueWithPinnedNode("src/main.ts", process.argv.slice(2));
