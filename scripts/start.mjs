import { install } from "./install.mjs";
import { continueWithPinnedNode, nodeRunsServer } from "./pinned-node.mjs";

await install({ dev: false });
if (nodeRunsServer()) await import("../src/main.ts");
else await continueWithPinnedNode("src/main.ts", process.argv.slice(2));
