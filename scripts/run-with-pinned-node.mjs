import { install } from "./install.mjs";
import { continueWithPinnedNode, nodeRunsServer, pinnedNodeIsAnother } from "./pinned-node.mjs";

// Runs a programme of the tests with a Node that can run the server: node scripts/run-with-pinned-node.mjs FILE [argument…]
const [file, ...args] = process.argv.slice(2);

await install({ dev: true });
if (pinnedNodeIsAnother() || !nodeRunsServer()) await continueWithPinnedNode(file, args);
else {
  process.argv.splice(1, 2, file);
  await import(new URL(`../${file}`, import.meta.url).href);
}
