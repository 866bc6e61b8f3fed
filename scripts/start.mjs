import module from "node:module";
import { install } from "./install.mjs";
import { compiled, continueWithPinnedNode, nodeRunsServer } from "./pinned-node.mjs";

await install({ dev: false });
if (nodeRunsServer()) {
  module.enableCompileCache(compiled);
  await import("../src/main.ts");
} else await continueWithPinnedNode("src/main.ts", process.argv.slice(2));
